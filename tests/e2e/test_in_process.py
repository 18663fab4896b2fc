"""All services in one process: the gateway reaches its tiers without a socket, or through one where it is told to."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import psutil
import pytest

from mneme_client import Client, Tier, TierState
from services.cli.stack import Stack
from services.common.rpc.channel import open_channel
from services.gateway.config import GatewaySettings
from services.gateway.upstream import UpstreamSettings
from tests.support.stack import RunningStack, patient_client, running_stack

pytestmark = pytest.mark.asyncio(loop_scope="session")


def tiers_connected(stack: Stack) -> set[str]:
    """Addresses of those tiers to which this process has a connection."""
    # By port: gRPC writes a loopback address as one of IPv6.
    open_now = (c for c in psutil.Process().net_connections("tcp") if c.status == psutil.CONN_ESTABLISHED)
    ports = {connection.raddr[1] for connection in open_now}
    return {target for target in astuple(stack.tier_targets) if int(target.rpartition(":")[2]) in ports}


async def remember_and_recall(client: Client, user_id: str) -> set[Tier]:
    """Uses every tier; returns those that answered."""
    written = await client.remember(user_id, "c1", "I live in Lyon.")
    await client.wait_until_visible(user_id, written.consistency_token)
    found = await client.recall(user_id, "Where do I live?", conversation_id="c1")
    assert "Lyon" in found.memories[0].turn.content
    return {report.tier for report in found.tiers if report.state is TierState.RESPONDED}


async def test_the_gateway_of_one_process_needs_no_socket(stack: RunningStack, client: Client, user_id: str) -> None:
    answered = await remember_and_recall(client, user_id)

    assert len(answered) == 4
    assert tiers_connected(stack.services) == set()
    for target in astuple(stack.services.tier_targets):  # they listen for others
        async with open_channel(target) as channel:
            await channel.channel_ready()


async def test_it_uses_sockets_where_it_is_told_to(tmp_path: Path, model_folder: Path, user_id: str) -> None:
    settings = GatewaySettings(upstream=UpstreamSettings(in_process=False))
    async with (
        running_stack(tmp_path / "data", model_folder, gateway=settings) as services,
        patient_client(services.gateway_target) as client,
    ):
        answered = await remember_and_recall(client, user_id)

        assert len(answered) == 4
        assert tiers_connected(services) == set(astuple(services.tier_targets))

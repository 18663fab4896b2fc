"""Two writers of one conversation at the same time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from mneme_client import Client
from services.common.postgres.server import EmbeddedPostgres
from services.gateway.config import GatewaySettings
from services.gateway.journal.model import Tier
from services.gateway.journal.stores.postgres import PostgresJournalSettings
from tests.support.stack import RunningStack, gated_gateway, patient_client, until

if TYPE_CHECKING:
    from services.common.embedding.embedder import OnnxEmbedder

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def write(target: str, user_id: str, writer: str, turns: int) -> list[int]:
    """Says turns one after another, each when the one before is acknowledged; returns their positions."""
    async with patient_client(target) as client:
        return [
            (await client.remember(user_id, "c1", f"{writer} {number}")).interactions[0].position
            for number in range(turns)
        ]


@pytest.mark.parametrize("turns", [100, pytest.param(1_000, marks=pytest.mark.ci("two thousand calls"))])
async def test_spec_1_4_two_writers_of_one_session_lose_nothing(
    stack: RunningStack, embedder: OnnxEmbedder, postgres_server: EmbeddedPostgres, user_id: str, turns: int
) -> None:
    # Only sessions are delivered to: what other tiers make of two thousand turns is shown elsewhere.
    settings = GatewaySettings(journal=PostgresJournalSettings(tiers=(Tier.SESSION,)), tells_other_gateways=False)
    async with gated_gateway(stack, embedder, postgres_server, settings=settings) as gated:
        positions = await asyncio.gather(*(write(gated.target, user_id, writer, turns) for writer in ("Ada", "Bob")))
        assert sorted(positions[0] + positions[1]) == list(range(2 * turns))
        assert all(list(own) == sorted(own) for own in positions)

        async with Client(gated.target) as client:
            log = [i async for i in client.list_interactions(user_id, "c1")]
            assert [i.position for i in log] == list(range(2 * turns))
            for writer in ("Ada", "Bob"):
                said = [i.turn.content for i in log if i.turn.content.startswith(writer)]
                assert said == [f"{writer} {number}" for number in range(turns)]

            window = await client.get_session(user_id, "c1")
            assert [turn.interaction_id for turn in window.turns] == [i.interaction_id for i in log[-10:]]

            async def is_settled() -> bool:
                return all(not tier.pending_count for tier in await client.get_backlog())

            await until(is_settled)
            window = await client.get_session(user_id, "c1")
            assert [turn.interaction_id for turn in window.turns] == [i.interaction_id for i in log[-10:]]

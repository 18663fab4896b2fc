"""Clusters of episodes through the gateway, by the Python client and `mneme clusters`."""

from __future__ import annotations

import asyncio
import uuid

import grpc
import pytest
from typer.testing import CliRunner

from mneme_client import Client, MnemeClientError, Turn
from services.cli.main import app
from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

JOB = "episodic.cluster_episodes"
GARDEN = "The garden needs water, seeds and a new fence, part {}."
PRINTER = "The office printer is out of paper and toner again, time {}."


async def clustered(client: Client, user_id: str) -> None:
    turns = [Turn(text.format(n)) for n in range(6) for text in (GARDEN, PRINTER)]
    written = await client.remember(user_id, "c1", turns)
    await client.recall(user_id, "garden", consistency_token=written.consistency_token)
    await client.run_job(user_id, JOB, request_id=f"{user_id}-{uuid.uuid4()}")


async def test_spec_2_9_clusters_are_read_by_the_client_page_by_page(client: Client, user_id: str) -> None:
    assert [one async for one in client.list_clusters(user_id)] == []
    await clustered(client, user_id)

    found = [one async for one in client.list_clusters(user_id, page_size=1)]

    assert len(found) == 2
    assert len({one.cluster_id for one in found}) == 2
    topics = set()
    for cluster in found:
        members = [one async for one in client.list_cluster_episodes(user_id, cluster.cluster_id, page_size=2)]
        assert len(members) == cluster.episode_count >= 4
        assert tuple(one.episode_id for one in members[:3]) == cluster.typical_episode_ids
        said = {(await client.get_episode(user_id, one.episode_id)).query.split()[1] for one in members}
        assert len(said) == 1
        topics |= said
    assert topics == {"garden", "office"}


async def test_spec_2_9_erased_episodes_leave_their_cluster_with_the_call(client: Client, user_id: str) -> None:
    await clustered(client, user_id)
    cluster = await anext(aiter(client.list_clusters(user_id)))
    gone = cluster.typical_episode_ids[0]
    await client.erase_memories(user_id, [gone])
    left = [one async for one in client.list_cluster_episodes(user_id, cluster.cluster_id)]
    assert gone not in {one.episode_id for one in left}
    assert len(left) == cluster.episode_count - 1
    await client.erase_user(user_id)
    assert [one async for one in client.list_clusters(user_id)] == []


async def test_spec_2_9_a_cluster_that_is_not_there_is_not_found(client: Client, user_id: str) -> None:
    for cluster_id, code in (
        (str(uuid.uuid4()), grpc.StatusCode.NOT_FOUND),
        ("no id", grpc.StatusCode.INVALID_ARGUMENT),
    ):
        with pytest.raises(MnemeClientError) as caught:
            [one async for one in client.list_cluster_episodes(user_id, cluster_id)]
        assert caught.value.code is code


async def test_spec_2_9_the_command_line_lists_clusters_and_their_episodes(
    client: Client, user_id: str, stack: RunningStack
) -> None:
    await clustered(client, user_id)

    async def run(*arguments: str) -> str:
        command = ["--target", stack.target, "clusters", "--user", user_id, *arguments]
        result = await asyncio.to_thread(CliRunner().invoke, app, command, env={"COLUMNS": "300"})
        assert result.exit_code == 0, result.output
        return result.output

    listed = await run()
    cluster = await anext(aiter(client.list_clusters(user_id)))
    assert cluster.cluster_id in listed
    assert "The garden needs water" in listed
    assert cluster.typical_episode_ids[0] in await run(cluster.cluster_id)
    assert cluster.cluster_id in await run("--json")

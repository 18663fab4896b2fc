"""A vector index that was damaged while nobody served it: the stack starts, and makes it again from PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import memory_pb2, recall_pb2
from tests.support.stack import Stubs, running_stack, stubs, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

TURNS = 24
QUERY = "Which colour has the boat?"


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def zeroed(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


async def remembered(gateway: Stubs) -> None:
    turns = [
        common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, content=f"The boat number {number} has the colour red.")
        for number in range(TURNS)
    ]
    request = memory_pb2.RememberRequest(request_id="boats", user_id="ann", conversation_id="boats", turns=turns)
    token = (await gateway.memory.Remember(request, timeout=30)).consistency_token

    async def is_consistent() -> bool:
        return (await recalled(gateway, token)).consistent

    await until(is_consistent, timeout_seconds=60.0)


async def recalled(gateway: Stubs, token: str = "") -> recall_pb2.RecallResponse:
    request = recall_pb2.RecallRequest(
        user_id="ann", query=QUERY, limit=TURNS, consistency_token=token, tiers=["TIER_EPISODIC"]
    )
    response: recall_pb2.RecallResponse = await gateway.memory.Recall(request, timeout=30)
    return response


ANOTHER_WAY = pytest.mark.ci("two starts for another way of damage")


@pytest.mark.parametrize(
    ("pattern", "damage"),
    [
        pytest.param("episodes-*/segments/*/segment.json", emptied, id="segments"),
        pytest.param("episodes-*/edge_config.json", zeroed, id="configuration", marks=ANOTHER_WAY),
        pytest.param("episodes-*/mneme-generation", zeroed, id="generation", marks=ANOTHER_WAY),
    ],
)
async def test_issue_17_7_a_damaged_index_is_rebuilt_from_postgresql_and_degraded_until_then(
    tmp_path: Path, model_folder: Path, pattern: str, damage: Callable[[Path], None]
) -> None:
    folder = tmp_path / "data"
    async with running_stack(folder, model_folder) as stack, stubs(stack.gateway_target) as gateway:
        await remembered(gateway)
        expected = {memory.memory_id for memory in (await recalled(gateway)).memories}
    files = list((folder / "qdrant").glob(pattern))
    assert files
    for file in files:
        damage(file)

    async with running_stack(folder, model_folder) as stack, stubs(stack.gateway_target) as gateway:
        async with asyncio.timeout(60):
            while True:
                answer = await recalled(gateway)
                found = {memory.memory_id for memory in answer.memories}
                if found == expected and not answer.degraded:
                    break
                assert answer.degraded, "less is found than there is, and nothing says so"
                await asyncio.sleep(0.05)

"""While a user is being erased, reads find nothing of them, in whichever store it still is."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import asyncpg
import grpc
import pytest

from mneme_client import Client, FactCategory, MnemeClientError, NoteKind
from tests.support.stack import RunningStack, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

_PENDING = """
    INSERT INTO gateway.erasures (tenant_id, erasure_id, user_id, kind, target, next_attempt_time, create_time)
    SELECT tenant_id, $2, $1, $3, '{}', 'infinity', now() FROM gateway.conversations WHERE user_id = $1 LIMIT 1
"""


@contextlib.asynccontextmanager
async def erased_by_another_gateway(stack: RunningStack, user_id: str, *, kind: int = 4) -> AsyncIterator[None]:
    """A user's erasure that does not come to its end, since a tier does not respond."""
    connection = await asyncpg.connect(stack.services.postgres_dsn.replace("mneme_app@", "postgres@", 1))
    erasure_id = uuid.uuid4()
    try:
        await connection.execute(_PENDING, user_id, erasure_id, kind)
        yield
    finally:
        await connection.execute("DELETE FROM gateway.erasures WHERE erasure_id = $1", erasure_id)
        await connection.close()


async def is_found(call: Callable[[], Awaitable[Sequence[object]]]) -> bool:
    """Whether a call shows something; what is named and not there is not found."""
    try:
        return bool(await call())
    except MnemeClientError as error:
        if error.code is not grpc.StatusCode.NOT_FOUND:
            raise
        return False


async def test_spec_6_6_nothing_of_a_user_is_found_while_the_erasure_is_pending(
    stack: RunningStack, client: Client, user_id: str
) -> None:
    turns = ["My cat is called Momo.", "I live in Lyon."]
    written = await client.remember(user_id, "c1", turns)
    token, episode_id = written.consistency_token, written.interactions[0].interaction_id
    await client.recall(user_id, "Which pet?", consistency_token=token)
    note = (await client.create_note(user_id, "The cat is grey.", NoteKind.OBSERVATION)).note
    fact = await client.create_fact(user_id, "Momo is a cat.", FactCategory.CONTEXT)
    reads: dict[str, Callable[[], Awaitable[Sequence[object]]]] = {
        "recall": lambda: _memories(client, user_id),
        "context": lambda: _sections(client, user_id),
        "episode": lambda: _one(client.get_episode(user_id, episode_id)),
        "episodes": lambda: _all(client.list_episodes(user_id)),
        "conversations": lambda: _all(client.list_conversations(user_id)),
        "interactions": lambda: _all(client.list_interactions(user_id, "c1")),
        "session": lambda: _one(client.get_session(user_id, "c1")),
        "fact": lambda: _one(client.get_fact(user_id, fact.fact_id)),
        "facts": lambda: _all(client.list_facts(user_id)),
        "note": lambda: _one(client.get_note(user_id, note.note_id)),
        "notes": lambda: _all(client.list_notes(user_id)),
        "export": lambda: _all(client.export_user(user_id)),
    }
    assert {name for name, call in reads.items() if not await is_found(call)} == set()
    async with erased_by_another_gateway(stack, user_id):

        async def hidden() -> bool:
            return not await is_found(reads["recall"])

        await until(hidden)
        assert {name for name, call in reads.items() if await is_found(call)} == set()
        assert (await client.recall(user_id, "Which pet?")).degraded
        assert not (await client.plan_erasure(user_id)).memories
        other = await client.remember(f"{user_id} other", "c1", turns)
        found = await client.recall(f"{user_id} other", "Which pet?", consistency_token=other.consistency_token)
        assert found.memories
    assert {name for name, call in reads.items() if not await is_found(call)} == set()


async def test_what_is_remembered_after_an_erasure_is_found_at_once(client: Client, user_id: str) -> None:
    await client.remember(user_id, "c1", "My cat is called Momo.")
    erasure = await client.erase_user(user_id)
    while erasure.complete_time is None:
        erasure = await client.get_erasure(erasure.erasure_id)
    written = await client.remember(user_id, "c1", "My dog is called Rex.")
    found = await client.recall(user_id, "Which dog?", consistency_token=written.consistency_token)
    assert [memory.turn.content for memory in found.memories] == ["My dog is called Rex."]


async def test_an_erasure_of_a_part_hides_nothing_else(stack: RunningStack, client: Client, user_id: str) -> None:
    await client.remember(user_id, "c1", "My cat is called Momo.")
    async with erased_by_another_gateway(stack, user_id, kind=2):
        [conversation] = await _all(client.list_conversations(user_id))
        assert conversation


async def _memories(client: Client, user_id: str) -> Sequence[object]:
    return (await client.recall(user_id, "Which pet?")).memories


async def _sections(client: Client, user_id: str) -> Sequence[object]:
    return (await client.build_context(user_id, "Which pet?", token_budget=500)).text


async def _one(call: Awaitable[object]) -> Sequence[object]:
    return [await call]


async def _all(found: AsyncIterator[object]) -> Sequence[object]:
    return [one async for one in found]

"""Erasing, forgetting and correcting by both clients, against all services."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from mneme_client import (
    Client,
    Erasure,
    ErasureState,
    ErasureStore,
    FactCategory,
    MemoryKind,
    Scope,
    ScopeLevel,
    SyncClient,
)
from tests.servicer.gateway.test_erasure import visible
from tests.support.stack import PATIENCE_SECONDS, RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def mneme(stack: RunningStack) -> AsyncIterator[Client]:
    async with stack.client() as opened:
        yield opened


async def done(mneme: Client, erasure: Erasure) -> Erasure:
    """The erasure when it is complete, which a busy machine does not reach within its response."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while erasure.state is not ErasureState.DONE:
            await asyncio.sleep(0.05)
            erasure = await mneme.get_erasure(erasure.erasure_id)
    return erasure


async def test_spec_6_6_memories_of_every_kind_scopes_and_conversations_are_erased(mneme: Client, user_id: str) -> None:
    fact = await mneme.create_fact(user_id, "The office is in Ulm.", FactCategory.CONTEXT)
    plan = await mneme.plan_erasure(user_id, memory_ids=[fact.fact_id], kind=MemoryKind.FACT)
    assert (plan.episodes, plan.facts, plan.notes) == (0, 1, 0)
    erased = await done(mneme, await mneme.erase_memories(user_id, [fact.fact_id], kind=MemoryKind.FACT))
    assert erased.user_id == user_id
    assert {receipt.store: dict(receipt.counts) for receipt in erased.stores}[ErasureStore.SEMANTIC] == {"facts": 1}
    assert erased.complete_time is not None
    assert await mneme.get_erasure(erased.erasure_id) == erased
    project = Scope(ScopeLevel.PROJECT, project_id="p1")
    await mneme.remember(user_id, "c1", "in the project", scope=project)
    await mneme.remember(user_id, "c2", "elsewhere")
    assert (await mneme.plan_erasure(user_id, conversation_id="c1")).episodes == 1
    await done(mneme, await mneme.erase_scope(user_id, project, with_nested=True))
    await done(mneme, await mneme.erase_conversation(user_id, "c2"))
    assert [c async for c in mneme.list_conversations(user_id)] == []


async def test_spec_3_13_a_query_is_forgotten_by_the_token_of_its_plan(mneme: Client, user_id: str) -> None:
    written = await mneme.remember(user_id, "c1", ["Dana and I split up.", "I like tea."])
    await visible(mneme, user_id, written.consistency_token)
    dry = await mneme.forget(user_id, "my ex Dana", dry_run=True)
    assert dry.erasure is None
    assert dry.plan is not None
    assert "Dana and I split up." in {memory.preview for memory in dry.plan.memories}
    done = await mneme.forget(user_id, plan_token=dry.plan_token)
    assert done.erasure is not None
    assert done.erasure.state is ErasureState.DONE
    assert [i.turn.content async for i in mneme.list_interactions(user_id, "c1")] == ["I like tea."]


async def test_spec_3_12_the_blocking_client_corrects_and_erases(
    stack: RunningStack, mneme: Client, user_id: str
) -> None:
    written = await mneme.remember(user_id, "c1", "The van is from 2014.")
    await visible(mneme, user_id, written.consistency_token)

    def corrected() -> None:
        with SyncClient(stack.target, default_timeout_seconds=PATIENCE_SECONDS) as blocking:
            dry = blocking.correct(
                user_id, "The van is from 2016.", memory_id=written.interactions[0].interaction_id, dry_run=True
            )
            assert [statement.whole_turn for statement in dry.statements] == [True]
            result = blocking.correct(user_id, "The van is from 2016.", query="The van is from 2014")
            assert result.interaction_id
            assert blocking.erase_user(user_id).state is ErasureState.DONE

    await asyncio.to_thread(corrected)
    assert [i async for i in mneme.list_interactions(user_id, "c1")] == []

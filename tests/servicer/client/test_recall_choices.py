"""What the client chooses of recalls, contexts, facts and the profile, against all services."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from mneme_client import Client, FactCategory, FactUse, FeedbackValue, Scope, ScopeLevel, Turn
from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

MARCH = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest_asyncio.fixture(loop_scope="session")
async def mneme(stack: RunningStack) -> AsyncIterator[Client]:
    async with stack.client() as opened:
        yield opened


async def test_spec_3_7_the_client_asks_what_was_believed_at_a_time(mneme: Client, user_id: str) -> None:
    before = datetime.now(UTC) - timedelta(minutes=5)
    written = await mneme.remember(user_id, "c1", [Turn("Ana keeps her boat in Faro.", time=MARCH)])
    await mneme.wait_until_visible(user_id, written.consistency_token)
    question = "Where is the boat?"
    assert (await mneme.recall(user_id, question)).memories
    assert not (await mneme.recall(user_id, question, known_at_time=before)).memories
    parts = [part async for part in mneme.recall_stream(user_id, question, known_at_time=before)]
    assert parts[-1].result is not None
    assert not parts[-1].result.memories
    assert "Faro" in (await mneme.build_context(user_id, question)).text
    assert "Faro" not in (await mneme.build_context(user_id, question, known_at_time=before)).text
    fact = await mneme.create_fact(user_id, "Ana owns a boat.", FactCategory.CONTEXT)
    assert fact.fact_id in [hit.fact.fact_id for hit in await mneme.search_facts(user_id, "boat")]
    assert list(await mneme.search_facts(user_id, "boat", known_at_time=before)) == []
    assert [one async for one in mneme.list_facts(user_id, known_at_time=before)] == []


async def test_spec_3_3_the_client_includes_tentative_facts(mneme: Client, user_id: str) -> None:
    made = await mneme.create_fact(user_id, "Ana may own a boat.", FactCategory.CONTEXT, confidence=0.4)
    assert not (await mneme.recall(user_id, "boat")).facts
    found = await mneme.recall(user_id, "boat", include_tentative_facts=True)
    assert [hit.fact.fact_id for hit in found.facts] == [made.fact_id]
    parts = [part async for part in mneme.recall_stream(user_id, "boat", include_tentative_facts=True)]
    assert parts[-1].result is not None
    assert [hit.fact.fact_id for hit in parts[-1].result.facts] == [made.fact_id]
    [hit] = await mneme.search_facts(user_id, "boat", use=FactUse.EXPLICIT_SEARCH)
    assert hit.current_confidence == pytest.approx(0.4, abs=1e-3)


async def test_spec_3_10_the_client_reads_what_a_profile_learned_and_what_recalls_apply(
    mneme: Client, user_id: str
) -> None:
    inside = Scope(ScopeLevel.PROJECT, project_id="p1", context_id="apart")
    turns = [Turn("Please keep your answers short from now on.", time=MARCH), Turn("Who paints the boat?", time=MARCH)]
    written = await mneme.remember(user_id, "c1", turns)
    await mneme.wait_until_visible(user_id, written.consistency_token)
    judged = await mneme.feedback(user_id, FeedbackValue.BAD, memory_ids=[written.interactions[1].interaction_id])
    await mneme.wait_until_visible(user_id, judged.consistency_token)
    profile = await mneme.get_profile(user_id)
    assert (profile.preferences.detail_level, profile.learned_preferences.detail_level) == ("", "brief")
    counted = profile.statistics
    assert (counted.good_feedback_count, counted.bad_feedback_count, counted.mean_session_turns) == (0, 1, 2.0)
    assert (counted.query_types, counted.mean_session_length) == ((("who", 1),), timedelta())
    assert ("boat", 1) in counted.topics
    assert profile.fact_confidence_min > 0.5
    applied = (await mneme.recall(user_id, "boat")).reading.applied_profile
    assert applied is not None
    assert (applied.fact_confidence_min, applied.excluded_sources) == (profile.fact_confidence_min, ())
    assert (await mneme.get_profile(user_id, scope=inside)).statistics.user_turn_count == 0


async def test_spec_3_5_the_client_names_the_statements_of_a_turn_that_hold_no_more(
    mneme: Client, user_id: str
) -> None:
    later = MARCH + timedelta(days=3)
    turns = [Turn("I live in Leeds. I play chess.", time=MARCH), Turn("I live in Lyon now.", time=later)]
    written = await mneme.remember(user_id, "c1", turns)
    found = await mneme.recall(user_id, "Where do I live?", consistency_token=written.consistency_token)
    by_text = {memory.text: memory for memory in found.memories}
    [ended] = by_text[turns[0].content].superseded_statements
    assert (ended.statement, ended.superseded_by) == ("I live in Leeds.", by_text[turns[1].content].memory_id)
    assert by_text[turns[1].content].superseded_statements == ()

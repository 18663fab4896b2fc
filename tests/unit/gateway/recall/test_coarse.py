"""All tiers at once: what does not answer in time is reported, never raised."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mneme.agentic.internal.v1 import notes_pb2
from mneme.common.v1 import common_pb2
from mneme.episodic.internal.v1 import episodic_internal_pb2
from mneme.semantic.v1 import facts_pb2
from mneme.session.v1 import session_pb2
from services.common.errors import DeadlineExceeded, MnemeError, NotFound, StoreUnavailable
from services.common.scope import Scope, ScopeLevel
from services.gateway.journal.model import Tier
from services.gateway.recall.choices import Profile, ScoringChoice
from services.gateway.recall.model import CoarseResult, RecallQuery, TierReport, TierState
from services.gateway.recall.settings import RecallSettings
from services.gateway.recall.stages.coarse_search import CoarseSearch
from tests.unit.gateway.tiers import (
    ADA,
    NEVER,
    NOON,
    Answer,
    FakeClient,
    FakeTiers,
    candidates,
    fact_hit,
    facts_answer,
    note_hit,
    session_turn,
    sessions,
)

QUERY = RecallQuery("ada", "where do I live", 10, NOON, conversation_id="c1")
VECTOR = common_pb2.Vector(model="m", values=[1.0, 0.0])


async def search(tiers: FakeTiers, query: RecallQuery = QUERY, *, timeout_seconds: float = 5.0) -> CoarseResult:
    coarse = CoarseSearch(tiers.upstream(), sessions(tiers), RecallSettings())
    return await coarse(ADA, query, lexical_query="where", vector=VECTOR, timeout_seconds=timeout_seconds)


def reports(result: CoarseResult) -> dict[Tier, TierReport]:
    return {report.tier: report for report in result.reports}


def full_tiers() -> FakeTiers:
    tiers = FakeTiers()
    tiers.episodic.method("search_candidates").answer = candidates([1, 2, 3])
    tiers.facts.method("search_candidates").answer = facts_answer([fact_hit("f")])
    tiers.notes.method("search").answer = notes_pb2.SearchNotesResponse(hits=[note_hit("n1"), note_hit("n2")])
    window = session_pb2.Session(conversation_id="c1", turns=[session_turn(7)])
    tiers.session.method("get").answer = session_pb2.GetSessionResponse(session=window)
    return tiers


async def test_spec_5_10_every_tier_says_what_it_gave() -> None:
    result = await search(full_tiers())
    assert result.episodes is not None
    assert len(result.episodes) == 3
    assert [hit.fact.fact_id for hit in result.facts] == ["f"]
    assert [hit.note.note_id for hit in result.notes] == ["n1", "n2"]
    assert [turn.position for turn in result.recent_turns] == [7]
    assert [(r.tier, r.state, r.candidate_count) for r in result.reports] == [
        (Tier.SESSION, TierState.RESPONDED, 1),
        (Tier.EPISODIC, TierState.RESPONDED, 3),
        (Tier.SEMANTIC, TierState.RESPONDED, 1),
        (Tier.AGENTIC, TierState.RESPONDED, 2),
    ]
    assert not result.is_incomplete


async def test_spec_8_4_facts_and_notes_of_a_former_model_make_a_response_incomplete_and_are_named() -> None:
    tiers = full_tiers()
    answer = facts_answer([fact_hit("f")])
    answer.degraded = True
    tiers.facts.method("search_candidates").answer = answer
    tiers.notes.method("search").answer = notes_pb2.SearchNotesResponse(hits=[note_hit("n1")], degraded=True)
    result = await search(tiers)
    assert result.is_incomplete
    assert [hit.fact.fact_id for hit in result.facts] == ["f"]
    reasons = {tier: report.reason for tier, report in reports(result).items() if report.is_partial}
    assert set(reasons) == {Tier.SEMANTIC, Tier.AGENTIC}
    assert all("of the former embedding model" in reason for reason in reasons.values())


async def test_tiers_are_asked_with_the_question_and_its_bounds() -> None:
    tiers = full_tiers()
    scope = Scope(ScopeLevel.PROJECT, "p1")
    await search(tiers, replace(QUERY, scope=scope, limit=150), timeout_seconds=3.0)
    (episodes,) = tiers.episodic.method("search_candidates").requests
    assert (episodes.query, episodes.retriever_limit, episodes.reader_scope.project_id) == ("where", 600, "p1")
    assert list(episodes.query_vector.values) == [1.0, 0.0]
    facts = tiers.facts.method("search_candidates").requests[0].search
    assert (facts.use, facts.limit) == (facts_pb2.FACT_USE_PASSIVE_CONTEXT, 55)
    (notes,) = tiers.notes.method("search").requests
    assert (notes.hops, notes.reader_scope.project_id) == (2, "p1")
    assert tiers.notes.method("search").principals == [ADA]
    assert tiers.notes.method("search").timeouts == [3.0]


async def test_spec_3_7_the_tier_of_facts_is_asked_as_of_the_times_of_the_query_and_only_then() -> None:
    tiers = full_tiers()
    then, known = QUERY.as_of - timedelta(days=9), QUERY.as_of - timedelta(days=5)
    await search(tiers, QUERY)
    await search(tiers, replace(QUERY, as_of=then, is_past=True))
    await search(tiers, replace(QUERY, known_at=known))
    now, held, believed = (request.search for request in tiers.facts.method("search_candidates").requests)
    assert not now.HasField("as_of_time")
    assert not now.HasField("known_at_time")
    assert held.as_of_time.ToDatetime(tzinfo=UTC) == then
    assert not held.HasField("known_at_time")
    assert believed.known_at_time.ToDatetime(tzinfo=UTC) == known
    assert not believed.HasField("as_of_time")


async def test_spec_3_7_the_tiers_of_notes_and_turns_are_asked_as_of_the_times_of_the_query_and_only_then() -> None:
    tiers = full_tiers()
    then, known = QUERY.as_of - timedelta(days=9), QUERY.as_of - timedelta(days=5)
    both = replace(QUERY, as_of=then, is_past=True, known_at=known)
    for query in (QUERY, replace(QUERY, as_of=then, is_past=True), replace(QUERY, known_at=known), both):
        await search(tiers, query)

    def asked(request: Any, name: str) -> datetime | None:
        return getattr(request, name).ToDatetime(tzinfo=UTC) if request.HasField(name) else None

    notes = tiers.notes.method("search").requests
    assert [asked(request, "as_of_time") for request in notes] == [None, then, None, then]
    assert [asked(request, "known_at_time") for request in notes] == [None, None, known, known]
    turns = tiers.episodic.method("search_candidates").requests
    assert [asked(request, "archived_after_time") for request in turns] == [None, then, known, then]


async def test_spec_3_3_facts_that_are_believed_little_are_asked_for_only_on_request() -> None:
    tiers = full_tiers()
    await search(tiers, replace(QUERY, include_tentative_facts=True))
    facts = tiers.facts.method("search_candidates").requests[0].search
    assert facts.use == facts_pb2.FACT_USE_EXPLICIT_SEARCH


@pytest.mark.parametrize(
    ("limit", "wanted", "turns", "derived"),
    [(1, None, 200, 10), (50, None, 200, 50), (51, None, 204, 50), (200, None, 800, 50), (200, 10, 200, 10)],
)
async def test_spec_5_1_retrievers_return_more_where_more_is_asked_for(
    limit: int, wanted: int | None, turns: int, derived: int
) -> None:
    tiers = full_tiers()
    await search(tiers, replace(QUERY, limit=limit, wanted=wanted))
    (episodes,) = tiers.episodic.method("search_candidates").requests
    facts = tiers.facts.method("search_candidates").requests[0].search
    (notes,) = tiers.notes.method("search").requests
    # Five more take part when conflicts are settled.
    assert (episodes.retriever_limit, facts.limit, notes.limit) == (turns, derived + 5, derived + 5)


async def test_the_light_profile_asks_for_fewer_candidates() -> None:
    tiers = full_tiers()
    await search(tiers, replace(QUERY, scoring=ScoringChoice(profile=Profile.LIGHT)))
    await search(tiers, QUERY)
    light, others = tiers.episodic.method("search_candidates").requests
    assert (light.retriever_limit, light.neighbour_seeds) == (70, 25)
    assert (others.retriever_limit, others.neighbour_seeds) == (200, 60)


FAILURES = {
    "unreachable": (StoreUnavailable("tier"), "STORE_UNAVAILABLE"),
    "late": (DeadlineExceeded("late"), "DEADLINE_EXCEEDED"),
    "faulty": (MnemeError("internal error"), "INTERNAL"),
    "hanging": (NEVER, "DEADLINE_EXCEEDED"),
}
METHODS = {
    Tier.EPISODIC: lambda tiers: tiers.episodic.method("search_candidates"),
    Tier.SEMANTIC: lambda tiers: tiers.facts.method("search_candidates"),
    Tier.AGENTIC: lambda tiers: tiers.notes.method("search"),
    Tier.SESSION: lambda tiers: tiers.session.method("get"),
}


@pytest.mark.parametrize("tier", METHODS, ids=lambda tier: tier.name)
@pytest.mark.parametrize("failure", FAILURES)
async def test_spec_5_10_a_tier_that_fails_is_named_and_the_others_answer(tier: Tier, failure: str) -> None:
    answer, reason = FAILURES[failure]
    tiers = full_tiers()
    METHODS[tier](tiers).answer = answer
    result = await search(tiers, timeout_seconds=0.02)
    failed = reports(result)[tier]
    assert (failed.state, failed.reason, failed.candidate_count) == (TierState.FAILED, reason, 0)
    others = [report.state for report in result.reports if report.tier is not tier]
    assert others == [TierState.RESPONDED] * 3
    assert result.is_incomplete
    assert not result.all_failed


async def test_a_tier_that_hangs_has_used_its_time() -> None:
    tiers = full_tiers()
    tiers.facts.method("search_candidates").answer = NEVER
    result = await search(tiers, timeout_seconds=0.05)
    assert 0.05 <= reports(result)[Tier.SEMANTIC].duration_seconds < 2.0


async def test_spec_5_10_tiers_that_are_not_asked_are_reported_as_skipped() -> None:
    tiers = full_tiers()
    result = await search(tiers, replace(QUERY, tiers=(Tier.SEMANTIC,)))
    states = {report.tier: report.state for report in result.reports}
    assert states[Tier.SEMANTIC] is TierState.RESPONDED
    assert {states[tier] for tier in (Tier.SESSION, Tier.EPISODIC, Tier.AGENTIC)} == {TierState.SKIPPED}
    assert tiers.episodic.method("search_candidates").requests == []
    assert result.episodes is None
    assert reports(result)[Tier.EPISODIC].reason == "not asked for"


async def test_spec_5_10_the_session_is_skipped_where_no_conversation_runs() -> None:
    result = await search(full_tiers(), replace(QUERY, conversation_id=""))
    assert reports(result)[Tier.SESSION].state is TierState.SKIPPED
    assert "conversation" in reports(result)[Tier.SESSION].reason


async def test_spec_5_10_empty_and_failed_are_different() -> None:
    empty = FakeTiers()
    empty.session.method("get").answer = NotFound("session", "c1")
    nothing = await search(empty)
    assert nothing.episodes is not None
    assert len(nothing.episodes) == 0
    assert not nothing.is_incomplete
    down = FakeTiers(episodic=FakeClient(search_candidates=StoreUnavailable("episodic")))
    assert (await search(down, replace(QUERY, conversation_id=""))).episodes is None


async def test_spec_5_10_all_failed_when_each_tier_that_was_asked_failed() -> None:
    down: Answer = StoreUnavailable("tier")
    tiers = FakeTiers(
        session=FakeClient(get=down),
        episodic=FakeClient(search_candidates=down),
        facts=FakeClient(search_candidates=down),
        notes=FakeClient(search=down),
    )
    assert (await search(tiers)).all_failed
    assert (await search(tiers, replace(QUERY, tiers=(Tier.AGENTIC,)))).all_failed
    tiers.facts.method("search_candidates").answer = facts_answer(())
    assert not (await search(tiers)).all_failed


def test_nothing_asked_is_not_all_failed() -> None:
    skipped = tuple(TierReport(tier, TierState.SKIPPED) for tier in Tier)
    assert not CoarseResult(reports=skipped).all_failed


async def test_columns_keep_what_the_tier_said_of_each_candidate() -> None:
    tiers = full_tiers()
    tiers.episodic.method("search_candidates").answer = episodic_internal_pb2.SearchCandidatesResponse()
    result = await search(tiers)
    assert result.episodes is not None
    assert len(result.episodes) == 0
    assert result.episodes.dense.shape == (0,)


async def test_spec_5_10_a_tier_whose_index_lacks_turns_says_so() -> None:
    tiers = full_tiers()
    tiers.episodic.method("search_candidates").answer = episodic_internal_pb2.SearchCandidatesResponse(degraded=True)
    result = await search(tiers)
    report = reports(result)[Tier.EPISODIC]
    assert (report.state, "index" in report.reason) == (TierState.RESPONDED, True)
    assert result.is_incomplete
    assert not result.all_failed


async def test_spec_1_6_and_5_10_a_window_from_memory_instead_of_its_store_is_told() -> None:
    tiers = full_tiers()
    window = session_pb2.Session(conversation_id="c1", turns=[session_turn(7)])
    tiers.session.method("get").answer = session_pb2.GetSessionResponse(session=window, degraded=True)
    result = await search(tiers)
    report = reports(result)[Tier.SESSION]
    assert (report.state, report.is_partial, "store" in report.reason) == (TierState.RESPONDED, True, True)
    assert [turn.position for turn in result.recent_turns] == [7]
    assert result.is_incomplete
    assert not result.all_failed

"""What each stage does to the answer as a whole: none of these holds when the stage hands on what it was given."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from mneme.agentic.internal.v1 import notes_pb2
from mneme.episodic.internal.v1 import episodic_internal_pb2
from mneme.episodic.v1 import episodic_pb2
from services.common.background import BackgroundWork
from services.common.convert import timestamp
from services.common.errors import StoreUnavailable
from services.common.scope import Scope, ScopeLevel
from services.gateway.journal.model import DeliveryState, SequenceSpan, Tier
from services.gateway.recall.answer.conflicts import ConflictResolution, ConflictSettings
from services.gateway.recall.choices import ConflictChoice, Profile, ScoringChoice, TaskType
from services.gateway.recall.model import Recalled, RecallQuery, TierState
from services.gateway.recall.patterns import Pattern, Patterns
from services.gateway.recall.pipeline import RecallPipeline
from services.gateway.recall.settings import RecallSettings
from services.gateway.recall.stages.access import AccessRecorder
from services.gateway.recall.stages.rewriting import Rewriting
from tests.support.clock import SequentialIds
from tests.support.embedding import HashingEmbedder
from tests.unit.gateway.recall.test_pipeline import make_stages
from tests.unit.gateway.tiers import (
    ADA,
    NEVER,
    NOON,
    FakeJournal,
    FakeTiers,
    candidates,
    episode,
    fact_hit,
    facts_answer,
    note_hit,
    uuid,
)

QUERY = RecallQuery("ada", "Where is the house?", 10, NOON, scoring=ScoringChoice(Profile.PLAIN))
SECRET = Scope(ScopeLevel.PROJECT, "secret")
DAY_SECONDS = 86_400.0


def tiers_with(response: episodic_internal_pb2.SearchCandidatesResponse, *, hidden: Sequence[int] = ()) -> FakeTiers:
    """Tiers whose episodic one gives these candidates, and texts of all but the hidden ones to everybody."""
    tiers = FakeTiers()
    tiers.episodic.method("search_candidates").answer = response
    episodes = [episode(n, f"text {n}", scope=SECRET if n in hidden else None) for n in range(1, 6)]
    tiers.episodic.method("batch_get").answer = episodic_pb2.BatchGetEpisodesResponse(episodes=episodes)
    return tiers


async def recall(
    tiers: FakeTiers,
    query: RecallQuery = QUERY,
    *,
    journal: FakeJournal | None = None,
    deadline_seconds: float = 5.0,
    **stages: Any,
) -> Recalled:
    made = replace(make_stages(tiers, journal or FakeJournal(names=["Ada", "Bob"])), **stages)
    recaller = RecallPipeline(made, ids=SequentialIds("recall-"), settings=RecallSettings())
    return await recaller.run(ADA, query, deadline_seconds=deadline_seconds)


def numbers(recalled: Recalled) -> list[int]:
    return [int(memory.ranked.episode_id.replace("-", ""), 16) for memory in recalled.memories]


# ---------------------------------------------------------------------------------------------- consistency


@dataclass
class LateJournal(FakeJournal):
    """Has delivered only when it is asked for the third time."""

    async def delivery_state(self, tenant_id: str, span: SequenceSpan, tiers: Sequence[Tier]) -> DeliveryState:
        await super().delivery_state(tenant_id, span, tiers)
        return DeliveryState.DELIVERED if len(self.asked) >= 3 else DeliveryState.PENDING


async def test_spec_5_11_no_tier_is_asked_before_the_write_can_be_found() -> None:
    tiers = tiers_with(candidates([1]))
    asked_before: list[int] = []
    search = tiers.episodic.method("search_candidates")

    class Watched(LateJournal):
        async def delivery_state(self, tenant_id: str, span: SequenceSpan, tiers: Sequence[Tier]) -> DeliveryState:
            asked_before.append(len(search.requests))
            return await super().delivery_state(tenant_id, span, tiers)

    journal = Watched()
    recalled = await recall(tiers, replace(QUERY, written=SequenceSpan(1, 2)), journal=journal)
    assert recalled.is_consistent is True
    assert asked_before == [0, 0, 0]
    assert len(search.requests) == 1


# -------------------------------------------------------------------------------------------- read_question


async def test_spec_5_5_turns_of_the_speaker_that_the_question_names_come_first() -> None:
    response = candidates([1, 2], dense=[0.5, 0.5], speakers=[1, 0], names=["Ada", "Bob"])
    named = replace(QUERY, text="Where is Ada?")
    assert numbers(await recall(tiers_with(response), named)) == [2, 1]
    assert numbers(await recall(tiers_with(response), replace(QUERY, text="Where is Bob?"))) == [1, 2]


async def test_spec_5_5_turns_of_the_time_that_the_question_names_come_first() -> None:
    response = candidates([1, 2], dense=[0.5, 0.5])
    response.times[:] = [NOON.timestamp() - 40 * DAY_SECONDS, NOON.timestamp() - DAY_SECONDS]
    yesterday = await recall(tiers_with(response), replace(QUERY, text="Where was the house yesterday?"))
    assert numbers(yesterday) == [2, 1]
    assert numbers(await recall(tiers_with(response))) == [1, 2]


# ------------------------------------------------------------------------------------------- rewrite, embed


async def test_spec_5_1_a_rewritten_question_names_another_speaker_and_so_ranks_otherwise() -> None:
    response = candidates([1, 2], dense=[0.5, 0.5], speakers=[1, 0], names=["Ada", "Bob"])
    rewriting = Rewriting(Patterns.of([Pattern("Addie", "Ada", 1.0)]))
    asked = replace(QUERY, text="Where is Addie?")
    assert numbers(await recall(tiers_with(response), asked)) == [1, 2]
    assert numbers(await recall(tiers_with(response), asked, rewriting=rewriting)) == [2, 1]


async def test_spec_5_1_all_tiers_are_asked_with_the_vector_of_the_question_as_it_was_read() -> None:
    tiers = tiers_with(candidates([1]))
    await recall(tiers, replace(QUERY, text="Where does Ada live?"))
    expected = pytest.approx(HashingEmbedder().vector("Where does I live?").tolist())
    requests = [
        tiers.episodic.method("search_candidates").requests[0],
        tiers.facts.method("search_candidates").requests[0].search,
        tiers.notes.method("search").requests[0],
    ]
    for request in requests:
        assert list(request.query_vector.values) == expected


# ---------------------------------------------------------------------------------------------------- intent


async def test_spec_5_2_a_recommendation_asks_for_no_turns_and_still_answers_when_their_tier_is_away() -> None:
    tiers = tiers_with(candidates([1]))
    tiers.episodic.method("search_candidates").answer = StoreUnavailable("episodic")
    tiers.facts.method("search_candidates").answer = facts_answer([fact_hit("f")])
    recalled = await recall(tiers, replace(QUERY, task_type=TaskType.RECOMMENDATION))
    assert not recalled.is_degraded
    assert (await recall(tiers, QUERY)).is_degraded


# --------------------------------------------------------------------------------------------- coarse_search


async def test_spec_5_1_no_tier_waits_for_another() -> None:
    tiers = tiers_with(candidates([1]))
    everybody = asyncio.Barrier(3)

    class Meeting(asyncio.Event):
        """Opens when all of the three have come."""

        async def wait(self) -> Any:
            await everybody.wait()
            return True

    for client, name in (
        (tiers.episodic, "search_candidates"),
        (tiers.facts, "search_candidates"),
        (tiers.notes, "search"),
    ):
        client.method(name).gate = Meeting()
    assert not (await recall(tiers, deadline_seconds=2.0)).is_degraded


async def test_spec_5_10_a_tier_that_hangs_leaves_time_for_the_texts() -> None:
    tiers = tiers_with(candidates([1, 2]))
    tiers.notes.method("search").answer = NEVER
    recalled = await recall(tiers, deadline_seconds=0.4)
    assert numbers(recalled) == [1, 2]
    states = {report.tier: report.state for report in recalled.reports}
    assert states[Tier.AGENTIC] is TierState.FAILED
    (timeout,) = tiers.notes.method("search").timeouts
    assert timeout <= 0.4 * 0.7


# ------------------------------------------------------------------------------------------------ quarantine


async def test_spec_5_3_a_fact_that_the_reader_must_not_see_lifts_no_turn() -> None:
    tiers = tiers_with(candidates([1, 2], dense=[0.9, 0.1]))
    boost = replace(QUERY, scoring=ScoringChoice(Profile.PLAIN, {"facts": 100.0}))
    tiers.facts.method("search_candidates").answer = facts_answer([fact_hit("f", 2, scope=SECRET)])
    recalled = await recall(tiers, boost)
    assert numbers(recalled) == [1, 2]
    assert [memory.fact_ids for memory in recalled.memories] == [(), ()]
    assert numbers(await recall(tiers, replace(boost, scope=SECRET))) == [2, 1]


async def test_spec_5_3_a_note_that_the_reader_must_not_see_lifts_no_turn() -> None:
    tiers = tiers_with(candidates([1, 2], dense=[0.9, 0.1]))
    boost = replace(QUERY, scoring=ScoringChoice(Profile.PLAIN, {"notes": 100.0}))
    tiers.notes.method("search").answer = notes_pb2.SearchNotesResponse(hits=[note_hit("n", 2, scope=SECRET)])
    assert numbers(await recall(tiers, boost)) == [1, 2]
    assert numbers(await recall(tiers, replace(boost, scope=SECRET))) == [2, 1]


# --------------------------------------------------------------------------------------------- fusion, fetch


async def test_spec_5_4_candidates_are_ranked_by_all_lanes_and_not_in_the_order_of_the_tier() -> None:
    response = candidates([4, 3, 2, 1], dense=[0.1, 0.5, 0.5, 0.5], lexical=[0.0, 9.0, 0.0, 0.0])
    recalled = await recall(tiers_with(response), replace(QUERY, limit=3))
    assert numbers(recalled) == [3, 1, 2]  # words and meaning, then meaning alone, ties by id
    scores = [memory.ranked.score for memory in recalled.memories]
    assert scores[0] > scores[1] == scores[2]


async def test_spec_5_1_only_the_texts_of_the_best_are_read() -> None:
    tiers = tiers_with(candidates([1, 2, 3, 4, 5], dense=[0.1, 0.2, 0.3, 0.4, 0.5]))
    none_beyond = ConflictResolution(ConflictSettings(candidates=0))
    recalled = await recall(tiers, replace(QUERY, limit=2), conflicts=none_beyond)
    (request,) = tiers.episodic.method("batch_get").requests
    assert list(request.episode_ids) == [uuid(5), uuid(4)]
    assert [memory.episode.query for memory in recalled.memories] == ["text 5", "text 4"]


async def test_spec_5_7_conflicts_are_settled_among_more_turns_than_are_asked_for() -> None:
    tiers = tiers_with(candidates([1, 2, 3], dense=[0.9, 0.8, 0.1]))
    said = [episode(1, "I live in Leeds."), episode(2, "Hello!"), episode(3, "I live in Lyon.")]
    said[2].time.CopyFrom(timestamp(NOON + timedelta(days=1)))
    tiers.episodic.method("batch_get").answer = episodic_pb2.BatchGetEpisodesResponse(episodes=said)
    marked = await recall(tiers, replace(QUERY, limit=2))
    assert numbers(marked) == [3, 1]
    assert marked.superseded_by == {uuid(1): uuid(3)}
    dropped = await recall(tiers, replace(QUERY, limit=2, conflicts=ConflictChoice(drops_superseded=True)))
    assert numbers(dropped) == [3, 2]


# -------------------------------------------------------------------------------------------------- assemble


async def test_spec_5_10_uses_are_counted_of_what_is_in_the_answer_alone() -> None:
    tiers = tiers_with(candidates([1, 2, 3], dense=[0.9, 0.8, 0.7]), hidden=[2])
    access = AccessRecorder(tiers.upstream(), queue_max=10)
    async with BackgroundWork[str]("test") as background:
        background.keep_running("access", access.run)
        recalled = await recall(tiers, replace(QUERY, limit=1), access=access)
        await tiers.episodic.method("record_access").until_asked(1)
    (request,) = tiers.episodic.method("record_access").requests
    assert numbers(recalled) == [1]
    assert list(request.episode_ids) == [uuid(1)]


async def test_spec_5_10_a_memory_names_what_was_made_of_it_and_is_in_the_answer() -> None:
    tiers = tiers_with(candidates([1, 2]))
    facts = [fact_hit("f1", 1, 2), fact_hit("f2", 2), fact_hit("hidden", 1, scope=SECRET)]
    tiers.facts.method("search_candidates").answer = facts_answer(facts)
    tiers.notes.method("search").answer = notes_pb2.SearchNotesResponse(hits=[note_hit("n", 2), note_hit("m", 9)])
    recalled = await recall(tiers)
    made = {memory.ranked.episode_id: (memory.fact_ids, memory.note_ids) for memory in recalled.memories}
    assert made == {uuid(1): (("f1",), ()), uuid(2): (("f1", "f2"), ("n",))}

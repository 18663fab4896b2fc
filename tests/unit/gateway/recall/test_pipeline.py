"""A recall from end to end, on tiers that answer or fail as told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.internal.v1 import semantic_pb2
from services.common.embedding.vectors import Vector
from services.common.errors import DeadlineExceeded, MnemeError, StoreUnavailable
from services.common.scope import Scope, ScopeLevel
from services.gateway.grants.model import Grant, MemoryKind
from services.gateway.grants.service import ReaderGrants
from services.gateway.journal.dispatcher import Dispatcher
from services.gateway.journal.model import DeliveryState, SequenceSpan, Tier
from services.gateway.recall.choices import ConflictChoice
from services.gateway.recall.model import Recalled, RecallQuery, TierState
from services.gateway.recall.pipeline import RecallPipeline, Stages
from services.gateway.recall.question.speakers import SpeakerNames
from services.gateway.recall.ranking.evidence import EvidenceWeights
from services.gateway.recall.settings import RecallSettings
from services.gateway.recall.stages.access import AccessRecorder
from services.gateway.recall.stages.catalog import STAGES
from services.gateway.recall.stages.coarse_search import CoarseSearch
from services.gateway.recall.stages.consistency import ConsistencyWait
from services.gateway.recall.stages.fetch import Fetch
from services.gateway.recall.stages.fusion import DerivedWeights, Fusion
from services.gateway.recall.stages.profile import CachedProfiles, ProfileStage
from tests.support.clock import FakeClock, SequentialIds
from tests.support.embedding import HashingEmbedder
from tests.unit.gateway.tiers import (
    ADA,
    NEVER,
    NOON,
    Answer,
    FakeClient,
    FakeJournal,
    FakeTiers,
    candidates,
    episode,
    fact_hit,
    facts_answer,
    sessions,
    uuid,
)

QUERY = RecallQuery("ada", "Where does Ada live?", 10, NOON)
SPAN = SequenceSpan(4, 9)


def answering_tiers() -> FakeTiers:
    tiers = FakeTiers()
    tiers.episodic.method("search_candidates").answer = candidates([1, 2, 3], dense=[0.9, 0.5, 0.1])
    episodes = [episode(number, f"text {number}") for number in (1, 2, 3)]
    tiers.episodic.method("batch_get").answer = episodic_pb2.BatchGetEpisodesResponse(episodes=episodes)
    tiers.facts.method("search_candidates").answer = facts_answer([fact_hit("f", 2)])
    return tiers


def make_stages(tiers: FakeTiers, journal: FakeJournal) -> Stages:
    upstream, log = tiers.upstream(), journal.as_journal()
    return Stages(
        consistency=ConsistencyWait(log, Dispatcher(queue=log, sinks={}, clock=FakeClock(NOON))),
        speakers=SpeakerNames(log, keep_seconds=5.0),
        embedder=HashingEmbedder(),
        coarse=CoarseSearch(upstream, sessions(tiers, journal), RecallSettings()),
        fusion=Fusion(EvidenceWeights(), DerivedWeights()),
        fetch=Fetch(upstream, RecallSettings()),
        access=AccessRecorder(upstream, queue_max=10),
    )


def pipeline(
    tiers: FakeTiers,
    journal: FakeJournal | None = None,
    embedder: HashingEmbedder | None = None,
    grants: ReaderGrants | None = None,
) -> RecallPipeline:
    stages = make_stages(tiers, journal or FakeJournal(names=["Ada"]))
    stages = replace(stages, embedder=embedder or stages.embedder)
    stages = replace(stages, grants=grants or stages.grants)
    return RecallPipeline(stages, ids=SequentialIds("recall-"), settings=RecallSettings())


def with_profile(tiers: FakeTiers, journal: FakeJournal) -> RecallPipeline:
    reader = CachedProfiles(tiers.upstream(), journal.as_journal(), RecallSettings())
    stages = replace(make_stages(tiers, journal), profile=ProfileStage(reader))
    return RecallPipeline(stages, ids=SequentialIds("recall-"), settings=RecallSettings())


async def recall(
    tiers: FakeTiers,
    query: RecallQuery = QUERY,
    *,
    journal: FakeJournal | None = None,
    deadline_seconds: float = 5.0,
) -> Recalled:
    return await pipeline(tiers, journal).run(ADA, query, deadline_seconds=deadline_seconds)


def memory_ids(recalled: Recalled) -> list[str]:
    return [memory.ranked.episode_id for memory in recalled.memories]


async def test_the_best_turns_come_with_their_text_and_what_was_made_of_them() -> None:
    recalled = await recall(answering_tiers(), replace(QUERY, limit=2))
    assert [(m.episode.query, m.fact_ids) for m in recalled.memories] == [("text 1", ()), ("text 2", ("f",))]
    assert recalled.recall_id == "recall-000001"
    assert recalled.reading.embedded_query == "Where does I live?"
    assert recalled.reading.speakers == ("Ada",)
    assert not recalled.is_degraded


async def test_spec_5_1_the_question_is_embedded_once_in_the_first_person() -> None:
    embedder = HashingEmbedder()
    await pipeline(answering_tiers(), embedder=embedder).run(ADA, QUERY, deadline_seconds=5.0)
    assert embedder.queries == ["Where does I live?"]


async def test_spec_5_1_the_stages_of_a_recall_are_those_that_are_described() -> None:
    tiers, journal = answering_tiers(), FakeJournal(names=["Ada"])
    tiers.profile.method("for_reading").answer = semantic_pb2.GetReadingProfileResponse(excluded_sources=["Blog"])
    with_token = await with_profile(tiers, journal).run(ADA, replace(QUERY, written=SPAN), deadline_seconds=5.0)
    assert [name for name, _ in with_token.stage_seconds] == [stage.name for stage in STAGES]
    without = await recall(answering_tiers())
    assert [name for name, _ in without.stage_seconds] == [s.name for s in STAGES if not s.is_skippable]
    assert all(seconds >= 0 for _, seconds in with_token.stage_seconds)


async def test_spec_3_10_a_profile_that_cannot_be_read_degrades_the_answer() -> None:
    tiers, journal = answering_tiers(), FakeJournal(names=["Ada"])
    tiers.profile.method("for_reading").answer = StoreUnavailable("profile")
    recalled = await with_profile(tiers, journal).run(ADA, QUERY, deadline_seconds=5.0)
    assert len(recalled.memories) == 3
    assert recalled.is_degraded
    assert recalled.reading.applied_profile is None


DOWN: Answer = StoreUnavailable("tier")
LATE: Answer = DeadlineExceeded("late")


def failing_tiers(answer: Answer) -> FakeTiers:
    return FakeTiers(
        session=FakeClient(get=answer),
        episodic=FakeClient(search_candidates=answer),
        facts=FakeClient(search_candidates=answer),
        notes=FakeClient(search=answer),
    )


async def test_spec_5_10_only_when_all_tiers_fail_does_the_recall_fail() -> None:
    with pytest.raises(StoreUnavailable):
        await recall(failing_tiers(DOWN))
    tiers = failing_tiers(DOWN)
    tiers.facts.method("search_candidates").answer = facts_answer([fact_hit("f")])
    recalled = await recall(tiers)
    assert recalled.is_degraded
    assert recalled.memories == ()
    assert len(recalled.facts) == 1


async def test_spec_5_10_all_tiers_too_late_is_told_as_such() -> None:
    with pytest.raises(DeadlineExceeded):
        await recall(failing_tiers(LATE))
    with pytest.raises(DeadlineExceeded):
        await recall(failing_tiers(NEVER), deadline_seconds=0.05)


async def test_spec_5_10_a_tier_that_fails_only_when_texts_are_read_is_reported() -> None:
    tiers = answering_tiers()
    tiers.episodic.method("batch_get").answer = StoreUnavailable("episodic")
    recalled = await recall(tiers)
    assert recalled.is_degraded
    assert recalled.memories == ()
    assert len(recalled.facts) == 1
    (report,) = [report for report in recalled.reports if report.tier is Tier.EPISODIC]
    assert (report.state, report.reason) == (TierState.FAILED, "STORE_UNAVAILABLE")


async def test_spec_5_10_texts_that_are_not_read_in_time_are_reported() -> None:
    tiers = answering_tiers()
    tiers.episodic.method("batch_get").answer = NEVER
    recalled = await recall(tiers, deadline_seconds=0.2)
    (report,) = [report for report in recalled.reports if report.tier is Tier.EPISODIC]
    assert (report.state, report.reason) == (TierState.FAILED, "DEADLINE_EXCEEDED")


async def test_a_question_that_cannot_be_embedded_in_time_fails() -> None:
    class BusyEmbedder(HashingEmbedder):
        async def embed_query(self, text: str) -> Vector:
            await asyncio.Event().wait()
            return await super().embed_query(text)

    with pytest.raises(DeadlineExceeded):
        await pipeline(answering_tiers(), embedder=BusyEmbedder()).run(ADA, QUERY, deadline_seconds=0.02)


async def test_spec_5_11_without_a_token_nothing_is_waited_for() -> None:
    journal = FakeJournal(state=DeliveryState.PENDING)
    recalled = await recall(answering_tiers(), journal=journal)
    assert recalled.is_consistent is None
    assert not recalled.is_degraded
    assert journal.asked == [("acme", "ada")]  # the speakers alone


async def test_spec_5_11_what_is_delivered_is_consistent() -> None:
    journal = FakeJournal()
    recalled = await recall(answering_tiers(), replace(QUERY, written=SPAN), journal=journal)
    assert recalled.is_consistent is True
    assert not recalled.is_degraded
    # Sessions are written before the acknowledgement: there is nothing to wait for.
    assert journal.asked[0] == ("acme", SPAN, (Tier.EPISODIC, Tier.SEMANTIC, Tier.AGENTIC))


async def test_spec_5_11_what_does_not_arrive_in_time_is_told_and_the_rest_still_answers() -> None:
    journal = FakeJournal(state=DeliveryState.PENDING)
    query = replace(QUERY, written=SPAN)
    recalled = await recall(answering_tiers(), query, journal=journal, deadline_seconds=0.3)
    assert recalled.is_consistent is False
    assert recalled.is_degraded
    assert len(recalled.memories) == 3


async def test_spec_5_11_a_delivery_that_was_given_up_is_never_consistent() -> None:
    journal = FakeJournal(state=DeliveryState.GIVEN_UP)
    recalled = await recall(answering_tiers(), replace(QUERY, written=SPAN), journal=journal)
    assert recalled.is_consistent is False
    assert recalled.is_degraded
    assert len(journal.asked) == 2  # not waited for: it never comes


async def test_spec_5_11_only_the_tiers_that_are_asked_are_waited_for() -> None:
    journal = FakeJournal()
    await recall(answering_tiers(), replace(QUERY, written=SPAN, tiers=(Tier.SEMANTIC,)), journal=journal)
    assert journal.asked[0][2] == (Tier.SEMANTIC,)


async def test_spec_5_3_a_turn_outside_of_the_readers_scope_is_dropped_when_its_text_is_read() -> None:
    tiers = answering_tiers()
    hidden = episode(2, scope=Scope(ScopeLevel.PROJECT, "secret"))
    tiers.episodic.method("batch_get").answer = episodic_pb2.BatchGetEpisodesResponse(episodes=[episode(1), hidden])
    assert memory_ids(await recall(tiers)) == [uuid(1)]


async def test_turns_that_are_gone_meanwhile_are_left_out() -> None:
    tiers = answering_tiers()
    tiers.episodic.method("batch_get").answer = episodic_pb2.BatchGetEpisodesResponse(episodes=[episode(3)])
    assert memory_ids(await recall(tiers)) == [uuid(3)]


async def test_a_fault_of_a_stage_is_not_hidden() -> None:
    class BrokenJournal(FakeJournal):
        async def speakers(self, tenant_id: str, user_id: str) -> Sequence[str]:
            await super().speakers(tenant_id, user_id)
            raise MnemeError("internal error")

    with pytest.raises(MnemeError):
        await recall(answering_tiers(), journal=BrokenJournal())


@pytest.mark.parametrize("failure", [StoreUnavailable("gateway"), DeadlineExceeded("late"), None])
async def test_spec_5_10_without_the_speakers_names_the_tiers_still_answer(failure: MnemeError | None) -> None:
    class UnreachableJournal(FakeJournal):
        async def speakers(self, tenant_id: str, user_id: str) -> Sequence[str]:
            await super().speakers(tenant_id, user_id)
            if failure is not None:
                raise failure
            await asyncio.Event().wait()
            return ()

    recalled = await recall(answering_tiers(), journal=UnreachableJournal(), deadline_seconds=0.3)
    assert len(recalled.memories) == 3
    assert recalled.is_degraded
    assert recalled.reading.embedded_query == QUERY.text
    assert all(report.state is not TierState.FAILED for report in recalled.reports)


@pytest.mark.parametrize("failure", [StoreUnavailable("gateway"), DeadlineExceeded("late"), None])
async def test_spec_5_11_without_the_journal_the_tiers_still_answer_and_may_lack_the_write(
    failure: MnemeError | None,
) -> None:
    class UnreachableJournal(FakeJournal):
        async def delivery_state(self, tenant_id: str, span: SequenceSpan, tiers: Sequence[Tier]) -> DeliveryState:
            await super().delivery_state(tenant_id, span, tiers)
            if failure is not None:
                raise failure
            await asyncio.Event().wait()
            return DeliveryState.DELIVERED

    query = replace(QUERY, written=SPAN)
    recalled = await recall(answering_tiers(), query, journal=UnreachableJournal(), deadline_seconds=0.4)
    assert len(recalled.memories) == 3
    assert recalled.is_consistent is False
    assert recalled.is_degraded


class TellsGrants:
    """Grants as told, or why they cannot be."""

    def __init__(self, answer: tuple[Grant, ...] | MnemeError) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str, Scope]] = []

    async def to(self, tenant_id: str, user_id: str, reader: Scope) -> tuple[Grant, ...]:
        self.asked.append((tenant_id, user_id, reader))
        if isinstance(self.answer, MnemeError):
            raise self.answer
        return self.answer


async def test_spec_5_3_grants_reach_every_tier_by_kind_and_the_check_of_the_answer() -> None:
    project, session = Scope(ScopeLevel.PROJECT, "p1"), Scope(ScopeLevel.SESSION, "p1", "s1")
    grants = TellsGrants(
        (
            Grant(uuid(1), "ada", project, Scope(), (MemoryKind.FACT, MemoryKind.EPISODE), NOON, None, "agent"),
            Grant(uuid(2), "ada", session, Scope(), (MemoryKind.NOTE,), NOON, None, "agent"),
        )
    )
    tiers = answering_tiers()
    tiers.episodic.method("batch_get").answer = episodic_pb2.BatchGetEpisodesResponse(
        episodes=[episode(1, "granted", scope=project), episode(2, "hidden", scope=session)]
    )
    hits = [fact_hit("granted", scope=project), fact_hit("hidden", scope=session)]
    tiers.facts.method("search_candidates").answer = facts_answer(hits)
    recalled = await pipeline(tiers, grants=grants).run(ADA, QUERY, deadline_seconds=5.0)
    assert grants.asked == [("acme", "ada", Scope())]
    assert [memory.episode.query for memory in recalled.memories] == ["granted"]
    assert [hit.fact.fact_id for hit in recalled.facts] == ["granted"]
    asked = [
        tiers.episodic.method("search_candidates"),
        tiers.facts.method("search_candidates"),
        tiers.notes.method("search"),
    ]
    assert [m.principals[0].granted_scopes for m in asked] == [(project.key,), (project.key,), (session.key,)]
    assert not recalled.is_degraded


async def test_spec_5_3_grants_that_cannot_be_read_are_not_used_and_that_is_told() -> None:
    grants = TellsGrants(StoreUnavailable("postgres"))
    tiers = answering_tiers()
    recalled = await pipeline(tiers, grants=grants).run(ADA, QUERY, deadline_seconds=5.0)
    assert recalled.is_degraded
    assert recalled.memories
    assert not tiers.facts.method("search_candidates").principals[0].granted_scopes
    assert [name for name, _ in recalled.stage_reasons] == ["grants"]


async def test_spec_5_7_a_recall_settles_what_its_turns_contradict() -> None:
    tiers = answering_tiers()
    texts = ["I like coffee.", "Hello!", "I don't like coffee any more."]
    said = [episode(number, text) for number, text in enumerate(texts, 1)]
    said[2].time.FromDatetime(NOON + timedelta(days=1))
    tiers.episodic.method("batch_get").answer = episodic_pb2.BatchGetEpisodesResponse(episodes=said)
    recalled = await recall(tiers)
    assert memory_ids(recalled) == [uuid(3), uuid(1), uuid(2)]
    assert recalled.superseded_by == {uuid(1): uuid(3)}
    dropping = replace(QUERY, conflicts=ConflictChoice(drops_superseded=True))
    assert memory_ids(await recall(tiers, dropping)) == [uuid(3), uuid(2)]

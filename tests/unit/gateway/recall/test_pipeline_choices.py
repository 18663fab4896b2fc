"""What a recall does with the task it is for, with learned rewritings, and with the chosen ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from mneme.agentic.internal.v1 import notes_pb2
from mneme.episodic.v1 import episodic_pb2
from services.common.errors import StoreUnavailable
from services.gateway.journal.dispatcher import Dispatcher
from services.gateway.journal.model import Tier
from services.gateway.recall.choices import Profile, ScoringChoice, TaskType
from services.gateway.recall.model import Recalled, RecallQuery, TierState
from services.gateway.recall.patterns import Pattern, Patterns
from services.gateway.recall.pipeline import RecallPipeline, Stages
from services.gateway.recall.question.speakers import SpeakerNames
from services.gateway.recall.question.task_types import IntentClassifier
from services.gateway.recall.ranking.evidence import EvidenceWeights
from services.gateway.recall.settings import RecallSettings
from services.gateway.recall.stages.access import AccessRecorder
from services.gateway.recall.stages.coarse_search import CoarseSearch
from services.gateway.recall.stages.consistency import ConsistencyWait
from services.gateway.recall.stages.fetch import Fetch
from services.gateway.recall.stages.fusion import DerivedWeights, Fusion
from services.gateway.recall.stages.loadout import ClassifiedUse, Loadout, LoadoutSettings
from services.gateway.recall.stages.rewriting import Rewriting
from tests.support.clock import FakeClock, SequentialIds
from tests.support.embedding import HashingEmbedder
from tests.unit.gateway.tiers import (
    ADA,
    NOON,
    FakeJournal,
    FakeTiers,
    candidates,
    episode,
    fact_hit,
    facts_answer,
    note_hit,
    sessions,
)

QUERY = RecallQuery("ada", "Why does the ML crash?", 10, NOON)
EXAMPLES = {TaskType.FACTUAL: ("where who",), TaskType.DEBUGGING: ("why does it crash",)}
ML = Pattern("ML", "model of last week", 1.0)


def full_tiers() -> FakeTiers:
    tiers = FakeTiers()
    response = candidates([1, 2], dense=[0.9, 0.7])
    response.access_counts.extend([0, 9])
    response.last_access_times.extend([0.0, NOON.timestamp()])
    response.confidences.extend([-1.0, -1.0])
    response.decay_factors.extend([0.1, 1.0])
    tiers.episodic.method("search_candidates").answer = response
    episodes = [episode(number, f"text {number}") for number in (1, 2)]
    tiers.episodic.method("batch_get").answer = episodic_pb2.BatchGetEpisodesResponse(episodes=episodes)
    tiers.facts.method("search_candidates").answer = facts_answer([fact_hit("f")])
    tiers.notes.method("search").answer = notes_pb2.SearchNotesResponse(hits=[note_hit("n")])
    return tiers


async def recall(
    tiers: FakeTiers,
    query: RecallQuery = QUERY,
    *,
    rewriting: Rewriting | None = None,
    loadout: LoadoutSettings | None = None,
    names: Sequence[str] = (),
) -> Recalled:
    journal, settings, embedder = FakeJournal(names=names), RecallSettings(), HashingEmbedder()
    upstream = tiers.upstream()
    classifier = IntentClassifier(embedder, examples=EXAMPLES)
    await classifier.prepare()
    stages = Stages(
        consistency=ConsistencyWait(
            journal.as_journal(), Dispatcher(queue=journal.as_journal(), sinks={}, clock=FakeClock(NOON))
        ),
        speakers=SpeakerNames(journal.as_journal(), keep_seconds=5.0),
        embedder=embedder,
        coarse=CoarseSearch(upstream, sessions(tiers, journal), settings),
        fusion=Fusion(EvidenceWeights(), DerivedWeights()),
        fetch=Fetch(upstream, settings),
        access=AccessRecorder(upstream, queue_max=10),
        rewriting=rewriting or Rewriting(),
        loadout=Loadout(classifier, loadout),
    )
    return await RecallPipeline(stages, ids=SequentialIds("recall-"), settings=settings).run(
        ADA, query, deadline_seconds=5.0
    )


def asked(tiers: FakeTiers) -> dict[Tier, Any]:
    """The first request to each tier."""
    methods = {
        Tier.EPISODIC: tiers.episodic.method("search_candidates"),
        Tier.SEMANTIC: tiers.facts.method("search_candidates"),
        Tier.AGENTIC: tiers.notes.method("search"),
    }
    return {tier: method.requests[0] for tier, method in methods.items() if method.requests}


async def test_spec_5_2_tiers_that_a_given_type_does_not_need_are_reported_as_skipped() -> None:
    tiers = full_tiers()
    found = await recall(tiers, replace(QUERY, task_type=TaskType.FACTUAL))
    assert asked(tiers).keys() == {Tier.SEMANTIC}
    reports = {report.tier: report for report in found.reports}
    assert reports[Tier.SEMANTIC].state is TierState.RESPONDED
    for tier in (Tier.EPISODIC, Tier.AGENTIC):
        assert reports[tier].state is TierState.SKIPPED
        assert reports[tier].reason == "not needed for the task type factual"
    assert (found.memories, len(found.facts), found.is_degraded) == ((), 1, False)
    reading = found.reading
    assert (reading.task_type, reading.task_type_confidence, reading.task_type_given) == (
        TaskType.FACTUAL,
        1.0,
        True,
    )


async def test_spec_5_2_when_all_that_a_type_needs_fails_the_recall_fails() -> None:
    tiers = full_tiers()
    tiers.facts.method("search_candidates").answer = StoreUnavailable("semantic")
    with pytest.raises(StoreUnavailable):
        await recall(tiers, replace(QUERY, task_type=TaskType.FACTUAL))


async def test_spec_5_2_a_question_is_classified_and_loses_nothing_by_it() -> None:
    tiers = full_tiers()
    found = await recall(tiers)
    reading = found.reading
    assert (reading.task_type, reading.task_type_given) == (TaskType.DEBUGGING, False)
    assert 0.7 < reading.task_type_confidence <= 1.0
    requests = asked(tiers)
    assert requests.keys() == {Tier.EPISODIC, Tier.SEMANTIC, Tier.AGENTIC}
    assert (requests[Tier.SEMANTIC].search.limit, requests[Tier.AGENTIC].limit) == (15, 15)
    assert [memory.episode.query for memory in found.memories] == ["text 1", "text 2"]


async def test_spec_5_2_a_service_may_let_the_tiers_of_a_classified_type_give_more() -> None:
    tiers = full_tiers()
    await recall(tiers, loadout=LoadoutSettings(classified=ClassifiedUse.FAVOUR))
    requests = asked(tiers)  # debugging needs notes, and no facts
    assert (requests[Tier.SEMANTIC].search.limit, requests[Tier.AGENTIC].limit) == (15, 20)


async def test_spec_5_2_a_service_may_let_a_classified_type_skip_tiers() -> None:
    tiers = full_tiers()
    await recall(tiers, loadout=LoadoutSettings(classified=ClassifiedUse.SKIP))
    assert asked(tiers).keys() == {Tier.EPISODIC, Tier.AGENTIC}


async def test_spec_5_1_a_learned_rewriting_changes_the_question_that_is_asked() -> None:
    tiers = full_tiers()
    found = await recall(tiers, rewriting=Rewriting(Patterns.of([ML])))
    assert asked(tiers)[Tier.EPISODIC].query == "Why does the model of last week crash?"
    expected = HashingEmbedder().vector("Why does the model of last week crash?").tolist()
    assert list(asked(tiers)[Tier.EPISODIC].query_vector.values) == pytest.approx(expected)
    reading = found.reading
    assert reading.rewritten_query == reading.embedded_query == "Why does the model of last week crash?"
    assert len(reading.time_ranges) == 1  # it is read anew


async def test_spec_5_1_a_rewritten_question_is_put_into_the_first_person_like_any_other() -> None:
    nickname = Pattern("Addie", "Ada", 1.0)
    found = await recall(
        full_tiers(),
        replace(QUERY, text="Where does Addie live?"),
        rewriting=Rewriting(Patterns.of([nickname])),
        names=("Ada",),
    )
    assert found.reading.speakers == ("Ada",)
    assert found.reading.rewritten_query == "Where does Ada live?"
    assert found.reading.embedded_query == "Where does I live?"


async def test_a_question_that_is_not_rewritten_is_not_told_to_be() -> None:
    found = await recall(full_tiers(), replace(QUERY, text=" What is new? "))
    assert found.reading.rewritten_query == ""


@pytest.mark.parametrize("profile", Profile)
async def test_spec_5_6_the_chosen_profile_ranks(profile: Profile) -> None:
    tiers = full_tiers()
    found = await recall(tiers, replace(QUERY, scoring=ScoringChoice(profile)))
    uses_statistics = profile in {Profile.BALANCED, Profile.ASSISTANT, Profile.INTERACTION}
    assert asked(tiers)[Tier.EPISODIC].with_statistics == uses_statistics
    best = "text 2" if uses_statistics else "text 1"  # the second is less similar, but used often and not faded
    assert found.memories[0].episode.query == best
    for memory in found.memories:
        assert memory.ranked.score == pytest.approx(sum(value for _, value in memory.ranked.parts), abs=1e-5)


async def test_spec_5_6_weights_of_the_request_rank() -> None:
    scoring = ScoringChoice(Profile.BALANCED, {"access": 0.0})
    found = await recall(full_tiers(), replace(QUERY, scoring=scoring))
    assert [memory.episode.query for memory in found.memories] == ["text 1", "text 2"]

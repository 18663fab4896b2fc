"""How facts and notes are ranked, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from mneme.agentic.v1 import notes_pb2
from mneme.gateway.v1 import recall_pb2
from mneme.semantic.v1 import facts_pb2
from mneme_client.from_wire_recall import recalled_note
from mneme_client.from_wire_resources import scored_note
from services.common.convert import timestamp
from services.gateway.convert import _add_hits
from services.gateway.recall.choices import Profile, ScoringChoice
from services.gateway.recall.question.reading import read_question
from services.gateway.recall.ranking.derived import LINKS, SIMILARITY, TIME, DerivedRanking
from services.gateway.recall.ranking.evidence import EvidenceWeights
from services.gateway.recall.ranking.profiles import Profiles, ProfileSettings
from services.gateway.recall.stages.fusion import DerivedWeights, Fusion
from tests.unit.gateway.tiers import NOON, fact_hit, note_hit

RANKING: DerivedRanking = Fusion(EvidenceWeights(), DerivedWeights()).derived
QUESTION = read_question("what happened", (), NOON)
FORMULAS = [Profile.BALANCED, Profile.ASSISTANT, Profile.NARRATIVE, Profile.INTERACTION]


def fact(name: str, similarity: float, *, days: int = 0, importance: float = 0.5) -> facts_pb2.ScoredFact:
    said = timestamp(NOON - timedelta(days=days))
    hit = fact_hit(name, importance=importance, last_confirmed_time=said, first_observed_time=said, confidence=0.8)
    hit.similarity = similarity
    return hit


def note(name: str, score: float, *, days: int = 0, uses: int = 0) -> notes_pb2.ScoredNote:
    hit = note_hit(name)
    hit.score = hit.similarity = score
    hit.note.importance = 0.5
    hit.note.time.CopyFrom(timestamp(NOON - timedelta(days=days)))
    hit.note.access_count = uses
    return hit


@pytest.mark.parametrize("profile", [Profile.EVIDENCE, Profile.LIGHT, Profile.PLAIN])
def test_spec_5_10_by_evidence_facts_and_notes_keep_the_order_of_their_tier_and_say_why(profile: Profile) -> None:
    facts = RANKING.facts([fact("a", 0.9), fact("b", 0.4)], QUESTION, ScoringChoice(profile), now=NOON)
    assert [(f.memory_id, f.score, f.retriever.rank, f.parts) for f in facts] == [
        ("a", 0.9, 1, ((SIMILARITY, 0.9),)),
        ("b", 0.4, 2, ((SIMILARITY, 0.4),)),
    ]
    reached = note("n", 0.6)
    reached.similarity = 0.1
    reached.path.add()
    (found,) = RANKING.notes([reached], QUESTION, ScoringChoice(profile), now=NOON)
    assert (found.score, dict(found.parts)) == (0.6, {SIMILARITY: 0.1, LINKS: pytest.approx(0.5)})
    assert len(found.path) == 1


@pytest.mark.parametrize("profile", [Profile.EVIDENCE, Profile.BALANCED])
def test_spec_4_1_the_attachment_that_matched_reaches_the_caller(profile: Profile) -> None:
    by_caption = note("n", 0.6)
    by_caption.matched_attachment = 0
    found = RANKING.notes([by_caption, note("m", 0.5)], QUESTION, ScoringChoice(profile), now=NOON)
    message = recall_pb2.TierResult()
    _add_hits(message, [], (), found)
    assert [recalled_note(each).matched_attachment for each in message.notes] == [0, None]
    assert [scored_note(each).matched_attachment for each in (by_caption, note("m", 0.5))] == [0, None]


@pytest.mark.parametrize("profile", FORMULAS)
def test_spec_5_6_facts_and_notes_are_scored_by_the_formula_of_the_profile(profile: Profile) -> None:
    choice = ScoringChoice(profile)
    facts = RANKING.facts([fact("old", 0.51, days=2_000), fact("new", 0.5)], QUESTION, choice, now=NOON)
    notes = RANKING.notes([note("old", 0.51, days=2_000), note("new", 0.5)], QUESTION, choice, now=NOON)
    for hits in (facts, notes):
        assert [hit.memory_id for hit in hits] == ["new", "old"]
        assert [hit.retriever.rank for hit in hits] == [2, 1]
        for hit in hits:
            assert hit.score == pytest.approx(sum(value for _, value in hit.parts))


@pytest.mark.parametrize("profile", [Profile.BALANCED, Profile.ASSISTANT, Profile.NARRATIVE])
def test_spec_5_6_the_importance_of_a_fact_reaches_the_formula(profile: Profile) -> None:
    hits = [fact("little", 0.5, importance=0.1), fact("much", 0.5, importance=0.9)]
    ranked = RANKING.facts(hits, QUESTION, ScoringChoice(profile), now=NOON)
    assert [found.memory_id for found in ranked] == ["much", "little"]


def test_spec_3_4_a_fact_counts_by_the_confidence_that_decay_has_left() -> None:
    faded, fresh = fact("faded", 0.5), fact("fresh", 0.5)
    faded.current_confidence = 0.3
    ranked = RANKING.facts([faded, fresh], QUESTION, ScoringChoice(Profile.BALANCED), now=NOON)
    assert [(found.memory_id, found.confidence) for found in ranked] == [("fresh", 0.8), ("faded", 0.3)]
    assert ranked[1].score == pytest.approx(ranked[0].score * 0.3 / 0.8)


def test_spec_5_6_the_scale_of_hyperbolic_decay_is_a_setting() -> None:
    choice = ScoringChoice(Profile.INTERACTION)
    settings = ProfileSettings()
    short = DerivedRanking(Profiles({}, replace(settings, decay=replace(settings.decay, scale_days=10.0))))
    for ranked in (
        short.facts([fact("a", 0.5, days=10)], QUESTION, choice, now=NOON),
        short.notes([note("a", 0.5, days=10)], QUESTION, choice, now=NOON),
    ):
        assert [found.score for found in ranked] == pytest.approx([0.25])


def test_spec_5_6_notes_that_are_used_often_rank_higher() -> None:
    hits = [note("never", 0.5, days=3), note("often", 0.5, days=3, uses=10)]
    ranked = RANKING.notes(hits, QUESTION, ScoringChoice(Profile.BALANCED), now=NOON)
    assert [found.memory_id for found in ranked] == ["often", "never"]


def test_spec_5_5_times_that_the_question_names_count_for_facts_and_notes() -> None:
    asked = read_question("What happened in May 2025?", (), NOON)
    may = (NOON.replace(year=2025, month=5, day=10) - NOON).days
    choice = ScoringChoice(Profile.NARRATIVE)
    facts = RANKING.facts([fact("now", 0.5), fact("then", 0.5, days=-may)], asked, choice, now=NOON)
    notes = RANKING.notes([note("now", 0.5), note("then", 0.5, days=-may)], asked, choice, now=NOON)
    for hits in (facts, notes):
        parts = {hit.memory_id: dict(hit.parts) for hit in hits}
        assert parts["then"]["time"] > parts["now"].get("time", 0.0) + 0.2


@pytest.mark.parametrize("profile", [Profile.EVIDENCE, Profile.LIGHT, Profile.PLAIN])
def test_spec_5_5_times_in_the_question_move_facts_and_notes_where_evidence_ranks(profile: Profile) -> None:
    asked = read_question("What happened in May 2025?", (), NOON)
    may = (NOON.replace(year=2025, month=5, day=10) - NOON).days
    choice = ScoringChoice(profile)
    facts = RANKING.facts([fact("now", 0.5), fact("then", 0.45, days=-may)], asked, choice, now=NOON)
    notes = RANKING.notes([note("now", 0.5), note("then", 0.45, days=-may)], asked, choice, now=NOON)
    for hits in (facts, notes):
        assert [hit.memory_id for hit in hits] == ["then", "now"]
        assert [hit.retriever.rank for hit in hits] == [2, 1]
        assert dict(hits[0].parts) == {SIMILARITY: 0.45, TIME: pytest.approx(0.15)}
    without = ScoringChoice(profile, weights={"time": 0.0})
    assert [
        f.memory_id for f in RANKING.facts([fact("now", 0.5), fact("then", 0.45, days=-may)], asked, without, now=NOON)
    ] == [
        "now",
        "then",
    ]
    clear = RANKING.facts([fact("now", 0.9), fact("then", 0.4, days=-may)], asked, choice, now=NOON)
    assert [found.memory_id for found in clear] == ["now", "then"]  # a soft filter


def test_nothing_found_is_nothing_ranked() -> None:
    for profile in Profile:
        assert RANKING.facts([], QUESTION, ScoringChoice(profile), now=NOON) == ()
        assert RANKING.notes([], QUESTION, ScoringChoice(profile), now=NOON) == ()

"""One ranking of turns from the evidence of all retrievers."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.gateway.recall.choices import Profile, ScoringChoice
from services.gateway.recall.columns import EpisodeColumns
from services.gateway.recall.model import CoarseResult, RankedEpisode
from services.gateway.recall.question.reading import read_question
from services.gateway.recall.ranking.evidence import EvidenceWeights
from services.gateway.recall.stages.fusion import DerivedWeights, Fusion
from tests.unit.gateway.tiers import NOON, candidates, fact_hit, note_hit, uuid

FUSION = Fusion(EvidenceWeights(), DerivedWeights(fact=0.5, note=0.3))


PLAIN = ScoringChoice(Profile.PLAIN)


def fuse(
    coarse: CoarseResult,
    text: str = "what happened",
    *names: str,
    limit: int = 10,
    scoring: ScoringChoice = PLAIN,
) -> list[RankedEpisode]:
    return FUSION(coarse, read_question(text, names, NOON), names, limit=limit, now=NOON, scoring=scoring)


def columns(*numbers: int, dense: list[float] | None = None, lexical: list[float] | None = None) -> EpisodeColumns:
    return EpisodeColumns.from_response(candidates(numbers, dense=dense, lexical=lexical))


def ids(ranked: list[RankedEpisode]) -> list[str]:
    return [candidate.episode_id for candidate in ranked]


@settings(max_examples=50, deadline=None)
@given(
    scores=st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 30)), min_size=1, max_size=30),
    profile=st.sampled_from([Profile.EVIDENCE, Profile.LIGHT, Profile.PLAIN]),
)
def test_spec_5_10_the_parts_add_up_to_the_score(scores: list[tuple[float, float]], profile: Profile) -> None:
    numbers = range(1, len(scores) + 1)
    coarse = CoarseResult(
        episodes=columns(*numbers, dense=[d for d, _ in scores], lexical=[x for _, x in scores]),
        facts=(fact_hit("f", 1, similarity=0.9),),
        notes=(note_hit("n", 1, len(scores), score=0.4),),
    )
    ranked = fuse(coarse, limit=30, scoring=ScoringChoice(profile))
    assert len(ranked) == len(scores)
    for candidate in ranked:
        assert candidate.score == pytest.approx(sum(value for _, value in candidate.parts), abs=1e-4)
        assert len(dict(candidate.parts)) == len(candidate.parts)
    assert [c.score for c in ranked] == sorted((c.score for c in ranked), reverse=True)


def test_spec_5_10_by_episode_say_where_a_candidate_stood() -> None:
    coarse = CoarseResult(
        episodes=columns(1, 2, 3, dense=[0.9, 0.5, 0.1], lexical=[0.0, 7.0, 0.0]),
        facts=(fact_hit("f1", 2, similarity=0.8), fact_hit("f2", 1, 2, similarity=0.6)),
        notes=(note_hit("n1", 3, score=0.5),),
    )
    by_episode = {c.episode_id: [(r.retriever, r.rank, round(r.score, 4)) for r in c.retrievers] for c in fuse(coarse)}
    assert by_episode[uuid(1)] == [("dense", 1, 0.9), ("facts", 2, 0.6)]
    assert by_episode[uuid(2)] == [("dense", 2, 0.5), ("lexical", 1, 7.0), ("facts", 1, 0.8)]
    assert by_episode[uuid(3)] == [("dense", 3, 0.1), ("notes", 1, 0.5)]


def test_spec_5_10_a_neighbour_that_no_lane_returned_has_no_by_episode() -> None:
    (ranked,) = fuse(CoarseResult(episodes=columns(1, dense=[0.0])))
    assert ranked.retrievers == ()


def test_facts_and_notes_lift_the_turns_they_come_from() -> None:
    plain = columns(1, 2, 3)
    assert ids(fuse(CoarseResult(episodes=plain, facts=(fact_hit("f", 3),)))) == [uuid(3), uuid(1), uuid(2)]
    assert ids(fuse(CoarseResult(episodes=plain, notes=(note_hit("n", 2),)))) == [uuid(2), uuid(1), uuid(3)]


def test_only_the_best_fact_of_a_turn_counts() -> None:
    coarse = CoarseResult(
        episodes=columns(1), facts=(fact_hit("f1", 1, similarity=0.8), fact_hit("f2", 1, similarity=0.7))
    )
    (ranked,) = fuse(coarse)
    assert dict(ranked.parts)["facts"] == pytest.approx(0.5 * 0.8)


def test_a_fact_unlike_the_question_counts_nothing() -> None:
    (ranked,) = fuse(CoarseResult(episodes=columns(1), facts=(fact_hit("f", 1, similarity=-0.4),)))
    assert "facts" not in dict(ranked.parts)


def test_sources_that_are_no_candidates_are_passed_over() -> None:
    assert ids(fuse(CoarseResult(episodes=columns(1), facts=(fact_hit("f", 9),), notes=(note_hit("n"),)))) == [uuid(1)]


def test_ties_are_broken_by_id_in_whatever_order_candidates_come() -> None:
    numbers = list(range(1, 40))
    random.Random(7).shuffle(numbers)
    assert ids(fuse(CoarseResult(episodes=columns(*numbers)), limit=39)) == [uuid(n) for n in range(1, 40)]


def test_the_limit_keeps_the_best() -> None:
    coarse = CoarseResult(episodes=columns(1, 2, 3, dense=[0.1, 0.2, 0.3]))
    assert ids(fuse(coarse, limit=2)) == [uuid(3), uuid(2)]


def test_without_candidates_there_is_no_ranking() -> None:
    assert fuse(CoarseResult()) == []
    assert fuse(CoarseResult(episodes=columns())) == []


def test_a_named_speaker_counts_whatever_number_the_tier_gives_it() -> None:
    response = candidates([1, 2, 3], speakers=[0, 1, 2], names=["Bob", "Ada", "Eve"])
    coarse = CoarseResult(episodes=EpisodeColumns.from_response(response))
    best = fuse(coarse, "What did Ada say?", "Ada", "Bob")[0]
    assert best.episode_id == uuid(2)
    assert dict(best.parts)["speaker"] == pytest.approx(EvidenceWeights().speaker)

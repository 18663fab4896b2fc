"""Properties of the rules of knowledge: bounds, monotony, idempotence, independence of order."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.knowledge.evidence import confidence_at, deprecated_time
from services.common.knowledge.merging import plan_merges
from services.common.knowledge.model import Belief, BeliefId, Candidate, Evidence
from services.common.values.model import Relation
from tests.support.examples import share_of

START: Final = datetime(2026, 1, 1, tzinfo=UTC)
SHARES: Final = st.floats(0, 1)
TIMES: Final = st.integers(0, 1_000).map(lambda hours: START + timedelta(hours=hours))
EVIDENCE: Final = st.builds(Evidence, TIMES, st.integers(0, 30).map("e{}".format))


def _evidence(items: list[Evidence]) -> frozenset[Evidence]:
    return frozenset({item.episode_id: item for item in items}.values())


def _beliefs(name: str) -> st.SearchStrategy[Belief]:
    return st.builds(
        Belief,
        st.just(BeliefId(name)),
        st.sampled_from(["x", "y"]),
        base_confidence=SHARES,
        importance=SHARES,
        observed_time=TIMES,
        evidence=st.lists(EVIDENCE, max_size=6).map(_evidence),
        earlier_evidence_count=st.integers(0, 5),
    )


GROUPS: Final = st.integers(2, 6).flatmap(lambda count: st.tuples(*(_beliefs(f"b{n}") for n in range(count))))


@given(_beliefs("a"), TIMES)
def test_spec_3_4_confidence_stays_between_0_and_1(belief: Belief, at: datetime) -> None:
    assert 0.0 <= confidence_at(belief, at) <= 1.0


@given(_beliefs("a"), st.integers(0, 5_000), st.integers(0, 5_000))
def test_spec_3_4_confidence_falls_without_evidence(belief: Belief, first: int, second: int) -> None:
    low, high = sorted((first, second))
    earlier, later = (belief.last_time + timedelta(hours=hours) for hours in (low, high))
    assert confidence_at(belief, later) <= confidence_at(belief, earlier)


@given(_beliefs("a"))
def test_spec_3_4_the_threshold_is_crossed_when_stated(belief: Belief) -> None:
    crossing = deprecated_time(belief)
    assert confidence_at(belief, crossing + timedelta(minutes=1)) <= 0.3
    if crossing > belief.last_time + timedelta(minutes=2):
        assert confidence_at(belief, crossing - timedelta(minutes=1)) >= 0.3


def _guard(earlier: str, later: str) -> Relation:
    return Relation.SAME if earlier == later else Relation.CONTRADICT


@settings(max_examples=share_of(60))
@given(GROUPS, st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=10), st.floats(0.5, 1), st.randoms())
def test_spec_3_6_merging_does_not_depend_on_the_order_and_never_merges_what_differs(
    beliefs: tuple[Belief, ...], pairs: set[tuple[int, int]], cosine: float, rnd: random.Random
) -> None:
    candidates = [
        Candidate(beliefs[i].belief_id, beliefs[j].belief_id, cosine)
        for i, j in sorted(pairs)
        if i < len(beliefs) and j < len(beliefs)
    ]
    at = START + timedelta(days=60)
    plan = plan_merges(beliefs, candidates, _guard, at=at)
    shuffled = list(candidates)
    rnd.shuffle(shuffled)
    assert plan == plan_merges(beliefs[::-1], shuffled, _guard, at=at)
    stored: Mapping[BeliefId, Belief] = {belief.belief_id: belief for belief in beliefs}
    for merge in plan.merges:
        group = [stored[belief_id] for belief_id in (merge.winner_id, *merge.loser_ids)]
        assert len({belief.text for belief in group}) == 1

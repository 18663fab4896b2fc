"""Properties of the rules of knowledge: bounds, monotony, idempotence, independence of order."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.knowledge.contradiction import Policy, applied, resolve
from services.common.knowledge.evidence import confidence_at, deprecated_time, with_evidence
from services.common.knowledge.merging import merged, plan_merges
from services.common.knowledge.model import Belief, BeliefId, Candidate, Evidence, Standing
from services.common.knowledge.validity import as_of
from services.common.values.model import Relation

START: Final = datetime(2026, 1, 1, tzinfo=UTC)
SHARES: Final = st.floats(0, 1)
TIMES: Final = st.integers(0, 1_000).map(lambda hours: START + timedelta(hours=hours))
EVIDENCE: Final = st.builds(Evidence, TIMES, st.integers(0, 30).map("e{}".format))
RELATIONS: Final = st.sampled_from(list(Relation))


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


@given(_beliefs("a"), EVIDENCE)
def test_spec_3_4_evidence_never_lowers_confidence(belief: Belief, item: Evidence) -> None:
    later = max(belief.last_time, item.time)
    assert confidence_at(with_evidence(belief, item), later) >= confidence_at(belief, later) - 1e-12


@given(_beliefs("a"), st.integers(0, 5_000), st.integers(0, 5_000))
def test_spec_3_4_confidence_falls_without_evidence(belief: Belief, first: int, second: int) -> None:
    low, high = sorted((first, second))
    earlier, later = (belief.last_time + timedelta(hours=hours) for hours in (low, high))
    assert confidence_at(belief, later) <= confidence_at(belief, earlier)


@given(_beliefs("a"), st.lists(EVIDENCE, max_size=6, unique_by=lambda item: item.episode_id), st.randoms())
def test_spec_3_4_order_and_repeats_of_evidence_have_no_effect(
    belief: Belief, items: list[Evidence], rnd: random.Random
) -> None:
    shuffled = [*items, *items]
    rnd.shuffle(shuffled)

    def fold(given_items: list[Evidence]) -> Belief:
        folded = belief
        for item in given_items:
            folded = with_evidence(folded, item)
        return folded

    assert fold(items) == fold(shuffled)


@given(_beliefs("a"))
def test_spec_3_4_the_threshold_is_crossed_when_stated(belief: Belief) -> None:
    crossing = deprecated_time(belief)
    assert confidence_at(belief, crossing + timedelta(minutes=1)) <= 0.3
    if crossing > belief.last_time + timedelta(minutes=2):
        assert confidence_at(belief, crossing - timedelta(minutes=1)) >= 0.3


@given(_beliefs("a"), _beliefs("b"), RELATIONS, st.sampled_from(list(Policy)), TIMES, st.booleans())
def test_spec_3_5_a_decision_does_not_depend_on_the_order(
    first: Belief, second: Belief, relation: Relation, policy: Policy, at: datetime, from_queue: bool
) -> None:
    one = resolve(first, second, relation, at=at, policy=policy, from_queue=from_queue)
    assert one == resolve(second, first, relation, at=at, policy=policy, from_queue=from_queue)
    left = [applied(belief, one, at=at) for belief in (first, second)]
    assert [applied(belief, one, at=at + timedelta(days=1)) for belief in left] == left
    assert [belief.text for belief in left] == [first.text, second.text]
    assert sum(belief.standing is Standing.ACTIVE for belief in left) >= 1


def _guard(earlier: str, later: str) -> Relation:
    return Relation.SAME if earlier == later else Relation.CONTRADICT


@settings(max_examples=60)
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
    after = dict(stored)
    for merge in plan.merges:
        group = [stored[belief_id] for belief_id in (merge.winner_id, *merge.loser_ids)]
        assert len({belief.text for belief in group}) == 1
        after.update({belief.belief_id: belief for belief in merged(stored, merge, at=at)})
        united = after[merge.winner_id].evidence
        for belief in group:
            assert {item.episode_id for item in belief.evidence} <= {item.episode_id for item in united}
    assert plan_merges(after.values(), candidates, _guard, at=at).merges == ()


@given(GROUPS, TIMES, TIMES)
def test_spec_3_7_what_was_known_earlier_is_not_changed_by_what_is_recorded_later(
    beliefs: tuple[Belief, ...], true_at: datetime, known_at: datetime
) -> None:
    recorded = START + timedelta(hours=2_000)
    before = [belief.belief_id for belief in as_of(beliefs, true_at=true_at, known_at=known_at)]
    resolved = list(beliefs)
    for i, j in itertools.combinations(range(len(resolved)), 2):
        decision = resolve(resolved[i], resolved[j], Relation.CONTRADICT, at=START, from_queue=True)
        resolved[i], resolved[j] = (applied(resolved[k], decision, at=recorded) for k in (i, j))
    assert [belief.belief_id for belief in as_of(resolved, true_at=true_at, known_at=known_at)] == before

"""Evidence and merging: the rules and the examples of the design documents."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from services.common.knowledge.evidence import confidence_at, decayed_confidence, deprecated_time, supported_confidence
from services.common.knowledge.merging import Merge, plan_merges
from services.common.knowledge.model import Belief, BeliefId, Candidate, Evidence
from services.common.values.model import Relation

DAY: Final = timedelta(days=1)
START: Final = datetime(2026, 3, 1, tzinfo=UTC)


def _belief(name: str, **values: Any) -> Belief:
    given: dict[str, Any] = {"base_confidence": 0.8, "importance": 0.5, "observed_time": START, "text": name}
    return Belief(BeliefId(name), **(given | values))


def _pair(first: str, second: str, cosine: float = 0.9) -> Candidate:
    return Candidate(BeliefId(first), BeliefId(second), cosine)


def test_spec_3_4_each_supporting_episode_removes_a_twentieth_of_the_doubt() -> None:
    assert supported_confidence(0.5, 1) == pytest.approx(0.5 + 0.05 * 0.5)
    assert supported_confidence(0.5, 2) == pytest.approx(0.525 + 0.05 * 0.475)


def test_spec_3_4_ten_days_without_evidence_cost_about_a_tenth() -> None:
    assert decayed_confidence(0.8, 10) == pytest.approx(0.8 * 0.905, abs=1e-3)
    assert decayed_confidence(0.8, -3) == 0.8


def test_spec_3_4_a_belief_is_deprecated_when_its_confidence_falls_below_the_threshold() -> None:
    belief = _belief("a")
    crossing = deprecated_time(belief)
    assert crossing - START == pytest.approx(timedelta(days=98.08), abs=timedelta(hours=1))
    assert confidence_at(belief, crossing - DAY) > 0.3 > confidence_at(belief, crossing + DAY)


def test_spec_3_4_what_begins_below_the_threshold_is_deprecated_at_once() -> None:
    assert deprecated_time(_belief("a", base_confidence=0.2)) == START


def test_spec_3_6_the_most_confident_of_a_group_wins() -> None:
    beliefs = {
        belief.belief_id: belief
        for belief in (
            _belief("a", base_confidence=0.7, evidence=frozenset({Evidence(START, "e1"), Evidence(START, "e2")})),
            _belief("b", base_confidence=0.9, evidence=frozenset({Evidence(START, "e3")})),
            _belief("c", base_confidence=0.5, earlier_evidence_count=4),
        )
    }
    plan = plan_merges(beliefs.values(), [_pair("a", "b"), _pair("b", "c")], _always(Relation.SAME), at=START)
    assert plan.merges == (Merge(BeliefId("b"), (BeliefId("a"), BeliefId("c"))),)


def test_spec_3_6_a_group_waits_where_it_is_unsure_or_the_guard_cannot_read_it() -> None:
    beliefs = [_belief("a", base_confidence=0.55), _belief("b", base_confidence=0.6), _belief("c"), _belief("d")]
    unsure = plan_merges(beliefs, [_pair("a", "b")], _always(Relation.SAME), at=START)
    unread = plan_merges(beliefs, [_pair("c", "d")], _always(Relation.UNKNOWN), at=START)
    assert (unsure.merges, unsure.queued) == ((), (("a", "b"),))
    assert (unread.merges, unread.queued) == ((), (("c", "d"),))


def test_spec_3_6_the_winner_of_a_merge_is_queued_by_the_same_run_and_its_losers_by_none() -> None:
    def guard(earlier: str, later: str) -> Relation:
        return Relation.SAME if {earlier, later} == {"a", "b"} else Relation.COMPATIBLE

    beliefs = [_belief("a", base_confidence=0.9), _belief("b"), _belief("c")]
    pairs = [_pair("a", "b"), _pair("a", "c"), _pair("b", "c")]
    plan = plan_merges(beliefs, pairs, guard, at=START, may_be_same=lambda _earlier, _later: True)
    assert plan.merges == (Merge(BeliefId("a"), (BeliefId("b"),)),)
    assert plan.queued == (("a", "c"),)


def test_spec_3_6_a_cosine_alone_never_merges() -> None:
    beliefs = [_belief("a"), _belief("b")]
    for relation in (Relation.UPDATE, Relation.CONTRADICT, Relation.COMPATIBLE, Relation.UNRELATED):
        plan = plan_merges(beliefs, [_pair("a", "b", 0.999)], _always(relation), at=START)
        assert (plan.merges, plan.queued) == ((), ())
    below = plan_merges(beliefs, [_pair("a", "b", 0.85)], _always(Relation.SAME), at=START)
    assert below.merges == ()


def test_spec_3_6_a_chain_whose_ends_differ_waits() -> None:
    def guard(earlier: str, later: str) -> Relation:
        return Relation.CONTRADICT if {earlier, later} == {"a", "c"} else Relation.SAME

    beliefs = [_belief("a"), _belief("b"), _belief("c")]
    plan = plan_merges(beliefs, [_pair("a", "b"), _pair("b", "c")], guard, at=START)
    assert (plan.merges, plan.queued) == ((), (("a", "b", "c"),))


def test_spec_3_6_known_contradictions_are_never_merged() -> None:
    beliefs = [_belief("a", contradicts=frozenset({BeliefId("b")})), _belief("b")]
    assert plan_merges(beliefs, [_pair("a", "b")], _always(Relation.SAME), at=START).merges == ()


def _always(relation: Relation) -> Any:
    return lambda _earlier, _later: relation

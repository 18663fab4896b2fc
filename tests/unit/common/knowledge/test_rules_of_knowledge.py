"""Evidence, contradictions, merging, validity and cap: the rules and the examples of the design documents."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from services.common.knowledge.cap import over_cap
from services.common.knowledge.contradiction import Policy, Resolution, Verdict, applied, resolve
from services.common.knowledge.evidence import (
    confidence_at,
    decayed_confidence,
    deprecated_time,
    supported_confidence,
    with_evidence,
    with_standing_at,
)
from services.common.knowledge.merging import Merge, merged, plan_merges
from services.common.knowledge.model import Belief, BeliefId, Candidate, Evidence, Standing
from services.common.knowledge.validity import as_of
from services.common.values.model import Relation

DAY: Final = timedelta(days=1)
START: Final = datetime(2026, 3, 1, tzinfo=UTC)


def _belief(name: str, **values: Any) -> Belief:
    given: dict[str, Any] = {"base_confidence": 0.8, "importance": 0.5, "observed_time": START, "text": name}
    return Belief(BeliefId(name), **(given | values))


def _pair(first: str, second: str, cosine: float = 0.9) -> Candidate:
    return Candidate(BeliefId(first), BeliefId(second), cosine)


def _resolved(first: Belief, second: Belief, policy: Policy = Policy.RECENCY, **values: Any) -> Resolution:
    return resolve(first, second, Relation.CONTRADICT, at=START + DAY, policy=policy, **values)


def test_spec_3_4_each_supporting_episode_removes_a_twentieth_of_the_doubt() -> None:
    assert supported_confidence(0.5, 1) == pytest.approx(0.5 + 0.05 * 0.5)
    assert supported_confidence(0.5, 2) == pytest.approx(0.525 + 0.05 * 0.475)


def test_spec_3_4_ten_days_without_evidence_cost_about_a_tenth() -> None:
    assert decayed_confidence(0.8, 10) == pytest.approx(0.8 * 0.905, abs=1e-3)
    assert decayed_confidence(0.8, -3) == 0.8


def test_spec_3_4_a_repeated_episode_supports_once() -> None:
    once = with_evidence(_belief("a"), Evidence(START + DAY, "e1"))
    assert with_evidence(once, Evidence(START + 2 * DAY, "e1")) is once
    assert once.evidence_count == 1


def test_spec_3_4_a_belief_is_deprecated_when_its_confidence_falls_below_the_threshold() -> None:
    belief = _belief("a")
    crossing = deprecated_time(belief)
    assert crossing - START == pytest.approx(timedelta(days=98.08), abs=timedelta(hours=1))
    assert with_standing_at(belief, crossing - DAY).standing is Standing.ACTIVE
    deprecated = with_standing_at(belief, crossing + DAY)
    assert deprecated.standing is Standing.DEPRECATED
    assert with_evidence(deprecated, Evidence(crossing + 2 * DAY, "e1")).standing is Standing.ACTIVE


def test_spec_3_4_what_begins_below_the_threshold_is_deprecated_at_once() -> None:
    assert deprecated_time(_belief("a", base_confidence=0.2)) == START


def test_spec_3_5_the_later_of_two_confident_beliefs_supersedes() -> None:
    old, new = _belief("old"), _belief("new", observed_time=START + DAY)
    resolution = _resolved(old, new)
    assert resolution.verdict is Verdict.SUPERSEDE
    ended = applied(old, resolution, at=START + 2 * DAY)
    assert (ended.standing, ended.successor_id, ended.valid_to) == (Standing.SUPERSEDED, "new", START + DAY)
    assert ended.text == old.text
    assert applied(new, resolution, at=START + 2 * DAY) == new


def test_spec_3_5_a_pair_with_an_unsure_side_waits_until_a_policy_decides() -> None:
    old, new = _belief("old", base_confidence=0.45), _belief("new", observed_time=START + DAY)
    assert _resolved(old, new).verdict is Verdict.QUEUE
    assert _resolved(old, new, from_queue=True).winner_id == "new"


def test_spec_3_5_an_update_needs_only_its_own_side_confident() -> None:
    old, new = _belief("old", base_confidence=0.45), _belief("new", observed_time=START + DAY)
    assert resolve(old, new, Relation.UPDATE, at=START + DAY).winner_id == "new"


@pytest.mark.parametrize(
    ("policy", "winner"), [(Policy.RECENCY, "new"), (Policy.CONFIDENCE, "old"), (Policy.IMPORTANCE, "old")]
)
def test_spec_3_5_policies_choose_the_winner(policy: Policy, winner: str) -> None:
    old = _belief("old", base_confidence=0.95, importance=0.9)
    new = _belief("new", base_confidence=0.6, importance=0.1, observed_time=START + DAY)
    assert _resolved(old, new, policy).winner_id == winner


def test_spec_3_5_a_user_decides_or_the_pair_waits() -> None:
    old, new = _belief("old"), _belief("new", observed_time=START + DAY)
    assert _resolved(old, new, Policy.USER).verdict is Verdict.QUEUE
    assert _resolved(old, new, Policy.USER, choice=BeliefId("old")).loser_id == "new"


def test_spec_3_5_the_policy_reduce_halves_both_once() -> None:
    old, new = _belief("old", base_confidence=0.9), _belief("new", base_confidence=0.94)
    resolution = _resolved(old, new, Policy.REDUCE)
    assert resolution.verdict is Verdict.REDUCE
    halved = [applied(side, resolution, at=START) for side in (old, new)]
    assert [confidence_at(side, START) for side in halved] == pytest.approx([0.45, 0.47])
    assert [applied(side, resolution, at=START) for side in halved] == halved
    assert _resolved(halved[0], halved[1], Policy.REDUCE).verdict is Verdict.NOTHING


@pytest.mark.parametrize("relation", sorted(set(Relation) - {Relation.UPDATE, Relation.CONTRADICT}))
def test_spec_3_5_nothing_follows_where_the_guard_finds_no_conflict(relation: Relation) -> None:
    old, new = _belief("old"), _belief("new", observed_time=START + DAY)
    assert resolve(old, new, relation, at=START).verdict is Verdict.NOTHING


def test_spec_3_5_two_beliefs_of_one_time_wait() -> None:
    assert _resolved(_belief("a"), _belief("b")).verdict is Verdict.QUEUE


def test_spec_3_6_the_most_confident_of_a_group_takes_all_evidence() -> None:
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
    winner, *losers = merged(beliefs, plan.merges[0], at=START)
    # Each side counts its first statement and its support: 3 + 2 + 5 in all.
    assert 1 + winner.evidence_count == 10
    assert {item.episode_id for item in winner.evidence} >= {"e1", "e2", "e3"}
    assert [(loser.standing, loser.successor_id) for loser in losers] == [(Standing.MERGED, "b")] * 2


def test_spec_3_6_a_plan_that_is_out_of_date_changes_nothing() -> None:
    beliefs = {BeliefId("a"): _belief("a"), BeliefId("b"): _belief("b", standing=Standing.SUPERSEDED)}
    with pytest.raises(ValueError, match="no longer active"):
        merged(beliefs, Merge(BeliefId("a"), (BeliefId("b"),)), at=START)


def test_spec_3_6_a_group_waits_where_it_is_unsure_or_the_guard_cannot_read_it() -> None:
    beliefs = [_belief("a", base_confidence=0.55), _belief("b", base_confidence=0.6), _belief("c"), _belief("d")]
    unsure = plan_merges(beliefs, [_pair("a", "b")], _always(Relation.SAME), at=START)
    unread = plan_merges(beliefs, [_pair("c", "d")], _always(Relation.UNKNOWN), at=START)
    assert (unsure.merges, unsure.queued) == ((), (("a", "b"),))
    assert (unread.merges, unread.queued) == ((), (("c", "d"),))


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


def test_spec_3_7_what_was_true_and_what_was_believed_are_two_questions() -> None:
    # She lived in Bern from day 0 and in Oslo from day 10, which was said on day 30.
    bern = _belief("bern")
    oslo = _belief("oslo", observed_time=START + 30 * DAY, valid_from=START + 10 * DAY)
    bern = applied(bern, _resolved(bern, oslo), at=START + 30 * DAY)

    def names(true_day: int, known_day: int) -> list[str]:
        found = as_of([bern, oslo], true_at=START + true_day * DAY, known_at=START + known_day * DAY)
        return [belief.belief_id for belief in found]

    assert names(5, 5) == ["bern"]
    assert names(20, 20) == ["bern"]  # what was believed then
    assert names(20, 40) == ["oslo"]  # what was true then, as known later
    assert names(5, 40) == ["bern"]
    assert names(40, 40) == ["oslo"]


def test_spec_3_8_the_least_important_and_oldest_go_first() -> None:
    beliefs = [
        _belief("old", importance=0.1),
        _belief("new", importance=0.1, observed_time=START + DAY),
        _belief("key", importance=0.9),
        replace(_belief("gone", importance=0.0), standing=Standing.SUPERSEDED),
    ]
    assert over_cap(beliefs, cap=1) == ["old", "new"]
    assert over_cap(beliefs, cap=3) == []


def _always(relation: Relation) -> Any:
    return lambda _earlier, _later: relation

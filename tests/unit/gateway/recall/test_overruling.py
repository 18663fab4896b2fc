"""Stored pairs of statements as the policy of a recall settles them (SPEC 5.7)."""

from __future__ import annotations

from typing import Any

import pytest

from mneme.semantic.v1 import supersessions_pb2
from services.common.convert import timestamp
from services.gateway.grants.model import MemoryKind
from services.gateway.recall.answer.conflicts import Resolved
from services.gateway.recall.choices import ConflictChoice, ConflictPolicy
from services.gateway.recall.model import ConflictReason, RecalledMemory
from services.gateway.recall.superseded import OwnerSuperseded
from tests.unit.gateway.recall.test_conflicts import note, resolve, turn
from tests.unit.gateway.recall.test_standoffs import LATER, pair, stated
from tests.unit.gateway.tiers import NOON, uuid

EARLY, LATE = "The meeting with Bob is at 08:25.", "The meeting with Bob is at 09:25."
PENDING = supersessions_pb2.SUPERSESSION_STATE_PENDING
USER = supersessions_pb2.SUPERSESSION_DECIDER_USER
IMPORTANCE = ConflictChoice(ConflictPolicy.IMPORTANCE)


def meetings(first: float, second: float) -> tuple[RecalledMemory, RecalledMemory]:
    return turn(1, EARLY, importance=first, confidence=first), turn(
        2, LATE, day=1, importance=second, confidence=second
    )


def settle(memories: tuple[RecalledMemory, ...], choice: ConflictChoice, one: Any, **others: Any) -> Resolved:
    is_waiting = one.state == PENDING
    known = OwnerSuperseded.of(1, [] if is_waiting else [one], [one] if is_waiting else [])
    facts = others.pop("facts", ())
    return resolve(memories, facts, choice, superseded=known.at(LATER), reduced=known.reduced_at(LATER), **others)


def outcome(resolved: Resolved) -> set[tuple[str, tuple[str, ...], ConflictReason]]:
    return {(conflict.winner_id, conflict.loser_ids, conflict.reason) for conflict in resolved.conflicts}


@pytest.mark.parametrize("policy", [ConflictPolicy.IMPORTANCE, ConflictPolicy.CONFIDENCE])
@pytest.mark.parametrize(("first", "second"), [(0.9, 0.1), (0.1, 0.9), (0.5, 0.5)])
def test_spec_5_7_a_stored_mark_follows_the_policy(policy: ConflictPolicy, first: float, second: float) -> None:
    resolved = settle(meetings(first, second), ConflictChoice(policy), pair(1, 2, EARLY, LATE))
    winner, loser = (uuid(1), uuid(2)) if first > second else (uuid(2), uuid(1))
    reason = ConflictReason.LATER if first == second else ConflictReason[policy.name]
    assert outcome(resolved) == {(winner, (loser,), reason)}


def test_spec_5_7_facts_and_notes_follow_the_pair_of_their_turns() -> None:
    facts = (
        stated("a", "08:25", 1, against="b", said=EARLY, predicate="is_at", importance=0.5),
        stated("b", "09:25", 2, against="a", said=LATE, predicate="is_at", day=1, importance=0.5),
    )
    notes = (note("n", f"Ada: {EARLY}", 1), note("m", f"Ada: {LATE}", 2, day=1))
    resolved = settle(meetings(0.9, 0.1), IMPORTANCE, pair(1, 2, EARLY, LATE), facts=facts, notes=notes)
    lost = {(conflict.loser_kind, *conflict.loser_ids) for conflict in resolved.conflicts}
    assert lost == {(MemoryKind.EPISODE, uuid(2)), (MemoryKind.FACT, "b"), (MemoryKind.NOTE, "m")}


@pytest.mark.parametrize(("day", "state"), [(0, PENDING), (1, supersessions_pb2.SUPERSESSION_STATE_APPLIED)])
def test_spec_5_7_a_pair_that_the_policy_settles_is_settled_in_all_that_was_made_of_it(day: int, state: Any) -> None:
    memories = (
        turn(1, "I live in Leeds.", importance=0.9, fact_ids=("a",)),
        turn(2, "I live in Lyon.", day=day, importance=0.1, fact_ids=("b",)),
    )
    facts = (
        stated("a", "Leeds", 1, against="b", said="Ada lives in Leeds", valid_to_time=timestamp(NOON)),
        stated("b", "Lyon", 2, against="a", said="Ada lives in Lyon", day=day),
    )
    notes = (note("n", "Ada: I live in Leeds.", 1), note("m", "Ada: I live in Lyon.", 2, day=day))
    one = pair(1, 2)
    one.state = state
    resolved = settle(memories, IMPORTANCE, one, facts=facts, notes=notes)
    assert {conflict.reason for conflict in resolved.conflicts} == {ConflictReason.IMPORTANCE}
    assert {loser for conflict in resolved.conflicts for loser in conflict.loser_ids} == {uuid(2), "b", "m"}


@pytest.mark.parametrize(
    ("memories", "change"),
    [
        (meetings(0.9, 0.1)[:1], {}),  # the other turn is no candidate
        (meetings(0.9, 0.1), {"decided_by": USER}),
        (meetings(0.9, 0.1), {"reason": supersessions_pb2.SUPERSESSION_REASON_CORRECTED}),
    ],
)
def test_spec_5_7_what_the_policy_cannot_settle_stays_marked(
    memories: tuple[RecalledMemory, ...], change: dict[str, Any]
) -> None:
    one = pair(1, 2, EARLY, LATE)
    for name, value in change.items():
        setattr(one, name, value)
    assert outcome(settle(memories, IMPORTANCE, one)) == {(uuid(2), (uuid(1),), ConflictReason.LATER)}


@pytest.mark.parametrize(
    ("choice", "winner"),
    [
        (ConflictChoice(), None),
        (ConflictChoice(ConflictPolicy.REDUCE), None),
        (ConflictChoice(ConflictPolicy.USER_OVERRIDE), None),
        (ConflictChoice(ConflictPolicy.USER_OVERRIDE, preferred=frozenset({uuid(1)})), 1),
        (IMPORTANCE, 1),
    ],
)
def test_spec_5_7_a_pair_that_waits_has_no_winner_unless_the_policy_gives_one(
    choice: ConflictChoice, winner: int | None
) -> None:
    one = pair(1, 2, EARLY, LATE)
    one.state = PENDING
    memories = meetings(0.9, 0.1)
    [conflict] = settle(memories, choice, one).conflicts
    if winner is None:
        assert (conflict.reason, conflict.contradicting_ids) == (ConflictReason.NEITHER, (uuid(1), uuid(2)))
    else:
        assert (conflict.winner_id, conflict.loser_ids) == (uuid(1), (uuid(2),))

"""Contradictions as of a time: what was said or ended later decides nothing (SPEC 3.7)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from services.common.convert import timestamp
from services.gateway.recall.choices import ConflictChoice
from services.gateway.recall.superseded import until_seconds
from tests.unit.gateway.recall.test_conflicts import NEW, OLD, fact, note, resolve, turn
from tests.unit.gateway.tiers import NOON


def until(day: float) -> float:
    return until_seconds(NOON + timedelta(days=day))


@pytest.mark.parametrize(("day", "count"), [(0.5, 0), (3, 1)])
def test_spec_3_7_a_turn_or_a_note_said_later_takes_nothing_back(day: float, count: int) -> None:
    memories = (turn(1, OLD), turn(2, NEW, day=2))
    notes = (note("n", f"Ada: {OLD}"), note("m", f"Ada: {NEW}", day=2))
    resolved = resolve(memories, (), until=until(day))
    assert len(resolved.conflicts) == count
    assert (resolved.memories == memories) is (count == 0)
    assert len(resolve((), (), notes=notes, until=until(day)).conflicts) == count


def test_spec_3_7_a_fact_that_ended_later_has_not_ended() -> None:
    end = timestamp(NOON + timedelta(days=9))
    first = timestamp(NOON)
    leeds = fact("a", "Leeds", 1, against="b", day=5, valid_to_time=end, first_observed_time=first)
    york = fact("b", "York", 2, against="a", day=2, first_observed_time=first)
    winners = {
        day: [conflict.winner_id for conflict in resolve((), (leeds, york), until=until(day)).conflicts]
        for day in (6, 10)
    }
    assert winners == {6: ["a"], 10: ["b"]}, "before its end the fact that was said last stands"


def test_spec_3_7_a_fact_that_was_said_first_later_decides_nothing() -> None:
    facts = (
        fact("a", "Leeds", 1, against="b", first_observed_time=timestamp(NOON)),
        fact("b", "York", 2, against="a", day=4, first_observed_time=timestamp(NOON + timedelta(days=4))),
    )
    assert resolve((), facts, until=until(2)).conflicts == ()
    assert resolve((), facts, ConflictChoice(), until=until(5)).conflicts[0].winner_id == "b"


def test_spec_3_7_a_fact_that_was_said_again_later_counts_from_when_it_was_said_first() -> None:
    facts = (
        fact("a", "Leeds", 1, against="b", day=8, first_observed_time=timestamp(NOON)),
        fact("b", "York", 2, against="a", day=2, first_observed_time=timestamp(NOON + timedelta(days=2))),
    )
    winners = [resolve((), facts, until=until(day)).conflicts[0].winner_id for day in (3, 9)]
    assert winners == ["b", "a"]

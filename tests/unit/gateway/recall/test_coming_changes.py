"""Changes that are to come: until their day nothing is shown as superseded (SPEC 3.7, 5.7)."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from services.common.convert import timestamp
from services.gateway.context.candidates import candidates
from services.gateway.context.model import SectionKind
from services.gateway.recall.answer.conflicts import Resolved
from services.gateway.recall.choices import ConflictChoice
from services.gateway.recall.model import Reading, Recalled, RecalledFact
from services.gateway.recall.superseded import OwnerSuperseded
from tests.unit.gateway.recall.test_conflicts import fact, resolve, turn
from tests.unit.gateway.recall.test_superseded import one
from tests.unit.gateway.tiers import NOON, uuid


def at(day: float) -> datetime:
    return NOON + timedelta(days=day)


def homes(end_day: int = 200) -> tuple[RecalledFact, RecalledFact]:
    """Oslo, and Rome from a day to come."""
    first, end = timestamp(NOON), timestamp(at(end_day))
    return (
        fact("rome", "Rome", 2, against=["oslo"], day=1, first_observed_time=first, valid_from_time=end),
        fact("oslo", "Oslo", 1, against=["rome"], first_observed_time=first, valid_to_time=end),
    )


@pytest.mark.parametrize("drops", [True, False])
def test_spec_5_7_a_fact_that_has_not_begun_supersedes_nothing(*, drops: bool) -> None:
    memories = (
        turn(1, "I live in Oslo.", fact_ids=("oslo",)),
        turn(2, "From then on I live in Rome.", fact_ids=("rome",)),
    )
    facts, choice = homes(), ConflictChoice(drops_superseded=drops)
    assert resolve(memories, facts, choice, now=at(3).timestamp()) == Resolved(memories, facts, ())


def test_spec_5_7_from_its_day_on_it_stands() -> None:
    conflicts = resolve((), homes(), now=at(201).timestamp()).conflicts
    assert [(conflict.winner_id, conflict.loser_ids) for conflict in conflicts] == [("rome", ("oslo",))]


def test_spec_5_7_what_was_said_before_it_came_true_is_later_than_what_was_said_meanwhile() -> None:
    first = timestamp(NOON)
    rome = fact("rome", "Rome", 2, against=["oslo"], first_observed_time=first, valid_from_time=timestamp(at(200)))
    oslo = fact("oslo", "Oslo", 1, against=["rome"], day=9, first_observed_time=first)
    [conflict] = resolve((), (oslo, rome), now=at(201).timestamp()).conflicts
    assert conflict.winner_id == "rome"


def test_spec_3_7_a_mark_is_shown_from_its_day_on() -> None:
    known = OwnerSuperseded.of(1, [one("oslo", "rome", end="2027-06-01T00:00")])
    shown = ["oslo" in known.at(datetime.fromisoformat(f"{day}T12:00+00:00")) for day in ("2026-11-02", "2027-06-01")]
    assert shown == [False, True]


@pytest.mark.parametrize(("off", "is_marked"), [("2026-12-01T10:00", False), ("2027-08-01T10:00", True)])
def test_spec_3_7_a_change_that_was_called_off_before_its_day_supersedes_nothing(off: str, *, is_marked: bool) -> None:
    found = [one("oslo", "rome", end="2027-06-01T00:00"), one("rome", "off", "I'm moving to Rome in June.", end=off)]
    then = OwnerSuperseded.of(1, found).at(datetime.fromisoformat("2027-09-01T12:00+00:00"))
    assert ("oslo" in then) is is_marked
    assert "rome" in then


def test_spec_5_7_a_fact_that_begins_within_a_week_counts_as_begun() -> None:
    winners = [
        [conflict.winner_id for conflict in resolve((), homes(200), now=at(day).timestamp()).conflicts]
        for day in (192, 194, 201)
    ]
    assert winners == [[], ["rome"], ["rome"]]


def test_spec_5_7_of_two_plans_the_one_that_was_made_last_stands() -> None:
    first = timestamp(NOON)
    rome = fact("rome", "Rome", 1, against=["ulm"], first_observed_time=first, valid_from_time=timestamp(at(200)))
    ulm = fact("ulm", "Ulm", 2, against=["rome"], day=1, first_observed_time=first, valid_from_time=timestamp(at(100)))
    for until in (None, at(3).timestamp()):
        [conflict] = resolve((), (rome, ulm), now=at(3).timestamp(), until=until).conflicts
        assert (conflict.winner_id, conflict.loser_ids) == ("ulm", ("rome",))


def test_spec_5_7_a_plan_that_was_given_up_supersedes_nothing_on_its_day() -> None:
    rome, oslo = homes()
    rome.fact.superseded_by = uuid(3)
    rome.fact.valid_to_time.CopyFrom(rome.fact.valid_from_time)
    assert resolve((), (rome, oslo), now=at(201).timestamp()).conflicts == ()


def offered(facts: tuple[RecalledFact, ...], day: int) -> list[str]:
    recalled = Recalled("r", (), facts, (), (), (), Reading("", (), ()), (), is_degraded=False, as_of=at(day))
    return [candidate.body for candidate in candidates(recalled, overlap_rank_max=0)[SectionKind.FACTS]]


def test_spec_5_9_a_context_says_from_when_on_a_fact_holds() -> None:
    rome, oslo = homes()
    rome.fact.text, oslo.fact.text, oslo.fact.superseded_by = "Ada lives in Rome", "Ada lives in Oslo", uuid(2)
    day = f"{at(200):%Y-%m-%d}"
    assert offered((oslo, rome), 3) == [f"Ada lives in Oslo (until {day})", f"Ada lives in Rome (from {day})"]
    assert offered((oslo, rome), 201) == ["Ada lives in Rome", f"Ada lives in Oslo (until {day})"]


def test_spec_5_9_a_plan_that_was_given_up_never_held() -> None:
    rome, _ = homes()
    rome.fact.text, rome.fact.superseded_by = "Ada lives in Rome", uuid(3)
    rome.fact.valid_to_time.CopyFrom(rome.fact.valid_from_time)
    assert offered((rome,), 3) == ["Ada lives in Rome (superseded)"]

"""Changes that are to come: what they supersede holds until their day (SPEC 3.1, 3.7)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from services.common.comparing.port import ThreadComparer
from services.common.owners import InteractionId
from services.common.scope import GLOBAL_SCOPE
from services.semantic.config import EvidenceSettings
from services.semantic.facts.contradictions import Topic
from services.semantic.facts.ends import MarkedStatement, as_marked
from services.semantic.facts.evidence import derived_fact
from services.semantic.facts.model import FactDraft, FactId, FactRecord, Statement, StatementId
from services.semantic.supersession.coming import end_of
from services.semantic.supersession.model import Assertion, Decision, Place
from services.semantic.supersession.resolving import decided, resolved, rested
from tests.contract.fact_samples import ANN, PROJECT, lives_in
from tests.unit.semantic.test_fact_ends import day, fact, mark, said

SAID = datetime(2026, 11, 1, 9, tzinfo=UTC)
TOLD = SAID + timedelta(days=1)
JUNE = datetime(2027, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("earlier", "later", "end"),
    [
        ("I live in Oslo.", "I am moving to Rome in June 2027.", "2027-06-01"),
        ("I live in Oslo.", "Next month I'm moving to Rome.", "2026-12-01"),
        ("I live in Oslo.", "I\u2019ll move to Rome on 3 June 2027.", "2027-06-03"),
        ("I work at Halden.", "From January 2027 I work at Nordbank.", "2027-01-01"),
        ("I work at Halden.", "As of next year I'm at Nordbank.", "2027-01-01"),
        ("I work at Halden.", "I'm leaving Halden at the end of June 2027.", "2027-07-01"),
        ("We use Jenkins.", "The shop switches to GitLab in March.", "2027-03-01"),
        ("My rent is 700.", "From January 2027 my rent is 760.", "2027-01-01"),
        ("I live in Oslo until June 2027.", "From June 2027 I live in Rome.", "2027-06-01"),
        ("From January 2027 my rent is 760.", "From January 2028 my rent is 800.", "2028-01-01"),
    ],
)
def test_spec_3_7_what_changes_on_a_day_to_come_holds_until_then(earlier: str, later: str, end: str) -> None:
    assert f"{end_of(earlier, SAID, later, TOLD):%Y-%m-%d}" == end


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I live in Oslo.", "I live in Rome now."),
        ("I live in Oslo.", "I moved to Rome in June."),
        ("The fee is 6,200.", "The fee is 7,100 from October."),  # the one just gone by
        ("The exam is on Friday.", "The exam is moved to 4 June 2027."),  # the day is what is said
        ("The class is on Friday.", "The class is moving to June."),
        ("I'm moving to Rome in June 2027.", "I'm moving to Paris in July 2027."),  # a plan takes the place of a plan
        ("I'm moving to Rome in June 2027.", "The move is off."),
        ("From January 2027 my rent is 760.", "From January 2027 my rent is 800."),
        ("I am free in June.", "From June to September I am away."),
    ],
)
def test_spec_3_5_other_changes_count_as_soon_as_they_are_told(earlier: str, later: str) -> None:
    assert end_of(earlier, SAID, later, TOLD) == TOLD


def test_spec_3_5_a_change_within_a_week_that_is_called_off_before_its_day_ends_nothing() -> None:
    # 2 November 2026 is a Monday.
    oslo, plan, friday = "I live in Oslo.", "I'm moving to Rome on Sunday.", TOLD + timedelta(days=4)
    ended = end_of(oslo, SAID, plan, TOLD)
    assert TOLD < ended < TOLD + timedelta(seconds=1), "what changes within a week counts as changed"
    for off in ("The move is off.", "I'm not moving to Rome after all."):
        assert end_of(plan, TOLD, off, friday) == TOLD < ended, "the plan was over before it ended anything"
    put_off = "The move to Rome is on Monday now."
    assert end_of(plan, TOLD, put_off, friday) == friday > ended, "it was put on another day"
    assert end_of(plan, TOLD, "The move is off.", TOLD + timedelta(days=20)) > ended, "its day had come"


async def test_spec_3_5_what_rests_on_a_change_that_is_called_off_ends_with_it() -> None:
    plan, van = assertion(1, "I'm moving to Rome on Friday."), assertion(2, "The van for Rome comes at eight.")
    [off] = await decided(ThreadComparer(), [(plan, assertion(3, "The move to Rome is off."))], at=TOLD)
    assert off.end_time == plan.time
    resting = rested(van, plan, off, at=TOLD, told=assertion(3, "").time)
    later = rested(replace(van, time=assertion(4, "").time), plan, off, at=TOLD, told=assertion(3, "").time)
    assert (resting is None or resting.end_time >= van.time, later) == (True, None)


def assertion(number: int, text: str) -> Assertion:
    turn = InteractionId(f"00000000-0000-7000-8000-{number:012}")
    return Assertion(Place(turn, 0), text, "Ann", SAID + timedelta(days=number), GLOBAL_SCOPE.key, (), is_only=True)


async def test_spec_3_7_a_mark_counts_from_the_day_that_the_later_statement_names() -> None:
    oslo, rome = assertion(0, "I live in Oslo."), assertion(1, "I am moving to Rome in June 2027.")
    [found] = await decided(ThreadComparer(), [(rome, oslo)], at=TOLD)
    assert (found.loser, found.end_time, found.over_time) == (oslo.place, JUNE, JUNE)
    turned = resolved(found, Decision.EARLIER_STANDS, is_winner_whole=True)
    assert (turned.loser, turned.over_time) == (rome.place, TOLD), "the plan is off as soon as that is decided"
    assert resolved(turned, Decision.LATER_STANDS, is_winner_whole=True).over_time == JUNE


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My rent is 700 euros.", "From January 2027 my rent is 760 euros."),
        ("The shop opens at nine.", "From March the shop opens at eight."),
        ("My manager is Ole.", "As of 1 February my manager is Kari."),
    ],
)
async def test_spec_3_5_what_begins_in_a_month_to_come_ends_what_was_so_from_then_on(earlier: str, later: str) -> None:
    [found] = await decided(ThreadComparer(), [(assertion(0, earlier), assertion(1, later))], at=TOLD)
    assert found.end_time > TOLD + timedelta(days=50)


async def test_spec_3_5_what_is_said_before_the_day_still_rests_on_what_holds_until_then() -> None:
    third, first = "My office is on the third floor.", "As of next year my office is on the first floor."
    premise, stairs = assertion(0, third), assertion(5, "I take the stairs to my office on the third floor.")
    [ended] = await decided(ThreadComparer(), [(premise, assertion(1, first))], at=TOLD)
    resting = rested(stairs, premise, ended, at=TOLD)
    assert resting is not None
    assert resting.end_time == datetime(2027, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(("known_at", "ends"), [(None, False), (7, False), (5, True)])
def test_spec_3_7_a_change_that_was_called_off_ends_no_fact(known_at: int | None, *, ends: bool) -> None:
    statements: list[MarkedStatement] = [said(0, mark(30, recorded_time=day(1), called_off_time=day(6)))]
    found = as_marked(fact(), statements, known_at=None if known_at is None else day(known_at))
    assert (found.valid_to_time is not None) is ends


def test_spec_3_1_a_plan_that_is_given_up_does_not_end_before_it_began() -> None:
    plan = as_marked(fact(valid_from_time=day(90)), [said(0, mark(5))])
    assert (plan.valid_from_time, plan.valid_to_time, plan.superseded_by) == (day(90), day(90), "w")


def record(name: str, draft: FactDraft, time: int) -> FactRecord:
    statement = Statement(StatementId(name), day(time), draft, ())
    return FactRecord(FactId(name), name.encode(), name.encode(), b"t", (statement,), PROJECT)


def test_spec_3_1_what_is_so_today_ends_nothing_that_begins_later() -> None:
    rome = record("rome", replace(lives_in("Rome"), valid_from=day(200)), 0)
    oslo = record("oslo", lives_in("Oslo"), 1)
    ulm = record("ulm", lives_in("Ulm"), 300)
    for later, end in (([oslo], None), ([oslo, ulm], day(300)), ([ulm], day(300))):
        topic = Topic([rome, *later], EvidenceSettings())
        found = derived_fact(rome, topic.against(rome.fact_id), (), user_id=ANN.user_id, settings=EvidenceSettings())
        assert (found.valid_from_time, found.valid_to_time) == (day(200), end)

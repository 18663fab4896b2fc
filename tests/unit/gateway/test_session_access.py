"""Turns that come to the session tier after their session was ended."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from datetime import UTC, timedelta

import pytest

from mneme.session.internal.v1 import session_internal_pb2
from mneme.session.v1 import session_pb2
from services.common.auth import Role
from services.common.errors import NotFound
from services.gateway.journal.ending import SessionBeginning, SessionRecord
from services.gateway.journal.model import Appended, RememberCommand, SequenceSpan
from services.gateway.sessions import SessionSettings, session_turn
from tests.unit.gateway.tiers import (
    ADA,
    NEVER,
    NO_EVENTS,
    NOON,
    FakeClient,
    FakeJournal,
    FakeTiers,
    interaction,
    sessions,
    uuid,
)


def appended(*positions: int, created: bool) -> session_internal_pb2.IngestTurnsResponse:
    window = [session_turn(interaction(position)) for position in positions]
    return session_internal_pb2.IngestTurnsResponse(session=session_pb2.Session(turns=window), created=created)


def tiers(answer: session_internal_pb2.IngestTurnsResponse) -> FakeTiers:
    return FakeTiers(
        session=FakeClient(
            get=NotFound("session", "c1"),
            append=answer,
            delete=session_internal_pb2.RemoveSessionsResponse(),
            log_events=NO_EVENTS,
        )
    )


async def put(fakes: FakeTiers, journal: FakeJournal, *positions: int) -> None:
    turns = [session_turn(interaction(position)) for position in positions]
    await sessions(fakes, journal).append_turns(ADA, "ada", "c1", turns, timeout_seconds=1.0)


def asked(fakes: FakeTiers) -> list[list[int]]:
    return [[turn.position for turn in request.turns] for request in fakes.session.method("append").requests]


def deletions(fakes: FakeTiers) -> int:
    return len(fakes.session.method("delete").requests)


async def test_spec_1_5_a_turn_that_comes_after_the_end_does_not_bring_the_session_back() -> None:
    fakes = tiers(appended(0, 1, created=True))
    await put(fakes, FakeJournal(logged=[interaction(0), interaction(1)], start=2), 0, 1)
    assert (asked(fakes), deletions(fakes)) == ([[0, 1]], 1)


async def test_spec_1_5_of_turns_around_an_end_those_after_it_stay() -> None:
    fakes = tiers(appended(1, 2, created=True))
    with_next = FakeJournal(logged=[interaction(n) for n in range(3)], start=2)
    await put(fakes, with_next, 1, 2)
    assert asked(fakes)[:2] == [[1, 2], [2]]
    assert deletions(fakes) == 1


async def test_spec_1_5_a_late_turn_of_an_ended_session_is_taken_out_of_the_next_one() -> None:
    fakes = tiers(appended(1, 2, created=False))
    await put(fakes, FakeJournal(logged=[interaction(n) for n in range(3)], start=2), 1)
    assert asked(fakes)[1] == [2]
    assert deletions(fakes) == 1


@pytest.mark.parametrize("is_created", [True, False])
async def test_turns_of_a_session_that_runs_stay(is_created: bool) -> None:
    fakes = tiers(appended(2, 3, created=is_created))
    await put(fakes, FakeJournal(logged=[interaction(2), interaction(3)], start=2), 2, 3)
    assert asked(fakes)[0] == [2, 3]
    assert deletions(fakes) == 0


async def test_spec_1_5_a_session_that_ends_while_it_is_rebuilt_stays_gone() -> None:
    class EndingJournal(FakeJournal):
        async def session_start(self, tenant_id: str, user_id: str, conversation_id: str) -> int:
            self.start = 2  # the end commits between the reading of the log and the check
            return await super().session_start(tenant_id, user_id, conversation_id)

    fakes = tiers(appended(0, 1, created=True))
    journal = EndingJournal(logged=[interaction(0), interaction(1)])
    assert await sessions(fakes, journal).find(ADA, "ada", "c1", timeout_seconds=1.0) is None
    assert deletions(fakes) == 1


async def test_spec_1_4_a_turn_that_is_logged_while_a_session_is_rebuilt_is_in_its_window() -> None:
    class GrowingJournal(FakeJournal):
        async def session_beginning(self, tenant_id: str, user_id: str, conversation_id: str) -> SessionBeginning:
            beginning = await super().session_beginning(tenant_id, user_id, conversation_id)
            self.logged = [interaction(number) for number in range(4)]  # the last one commits once the log was read
            return beginning

    fakes = tiers(appended(0, 1, 2, created=True))
    journal = GrowingJournal(logged=[interaction(number) for number in range(3)])
    await sessions(fakes, journal).find(ADA, "ada", "c1", timeout_seconds=1.0)
    assert asked(fakes) == [[0, 1, 2], [0, 1, 2, 3]]


async def test_spec_1_4_a_first_turn_that_is_delivered_again_brings_those_behind_it_along() -> None:
    fakes = tiers(appended(0, created=True))
    await put(fakes, FakeJournal(logged=[interaction(number) for number in range(3)]), 0)
    assert asked(fakes) == [[0], [0, 1, 2]]


def with_defaults(window_turns: int, ttl_seconds: int) -> session_internal_pb2.ListLogEventsResponse:
    response = session_internal_pb2.ListLogEventsResponse()
    response.defaults.window_turns = window_turns
    response.defaults.ttl.seconds = ttl_seconds
    return response


async def test_spec_1_2_a_session_that_asked_for_nothing_ends_as_the_tier_is_set() -> None:
    fakes = tiers(appended(0, created=True))
    said = FakeJournal(logged=[interaction(0)])  # a minute ago
    fakes.session.method("log_events").answer = with_defaults(10, ttl_seconds=2)
    assert await sessions(fakes, said).find(ADA, "ada", "c1", timeout_seconds=1.0) is None
    fakes.session.method("log_events").answer = with_defaults(10, ttl_seconds=61)
    assert await sessions(fakes, said).find(ADA, "ada", "c1", timeout_seconds=1.0) is not None


async def test_spec_1_3_a_session_that_asked_for_nothing_is_rebuilt_with_the_window_that_the_tier_is_set_to() -> None:
    fakes = tiers(appended(0, created=True))
    fakes.session.method("log_events").answer = with_defaults(20, ttl_seconds=3_600)
    said = FakeJournal(logged=[interaction(number) for number in range(30)])
    await sessions(fakes, said).find(ADA, "ada", "c1", timeout_seconds=1.0)
    assert asked(fakes) == [list(range(10, 30))]


async def test_spec_1_1_a_rebuilt_session_has_the_create_time_and_the_turns_that_it_had() -> None:
    fakes = tiers(appended(0, created=True))
    said = FakeJournal(logged=[interaction(number) for number in range(15)], start=2)
    await sessions(fakes, said).find(ADA, "ada", "c1", timeout_seconds=1.0)
    created = NOON - timedelta(hours=3)
    said.record = SessionRecord(5, timedelta(hours=1), NOON, created)
    await sessions(fakes, said).find(ADA, "ada", "c1", timeout_seconds=1.0)
    first, second = fakes.session.method("append").requests
    assert (len(first.turns), first.earlier_turn_count) == (10, 3)
    assert first.create_time.ToDatetime(UTC) == said.logged[2].create_time
    assert (len(second.turns), second.earlier_turn_count) == (5, 8)
    assert second.create_time.ToDatetime(UTC) == created


async def test_spec_7_1_a_rebuild_is_the_gateways_own_in_the_readers_tenant() -> None:
    fakes = tiers(appended(0, created=True))
    reader = replace(ADA, role=Role.READER)
    found = await sessions(fakes, FakeJournal(logged=[interaction(0)])).find(reader, "ada", "c1", timeout_seconds=1.0)
    assert found is not None
    assert found.is_rebuilt
    (principal,) = fakes.session.method("append").principals
    assert (principal.tenant_id, principal.role) == (reader.tenant_id, Role.WRITER)
    assert fakes.session.method("get").principals == [reader]


COMMAND = RememberCommand("ada", "c1", (interaction(0).turn,))
APPENDED = Appended((uuid(0),), 0, SequenceSpan(1, 1), replayed=False)


async def test_spec_6_5_a_session_tier_that_answers_has_the_turns_before_the_acknowledgement() -> None:
    fakes, taken = tiers(appended(0, created=True)), asyncio.Event()
    await sessions(fakes).append(ADA, COMMAND, APPENDED, on_taken=taken.set)
    assert taken.is_set()


async def test_spec_6_5_a_stalled_session_tier_adds_at_most_5_ms_to_an_acknowledgement() -> None:
    fakes, taken = tiers(appended(0, created=True)), asyncio.Event()
    fakes.session.method("append").answer = NEVER
    access = sessions(fakes)
    assert SessionSettings().append_budget_seconds == 0.005
    started = time.monotonic()
    await access.append(ADA, COMMAND, APPENDED, on_taken=taken.set)
    assert time.monotonic() - started < 5.0  # on a machine that is busy; without the budget it would never end
    assert not taken.is_set()
    await access.aclose()


async def test_spec_6_5_an_append_that_is_slow_goes_on_behind_the_acknowledgement() -> None:
    fakes, taken, gate = tiers(appended(0, created=True)), asyncio.Event(), asyncio.Event()

    class SlowJournal(FakeJournal):
        async def session_start(self, tenant_id: str, user_id: str, conversation_id: str) -> int:
            await gate.wait()
            return await super().session_start(tenant_id, user_id, conversation_id)

    access = sessions(fakes, SlowJournal())
    await access.append(ADA, COMMAND, APPENDED, on_taken=taken.set)
    assert not taken.is_set()
    gate.set()
    async with asyncio.timeout(5.0):
        await taken.wait()
    assert asked(fakes) == [[0]]  # it was not begun again


async def test_spec_6_5_attempts_on_a_stalled_tier_are_bounded() -> None:
    fakes = tiers(appended(0, created=True))
    fakes.session.method("append").answer = NEVER
    access = sessions(fakes)
    for number in range(SessionSettings().appends_max + 3):
        await access.append(ADA, COMMAND, replace(APPENDED, interaction_ids=(uuid(number),)), on_taken=lambda: None)
    assert len(fakes.session.method("append").requests) == SessionSettings().appends_max
    await access.aclose()


async def test_a_rebuild_sends_the_last_turns_that_go_into_a_message() -> None:
    fakes = tiers(appended(4, created=True))
    journal = FakeJournal(logged=[interaction(number, "x" * 1_000_000) for number in range(5)])
    await sessions(fakes, journal).find(ADA, "ada", "c1", timeout_seconds=1.0)
    assert asked(fakes) == [[2, 3, 4]]

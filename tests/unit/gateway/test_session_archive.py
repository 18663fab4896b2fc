"""Events of sessions that the conversation log does not take."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from mneme.common.v1 import common_pb2
from mneme.session.internal.v1 import session_internal_pb2 as pb
from services.common.errors import FailedPrecondition, InvalidArgument, MnemeError, StoreUnavailable
from services.gateway.journal.model import Caller, RememberCommand, SessionEvent
from tests.unit.gateway.tiers import FakeClient, FakeJournal, FakeTiers, archive


def event(number: int, user: str = "ada") -> pb.LogEvent:
    message = pb.LogEvent(event_id=f"e{number}", tenant_id="acme", user_id=user, conversation_id="c1")
    message.turn.interaction_id = f"t{number}"
    message.turn.turn.content = f"turn {number}"
    message.turn.turn.role = common_pb2.MESSAGE_ROLE_USER
    return message


@dataclass
class Tier:
    """The session tier's list of events."""

    events: list[pb.LogEvent]

    def list(self, request: pb.ListLogEventsRequest) -> pb.ListLogEventsResponse:
        found = [e for e in self.events if request.user_id in ("", e.user_id)]
        return pb.ListLogEventsResponse(events=found)

    def acknowledge(self, request: pb.AcknowledgeLogEventsRequest) -> pb.AcknowledgeLogEventsResponse:
        self.events = [e for e in self.events if e.event_id not in request.event_ids]
        return pb.AcknowledgeLogEventsResponse()

    def tiers(self) -> FakeTiers:
        return FakeTiers(session=FakeClient(log_events=self.list, acknowledge=self.acknowledge))


@dataclass
class Log(FakeJournal):
    """A log that refuses a turn."""

    refused: str = ""  # its content
    error: Exception = field(default_factory=lambda: FailedPrecondition("no"))
    written: list[str] = field(default_factory=list)
    dead: list[tuple[SessionEvent, int, str]] = field(default_factory=list)

    async def archive(self, _caller: Caller, commands: Sequence[RememberCommand]) -> int:
        contents = [turn.content for command in commands for turn in command.turns]
        if self.refused in contents:
            raise self.error
        self.written += contents
        return len(contents)

    async def set_aside(self, event: SessionEvent, *, attempts: int, reason: str, **_detail: Any) -> None:
        self.dead.append((event, attempts, reason))


@dataclass
class SlowLog(Log):
    """A log that takes turns once its gate is open."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def archive(self, caller: Caller, commands: Sequence[RememberCommand]) -> int:
        self.begun.set()
        await self.gate.wait()
        return await super().archive(caller, commands)


async def test_an_event_that_is_refused_is_set_aside_and_those_behind_it_are_written() -> None:
    tier, log = Tier([event(0), event(1), event(2)]), Log(refused="turn 1")
    jobs = archive(tier.tiers(), log)
    for _ in range(4):
        await jobs.run_once()
        assert [e.event_id for e in tier.events] == ["e1", "e2"]
    assert await jobs.run_once() == 2
    assert tier.events == []
    assert log.written == ["turn 0", "turn 2"]
    ((dead, attempts, reason),) = log.dead
    assert (dead.tenant_id, dead.user_id, attempts, reason) == ("acme", "ada", 5, "PRECONDITION_FAILED")
    assert pb.LogEvent.FromString(dead.payload) == event(1)


@pytest.mark.parametrize("error", [InvalidArgument("no"), RuntimeError("a fault of ours")])
async def test_neither_a_refusal_for_good_nor_a_fault_holds_up_other_users(error: Exception) -> None:
    tier, log = Tier([event(0), event(1, "bob")]), Log(refused="turn 0", error=error)
    jobs = archive(tier.tiers(), log)
    await jobs.run_once()
    assert log.written == ["turn 1"]
    for _ in range(4):
        await jobs.run_once()
    assert len(log.dead) == 1
    assert tier.events == []


async def test_a_journal_that_is_away_sets_nothing_aside() -> None:
    tier, log = Tier([event(0)]), Log(refused="turn 0", error=StoreUnavailable("journal"))
    jobs = archive(tier.tiers(), log)
    for _ in range(9):
        await jobs.run_once()
    assert log.dead == []
    assert len(tier.events) == 1
    with pytest.raises(MnemeError):
        await jobs.settle("acme", "ada", timeout_seconds=1.0)


async def test_an_event_that_was_set_aside_is_written_when_it_is_retried() -> None:
    log = Log()
    payload = event(3).SerializeToString()
    await archive(journal=log).deliver(SessionEvent("acme", "id", "ada", payload))
    assert log.written == ["turn 3"]


async def test_spec_1_5_a_deletion_waits_for_turns_that_were_listed_before_it() -> None:
    # Written behind the end of their session, turns that it discards would be those of a new one.
    tier, log = Tier([event(0)]), SlowLog()
    jobs = archive(tier.tiers(), log)
    order: list[str] = []

    async def delete() -> None:
        await log.begun.wait()
        async with jobs.paused("acme", "ada"):
            order.append(f"deleted after {log.written}")

    async def write() -> None:
        await jobs.run_once()
        order.append("written")

    deleting, writing = asyncio.create_task(delete()), asyncio.create_task(write())
    await log.begun.wait()
    async with jobs.paused("acme", "bob"):  # other users do not wait
        order.append("bob")
    log.gate.set()
    await asyncio.gather(deleting, writing)
    assert order[0] == "bob"
    assert "deleted after ['turn 0']" in order

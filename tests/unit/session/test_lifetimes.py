"""The conversation log learns how long a session lives that is only read."""

from __future__ import annotations

from datetime import timedelta

import pytest

from services.common.errors import StoreUnavailable
from services.session.config import EmbeddedSettings, LifetimeSettings
from services.session.lifetimes import LifetimeReports
from services.session.model import LogEvent, Report, SessionSpec, SettingsChange
from services.session.stores.embedded import EmbeddedSessionStore
from tests.contract.session_samples import ADA, STORE_SETTINGS, key, turn
from tests.support.clock import FakeClock
from tests.support.session import Line, SwitchableStore

TTL = timedelta(seconds=600)
SPEC = SessionSpec(window_turns=10, ttl=TTL)


class Reader:
    """Reads sessions as the tier does."""

    def __init__(self, **bounds: int) -> None:
        self.clock = FakeClock()
        self.memory = EmbeddedSessionStore(EmbeddedSettings(), STORE_SETTINGS)
        self.line = SwitchableStore(self.memory)
        self.reports = LifetimeReports(self.line, self.clock, LifetimeSettings(**bounds))

    async def create(self, name: str = "s1") -> None:
        await self.memory.append(key(name), [turn(name)], create=SPEC, now=self.clock.now())

    async def read(self, name: str = "s1") -> None:
        self.reports.note_read((await self.memory.get(key(name), now=self.clock.now())).value)

    async def events(self) -> list[LogEvent]:
        await self.reports.report_due()
        return await self.memory.log_events(ADA, limit=100, now=self.clock.now())


async def test_spec_1_5_reads_are_reported_once_per_half_of_the_time_to_live() -> None:
    reader = Reader()
    await reader.create()
    for _ in range(24):  # an hour
        reader.clock.advance(TTL / 4)
        await reader.read()
        await reader.events()
    assert len(await reader.events()) == 12


async def test_spec_1_5_the_log_always_knows_of_a_lifetime_that_has_not_ended() -> None:
    reader = Reader()
    start = reader.clock.now()
    await reader.create()
    known = start
    for _ in range(40):
        reader.clock.advance(TTL / 8)
        await reader.read()
        for event in await reader.events():
            assert isinstance(event.content, SettingsChange)
            known = event.content.set_time
        assert known + TTL > reader.clock.now()
    last_read = reader.clock.now()
    reader.clock.advance(TTL / 2)  # read no more: the log learns of the last read as well
    last = (await reader.events())[-1].content
    assert last == SettingsChange(SPEC, last_read, start)


async def test_spec_1_5_a_session_that_is_written_needs_no_report() -> None:
    reader = Reader()
    await reader.create()
    for _ in range(10):
        reader.clock.advance(TTL / 4)
        await reader.read()
        reader.reports.note_write(key())
    assert await reader.events() == []


async def test_spec_1_5_what_waits_is_reported_when_the_service_stops() -> None:
    reader = Reader()
    start = reader.clock.now()
    await reader.create()
    reader.clock.advance(TTL / 4)
    await reader.read()
    assert await reader.events() == []
    await reader.reports.report_all()
    assert [event.content for event in await reader.events()] == [SettingsChange(SPEC, reader.clock.now(), start)]


async def test_a_report_waits_while_the_store_is_away() -> None:
    reader = Reader()
    await reader.create()
    reader.clock.advance(TTL / 2)
    await reader.read()
    reader.line.line = Line.CUT
    with pytest.raises(StoreUnavailable):
        await reader.reports.report_due()
    reader.line.line = Line.UP
    reader.clock.advance(TTL / 2 - timedelta(seconds=1))
    assert len(await reader.events()) == 1


async def test_a_report_waits_while_too_many_events_of_the_user_do() -> None:
    reader = Reader()
    await reader.create()
    many = [turn(f"t{number}") for number in range(STORE_SETTINGS.events_max)]
    await reader.memory.append(key(), many, create=None, now=reader.clock.now(), report=Report.BOUNDED)
    reader.clock.advance(TTL / 2)
    await reader.read()
    waiting = await reader.events()
    assert len(waiting) == len(many)
    await reader.memory.acknowledge(ADA, [event.event_id for event in waiting], now=reader.clock.now())
    reader.clock.advance(TTL / 2 - timedelta(seconds=1))
    await reader.read()
    reader.clock.advance(seconds=1)
    assert len(await reader.events()) == 1


async def test_a_report_of_a_session_that_has_ended_changes_nothing() -> None:
    reader = Reader()
    await reader.create()
    reader.clock.advance(TTL / 2)
    await reader.read()
    await reader.memory.delete(key(), now=reader.clock.now())
    assert await reader.events() == []


async def test_a_batch_is_bounded_and_so_are_the_sessions_that_wait() -> None:
    reader = Reader(batch_max=2, sessions_max=3)
    for name in "abcd":
        await reader.create(name)
    reader.clock.advance(TTL / 2)
    for name in "abcd":
        await reader.read(name)
    assert [event.key.conversation_id for event in await reader.events()] == ["a", "b"]
    assert [event.key.conversation_id for event in await reader.events()] == ["a", "b", "c"]


async def test_many_reads_and_writes_of_a_session_take_no_memory() -> None:
    reader = Reader()
    await reader.create()
    for _ in range(100):
        await reader.read()
        reader.reports.note_write(key())
        reader.clock.advance(seconds=1)
    assert len(reader.reports._due) == 1


async def test_spec_1_5_a_shorter_time_to_live_is_reported_in_time() -> None:
    reader = Reader()
    await reader.create()
    await reader.read()
    await reader.memory.extend(key(), ttl=TTL / 10, now=reader.clock.now())
    reader.reports.note_extended(key())
    await reader.read()
    reader.clock.advance(TTL / 20)
    assert len(await reader.events()) == 1

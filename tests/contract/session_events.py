"""What every driver of the session store must do about the conversation log, and about removal."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from services.common.errors import LimitExceeded, NotFound
from services.common.owners import Owner, TenantId, UserId
from services.session.model import Deletion, LogEvent, NewTurn, Report, SessionSpec, SettingsChange
from services.session.store import SessionStore
from tests.contract.session_samples import ADA, SPEC, STORE_SETTINGS, SessionStoreTests, idempotency_key, ids, key, turn
from tests.support.clock import FakeClock

BOB = Owner(TenantId("acme"), UserId("bob"))
OTHER = Owner(TenantId("other"), UserId("ada"))


def kinds(events: list[LogEvent]) -> list[str]:
    """Turns by their ids, everything else by its type."""
    return [e.content.interaction_id if isinstance(e.content, NewTurn) else type(e.content).__name__ for e in events]


class SessionEventsContract(SessionStoreTests):
    """Events for the log."""

    async def test_spec_1_5_turns_that_leave_the_window_and_expire_wait_for_the_log(
        self, store: SessionStore, clock: FakeClock
    ) -> None:
        spec = SessionSpec(window_turns=2, ttl=timedelta(seconds=60))
        for name in "abc":
            await store.append(key(), [turn(name)], create=spec, now=clock.now(), report=Report.BOUNDED)
        clock.advance(timedelta(days=2))
        with pytest.raises(NotFound):
            await store.get(key(), now=clock.now())
        events = await store.log_events(ADA, limit=10, now=clock.now())
        assert kinds(events) == ["SettingsChange", "a", "b", "c"]
        assert isinstance(events[0].content, SettingsChange)
        assert events[0].content.spec == spec
        assert events[2].content == turn("b")
        assert {event.key for event in events} == {key()}

    async def test_spec_1_5_an_acknowledged_event_is_gone_and_the_others_stay(
        self, store: SessionStore, clock: FakeClock
    ) -> None:
        await store.append(key(), [turn("a"), turn("b")], create=SPEC, now=clock.now(), report=Report.BOUNDED)
        await store.append(key("s1", BOB), [turn("c")], create=SPEC, now=clock.now(), report=Report.BOUNDED)
        first = await store.log_events(ADA, limit=2, now=clock.now())
        assert kinds(first) == ["SettingsChange", "a"]
        await store.acknowledge(ADA, [e.event_id for e in first] + ["unknown"], now=clock.now())
        await store.acknowledge(ADA, [e.event_id for e in first], now=clock.now())
        assert kinds(await store.log_events(ADA, limit=9, now=clock.now())) == ["b"]
        rest = await store.log_events(None, limit=9, now=clock.now())
        assert sorted(kinds([e for e in rest if e.key.owner in (ADA, BOB)])) == ["SettingsChange", "b", "c"]

    async def test_events_of_a_user_whose_events_were_acknowledged_are_listed_again(
        self, store: SessionStore, clock: FakeClock
    ) -> None:
        for name in "ab":
            await store.append(key(), [turn(name)], create=SPEC, now=clock.now(), report=Report.BOUNDED)
            events = [e for e in await store.log_events(None, limit=99, now=clock.now()) if e.key.owner == ADA]
            assert kinds(events)[-1] == name
            await store.acknowledge(ADA, [e.event_id for e in events], now=clock.now())
            clock.advance(timedelta(minutes=5))
            assert await store.log_events(ADA, limit=99, now=clock.now()) == []

    async def test_spec_6_5_a_user_whose_events_stay_does_not_hide_those_of_others(
        self, store: SessionStore, clock: FakeClock
    ) -> None:
        await store.append(key(), [turn(n) for n in "abc"], create=SPEC, now=clock.now(), report=Report.BOUNDED)
        for owner in (BOB, OTHER):
            clock.advance(timedelta(seconds=1))
            await store.append(key("s1", owner), [turn("d")], create=SPEC, now=clock.now(), report=Report.BOUNDED)
        listed = []
        for _ in range(3):
            clock.advance(timedelta(seconds=1))
            events = await store.log_events(None, limit=1, now=clock.now())
            listed += [event.key.owner for event in events]
        assert listed == [ADA, BOB, OTHER]

    async def test_a_write_that_the_log_has_is_not_reported(self, store: SessionStore, clock: FakeClock) -> None:
        await store.append(key(), [turn("a")], create=SPEC, now=clock.now())
        await store.append(key(), [turn("a")], create=None, now=clock.now(), report=Report.BOUNDED)
        await store.delete(key(), now=clock.now())
        assert await store.log_events(ADA, limit=9, now=clock.now()) == []

    async def test_spec_6_3_a_repeated_request_is_reported_once(self, store: SessionStore, clock: FakeClock) -> None:
        for _ in range(2):
            now, request = clock.now(), idempotency_key("r1")
            await store.append(key(), [turn("a")], create=SPEC, now=now, idempotency_key=request, report=Report.BOUNDED)
        assert kinds(await store.log_events(ADA, limit=9, now=clock.now())) == ["SettingsChange", "a"]

    async def test_spec_1_5_a_deletion_and_settings_are_reported_in_order(
        self, store: SessionStore, clock: FakeClock
    ) -> None:
        created = clock.now()
        await store.create(key(), SPEC, now=created, report=Report.BOUNDED)
        await store.append(key(), [turn("a")], create=None, now=clock.now(), report=Report.BOUNDED)
        clock.advance(timedelta(seconds=5))
        await store.extend(key(), ttl=timedelta(hours=2), now=clock.now(), report=Report.BOUNDED)
        await store.delete(key(), now=clock.now(), report=Report.ALWAYS)
        events = await store.log_events(ADA, limit=9, now=clock.now())
        assert kinds(events) == ["SettingsChange", "a", "SettingsChange", "Deletion"]
        assert events[2].content == SettingsChange(
            SessionSpec(SPEC.window_turns, timedelta(hours=2)), clock.now(), created
        )
        assert events[3].content == Deletion(created)

    async def test_spec_1_5_discarded_turns_do_not_reach_the_log(self, store: SessionStore, clock: FakeClock) -> None:
        for name in ("s1", "s2"):
            await store.append(key(name), [turn("a")], create=SPEC, now=clock.now(), report=Report.BOUNDED)
        await store.delete(key("s1"), now=clock.now(), report=Report.ALWAYS, discard=True)
        events = await store.log_events(ADA, limit=9, now=clock.now())
        assert kinds([e for e in events if e.key == key("s1")]) == ["SettingsChange", "Deletion"]
        assert kinds([e for e in events if e.key == key("s2")]) == ["SettingsChange", "a"]

    async def test_spec_1_5_a_full_list_of_events_refuses_turns_and_loses_none(
        self, store: SessionStore, clock: FakeClock
    ) -> None:
        most = STORE_SETTINGS.events_max
        first = [turn(f"t{n}") for n in range(most - 1)]
        await store.append(key(), first, create=SPEC, now=clock.now(), report=Report.BOUNDED)
        with pytest.raises(LimitExceeded):
            await store.append(key(), [turn("late")], create=None, now=clock.now(), report=Report.BOUNDED)
        with pytest.raises(LimitExceeded):
            await store.append(key("s2"), [turn("late")], create=SPEC, now=clock.now(), report=Report.BOUNDED)
        assert "late" not in ids((await store.get(key(), now=clock.now())).value)
        with pytest.raises(NotFound):
            await store.get(key("s2"), now=clock.now())
        await store.append(key(), [turn("accepted")], create=None, now=clock.now(), report=Report.ALWAYS)
        events = await store.log_events(ADA, limit=most + 9, now=clock.now())
        assert kinds(events) == ["SettingsChange", *(said.interaction_id for said in first), "accepted"]
        await store.acknowledge(ADA, [event.event_id for event in events[:2]], now=clock.now())
        await store.append(key(), [turn("late")], create=None, now=clock.now(), report=Report.BOUNDED)

    async def test_concurrent_reported_turns_are_all_reported(self, store: SessionStore, clock: FakeClock) -> None:
        now = clock.now()
        writes = [store.append(key(), [turn(f"t{n}")], create=SPEC, now=now, report=Report.BOUNDED) for n in range(20)]
        await asyncio.gather(*writes)
        events = await store.log_events(ADA, limit=50, now=now)
        assert sorted(kinds(events)) == sorted(["SettingsChange", *(f"t{n}" for n in range(20))])
        assert len({event.event_id for event in events}) == len(events)


class SessionRemovalContract(SessionStoreTests):
    """Removal of users and tenants."""

    @pytest.fixture
    def replica(self, store: SessionStore) -> SessionStore:
        """A second store object on the same engine; the store itself where its engine is its own memory."""
        return store

    async def _fill(self, store: SessionStore, clock: FakeClock) -> None:
        for owner in (ADA, BOB, OTHER):
            for name in ("s1", "s2"):
                at, now, request = key(name, owner), clock.now(), idempotency_key(f"r-{name}")
                await store.append(
                    at, [turn("a")], create=SPEC, now=now, idempotency_key=request, report=Report.BOUNDED
                )

    async def _is_gone(self, store: SessionStore, owner: Owner, clock: FakeClock) -> bool:
        now = clock.now()
        for name in ("s1", "s2"):
            with pytest.raises(NotFound):
                await store.get(key(name, owner), now=now)
        listed = await store.list_sessions(owner, limit=9, after=None, now=now)
        return not listed.value and not await store.log_events(owner, limit=9, now=now)

    async def test_a_removed_user_is_gone_at_once_and_others_stay(
        self, store: SessionStore, replica: SessionStore, clock: FakeClock
    ) -> None:
        await self._fill(store, clock)
        assert await replica.remove_owner(ADA, now=clock.now()) == 2
        assert await self._is_gone(store, ADA, clock)
        assert await replica.remove_owner(ADA, now=clock.now()) == 0
        for owner in (BOB, OTHER):
            assert len((await store.list_sessions(owner, limit=9, after=None, now=clock.now())).value) == 2
            assert ids((await store.get(key("s1", owner), now=clock.now())).value) == ["a"]
            assert len(await store.log_events(owner, limit=9, now=clock.now())) == 4

    async def test_the_idempotency_records_of_a_removed_user_are_gone(
        self, store: SessionStore, replica: SessionStore, clock: FakeClock
    ) -> None:
        await self._fill(store, clock)
        await replica.remove_owner(ADA, now=clock.now())
        again = await self.append(store, clock, [turn("b")], request=idempotency_key("r-s1", "another request"))
        assert (again.is_created, ids(again.session)) == (True, ["b"])

    async def test_a_removed_tenant_is_gone_at_once_and_others_stay(
        self, store: SessionStore, replica: SessionStore, clock: FakeClock
    ) -> None:
        await self._fill(store, clock)
        assert await replica.remove_tenant(ADA.tenant_id, now=clock.now()) == 4
        assert await self._is_gone(store, ADA, clock)
        assert await self._is_gone(store, BOB, clock)
        assert ids((await store.get(key("s1", OTHER), now=clock.now())).value) == ["a"]
        again = await self.append(store, clock, [turn("b")], request=idempotency_key("r-s1", "another request"))
        assert again.is_created

"""What every driver of the session store must do about repeats."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.errors import InvalidArgument, NotFound, Reason
from services.common.owners import Owner, TenantId, UserId
from services.session.model import SessionSpec
from services.session.store import SessionStore
from tests.contract.session_samples import SPEC, STORE_SETTINGS, SessionStoreTests, idempotency_key, ids, key, turn
from tests.support.clock import FakeClock


class SessionRequestsContract(SessionStoreTests):
    """Turns and requests that come twice."""

    async def test_spec_1_4_a_turn_is_not_added_twice(self, store: SessionStore, clock: FakeClock) -> None:
        await self.append(store, clock, [turn("a"), turn("b"), turn("a")])
        again = await self.append(store, clock, [turn("b"), turn("c"), turn("a", 99)])
        assert (ids(again.session), again.appended_count) == (["a", "b", "c"], 1)
        assert again.session.turn_count == 3

    async def test_spec_1_4_turns_are_remembered_beyond_the_window(self, store: SessionStore, clock: FakeClock) -> None:
        for number in range(30):
            await self.append(store, clock, [turn(f"t{number}")])
        again = await self.append(store, clock, [turn("t0"), turn("t29")])
        assert again.appended_count == 0
        await self.append(store, clock, [turn("t30")])
        forgotten = await self.append(store, clock, [turn("t0")])
        assert forgotten.appended_count == 1

    async def test_the_window_is_remembered_however_old_its_turns(self, store: SessionStore, clock: FakeClock) -> None:
        await self.append(store, clock, [turn("old", 1_000)])
        for number in range(40):
            await self.append(store, clock, [turn(f"t{number}", number)])
        again = await self.append(store, clock, [turn("old", 1_000)])
        assert again.appended_count == 0
        assert ids(again.session).count("old") == 1

    async def test_spec_1_4_a_repeated_append_adds_nothing_and_returns_the_first_response(
        self, store: SessionStore, clock: FakeClock
    ) -> None:
        first = await self.append(store, clock, [turn("a"), turn("b")], request=idempotency_key("r1"))
        assert (first.appended_count, first.is_created) == (2, True)
        await self.append(store, clock, [turn("c")])
        again = await self.append(store, clock, [turn("made anew"), turn("b2")], request=idempotency_key("r1"))
        assert again == replace(first, session=replace(first.session, turns=()))
        assert ids((await store.get(key(), now=clock.now())).value) == ["a", "b", "c"]

    async def test_a_repeated_append_does_not_revive_a_deleted_session(
        self, store: SessionStore, clock: FakeClock
    ) -> None:
        first = await self.append(store, clock, [turn("a")], request=idempotency_key("r1"))
        await store.delete(key(), now=clock.now())
        again = await self.append(store, clock, [turn("a")], request=idempotency_key("r1"))
        assert again == replace(first, session=replace(first.session, turns=()))
        with pytest.raises(NotFound):
            await store.get(key(), now=clock.now())

    async def test_a_repeated_creation_is_answered_as_the_first_time(
        self, store: SessionStore, clock: FakeClock
    ) -> None:
        first = (await store.create(key("made-1"), SPEC, now=clock.now(), idempotency_key=idempotency_key("r1"))).value
        await self.append(store, clock, [turn("a")], at=key("made-1"))
        clock.advance(seconds=5)
        again = (await store.create(key("made-2"), SPEC, now=clock.now(), idempotency_key=idempotency_key("r1"))).value
        assert again == first
        with pytest.raises(NotFound):
            await store.get(key("made-2"), now=clock.now())

    async def test_a_repeated_extension_changes_nothing(self, store: SessionStore, clock: FakeClock) -> None:
        await self.append(store, clock, [turn("a")])
        ttl = timedelta(seconds=60)
        first = (await store.extend(key(), ttl=ttl, now=clock.now(), idempotency_key=idempotency_key("r1"))).value
        await store.extend(key(), ttl=timedelta(seconds=90), now=clock.now())
        again = (
            await store.extend(key(), ttl=ttl, now=clock.advance(seconds=30), idempotency_key=idempotency_key("r1"))
        ).value
        assert again == first
        assert (await store.get(key(), now=clock.now())).value.spec.ttl == timedelta(seconds=90)

    async def test_a_repeated_deletion_returns_what_was_deleted(self, store: SessionStore, clock: FakeClock) -> None:
        held = (await self.append(store, clock, [turn("a"), turn("b")])).session
        first = (await store.delete(key(), now=clock.now(), idempotency_key=idempotency_key("r1"))).value
        await self.append(store, clock, [turn("new life")])
        again = (await store.delete(key(), now=clock.now(), idempotency_key=idempotency_key("r1"))).value
        assert first == again == replace(held, turns=())
        assert ids((await store.get(key(), now=clock.now())).value) == ["new life"]

    async def test_another_request_under_a_used_id_is_refused(self, store: SessionStore, clock: FakeClock) -> None:
        await self.append(store, clock, [turn("a")], request=idempotency_key("r1", "first"))
        other = idempotency_key("r1", "second")
        for attempt in (
            store.append(key(), [turn("b")], create=SPEC, now=clock.now(), idempotency_key=other),
            store.create(key("s2"), SPEC, now=clock.now(), idempotency_key=other),
            store.extend(key(), ttl=None, now=clock.now(), idempotency_key=other),
            store.delete(key(), now=clock.now(), idempotency_key=other),
        ):
            with pytest.raises(InvalidArgument) as caught:
                await attempt
            assert caught.value.reason is Reason.REQUEST_ID_REUSED
        assert ids((await store.get(key(), now=clock.now())).value) == ["a"]

    async def test_request_ids_of_principals_and_users_are_apart(self, store: SessionStore, clock: FakeClock) -> None:
        await self.append(store, clock, [turn("a")], request=idempotency_key("r1"))
        await self.append(store, clock, [turn("b")], request=idempotency_key("r1", "other", principal="worker"))
        bob = key(owner=Owner(TenantId("acme"), UserId("bob")))
        await self.append(store, clock, [turn("c")], at=bob, request=idempotency_key("r1", "third"))
        assert ids((await store.get(key(), now=clock.now())).value) == ["a", "b"]
        assert ids((await store.get(bob, now=clock.now())).value) == ["c"]

    async def test_a_failed_request_is_not_remembered(self, store: SessionStore, clock: FakeClock) -> None:
        with pytest.raises(NotFound):
            await self.append(store, clock, [turn("a")], create=None, request=idempotency_key("r1"))
        await store.create(key(), SPEC, now=clock.now())
        appended = await self.append(store, clock, [turn("a")], create=None, request=idempotency_key("r1"))
        assert appended.appended_count == 1

    async def test_a_request_is_forgotten_in_time(self, store: SessionStore, clock: FakeClock) -> None:
        spec = SessionSpec(window_turns=10, ttl=timedelta(days=1))
        await self.append(store, clock, [turn("a")], create=spec, request=idempotency_key("r1"))
        clock.advance(STORE_SETTINGS.idempotency_retention)
        appended = await self.append(store, clock, [turn("b")], request=idempotency_key("r1", "other"))
        assert ids(appended.session) == ["a", "b"]

"""The bounds of the in-process store; the contract suite covers the rest."""

from __future__ import annotations

from datetime import timedelta

import pytest

from services.common.errors import NotFound
from services.common.owners import Owner, TenantId, UserId
from services.session.config import EmbeddedSettings, StoreSettings
from services.session.model import SessionSpec
from services.session.stores.embedded import EmbeddedSessionStore
from tests.contract.session_samples import ADA, SPEC, STORE_SETTINGS, idempotency_key, ids, key, turn
from tests.support.clock import FakeClock


def bounded(**bounds: int) -> EmbeddedSessionStore:
    return EmbeddedSessionStore(EmbeddedSettings(**bounds), STORE_SETTINGS)


async def held(store: EmbeddedSessionStore, clock: FakeClock) -> list[str]:
    listed = await store.list_sessions(ADA, limit=100, after=None, now=clock.now())
    return sorted(session.key.conversation_id for session in listed.value)


async def test_beyond_the_bound_the_expired_go_first() -> None:
    store, clock = bounded(sessions_max=3), FakeClock()
    await store.create(key("old"), SPEC, now=clock.now())
    short = SessionSpec(window_turns=1, ttl=timedelta(seconds=5))
    for conversation_id in ("short1", "short2"):
        await store.create(key(conversation_id), short, now=clock.now())
    clock.advance(seconds=5)
    await store.create(key("new"), SPEC, now=clock.now())
    assert len(store) == 2
    assert await held(store, clock) == ["new", "old"]


async def test_then_the_least_recently_active_go() -> None:
    store, clock = bounded(sessions_max=3), FakeClock()
    for conversation_id in ("a", "b", "c"):
        await store.create(key(conversation_id), SPEC, now=clock.advance(seconds=1))
    await store.get(key("a"), now=clock.advance(seconds=1))
    await store.append(key("d"), [turn("t")], create=SPEC, now=clock.advance(seconds=1))
    assert await held(store, clock) == ["a", "c", "d"]
    with pytest.raises(NotFound):
        await store.get(key("b"), now=clock.now())


async def test_a_short_life_is_noticed_among_long_ones() -> None:
    store, clock = bounded(sessions_max=2), FakeClock()
    await store.create(key("a"), SPEC, now=clock.now())
    await store.create(key("b"), SPEC, now=clock.now())
    await store.extend(key("b"), ttl=timedelta(seconds=1), now=clock.now())
    await store.create(key("c"), SPEC, now=clock.advance(seconds=1))
    assert await held(store, clock) == ["a", "c"]


async def test_windows_are_bounded_in_bytes() -> None:
    store, clock = bounded(payload_bytes_max=10_000), FakeClock()
    for conversation_id in ("a", "b", "c"):
        long = turn(f"t-{conversation_id}", content="x" * 4_000)
        await store.append(key(conversation_id), [long], create=SPEC, now=clock.advance(seconds=1))
    assert await held(store, clock) == ["b", "c"]
    assert store.size_bytes <= 10_000
    huge = turn("huge", content="x" * 20_000)
    await store.append(key("d"), [huge], create=SPEC, now=clock.advance(seconds=1))
    assert await held(store, clock) == ["d"]


async def test_bytes_are_given_back() -> None:
    store, clock = bounded(), FakeClock()
    for number in range(40):
        await store.append(key(), [turn(f"t{number}", content="x" * 100)], create=SPEC, now=clock.now())
    full = store.size_bytes
    await store.append(key(), [turn("t40", content="x" * 100)], create=SPEC, now=clock.now())
    assert store.size_bytes == full
    await store.delete(key(), now=clock.now())
    assert (store.size_bytes, len(store)) == (0, 0)


async def test_remembered_requests_are_bounded() -> None:
    store, clock = bounded(idempotency_records_max=2), FakeClock()
    await store.create(key(), SPEC, now=clock.now())
    for number in range(3):
        await store.append(
            key(), [turn(f"t{number}")], create=None, now=clock.now(), idempotency_key=idempotency_key(f"r{number}")
        )
    repeated = await store.append(
        key(), [turn("x")], create=None, now=clock.now(), idempotency_key=idempotency_key("r2")
    )
    assert (repeated.value.session.turn_count, repeated.value.session.turns) == (3, ())
    forgotten = await store.append(
        key(), [turn("y")], create=None, now=clock.now(), idempotency_key=idempotency_key("r0")
    )
    assert ids(forgotten.value.session) == ["t0", "t1", "t2", "y"]


async def test_nothing_is_kept_of_an_owner_without_sessions() -> None:
    store, clock = bounded(), FakeClock()
    for number in range(10):
        owner = Owner(TenantId("acme"), UserId(f"u{number}"))
        await store.create(key(owner=owner), SPEC, now=clock.now())
        await store.delete(key(owner=owner), now=clock.now())
    assert store._by_owner == {}


async def test_an_adopted_state_does_not_replace_a_later_one() -> None:
    store, clock = EmbeddedSessionStore(EmbeddedSettings(), StoreSettings()), FakeClock()
    earlier = (await store.append(key(), [turn("a")], create=SPEC, now=clock.now())).value.session
    later = (await store.append(key(), [turn("b")], create=None, now=clock.now())).value.session
    store.adopt(earlier, now=clock.now())
    assert store.peek(key(), now=clock.now()) == later
    store.forget(key())
    store.adopt(earlier, now=clock.now())
    assert store.peek(key(), now=clock.now()) == earlier
    appended = await store.append(key(), [turn("a"), turn("c")], create=None, now=clock.now())
    assert ids(appended.value.session) == ["a", "c"]

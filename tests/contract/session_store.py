"""What every driver of the session store must do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.errors import AlreadyExists, NotFound
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.scope import Scope, ScopeLevel
from services.common.turns import Attachment, MessageRole, Turn
from services.session.model import (
    POSITION_MAX,
    Appended,
    ConversationId,
    NewTurn,
    Session,
    SessionCursor,
    SessionKey,
    SessionPast,
    SessionSpec,
)
from services.session.store import SessionStore
from tests.contract.session_events import SessionEventsContract
from tests.contract.session_requests import SessionRequestsContract
from tests.contract.session_samples import ADA, NOON, SPEC, idempotency_key, ids, key, turn
from tests.support.clock import FakeClock


class SessionStoreContract(SessionRequestsContract, SessionEventsContract):
    """Subclass it with a fixture `store`: a fresh driver with `STORE_SETTINGS`."""

    # Absence and creation

    async def test_spec_1_1_an_absent_session_is_not_found(self, store: SessionStore, clock: FakeClock) -> None:
        now = clock.now()
        for attempt in (
            store.get(key(), now=now),
            store.extend(key(), ttl=None, now=now),
            store.delete(key(), now=now),
            store.append(key(), [turn("a")], create=None, now=now),
        ):
            with pytest.raises(NotFound) as caught:
                await attempt
            assert caught.value.metadata == {"resource": "session", "id": "s1"}
        assert (await store.list_sessions(ADA, limit=5, after=None, now=now)).value == []

    async def test_spec_1_1_a_new_session_is_empty_and_found(self, store: SessionStore, clock: FakeClock) -> None:
        spec = SessionSpec(window_turns=3, ttl=timedelta(seconds=90))
        created = (await store.create(key(), spec, now=clock.now())).value
        assert created == Session(
            key=key(),
            spec=spec,
            turns=(),
            create_time=clock.now(),
            last_active_time=clock.now(),
            turn_count=0,
        )
        assert (await store.get(key(), now=clock.now())).value == created

    async def test_a_live_session_is_not_created_again(self, store: SessionStore, clock: FakeClock) -> None:
        await self.append(store, clock, [turn("a")])
        with pytest.raises(AlreadyExists):
            await store.create(key(), SPEC, now=clock.now())
        assert ids((await store.get(key(), now=clock.now())).value) == ["a"]

    async def test_spec_1_1_a_turn_comes_back_as_it_was_said(self, store: SessionStore, clock: FakeClock) -> None:
        said = Turn(
            role=MessageRole.ASSISTANT,
            content='Here it is: „Ünïcode" \u2028 {"a": 1} ✓',
            time=NOON + timedelta(microseconds=1),
            speaker="Bot",
            attachments=(Attachment("s3://a", "image/png", "a cat"), Attachment(uri="x")),
            confidence=0.0,
            importance=0.75,
            sources=("doc 1", "doc 2"),
            metadata={"k": "v", "": "empty"},
        )
        await self.append(
            store, clock, [NewTurn(interaction_id=InteractionId("t"), position=7, turn=said, token_count=9)]
        )
        (found,) = (await store.get(key(), now=clock.now())).value.turns
        assert (found.turn, found.position, found.token_count, found.interaction_id) == (said, 7, 9, "t")

    @pytest.mark.parametrize("scope", [Scope(), Scope(ScopeLevel.TASK, "p", "", "t ✓"), Scope(ScopeLevel.PROJECT, "p")])
    async def test_spec_5_3_a_turn_keeps_its_scope(self, store: SessionStore, clock: FakeClock, scope: Scope) -> None:
        await self.append(store, clock, [replace(turn("a"), scope=scope)])
        (found,) = (await store.get(key(), now=clock.now())).value.turns
        assert found.scope == scope
        assert found.as_new().scope == scope

    # Expiry

    @pytest.mark.parametrize("touch", ["get", "append", "extend"])
    async def test_spec_1_2_reads_and_writes_reset_the_time_to_live(
        self, store: SessionStore, clock: FakeClock, touch: str
    ) -> None:
        await self.append(store, clock, [turn("a")])
        now = clock.advance(seconds=3599)
        match touch:
            case "get":
                await store.get(key(), now=now)
            case "append":
                await self.append(store, clock, [turn("b")], create=None)
            case _:
                await store.extend(key(), ttl=None, now=now)
        found = (await store.get(key(), now=clock.advance(seconds=3599))).value
        assert found.last_active_time == clock.now()
        assert found.expire_time == clock.now() + timedelta(seconds=3600)

    async def test_spec_1_2_a_session_ends_at_its_expire_time(self, store: SessionStore, clock: FakeClock) -> None:
        session = (await self.append(store, clock, [turn("a")])).session
        listed = await store.list_sessions(
            ADA, limit=5, after=None, now=session.expire_time - timedelta(microseconds=1)
        )
        assert [s.key for s in listed.value] == [key()]
        assert (await store.list_sessions(ADA, limit=5, after=None, now=session.expire_time)).value == []
        with pytest.raises(NotFound):
            await store.get(key(), now=session.expire_time)

    async def test_an_expired_session_leaves_nothing_to_its_successor(
        self, store: SessionStore, clock: FakeClock
    ) -> None:
        await self.append(store, clock, [turn("a"), turn("b")])
        clock.advance(seconds=3600)
        appended = await self.append(store, clock, [turn("a")])
        assert appended.is_created
        assert (ids(appended.session), appended.session.turn_count) == (["a"], 1)
        assert appended.session.create_time == clock.now()

    async def test_listing_resets_nothing(self, store: SessionStore, clock: FakeClock) -> None:
        await self.append(store, clock, [turn("a")])
        await store.list_sessions(ADA, limit=5, after=None, now=clock.advance(seconds=3599))
        with pytest.raises(NotFound):
            await store.get(key(), now=clock.advance(seconds=1))

    async def test_spec_1_2_extending_sets_another_time_to_live(self, store: SessionStore, clock: FakeClock) -> None:
        await self.append(store, clock, [turn("a")])
        extended = (await store.extend(key(), ttl=timedelta(days=2), now=clock.advance(seconds=9))).value
        assert (extended.spec.ttl, extended.turns) == (timedelta(days=2), ())
        assert extended.expire_time == clock.now() + timedelta(days=2)
        kept = (await store.extend(key(), ttl=None, now=clock.advance(days=1))).value
        assert kept.spec.ttl == timedelta(days=2)
        shortened = (await store.extend(key(), ttl=timedelta(seconds=5), now=clock.now())).value
        with pytest.raises(NotFound):
            await store.get(key(), now=shortened.expire_time)

    async def test_a_late_clock_does_not_move_activity_back(self, store: SessionStore, clock: FakeClock) -> None:
        late = clock.now()
        await self.append(store, clock, [turn("a")])
        clock.advance(seconds=30)
        await store.get(key(), now=clock.now())
        found = (await store.extend(key(), ttl=None, now=late)).value
        assert found.last_active_time == clock.now()

    # Windows

    async def test_spec_1_3_the_window_keeps_the_last_turns(self, store: SessionStore, clock: FakeClock) -> None:
        for number in range(12):
            await self.append(store, clock, [turn(f"t{number}")])
        appended = await self.append(store, clock, [turn("t12")])
        assert ids(appended.session) == [f"t{n}" for n in range(3, 13)]
        assert [t.position for t in appended.session.turns] == list(range(3, 13))
        assert appended.session.turn_count == 13

    async def test_spec_1_3_each_session_has_its_own_window(self, store: SessionStore, clock: FakeClock) -> None:
        spec = SessionSpec(window_turns=2, ttl=SPEC.ttl)
        appended = await self.append(store, clock, [turn("a"), turn("b"), turn("c")], create=spec)
        assert ids(appended.session) == ["b", "c"]
        assert appended.appended_count == 3
        # What a session was made with stays, whatever a later append would make it with.
        appended = await self.append(store, clock, [turn("d")], create=SPEC)
        assert (ids(appended.session), appended.session.spec) == (["c", "d"], spec)

    async def test_spec_1_5_a_session_that_is_made_anew_has_its_past(
        self, store: SessionStore, clock: FakeClock
    ) -> None:
        past = SessionPast(clock.now() - timedelta(hours=1), turn_count=7)
        turns = [turn("h", 7), turn("i", 8)]
        made = (await store.append(key(), turns, create=SPEC, past=past, now=clock.now())).value
        assert made.is_created
        await store.append(key(), [turn("j", 9)], create=SPEC, past=past, now=clock.now())
        session = (await store.get(key(), now=clock.now())).value
        assert (session.create_time, session.turn_count) == (past.create_time, 10)
        assert ids(session) == ["h", "i", "j"]
        (listed,) = (await store.list_sessions(ADA, limit=5, after=None, now=clock.now())).value
        assert (listed.create_time, listed.turn_count) == (past.create_time, 10)

    async def test_late_turns_take_their_place(self, store: SessionStore, clock: FakeClock) -> None:
        await self.append(store, clock, [turn("c", 2), turn("a", 0)])
        appended = await self.append(store, clock, [turn("b", 1), turn("e", 9), turn("f")])
        assert ids(appended.session) == ["a", "b", "c", "e", "f"]
        assert [t.position for t in appended.session.turns] == [0, 1, 2, 9, 10]

    async def test_a_late_turn_outside_of_a_full_window_counts_and_stays_outside(
        self, store: SessionStore, clock: FakeClock
    ) -> None:
        spec = SessionSpec(window_turns=2, ttl=SPEC.ttl)
        await self.append(store, clock, [turn("x", 5), turn("y", 6)], create=spec)
        appended = await self.append(store, clock, [turn("late", 1)])
        assert ids(appended.session) == ["x", "y"]
        assert (appended.appended_count, appended.session.turn_count) == (1, 3)
        again = await self.append(store, clock, [turn("late", 1)])
        assert (again.appended_count, again.session.turn_count) == (0, 3)

    async def test_turns_of_one_position_keep_their_order_of_arrival(
        self, store: SessionStore, clock: FakeClock
    ) -> None:
        spec = SessionSpec(window_turns=12, ttl=SPEC.ttl)
        for interaction_id in "zyxwvutsrqpo":
            await self.append(store, clock, [turn(interaction_id, 4)], create=spec)
        assert ids((await store.get(key(), now=clock.now())).value) == list("zyxwvutsrqpo")
        appended = await self.append(store, clock, [turn("n", 4)])
        assert ids(appended.session) == list("yxwvutsrqpon")

    async def test_positions_are_exact_up_to_the_last(self, store: SessionStore, clock: FakeClock) -> None:
        turns = [turn("a", POSITION_MAX - 1), turn("b"), turn("c")]
        appended = await self.append(store, clock, turns)
        assert [t.position for t in appended.session.turns] == [POSITION_MAX - 1, POSITION_MAX, POSITION_MAX]
        assert ids(appended.session) == ["a", "b", "c"]

    # Deletion

    async def test_spec_1_5_deleting_returns_what_the_session_held(self, store: SessionStore, clock: FakeClock) -> None:
        held = (await self.append(store, clock, [turn("a"), turn("b")])).session
        assert (await store.delete(key(), now=clock.advance(seconds=5))).value == replace(held, turns=())
        with pytest.raises(NotFound):
            await store.get(key(), now=clock.now())
        assert (await store.list_sessions(ADA, limit=5, after=None, now=clock.now())).value == []
        revived = await self.append(store, clock, [turn("a")])
        assert (revived.is_created, ids(revived.session), revived.session.turn_count) == (True, ["a"], 1)

    # Lists

    async def test_listing_shows_the_last_active_first_and_ties_by_id(
        self, store: SessionStore, clock: FakeClock
    ) -> None:
        for conversation_id in ("b", "B", "é", "a", "a-"):
            await self.append(store, clock, [turn("t")], at=key(conversation_id))
        clock.advance(seconds=1)
        await store.get(key("b"), now=clock.now())
        listed = (await store.list_sessions(ADA, limit=10, after=None, now=clock.now())).value
        assert [s.key.conversation_id for s in listed] == ["b", "B", "a", "a-", "é"]
        assert {(s.turns, s.turn_count) for s in listed} == {((), 1)}

    @pytest.mark.parametrize("size", [1, 2, 3, 7])
    async def test_pages_cover_a_list_under_concurrent_writes(
        self, store: SessionStore, clock: FakeClock, size: int
    ) -> None:
        for number in range(7):
            await self.append(store, clock, [turn("t")], at=key(f"s{number}"))
            clock.advance(seconds=number % 3)  # some share their time
        seen: list[str] = []
        after: SessionCursor | None = None
        while True:
            page = (await store.list_sessions(ADA, limit=size, after=after, now=clock.now())).value
            seen += [s.key.conversation_id for s in page]
            if len(page) < size:
                break
            after = SessionCursor(page[-1].last_active_time, page[-1].key.conversation_id)
            await self.append(store, clock, [turn("t")], at=key(f"new{len(seen)}"))
            clock.advance(seconds=1)
        assert len(seen) == len(set(seen))
        assert {f"s{number}" for number in range(7)} <= set(seen)

    async def test_a_long_list_passes_over_what_has_expired(self, store: SessionStore, clock: FakeClock) -> None:
        short = SessionSpec(window_turns=1, ttl=timedelta(seconds=10))
        await store.create(key("old"), SPEC, now=clock.now())
        for number in range(300):
            await store.create(key(f"s{number}"), short, now=clock.now() + timedelta(seconds=1))
        clock.advance(seconds=11)
        listed = (await store.list_sessions(ADA, limit=2, after=None, now=clock.now())).value
        assert [s.key.conversation_id for s in listed] == ["old"]

    # Isolation

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (("acme", "ada", "s1"), ("other", "ada", "s1")),
            (("acme", "ada", "s1"), ("acme", "bob", "s1")),
            (("a", "b:c", "d"), ("a", "b", "c:d")),
            (("a", "}:x", "s"), ("a}", ":x", "s")),
            (("a", "%7D", "s"), ("a", "}", "s")),
            (("a", "b\x1fc", "s"), ("a", "b", "c\x1fs")),
            (("a", "u", " "), ("a", "u", "\u00a0")),
        ],
    )
    async def test_spec_7_1_whatever_their_ids_owners_do_not_meet(
        self,
        store: SessionStore,
        clock: FakeClock,
        one: tuple[str, str, str],
        other: tuple[str, str, str],
    ) -> None:
        keys = [SessionKey(Owner(TenantId(t), UserId(u)), ConversationId(s)) for t, u, s in (one, other)]
        await self.append(store, clock, [turn("mine")], at=keys[0])
        with pytest.raises(NotFound):
            await store.get(keys[1], now=clock.now())
        await self.append(store, clock, [turn("theirs")], at=keys[1])
        assert (await store.delete(keys[1], now=clock.now())).value.key == keys[1]
        assert ids((await store.get(keys[0], now=clock.now())).value) == ["mine"]
        listed = (await store.list_sessions(keys[0].owner, limit=9, after=None, now=clock.now())).value
        assert [s.key for s in listed] == [keys[0]]

    # Concurrency

    async def test_spec_1_4_two_writers_at_once_lose_no_turn(self, store: SessionStore, clock: FakeClock) -> None:
        spec = SessionSpec(window_turns=1_000, ttl=SPEC.ttl)
        await store.create(key(), spec, now=clock.now())

        async def write(name: str) -> int:
            counts = [
                (await self.append(store, clock, [turn(f"{name}{number}")])).appended_count for number in range(200)
            ]
            return sum(counts)

        assert list(await asyncio.gather(write("a"), write("b"))) == [200, 200]
        found = (await store.get(key(), now=clock.now())).value
        assert found.turn_count == len(found.turns) == len(set(ids(found))) == 400
        assert [t.position for t in found.turns] == list(range(400))
        for name in "ab":
            assert [i for i in ids(found) if i.startswith(name)] == [f"{name}{n}" for n in range(200)]

    async def test_one_of_many_creators_wins(self, store: SessionStore, clock: FakeClock) -> None:
        attempts = [store.create(key(), SPEC, now=clock.now()) for _ in range(20)]
        results = await asyncio.gather(*attempts, return_exceptions=True)
        assert sum(isinstance(result, AlreadyExists) for result in results) == 19

    async def test_repeats_at_once_add_once(self, store: SessionStore, clock: FakeClock) -> None:
        attempts = [self.append(store, clock, [turn(f"t{n}")], request=idempotency_key("r")) for n in range(20)]
        results = await asyncio.gather(*attempts)
        assert {(r.appended_count, r.is_created) for r in results} == {(1, True)}
        assert (await store.get(key(), now=clock.now())).value.turn_count == 1

    async def test_a_cancelled_call_leaves_the_store_usable(self, store: SessionStore, clock: FakeClock) -> None:
        await self.append(store, clock, [turn("a")])
        tasks = [asyncio.create_task(self.append(store, clock, [turn(f"c{n}")])) for n in range(20)]
        await asyncio.sleep(0)  # lets them start
        for task in tasks[::2]:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        done = [o for o in outcomes if isinstance(o, Appended)]
        assert len(done) >= 10
        found = (await self.append(store, clock, [turn("last")])).session
        # A cancelled append happened or did not; never half, and never in another's place.
        assert ids(found)[-1] == "last"
        assert len(set(ids(found))) == len(found.turns) == 10
        assert len(done) + 2 <= found.turn_count <= 22

    async def test_a_working_store_passes_its_check(self, store: SessionStore) -> None:
        assert await store.check() is None  # type: ignore[func-returns-value]

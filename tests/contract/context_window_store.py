"""What every driver of the store of context windows must do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.errors import Conflict, InvalidArgument, LimitExceeded, NotFound
from services.common.idempotency.model import IdempotencyKey
from services.common.owners import Owner, TenantId, UserId
from services.common.scope import Scope, ScopeLevel
from services.session.context_window.config import WindowStoreSettings
from services.session.context_window.model import (
    Change,
    ContextItem,
    ContextSnapshot,
    ItemKind,
    SnapshotItem,
    ToolCall,
    WindowSpec,
)
from services.session.context_window.store import ContextWindowStore
from services.session.model import ConversationId, SessionKey
from tests.contract.session_samples import ADA, NOON, key
from tests.support.clock import FakeClock

SPEC = WindowSpec(1_000, timedelta(hours=1))
WINDOW_SETTINGS = WindowStoreSettings(items_max=20, window_bytes_max=100_000, snapshots_max=3)
RETENTION = timedelta(days=7)


def item(item_id: str, tokens: int = 10) -> ContextItem:
    return ContextItem(
        item_id=item_id,
        kind=ItemKind.USER_MESSAGE,
        content=f"content of {item_id}",
        create_time=NOON,
        token_count=tokens,
    )


def adding(*item_ids: str) -> Change:
    return Change(create=SPEC, added=tuple(map(item, item_ids)))


def snapshot(number: int) -> ContextSnapshot:
    return ContextSnapshot(
        snapshot_id=f"snapshot {number}",
        create_time=NOON,
        reason="forced",
        token_count_before=20,
        token_count_after=10,
        stayed=(SnapshotItem("b", ItemKind.USER_MESSAGE, 10, 1.5),),
        removed=(SnapshotItem("a", ItemKind.TOOL_RESULT, 10, 0.25, "e1", 0.5),),
    )


def request(request_id: str = "r1", digest: str = "d1") -> IdempotencyKey:
    return IdempotencyKey("p1", request_id, digest)


class ContextWindowStoreContract:
    """Subclass it with a fixture `store`: a fresh driver with `WINDOW_SETTINGS` and `RETENTION`."""

    async def item_ids(
        self, store: ContextWindowStore, clock: FakeClock, where: SessionKey | None = None
    ) -> Sequence[str]:
        window = (await store.read(where or key(), now=clock.now())).value
        return [one.item_id for one in window.items]

    async def test_spec_1_7_an_absent_window_is_not_found(self, store: ContextWindowStore, clock: FakeClock) -> None:
        now = clock.now()
        for attempt in (
            store.read(key(), now=now),
            store.change(key(), Change(added=(item("a"),)), now=now),
            store.snapshots(key(), now=now),
            store.delete(key(), now=now),
        ):
            with pytest.raises(NotFound):
                await attempt

    async def test_spec_1_7_an_item_comes_back_as_it_was_added(
        self, store: ContextWindowStore, clock: FakeClock
    ) -> None:
        added = ContextItem(
            item_id="ü {1}",
            kind=ItemKind.ASSISTANT_RESPONSE,
            content="",
            create_time=NOON + timedelta(microseconds=7),
            token_count=3,
            relevance=0.0,
            task_id="t 1",
            dependency_ids=("b", "c"),
            is_sticky=True,
            scope=Scope(ScopeLevel.PROJECT, project_id="p"),
            tool_calls=(ToolCall("call_1", "grep", '{"a": "\u2028✓"}'),),
            tool_call_id="x",
            tool_name="y",
            file_path="a/b.py",
            start_line=3,
            end_line=9,
            query="who calls it?",
        )
        await store.change(key(), Change(create=SPEC, added=(added, item("b"))), now=clock.now())
        window = (await store.read(key(), now=clock.now())).value
        assert window.items == (added, replace(item("b"), position=1))
        assert (window.head.token_count, window.head.item_count, window.head.revision) == (13, 2, 1)

    async def test_spec_1_7_an_item_is_added_once(self, store: ContextWindowStore, clock: FakeClock) -> None:
        await store.change(key(), adding("a", "b", "a"), now=clock.now())
        changed = (await store.change(key(), adding("b", "c"), now=clock.now())).value
        assert (changed.added_count, changed.head.item_count, changed.head.token_count) == (1, 3, 30)
        assert await self.item_ids(store, clock) == ["a", "b", "c"]

    async def test_spec_1_7_settings_are_set_one_by_one(self, store: ContextWindowStore, clock: FakeClock) -> None:
        created = (await store.change(key(), Change(create=SPEC), now=clock.now())).value.head
        assert (created.spec, created.current_task_id) == (SPEC, "")
        await store.change(key(), Change(current_task_id="tä sk"), now=clock.now())
        await store.change(key(), Change(max_tokens=500), now=clock.now())
        head = (await store.change(key(), Change(ttl=timedelta(minutes=5)), now=clock.now())).value.head
        assert (head.spec, head.current_task_id) == (WindowSpec(500, timedelta(minutes=5)), "tä sk")
        ended = (await store.change(key(), Change(current_task_id=""), now=clock.now())).value.head
        assert (ended.current_task_id, ended.revision) == ("", 5)

    async def test_spec_1_7_a_window_expires_unless_it_is_used(
        self, store: ContextWindowStore, clock: FakeClock
    ) -> None:
        await store.change(key(), adding("a"), now=clock.now())
        clock.advance(timedelta(minutes=59))
        assert (await store.read(key(), now=clock.now())).value.head.last_active_time == clock.now()
        clock.advance(timedelta(minutes=59))
        assert await self.item_ids(store, clock) == ["a"]
        clock.advance(timedelta(minutes=60))
        with pytest.raises(NotFound):
            await store.read(key(), now=clock.now())
        again = (await store.change(key(), adding("b"), now=clock.now())).value.head
        assert (again.item_count, again.revision) == (1, 1)

    async def test_spec_1_8_items_are_removed_with_a_snapshot(
        self, store: ContextWindowStore, clock: FakeClock
    ) -> None:
        await store.change(key(), adding("a", "b"), now=clock.now())
        change = Change(removed=("a", "unknown", "a"), added=(item("c"),), snapshot=snapshot(1), note="n")
        changed = (await store.change(key(), change, now=clock.now())).value
        assert (changed.removed_count, changed.added_count, changed.head.pruned_count) == (1, 1, 1)
        assert (changed.snapshot, changed.note, changed.head.token_count) == (snapshot(1), "n", 20)
        window = (await store.read(key(), now=clock.now())).value
        assert [(one.item_id, one.position) for one in window.items] == [("b", 1), ("c", 2)]
        assert list((await store.snapshots(key(), now=clock.now())).value) == [snapshot(1)]

    async def test_spec_1_8_the_last_snapshots_are_stored(self, store: ContextWindowStore, clock: FakeClock) -> None:
        await store.change(key(), adding("a"), now=clock.now())
        for number in range(5):
            await store.change(key(), Change(snapshot=snapshot(number)), now=clock.now())
        found = (await store.snapshots(key(), now=clock.now())).value
        assert [one.snapshot_id for one in found] == ["snapshot 4", "snapshot 3", "snapshot 2"]

    async def test_spec_1_8_a_removed_item_can_come_back(self, store: ContextWindowStore, clock: FakeClock) -> None:
        await store.change(key(), adding("a", "b"), now=clock.now())
        await store.change(key(), Change(removed=("a",), added=(item("a"),)), now=clock.now())
        assert await self.item_ids(store, clock) == ["b", "a"]

    async def test_spec_1_8_a_change_for_another_revision_is_refused(
        self, store: ContextWindowStore, clock: FakeClock
    ) -> None:
        await store.change(key(), replace(adding("a"), if_revision=0), now=clock.now())
        await store.change(key(), replace(adding("b"), if_revision=1), now=clock.now())
        for revision in (0, 1, 3):
            with pytest.raises(Conflict):
                await store.change(key(), Change(removed=("a",), if_revision=revision), now=clock.now())
        assert await self.item_ids(store, clock) == ["a", "b"]

    async def test_spec_1_7_a_window_is_bounded(self, store: ContextWindowStore, clock: FakeClock) -> None:
        full = tuple(str(number) for number in range(20))
        await store.change(key(), adding(*full), now=clock.now())
        with pytest.raises(LimitExceeded, match="items_max"):
            await store.change(key(), adding("one more"), now=clock.now())
        await store.change(key(), Change(removed=("0",), added=(item("one more"),)), now=clock.now())
        large = replace(item("large"), content="x" * 120_000)
        with pytest.raises(LimitExceeded, match="window_bytes_max"):
            await store.change(key("s2"), Change(create=SPEC, added=(large,)), now=clock.now())
        with pytest.raises(NotFound):
            await store.read(key("s2"), now=clock.now())

    async def test_spec_6_3_a_repeat_changes_nothing(self, store: ContextWindowStore, clock: FakeClock) -> None:
        assert await store.first(ADA, request(), now=clock.now()) is None
        first = await store.change(key(), adding("a"), now=clock.now(), idempotency_key=request())
        await store.change(key(), adding("b"), now=clock.now())
        again = await store.change(key(), adding("a"), now=clock.now(), idempotency_key=request())
        assert (again.value, again.is_repeat, first.is_repeat) == (first.value, True, False)
        found = await store.first(ADA, request(), now=clock.now())
        assert found is not None
        assert (found.value.added_count, found.value.head.revision) == (1, 1)
        for attempt in (
            store.change(key(), adding("c"), now=clock.now(), idempotency_key=request(digest="d2")),
            store.first(ADA, request(digest="d2"), now=clock.now()),
        ):
            with pytest.raises(InvalidArgument, match="used before"):
                await attempt
        clock.advance(RETENTION)
        assert await store.first(ADA, request(), now=clock.now()) is None

    async def test_spec_6_3_a_failed_change_leaves_no_record(self, store: ContextWindowStore, clock: FakeClock) -> None:
        with pytest.raises(NotFound):
            await store.change(key(), Change(added=(item("a"),)), now=clock.now(), idempotency_key=request())
        assert await store.first(ADA, request(), now=clock.now()) is None

    async def test_a_deleted_window_is_gone(self, store: ContextWindowStore, clock: FakeClock) -> None:
        await store.change(key(), replace(adding("a"), snapshot=snapshot(1)), now=clock.now())
        head = (await store.delete(key(), now=clock.now(), idempotency_key=request())).value
        assert head.item_count == 1
        again = await store.delete(key(), now=clock.now(), idempotency_key=request())
        assert (again.value, again.is_repeat) == (head, True)
        await store.change(key(), adding("b"), now=clock.now())
        assert (await store.snapshots(key(), now=clock.now())).value == []

    async def test_spec_7_1_windows_of_others_are_never_met(self, store: ContextWindowStore, clock: FakeClock) -> None:
        owners = [ADA, Owner(ADA.tenant_id, UserId("ada}:1")), Owner(TenantId("t:1"), ADA.user_id)]
        for number, owner in enumerate(owners):
            where = SessionKey(owner, ConversationId("s1"))
            await store.change(where, adding(str(number)), now=clock.now())
        for number, owner in enumerate(owners):
            assert await self.item_ids(store, clock, SessionKey(owner, ConversationId("s1"))) == [str(number)]

    async def test_writers_at_once_lose_no_item(self, store: ContextWindowStore, clock: FakeClock) -> None:
        now = clock.now()
        await asyncio.gather(*(store.change(key(), adding(str(number)), now=now) for number in range(20)))
        assert sorted(map(int, await self.item_ids(store, clock))) == list(range(20))

    async def test_spec_6_3_of_writers_at_once_of_one_request_one_writes(
        self, store: ContextWindowStore, clock: FakeClock
    ) -> None:
        now = clock.now()
        found = await asyncio.gather(
            *(store.change(key(), adding("a"), now=now, idempotency_key=request()) for _ in range(5))
        )
        assert sorted(one.is_repeat for one in found) == [False, True, True, True, True]


class ContextWindowRemovalContract:
    """Removal of owners; apart, since a degraded store refuses it."""

    async def test_spec_6_6_the_live_windows_of_an_owner_are_listed(
        self, store: ContextWindowStore, clock: FakeClock
    ) -> None:
        assert await store.conversations(ADA, now=clock.now()) == []
        other = SessionKey(Owner(ADA.tenant_id, UserId("ada2")), ConversationId("s1"))
        for where in (key("s2"), key("a:b%"), other):
            await store.change(where, adding("a"), now=clock.now())
        assert await store.conversations(ADA, now=clock.now()) == ["a:b%", "s2"]
        await store.delete(key("s2"), now=clock.now())
        assert await store.conversations(ADA, now=clock.now()) == ["a:b%"]

    async def test_spec_6_6_all_of_an_owner_is_removed(self, store: ContextWindowStore, clock: FakeClock) -> None:
        other = SessionKey(Owner(ADA.tenant_id, UserId("adalbert")), ConversationId("s1"))
        for where in (key(), key("s2"), other):
            await store.change(where, adding("a"), now=clock.now(), idempotency_key=request(where.conversation_id))
        await store.remove_owner(ADA, now=clock.now())
        for where in (key(), key("s2")):
            with pytest.raises(NotFound):
                await store.read(where, now=clock.now())
        assert await store.first(ADA, request("s1"), now=clock.now()) is None
        assert (await store.read(other, now=clock.now())).value.head.item_count == 1
        await store.remove_tenant(ADA.tenant_id, now=clock.now())
        with pytest.raises(NotFound):
            await store.read(other, now=clock.now())

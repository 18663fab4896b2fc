"""Context windows in the memory of this process: the default driver, and what Redis falls back on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from services.common.errors import Conflict, LimitExceeded, NotFound
from services.common.idempotency.model import IdempotencyKey, request_id_reused
from services.common.owners import Owner, TenantId
from services.session.context_window.config import WindowStoreSettings
from services.session.context_window.model import (
    Change,
    Changed,
    ContextItem,
    ContextSnapshot,
    ContextWindow,
    WindowHead,
    WindowSpec,
    item_size_bytes,
)
from services.session.model import ConversationId, SessionKey
from services.session.store import StoreResponse

_RecordId = tuple[Owner, str, str]  # owner, principal, request id


@dataclass(slots=True)
class _Live:
    """A window as it is held."""

    head: WindowHead
    items: dict[str, ContextItem]  # by id, in the order of their positions
    snapshots: list[ContextSnapshot]  # the oldest first
    next_position: int = 0
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Record:
    digest: str
    response: Changed
    expire_time: datetime


class EmbeddedContextWindowStore:
    """A `ContextWindowStore` in dictionaries, bounded in windows, bytes and idempotency records.

    No method suspends, so in one event loop every call is atomic without locks. Not thread-safe. Windows end with the
    process.
    """

    def __init__(self, settings: WindowStoreSettings, *, idempotency_retention: timedelta) -> None:
        """Begin empty."""
        self._settings = settings
        self._retention = idempotency_retention
        self._windows: OrderedDict[SessionKey, _Live] = OrderedDict()  # least recently active first
        self._records: OrderedDict[_RecordId, _Record] = OrderedDict()  # oldest first
        self._size_bytes = 0

    async def read(self, key: SessionKey, *, now: datetime) -> StoreResponse[ContextWindow]:
        """See `ContextWindowStore.read`."""
        live = self._required(key, now)
        self._touch(live, now)
        return StoreResponse(ContextWindow(live.head, tuple(live.items.values())))

    async def first(
        self, owner: Owner, idempotency_key: IdempotencyKey, *, now: datetime
    ) -> StoreResponse[Changed] | None:
        """See `ContextWindowStore.first`."""
        return self._first(owner, idempotency_key, now)

    async def change(
        self, key: SessionKey, change: Change, *, now: datetime, idempotency_key: IdempotencyKey | None = None
    ) -> StoreResponse[Changed]:
        """See `ContextWindowStore.change`."""
        first = self._first(key.owner, idempotency_key, now)
        if first is not None:
            return first
        live = self._live(key, now)
        if live is None and change.create is None:
            raise NotFound("context window", key.conversation_id)
        revision = live.head.revision if live is not None else 0
        if change.if_revision is not None and change.if_revision != revision:
            raise changed_meanwhile()
        changed = self._apply(live or _new(key, change, now), change, now)
        self._remember(key.owner, idempotency_key, changed, now)
        self._evict(now, spared=key)
        return StoreResponse(changed)

    async def snapshots(self, key: SessionKey, *, now: datetime) -> StoreResponse[Sequence[ContextSnapshot]]:
        """See `ContextWindowStore.snapshots`."""
        return StoreResponse(self._required(key, now).snapshots[::-1])

    async def delete(
        self, key: SessionKey, *, now: datetime, idempotency_key: IdempotencyKey | None = None
    ) -> StoreResponse[WindowHead]:
        """See `ContextWindowStore.delete`."""
        first = self._first(key.owner, idempotency_key, now)
        if first is not None:
            return StoreResponse(first.value.head, is_repeat=True)
        head = self._required(key, now).head
        self._drop(key)
        self._remember(key.owner, idempotency_key, Changed(head, 0, 0), now)
        return StoreResponse(head)

    async def conversations(self, owner: Owner, *, now: datetime) -> Sequence[ConversationId]:
        """See `ContextWindowStore.conversations`."""
        keys = [key for key in self._windows if key.owner == owner]
        return sorted(key.conversation_id for key in keys if self._live(key, now) is not None)

    async def remove_owner(self, owner: Owner, *, now: datetime) -> None:
        """See `ContextWindowStore.remove_owner`."""
        del now
        self._remove(lambda of: of == owner)

    async def remove_tenant(self, tenant_id: TenantId, *, now: datetime) -> None:
        """See `ContextWindowStore.remove_tenant`."""
        del now
        self._remove(lambda of: of.tenant_id == tenant_id)

    async def check(self) -> None:
        """See `ContextWindowStore.check`: memory is always there."""

    def adopt(self, window: ContextWindow, *, now: datetime) -> None:
        """Hold what another store reports of a window, in place of what was held here."""
        known = self._windows.get(window.head.key)
        if known is not None and known.head.revision > window.head.revision:
            return  # responses to calls at once may arrive in another order than they were given
        self._drop(window.head.key)
        live = _Live(
            window.head,
            {item.item_id: item for item in window.items},
            known.snapshots if known is not None else [],
            next_position=window.items[-1].position + 1 if window.items else 0,
            size_bytes=sum(map(item_size_bytes, window.items)),
        )
        self._hold(live)
        self._evict(now, spared=window.head.key)

    def forget(self, key: SessionKey) -> None:
        """Drop a window that another store reports as gone."""
        self._drop(key)

    def __len__(self) -> int:
        """How many windows are held, expired ones included."""
        return len(self._windows)

    def _apply(self, live: _Live, change: Change, now: datetime) -> Changed:
        """The window with the change, which is checked before anything is changed."""
        items = {item_id: item for item_id, item in live.items.items() if item_id not in set(change.removed)}
        removed = len(live.items) - len(items)
        size_bytes = sum(map(item_size_bytes, items.values())) if removed else live.size_bytes
        position, added = live.next_position, 0
        for item in change.added:
            if item.item_id not in items:
                items[item.item_id] = replace(item, position=position)
                position, added = position + 1, added + 1
                size_bytes += item_size_bytes(item)
        check_bounds(len(items), size_bytes, self._settings, is_growing=added > 0)
        head = live.head
        live.head = replace(
            head,
            spec=WindowSpec(change.max_tokens or head.spec.max_tokens, change.ttl or head.spec.ttl),
            last_active_time=max(head.last_active_time, now),
            revision=head.revision + 1,
            token_count=sum(item.token_count for item in items.values()),
            item_count=len(items),
            pruned_count=head.pruned_count + (removed if change.snapshot is not None else 0),
            current_task_id=head.current_task_id if change.current_task_id is None else change.current_task_id,
        )
        if change.snapshot is not None and change.snapshot.snapshot_id not in {s.snapshot_id for s in live.snapshots}:
            live.snapshots = [*live.snapshots, change.snapshot][-self._settings.snapshots_max :]
        self._drop(head.key)
        live.items, live.next_position, live.size_bytes = items, position, size_bytes
        self._hold(live)
        return Changed(live.head, added, removed, change.snapshot, change.note)

    def _first(self, owner: Owner, key: IdempotencyKey | None, now: datetime) -> StoreResponse[Changed] | None:
        record = self._records.get((owner, key.principal_id, key.request_id)) if key is not None else None
        if key is None or record is None or record.expire_time <= now:
            return None
        if record.digest != key.digest:
            raise request_id_reused()
        return StoreResponse(record.response, is_repeat=True)

    def _remember(self, owner: Owner, key: IdempotencyKey | None, response: Changed, now: datetime) -> None:
        if key is None:
            return
        record_id = (owner, key.principal_id, key.request_id)
        self._records.pop(record_id, None)
        self._records[record_id] = _Record(key.digest, response, now + self._retention)
        while len(self._records) > self._settings.records_max:
            self._records.popitem(last=False)

    def _live(self, key: SessionKey, now: datetime) -> _Live | None:
        live = self._windows.get(key)
        if live is not None and live.head.expire_time <= now:
            self._drop(key)
            return None
        return live

    def _required(self, key: SessionKey, now: datetime) -> _Live:
        live = self._live(key, now)
        if live is None:
            raise NotFound("context window", key.conversation_id)
        return live

    def _touch(self, live: _Live, now: datetime) -> None:
        live.head = replace(live.head, last_active_time=max(live.head.last_active_time, now))
        self._windows.move_to_end(live.head.key)

    def _hold(self, live: _Live) -> None:
        self._windows[live.head.key] = live
        self._size_bytes += live.size_bytes

    def _drop(self, key: SessionKey) -> None:
        live = self._windows.pop(key, None)
        if live is not None:
            self._size_bytes -= live.size_bytes

    def _remove(self, is_removed: Callable[[Owner], bool]) -> None:
        for key in [key for key in self._windows if is_removed(key.owner)]:
            self._drop(key)
        for record_id in [record_id for record_id in self._records if is_removed(record_id[0])]:
            del self._records[record_id]

    def _evict(self, now: datetime, *, spared: SessionKey) -> None:
        """Get back within the bounds: the expired go first, then the least recently active."""
        if self._is_within_bounds():
            return
        for key in [key for key, live in self._windows.items() if live.head.expire_time <= now]:
            self._drop(key)
        while not self._is_within_bounds():
            oldest = next((key for key in self._windows if key != spared), None)
            if oldest is None:
                return
            self._drop(oldest)

    def _is_within_bounds(self) -> bool:
        settings = self._settings
        return len(self._windows) <= settings.windows_max and self._size_bytes <= settings.memory_bytes_max


def changed_meanwhile() -> Conflict:
    """The error for a change that was made for another revision of the window."""
    return Conflict("the context window has been changed meanwhile")


def check_bounds(item_count: int, size_bytes: int, settings: WindowStoreSettings, *, is_growing: bool) -> None:
    """Make sure that a window is not too large; one that is too large already may shrink.

    Raises:
        LimitExceeded: It has too many items or bytes.
    """
    if is_growing and item_count > settings.items_max:
        raise too_many_items(settings)
    if is_growing and size_bytes > settings.window_bytes_max:
        raise too_many_bytes(settings)


def too_many_items(settings: WindowStoreSettings) -> LimitExceeded:
    """The error for a window with too many items."""
    return LimitExceeded("session.context_window.store.items_max", settings.items_max)


def too_many_bytes(settings: WindowStoreSettings) -> LimitExceeded:
    """The error for a window that is too large."""
    return LimitExceeded("session.context_window.store.window_bytes_max", settings.window_bytes_max)


def _new(key: SessionKey, change: Change, now: datetime) -> _Live:
    spec = change.create
    if spec is None:
        raise NotFound("context window", key.conversation_id)
    head = WindowHead(
        key=key,
        spec=spec,
        create_time=now,
        last_active_time=now,
        revision=0,
        token_count=0,
        item_count=0,
        pruned_count=0,
    )
    return _Live(head, {}, [])

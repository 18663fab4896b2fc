"""Context windows in Redis, one script call for each step."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from services.common.encryption.carried import CarriedKeys
from services.common.errors import NotFound
from services.common.idempotency.model import IdempotencyKey, request_id_reused
from services.common.owners import Owner, TenantId
from services.session.config import RedisSettings
from services.session.context_window.config import WindowStoreSettings
from services.session.context_window.model import Change, Changed, ContextSnapshot, ContextWindow, WindowHead
from services.session.context_window.stores.codec import (
    decode_changed,
    decode_item,
    decode_snapshot,
    encode_item,
    encode_snapshot,
    unpack_head,
)
from services.session.context_window.stores.embedded import changed_meanwhile, too_many_bytes, too_many_items
from services.session.model import ConversationId, SessionKey, microseconds
from services.session.store import StoreResponse
from services.session.stores.redis_calls import RedisCalls
from services.session.stores.redis_script import Argument, Script
from services.session.stores.sealing import cipher_for

_MICROSECOND: Final = timedelta(microseconds=1)
_SCRIPT: Final = Script.load("context_window.lua", Path(__file__).parent)
_KINDS: Final = ("window", "items", "order", "snapshots")
_KIND_PREFIX: Final = "context-"
_REMOVED_KINDS: Final = (_KIND_PREFIX, "request:")
"""Of keys that go with a user."""


class RedisContextWindowStore:
    """A `ContextWindowStore` on Redis 6.2 or later, single or Cluster, beside the sessions of the same users."""

    def __init__(
        self,
        calls: RedisCalls,
        redis: RedisSettings,
        settings: WindowStoreSettings,
        *,
        idempotency_retention: timedelta,
        keys: CarriedKeys | None = None,
    ) -> None:
        """Use `calls`, which other stores may share; what items say is encrypted with `keys`."""
        self._keys = keys
        self._calls = calls
        self._grace = redis.expire_grace
        self._settings = settings
        self._retention = idempotency_retention

    async def read(self, key: SessionKey, *, now: datetime) -> StoreResponse[ContextWindow]:
        """See `ContextWindowStore.read`."""
        _, head, *flat = await self._step("read", key, now, None)
        placed = zip(flat[::2], flat[1::2], strict=True)
        cipher = await cipher_for(self._keys, key.owner, flat[1::2])
        items = tuple(decode_item(payload, position=int(float(score)), cipher=cipher) for score, payload in placed)
        return StoreResponse(ContextWindow(unpack_head(key, head), items))

    async def first(
        self, owner: Owner, idempotency_key: IdempotencyKey, *, now: datetime
    ) -> StoreResponse[Changed] | None:
        """See `ContextWindowStore.first`."""
        key = SessionKey(owner, ConversationId(""))
        status, *fields = await self._step("first", key, now, idempotency_key)
        return None if status == b"none" else StoreResponse(decode_changed(key, fields), is_repeat=True)

    async def change(
        self, key: SessionKey, change: Change, *, now: datetime, idempotency_key: IdempotencyKey | None = None
    ) -> StoreResponse[Changed]:
        """See `ContextWindowStore.change`."""
        create = change.create
        arguments: list[Argument] = [
            "" if create is None else create.max_tokens,
            "" if create is None else create.ttl // _MICROSECOND,
            "" if change.if_revision is None else change.if_revision,
            "" if change.max_tokens is None else change.max_tokens,
            "" if change.ttl is None else change.ttl // _MICROSECOND,
            int(change.current_task_id is not None),
            change.current_task_id or "",
            "" if change.snapshot is None else encode_snapshot(change.snapshot),
            self._settings.snapshots_max,
            self._settings.items_max,
            self._settings.window_bytes_max,
            change.note,
            len(change.removed),
            *change.removed,
        ]
        cipher = None if self._keys is None else await self._keys.for_writing(key.owner)
        for item in change.added:
            arguments += [item.item_id, encode_item(item, cipher)]
        status, *fields = await self._step("change", key, now, idempotency_key, *arguments)
        return StoreResponse(decode_changed(key, fields), is_repeat=status == b"repeat")

    async def snapshots(self, key: SessionKey, *, now: datetime) -> StoreResponse[Sequence[ContextSnapshot]]:
        """See `ContextWindowStore.snapshots`."""
        _, *payloads = await self._step("snapshots", key, now, None)
        return StoreResponse([decode_snapshot(payload) for payload in payloads])

    async def delete(
        self, key: SessionKey, *, now: datetime, idempotency_key: IdempotencyKey | None = None
    ) -> StoreResponse[WindowHead]:
        """See `ContextWindowStore.delete`."""
        status, *fields = await self._step("delete", key, now, idempotency_key)
        return StoreResponse(decode_changed(key, fields).head, is_repeat=status == b"repeat")

    async def conversations(self, owner: Owner, *, now: datetime) -> Sequence[ConversationId]:
        """See `ContextWindowStore.conversations`. Looks at every key of the server; the server drops what expired."""
        del now
        names = await self._calls.scan(self._calls.pattern_of(owner, f"{_KIND_PREFIX}{_KINDS[0]}:"))
        return sorted(ConversationId(unquote(name.rpartition(":")[2])) for name in names)

    async def remove_owner(self, owner: Owner, *, now: datetime) -> None:
        """See `ContextWindowStore.remove_owner`. Looks at every key of the server."""
        del now
        await self._calls.remove(self._calls.pattern_of(owner), kinds=_REMOVED_KINDS)

    async def remove_tenant(self, tenant_id: TenantId, *, now: datetime) -> None:
        """See `ContextWindowStore.remove_tenant`. Looks at every key of the server."""
        del now
        await self._calls.remove(self._calls.pattern_of_tenant(tenant_id), kinds=_REMOVED_KINDS)

    async def check(self) -> None:
        """See `ContextWindowStore.check`."""
        await self._calls.check()

    async def _step(
        self,
        operation: str,
        key: SessionKey,
        now: datetime,
        idempotency_key: IdempotencyKey | None,
        *arguments: Argument,
    ) -> list[bytes]:
        owner = key.owner
        keys = [self._calls.key(owner, f"{_KIND_PREFIX}{kind}", key.conversation_id) for kind in _KINDS]
        digest = ""
        if idempotency_key is not None:
            keys.append(self._calls.request_key(owner, idempotency_key.principal_id, idempotency_key.request_id))
            digest = idempotency_key.digest
        common: list[Argument] = [
            operation,
            microseconds(now),
            self._grace // _MICROSECOND,
            digest,
            self._retention // _MICROSECOND,
        ]
        response = await self._calls.run(_SCRIPT, keys, [*common, *arguments])
        match response[0]:
            case b"ok" | b"repeat" | b"none":
                return response
            case b"missing":
                raise NotFound("context window", key.conversation_id)
            case b"moved":
                raise changed_meanwhile()
            case b"reused":
                raise request_id_reused()
            case b"items":
                raise too_many_items(self._settings)
            case b"bytes":
                raise too_many_bytes(self._settings)
            case status:
                raise RuntimeError(f"the script of context windows returned {status!r}")

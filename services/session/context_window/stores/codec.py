"""Items, snapshots and responses as JSON, for stores outside of this process."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any, Final

from services.common.encryption.carried import CarriedCipher
from services.common.scope import GLOBAL_SCOPE, Scope
from services.session.context_window.model import (
    Changed,
    ContextItem,
    ContextSnapshot,
    ItemKind,
    SnapshotItem,
    ToolCall,
    WindowHead,
    WindowSpec,
)
from services.session.model import SessionKey, microseconds, moment_of
from services.session.stores.sealing import opened_fields, sealed_fields

_VERSION: Final = 1
"""Stands in every item, so that a later form is recognised during a rolling update."""

_WRITTEN: Final = frozenset({"relevance"})
"""Fields whose zero is not their default."""

_CONTENT: Final = frozenset({"content", "tool_calls", "tool_name", "file_path", "query"})
"""Fields of an item that are encrypted, where encryption is on."""
_FIELD: Final = "context item"

_MICROSECOND: Final = timedelta(microseconds=1)


def encode_item(item: ContextItem, cipher: CarriedCipher | None = None) -> bytes:
    """An item as compact JSON, without its position: the store stores that apart."""
    fields = asdict(replace(item, position=0))
    fields |= {
        "v": _VERSION,
        "kind": int(item.kind),
        "create_time": microseconds(item.create_time),
        "scope": "" if item.scope == GLOBAL_SCOPE else item.scope.key,
        "tool_calls": [[call.call_id, call.name, call.arguments] for call in item.tool_calls],
        "relevance": None if item.relevance == 1.0 else item.relevance,
    }
    present = {key: value for key, value in fields.items() if key in _WRITTEN or value not in ("", None, [], (), 0)}
    if present["relevance"] is None:
        del present["relevance"]
    return json.dumps(sealed_fields(present, _CONTENT, cipher, item.item_id, _FIELD)).encode("ascii")


def decode_item(payload: bytes, *, position: int, cipher: CarriedCipher | None = None) -> ContextItem:
    """The inverse of `encode_item`. Raises ValueError or KeyError for what it did not write.

    Raises:
        DecryptionError: It is encrypted, and the cipher is missing or another one.
    """
    fields: dict[str, Any] = json.loads(payload)
    fields = opened_fields(fields, cipher, fields["item_id"], _FIELD)
    return ContextItem(
        item_id=fields["item_id"],
        kind=ItemKind(fields["kind"]),
        content=fields.get("content", ""),
        create_time=moment_of(fields["create_time"]),
        token_count=fields.get("token_count", 0),
        relevance=fields.get("relevance", 1.0),
        task_id=fields.get("task_id", ""),
        dependency_ids=tuple(fields.get("dependency_ids", ())),
        is_sticky=fields.get("is_sticky", False),
        scope=Scope.from_key(fields["scope"]) if "scope" in fields else GLOBAL_SCOPE,
        tool_calls=tuple(ToolCall(*call) for call in fields.get("tool_calls", ())),
        tool_call_id=fields.get("tool_call_id", ""),
        tool_name=fields.get("tool_name", ""),
        file_path=fields.get("file_path", ""),
        start_line=fields.get("start_line", 0),
        end_line=fields.get("end_line", 0),
        query=fields.get("query", ""),
        position=position,
    )


def encode_snapshot(snapshot: ContextSnapshot) -> bytes:
    """A snapshot as compact JSON."""
    fields = {
        "id": snapshot.snapshot_id,
        "time": microseconds(snapshot.create_time),
        "reason": snapshot.reason,
        "before": snapshot.token_count_before,
        "after": snapshot.token_count_after,
        "stayed": [_snapshot_item(item) for item in snapshot.stayed],
        "removed": [_snapshot_item(item) for item in snapshot.removed],
        # Beside the items, which a service of an earlier version reads as they were.
        "relevance": [item.relevance for item in (*snapshot.stayed, *snapshot.removed)],
    }
    return json.dumps(fields).encode("ascii")


def decode_snapshot(payload: bytes) -> ContextSnapshot:
    """The inverse of `encode_snapshot`."""
    fields: dict[str, Any] = json.loads(payload)
    stayed, removed = fields["stayed"], fields["removed"]
    relevance = fields.get("relevance") or [None] * (len(stayed) + len(removed))
    return ContextSnapshot(
        snapshot_id=fields["id"],
        create_time=moment_of(fields["time"]),
        reason=fields["reason"],
        token_count_before=fields["before"],
        token_count_after=fields["after"],
        stayed=tuple(map(_item_of, stayed, relevance)),
        removed=tuple(map(_item_of, removed, relevance[len(stayed) :])),
    )


def unpack_head(key: SessionKey, packed: bytes | str) -> WindowHead:
    """A head as the script of the Redis driver writes it: numbers in a row and, behind them, the task."""
    text = packed.decode("utf-8") if isinstance(packed, bytes) else packed
    *numbers, task_id = text.split(" ", 8)
    max_tokens, ttl, created, active, revision, token_count, item_count, pruned_count = map(int, numbers)
    return WindowHead(
        key=key,
        spec=WindowSpec(max_tokens, ttl * _MICROSECOND),
        create_time=moment_of(created),
        last_active_time=moment_of(active),
        revision=revision,
        token_count=token_count,
        item_count=item_count,
        pruned_count=pruned_count,
        current_task_id=task_id,
    )


def decode_changed(key: SessionKey, fields: list[bytes]) -> Changed:
    """A response of the script: head, items added, items removed, snapshot or empty, note."""
    head, added, removed, snapshot, note = fields
    return Changed(
        unpack_head(key, head),
        int(added),
        int(removed),
        decode_snapshot(snapshot) if snapshot else None,
        note.decode("utf-8"),
    )


def _snapshot_item(item: SnapshotItem) -> list[Any]:
    return [item.item_id, int(item.kind), item.token_count, item.score, item.episode_id]


def _item_of(fields: list[Any], relevance: float | None) -> SnapshotItem:
    item_id, kind, token_count, score, episode_id = fields
    return SnapshotItem(item_id, ItemKind(kind), token_count, score, episode_id, relevance)

"""Turns as bytes, for stores outside of this process."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from services.common.encryption.carried import CarriedCipher
from services.common.owners import InteractionId
from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.turns import Attachment, MessageRole, Turn
from services.session.model import (
    Deletion,
    NewTurn,
    SessionSpec,
    SessionTurn,
    SettingsChange,
    microseconds,
    moment_of,
)
from services.session.stores.sealing import opened_fields, sealed_fields

_VERSION: Final = 1
"""Stands in every payload, so that a later form is recognised during a rolling update."""
_CONTENT: Final = frozenset({"content", "speaker", "attachments", "sources", "metadata"})
"""Fields of a turn that are encrypted, where encryption is on."""
_FIELD: Final = "session turn"


def encode_turn(new: NewTurn, cipher: CarriedCipher | None = None) -> bytes:
    """A turn as compact JSON, without its position: the store assigns that and stores it apart."""
    turn = new.turn
    fields: dict[str, Any] = {
        "v": _VERSION,
        "id": new.interaction_id,
        "n": new.token_count,
        "role": int(turn.role),
        "content": turn.content,
        "time": microseconds(turn.time),
        "speaker": turn.speaker,
        "attachments": [[a.uri, a.mime_type, a.caption] for a in turn.attachments],
        "confidence": turn.confidence,
        "importance": turn.importance,
        "sources": list(turn.sources),
        "metadata": dict(turn.metadata),
        "scope": "" if new.scope == GLOBAL_SCOPE else new.scope.key,
    }
    present = {k: v for k, v in fields.items() if v not in ("", None, [], {})}
    return json.dumps(sealed_fields(present, _CONTENT, cipher, new.interaction_id, _FIELD)).encode("ascii")


def decode_turn(payload: bytes, *, position: int, cipher: CarriedCipher | None = None) -> SessionTurn:
    """The inverse of `encode_turn`. Raises ValueError or KeyError for what it did not write.

    Raises:
        DecryptionError: It is encrypted, and the cipher is missing or another one.
    """
    fields = json.loads(payload)
    fields = opened_fields(fields, cipher, fields["id"], _FIELD)
    return SessionTurn(
        interaction_id=InteractionId(fields["id"]),
        position=position,
        token_count=fields.get("n", 0),
        scope=Scope.from_key(fields["scope"]) if "scope" in fields else GLOBAL_SCOPE,
        turn=Turn(
            role=MessageRole(fields["role"]),
            content=fields.get("content", ""),
            time=moment_of(fields["time"]),
            speaker=fields.get("speaker", ""),
            attachments=tuple(Attachment(*texts) for texts in fields.get("attachments", ())),
            confidence=fields.get("confidence"),
            importance=fields.get("importance"),
            sources=tuple(fields.get("sources", ())),
            metadata=fields.get("metadata", {}),
        ),
    )


def encode_content(
    content: NewTurn | SettingsChange | Deletion, cipher: CarriedCipher | None = None
) -> tuple[str, bytes]:
    """The kind of an event and its payload, in ASCII."""
    match content:
        case NewTurn():
            return "turn", encode_turn(content, cipher)
        case SettingsChange(spec, set_time, create_time):
            times = [set_time] if create_time is None else [set_time, create_time]
            numbers = [spec.window_turns, spec.ttl // timedelta(microseconds=1), *map(microseconds, times)]
            return "settings", " ".join(map(str, numbers)).encode("ascii")
        case Deletion(session_create_time):
            return "deletion", str(microseconds(session_create_time)).encode("ascii")


def decode_content(
    kind: str, payload: bytes, cipher: CarriedCipher | None = None
) -> NewTurn | SettingsChange | Deletion:
    """The inverse of `encode_content`; see `decode_turn`."""
    match kind:
        case "turn":
            return replace(decode_turn(payload, position=0, cipher=cipher).as_new(), position=None)
        case "settings":
            window_turns, ttl, *times = map(int, payload.split())
            return SettingsChange(SessionSpec(window_turns, timedelta(microseconds=ttl)), *map(moment_of, times))
        case "deletion":
            return Deletion(moment_of(int(payload)))
        case _:
            raise RuntimeError(f"unknown kind of event {kind!r}")

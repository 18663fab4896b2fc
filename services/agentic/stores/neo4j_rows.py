"""Between the properties of nodes and relationships and the model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from services.agentic.model import (
    Link,
    LinkKey,
    LinkOrigin,
    LinkType,
    Note,
    NoteId,
    NoteKind,
    NoteStatus,
    ScoredNote,
    WalkedLink,
    from_microseconds,
    whole_microseconds,
)
from services.agentic.store import Neighbour
from services.agentic.stores.neo4j_cypher import NOTE_PROPERTIES
from services.agentic.stores.neo4j_sealing import NOTES
from services.common.encryption.cipher import Cipher
from services.common.owners import InteractionId, UserId
from services.common.scope import Scope
from services.common.turns import Attachment

_LIST_KEY_ORIGIN: Final = 2**62
"""More than the microseconds of any time, and 19 digits whatever is taken from it."""
_NOTES_ON_LOOP_MAX: Final = 64
"""Opening more of them takes longer than the event loop may wait."""


def list_key(create_time: datetime, note_id: NoteId) -> str:
    """What sorts as text in the order of a list: newest first, ties by id."""
    return f"{_LIST_KEY_ORIGIN - whole_microseconds(create_time):019d}{note_id}"


def caption_key(note_id: str, place: int) -> str:
    """What names a caption among a user's: its note, and the place of its attachment."""
    return f"{note_id}/{place}"


def note_to_fields(note: Note, cipher: Cipher) -> dict[str, Any]:
    """Properties of a note but those of its owner, its vector, its status and its accesses."""
    fields = {
        "note_id": note.note_id,
        "list_key": list_key(note.create_time, note.note_id),
        "content": note.content,
        "kind": int(note.kind),
        "importance": note.importance,
        "time": whole_microseconds(note.time),
        "create_time": whole_microseconds(note.create_time),
        "update_time": whole_microseconds(note.update_time),
        "keywords": list(note.keywords),
        "tags": list(note.tags),
        "attachments": json.dumps([[a.uri, a.mime_type, a.caption] for a in note.attachments], ensure_ascii=False),
        "metadata": json.dumps(dict(note.metadata), ensure_ascii=False),
        "derived_from": list(note.derived_from),
        "scope_key": note.scope.key,
        "speaker": note.speaker,
        "conversation_id": note.conversation_id,
        "position": note.position,
        "spoken": note.spoken,
        "question_id": note.question_id,
        "question_chars": note.question_chars,
        "feedback": note.feedback,
        "source_note_ids": list(note.source_note_ids),
        "raised": note.raised,
    }
    return NOTES.seal(cipher, fields)


def note_from_values(values: Sequence[Any], cipher: Cipher) -> Note:
    """A note from the values of `NOTE_PROPERTIES`.

    Raises:
        DecryptionError: See `Cipher.open`.
    """
    fields = NOTES.open(cipher, dict(zip(NOTE_PROPERTIES, values, strict=True)))
    last_access_time = fields["last_access_time"]
    return Note(
        note_id=NoteId(fields["note_id"]),
        user_id=UserId(fields["user_id"]),
        content=fields["content"],
        kind=NoteKind(fields["kind"]),
        importance=fields["importance"],
        time=from_microseconds(fields["time"]),
        create_time=from_microseconds(fields["create_time"]),
        update_time=from_microseconds(fields["update_time"]),
        keywords=tuple(fields["keywords"]),
        tags=tuple(fields["tags"]),
        attachments=tuple(Attachment(*parts) for parts in json.loads(fields["attachments"])),
        metadata=json.loads(fields["metadata"]),
        derived_from=tuple(InteractionId(i) for i in fields["derived_from"]),
        status=NoteStatus(fields["status"]),
        access_count=fields["access_count"],
        last_access_time=None if last_access_time is None else from_microseconds(last_access_time),
        scope=Scope.from_key(fields["scope_key"]),
        speaker=fields["speaker"],
        conversation_id=fields["conversation_id"],
        position=fields["position"],
        spoken=fields["spoken"],
        question_id=fields["question_id"],
        question_chars=fields["question_chars"],
        feedback=fields["feedback"],
        source_note_ids=tuple(NoteId(i) for i in fields["source_note_ids"] or ()),
        successor_id=fields["successor_id"],
        raised=fields["raised"] or 0,
    )


async def notes_from_values(found: Sequence[Sequence[Any]], cipher: Cipher) -> list[Note]:
    """Notes from their values; many of them on a thread, since each is decrypted.

    Raises:
        DecryptionError: See `Cipher.open`.
    """
    if len(found) <= _NOTES_ON_LOOP_MAX:
        return [note_from_values(values, cipher) for values in found]
    return await asyncio.to_thread(lambda: [note_from_values(values, cipher) for values in found])


def link_to_fields(link: Link) -> dict[str, Any]:
    """A link with its ends."""
    return {
        "from_note_id": link.key.from_note_id,
        "to_note_id": link.key.to_note_id,
        "type": int(link.key.type),
        "strength": link.strength,
        "origin": int(link.origin),
        "create_time": whole_microseconds(link.create_time),
        "update_time": whole_microseconds(link.update_time),
        "feedback": link.feedback,
    }


def link_from_fields(fields: Mapping[str, Any]) -> Link:
    """The inverse of `link_to_fields`."""
    key = LinkKey(NoteId(fields["from_note_id"]), NoteId(fields["to_note_id"]), LinkType(fields["type"]))
    return Link(
        key,
        fields["strength"],
        LinkOrigin(fields["origin"]),
        create_time=from_microseconds(fields["create_time"]),
        update_time=from_microseconds(fields["update_time"]),
        feedback=fields["feedback"] or 0,  # links of earlier versions have none
    )


def neighbour_from_fields(fields: Mapping[str, Any]) -> Neighbour:
    """A neighbour from what linking looks at, opened."""
    return Neighbour(
        NoteId(fields["note_id"]),
        NoteKind(fields["kind"]),
        fields["content"],
        fields["speaker"],
        _cosine(fields["similarity"]),
    )


def scored_from_fields(fields: Mapping[str, Any], cipher: Cipher) -> ScoredNote:
    """A hit of a search."""
    steps = ((fields["seed"], fields["seed_strength"]), (fields["via"], fields["via_strength"]))
    path = tuple(WalkedLink(NoteId(i), strength) for i, strength in steps if i is not None)
    similarity = _cosine(fields["similarity"])
    score = similarity if not path else fields["score"]
    return ScoredNote(
        note_from_values(fields["note"], cipher),
        score=score,
        similarity=similarity,
        path=path,
        place=fields["place"] if not path else None,
    )


def _cosine(similarity: float) -> float:
    # Sums of float32 products can leave [-1, 1] by a rounding error.
    return max(-1.0, min(1.0, similarity))

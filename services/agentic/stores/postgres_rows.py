"""Between rows of PostgreSQL and the model."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Final

import asyncpg

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
)
from services.agentic.store import Neighbour
from services.agentic.stores.postgres_sealing import NOTES
from services.common.encryption.cipher import Cipher
from services.common.encryption.rows import Row
from services.common.owners import InteractionId, Owner, UserId
from services.common.scope import Scope
from services.common.turns import Attachment

#: By number: faster than a look-up in the enumeration.
_KINDS: Final = {int(kind): kind for kind in NoteKind}


def note_from_row(row: Row) -> Note:
    """A note from the columns `postgres_sql.NOTE_COLUMNS`, opened."""
    return Note(
        note_id=NoteId(str(row["note_id"])),
        user_id=UserId(row["user_id"]),
        content=row["content"],
        kind=NoteKind(row["kind"]),
        importance=row["importance"],
        time=row["time"],
        create_time=row["create_time"],
        update_time=row["update_time"],
        keywords=tuple(row["keywords"]),
        tags=tuple(row["tags"]),
        attachments=tuple(Attachment(*parts) for parts in row["attachments"]),
        metadata=row["metadata"],
        derived_from=tuple(InteractionId(str(i)) for i in row["derived_from"]),
        status=NoteStatus(row["status"]),
        access_count=row["access_count"],
        last_access_time=row["last_access_time"],
        scope=Scope.from_key(row["scope_key"]),
        speaker=row["speaker"],
        conversation_id=row["conversation_id"],
        position=row["position"],
        spoken=row["spoken"],
        question_id=None if row["question_id"] is None else InteractionId(str(row["question_id"])),
        question_chars=row["question_chars"],
        feedback=row["feedback"],
        source_note_ids=tuple(NoteId(str(i)) for i in row["source_note_ids"]),
        successor_id=None if row["successor_id"] is None else NoteId(str(row["successor_id"])),
        raised=row["raised"],
    )


def link_from_row(row: asyncpg.Record) -> Link:
    """A link from its columns."""
    key = LinkKey(NoteId(str(row["from_note_id"])), NoteId(str(row["to_note_id"])), LinkType(row["type"]))
    origin = LinkOrigin(row["origin"])
    return Link(key, row["strength"], origin, row["create_time"], row["update_time"], row["feedback"])


def neighbour_from_row(row: Row, similarity: float) -> Neighbour:
    """A neighbour from the columns that linking looks at."""
    return Neighbour(NoteId(str(row["note_id"])), NoteKind(row["kind"]), row["content"], row["speaker"], similarity)


def scored_from_row(owner: Owner, row: Row) -> ScoredNote:
    """A hit from the columns of a search."""
    steps = ((row["seed"], row["seed_strength"]), (row["via"], row["via_strength"]))
    path = tuple(WalkedLink(NoteId(i), strength) for i, strength in steps if i is not None)
    # Sums of float32 products can leave [-1, 1] by a rounding error.
    similarity = max(-1.0, min(1.0, row["similarity"]))
    score = similarity if not path else row["score"]
    return ScoredNote(_hit(owner, row), score, similarity, path, row["place"])


def nearest_from_rows(
    owner: Owner, rows: Sequence[Row], ids: Sequence[str], scores: Sequence[float]
) -> list[ScoredNote]:
    """The hits among notes that were found by their vectors alone, in the order of these ids.

    Args:
        owner: Whose notes.
        rows: Of `postgres_sql.NOTES_AS_TENANT`; a note that is gone has none.
        ids: Of the notes asked for.
        scores: Cosines, one for each of them at least.
    """
    by_id = {row["note_id"]: row for row in rows}
    hits = []
    for note_id, score in zip(ids, scores, strict=False):
        row = by_id.get(note_id)
        if row is not None:
            similarity = max(-1.0, min(1.0, score))
            hits.append(ScoredNote(_hit(owner, row), similarity, similarity))
    return hits


def _hit(owner: Owner, row: Row) -> Note:
    """The note of a search's row, by position: each Recall reads some."""
    (
        note_id,
        content,
        kind,
        importance,
        keywords,
        tags,
        attachments,
        metadata,
        derived_from,
        time,
        create_time,
        update_time,
        access_count,
        last_access_time,
        scope_key,
        feedback,
        *_,
    ) = row.values()
    return Note(
        note_id,
        owner.user_id,
        content,
        _KINDS[kind],
        importance,
        time,
        create_time,
        update_time,
        tuple(keywords),
        tuple(tags),
        tuple(Attachment(*parts) for parts in attachments) if attachments else (),
        metadata,
        tuple(derived_from),
        NoteStatus.ACTIVE,
        access_count,
        last_access_time,
        Scope.from_key(scope_key),
        feedback=feedback,
    )


def note_values(owner: Owner, note: Note, cipher: Cipher) -> tuple[object, ...]:
    """The parameters of `postgres_sql.UPDATE_NOTE`."""
    sealed = NOTES.seal(
        cipher,
        {
            "note_id": note.note_id,
            "content": note.content,
            "spoken": note.spoken,
            "speaker": note.speaker,
            "keywords": note.keywords,
            "tags": note.tags,
            "attachments": [[a.uri, a.mime_type, a.caption] for a in note.attachments],
            "metadata": dict(note.metadata),
        },
    )
    return (
        owner.tenant_id,
        owner.user_id,
        uuid.UUID(note.note_id),
        sealed["content"],
        int(note.kind),
        note.importance,
        sealed["keywords"],
        sealed["tags"],
        sealed["attachments"],
        sealed["metadata"],
        [uuid.UUID(i) for i in note.derived_from],
        note.time,
        note.update_time,
        sealed["speaker"],
        note.conversation_id,
        note.position,
        sealed["spoken"],
        None if note.question_id is None else uuid.UUID(note.question_id),
        note.question_chars,
        note.feedback,
        [uuid.UUID(i) for i in note.source_note_ids],
        note.raised,
    )

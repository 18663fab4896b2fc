"""Between rows of PostgreSQL and the model."""

from __future__ import annotations

import asyncpg

from services.agentic.model import (
    InteractionId,
    Link,
    LinkKey,
    LinkType,
    Note,
    NoteId,
    NoteKind,
    ScoredNote,
    UserId,
)
from services.agentic.store import Neighbour
from services.common.scope import Scope
from services.common.turns import Attachment


def note_from_row(row: asyncpg.Record) -> Note:
    """A note from the columns `postgres_sql.NOTE_COLUMNS`."""
    return Note(
        note_id=NoteId(str(row["note_id"])),
        user_id=UserId(row["user_id"]),
        content=row["content"],
        kind=NoteKind(row["kind"]),
        importance=row["importance"],
        time=row["time"],
        create_time=row["create_time"],
        keywords=tuple(row["keywords"]),
        tags=tuple(row["tags"]),
        attachments=tuple(Attachment(*parts) for parts in row["attachments"]),
        metadata=row["metadata"],
        derived_from=tuple(InteractionId(str(i)) for i in row["derived_from"]),
        access_count=row["access_count"],
        last_access_time=row["last_access_time"],
        scope=Scope.from_key(row["scope_key"]),
        speaker=row["speaker"],
        conversation_id=row["conversation_id"],
        position=row["position"],
        spoken=row["spoken"],
    )


def link_from_row(row: asyncpg.Record) -> Link:
    """A link from its columns."""
    key = LinkKey(NoteId(str(row["from_note_id"])), NoteId(str(row["to_note_id"])), LinkType(row["type"]))
    return Link(key, row["strength"], row["create_time"])


def neighbour_from_row(row: asyncpg.Record, similarity: float) -> Neighbour:
    """A neighbour from the columns that linking looks at."""
    return Neighbour(NoteId(str(row["note_id"])), NoteKind(row["kind"]), row["content"], row["speaker"], similarity)


def scored_from_row(row: asyncpg.Record) -> ScoredNote:
    """A hit from the columns of a search."""
    path = tuple(NoteId(str(i)) for i in (row["seed"], row["via"]) if i is not None)
    # Sums of float32 products can leave [-1, 1] by a rounding error.
    similarity = max(-1.0, min(1.0, row["similarity"]))
    score = similarity if not path else row["score"]
    return ScoredNote(note_from_row(row), score=score, similarity=similarity, path=path)

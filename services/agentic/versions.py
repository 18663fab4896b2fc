"""What notes were before they changed (SPEC 3.7). Pure data and pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, auto
from typing import Any

from services.agentic.model import Note, NoteId, NoteKind, NoteStatus, from_microseconds, whole_microseconds
from services.common.encryption.rows import Row
from services.common.owners import InteractionId
from services.common.turns import Attachment


class Earlier(Enum):
    """What becomes of the text that a note had before an update."""

    KEPT = auto()  # it is found as of a time
    WRONG = auto()  # the same, as what was believed: it never held
    ERASED = auto()  # nothing is left of it


@dataclass(frozen=True, slots=True)
class NoteText:
    """What a note says, and where it is from: a change of it makes a version.

    The importance is not among it, nor are uses and judgements: those of today count, as of any time.
    """

    content: str
    kind: NoteKind
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    attachments: tuple[Attachment, ...]
    metadata: Mapping[str, str]
    time: datetime
    derived_from: tuple[InteractionId, ...]
    source_note_ids: tuple[NoteId, ...]
    question_id: InteractionId | None

    @classmethod
    def of(cls, note: Note) -> NoteText:
        """What a note says now."""
        return cls(**{name: getattr(note, name) for name in cls.__slots__})

    def put_into(self, note: Note) -> Note:
        """The note with this text."""
        return replace(note, **{name: getattr(self, name) for name in self.__slots__})


@dataclass(frozen=True, slots=True)
class NoteVersion:
    """A state of a note that has ended."""

    note_id: NoteId
    end_time: datetime  # when it ended; aware, UTC
    status: NoteStatus
    text: NoteText | None = None  # None: that of the state after it, because it did not change or was erased
    was_wrong: bool = False  # a correction ended it: the text never held


@dataclass(frozen=True, slots=True)
class NoteHistory:
    """A note with the states that it had before."""

    note: Note
    versions: tuple[NoteVersion, ...] = ()  # earliest first

    def at(self, time: datetime, *, corrected: bool = False) -> Note:
        """The note with the text and status that it had at a time.

        Of a time before its first state it is the first one. Where the text of then is not stored any more, it is the
        first one since that is.

        Args:
            time: When.
            corrected: Pass over texts that were corrected since.
        """
        later = [version for version in self.versions if version.end_time > time]
        if not later:
            return self.note
        text = next((v.text for v in later if v.text is not None and not (corrected and v.was_wrong)), None)
        status = later[0].status
        former = self.note if text is None else text.put_into(self.note)
        earlier = [version.end_time for version in self.versions if version.end_time <= time]
        return replace(
            former,
            status=status,
            successor_id=None if status is NoteStatus.ACTIVE else former.successor_id,
            update_time=max(earlier, default=former.create_time),
        )


def ended_versions(before: Mapping[NoteId, Note], after: Iterable[Note], *, was_wrong: bool) -> list[NoteVersion]:
    """The states that end with an update, of those notes whose text it changes."""
    changed = ((before[note.note_id], note) for note in after if note.note_id in before)
    return [
        NoteVersion(old.note_id, new.update_time, old.status, NoteText.of(old), was_wrong)
        for old, new in changed
        if NoteText.of(old) != NoteText.of(new)
    ]


def histories(notes: Mapping[NoteId, Note], versions: Iterable[NoteVersion]) -> dict[NoteId, NoteHistory]:
    """Notes with their versions, of any order."""
    by_note: dict[NoteId, list[NoteVersion]] = {}
    for version in versions:
        by_note.setdefault(version.note_id, []).append(version)
    return {
        note_id: NoteHistory(note, tuple(sorted(by_note.get(note_id, ()), key=lambda version: version.end_time)))
        for note_id, note in notes.items()
    }


def version_row(version: NoteVersion) -> dict[str, Any]:
    """A version as the columns that drivers store; `said` is empty where there is no text."""
    text = version.text
    return {
        "note_id": version.note_id,
        "end_microseconds": whole_microseconds(version.end_time),
        "status": int(version.status),
        "was_wrong": version.was_wrong,
        "said": {} if text is None else _said(text),
        "derived_from": [] if text is None else list(text.derived_from),
        "source_note_ids": [] if text is None else list(text.source_note_ids),
        "question_id": None if text is None else text.question_id,
    }


def version_from_row(row: Row) -> NoteVersion:
    """The inverse of `version_row`; ids may be UUIDs."""
    return NoteVersion(
        NoteId(str(row["note_id"])),
        from_microseconds(row["end_microseconds"]),
        NoteStatus(row["status"]),
        _text(row) if row["said"] else None,
        row["was_wrong"],
    )


def _said(text: NoteText) -> dict[str, Any]:
    return {
        "content": text.content,
        "kind": int(text.kind),
        "keywords": list(text.keywords),
        "tags": list(text.tags),
        "attachments": [[each.uri, each.mime_type, each.caption] for each in text.attachments],
        "metadata": dict(text.metadata),
        "time": whole_microseconds(text.time),
    }


def _text(row: Row) -> NoteText:
    said, question_id = row["said"], row["question_id"]
    sources: Sequence[Any] = row["derived_from"]
    return NoteText(
        content=said["content"],
        kind=NoteKind(said["kind"]),
        keywords=tuple(said["keywords"]),
        tags=tuple(said["tags"]),
        attachments=tuple(Attachment(*parts) for parts in said["attachments"]),
        metadata=said["metadata"],
        time=from_microseconds(said["time"]),
        derived_from=tuple(InteractionId(str(source)) for source in sources),
        source_note_ids=tuple(NoteId(str(source)) for source in row["source_note_ids"]),
        question_id=None if question_id is None else InteractionId(str(question_id)),
    )

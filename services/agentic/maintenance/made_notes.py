"""Notes that maintenance makes of others: concepts above topics, summaries of what faded. Pure functions."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from statistics import median
from typing import Final
from uuid import UUID

from services.agentic.model import Note, NoteId, NoteKind
from services.common.summaries import Summariser, SummarySettings
from services.common.tokens import TokenCounter

CONCEPT: Final = "concept"
SUMMARY: Final = "summary"
_KEYWORDS_MAX: Final = 5
_SETTINGS: Final = SummarySettings(text_tokens_min=1)


class NoteMaker:
    """Writes the text of made notes: whole sentences of their sources with their dates, of bounded length.

    A pure function of the sources, so that the same sources give the same text however often they are read.
    """

    def __init__(self, counter: TokenCounter) -> None:
        """Counts tokens by `counter`."""
        self._summariser = Summariser(counter, _SETTINGS)

    def concept(self, note_id: NoteId, members: Sequence[Note], now: datetime) -> Note:
        """The concept note above a topic."""
        keywords = _shared_keywords(members)
        topic = ", ".join(keywords[:_KEYWORDS_MAX])
        text = self._text(members)
        content = f"{topic}: {text}" if topic else text
        return _made(note_id, members, now, content, keywords, NoteKind.CONCEPT, CONCEPT)

    def summary(self, note_id: NoteId, members: Sequence[Note], now: datetime) -> Note:
        """The note that stands for notes that faded."""
        return _made(
            note_id, members, now, self._text(members), _shared_keywords(members), NoteKind.OBSERVATION, SUMMARY
        )

    def _text(self, members: Sequence[Note]) -> str:
        said = sorted(members, key=lambda note: (note.time, note.note_id))
        lines = "\n".join(f"- {note.time:%Y-%m-%d} {' '.join(note.content.split())}" for note in said)
        return self._summariser.summarise(lines)


def made_id(now: datetime, member_ids: Sequence[NoteId], label: str) -> NoteId:
    """An id that sorts by time as others do (UUID version 7), the same for the same members at the same time."""
    digest = hashlib.sha256("\0".join([label, *sorted(member_ids)]).encode()).digest()
    milliseconds = int(now.timestamp() * 1_000)
    number = (milliseconds << 80) | (int.from_bytes(digest[:10]) & ((1 << 80) - 1))
    number = (number & ~(0xF << 76)) | (0x7 << 76)
    number = (number & ~(0x3 << 62)) | (0x2 << 62)
    return NoteId(str(UUID(int=number)))


def _made(
    note_id: NoteId,
    members: Sequence[Note],
    now: datetime,
    content: str,
    keywords: tuple[str, ...],
    kind: NoteKind,
    label: str,
) -> Note:
    return Note(
        note_id=note_id,
        user_id=members[0].user_id,
        content=content,
        kind=kind,
        importance=round(median(note.importance for note in members), 4),
        time=max(note.time for note in members),
        create_time=now,
        update_time=now,
        keywords=keywords,
        tags=(label,),
        derived_from=tuple(sorted({source for note in members for source in note.derived_from})),
        scope=members[0].scope,
        source_note_ids=tuple(sorted(note.note_id for note in members)),
    )


def _shared_keywords(members: Sequence[Note]) -> tuple[str, ...]:
    """Keywords of at least two notes, the most frequent first."""
    counts = Counter(keyword for note in members for keyword in dict.fromkeys(note.keywords))
    shared = [(-count, keyword) for keyword, count in counts.items() if count > 1]
    return tuple(keyword for _, keyword in sorted(shared)[:16])

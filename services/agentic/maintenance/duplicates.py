"""Which notes say the same. Pure functions: a similarity proposes, the value guard decides."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from services.agentic.maintenance.grouping import components
from services.agentic.model import Note, NoteKind
from services.common.values.comparison.compare import relation
from services.common.values.model import Relation


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Notes that say the same."""

    winner: Note  # the oldest
    losers: tuple[Note, ...]


def find_duplicates(
    notes: Sequence[Note], pairs: Sequence[tuple[int, int, float]], *, group_max: int
) -> list[Duplicates]:
    """Groups in which every note says the same as every other.

    Args:
        notes: By id.
        pairs: Places of notes that are similar enough.
        group_max: Larger groups are left alone.
    """
    verdicts: dict[tuple[int, int], bool] = {}

    def same(first: int, second: int) -> bool:
        pair = (min(first, second), max(first, second))
        if pair not in verdicts:
            verdicts[pair] = _say_the_same(notes[pair[0]], notes[pair[1]])
        return verdicts[pair]

    close = [(first, second) for first, second, _ in pairs if same(first, second)]
    found: list[Duplicates] = []
    for group in components(len(notes), close):
        if len(group) > group_max or not all(same(*pair) for pair in itertools.combinations(group, 2)):
            continue
        winner, *losers = sorted((notes[i] for i in group), key=lambda note: (note.create_time, note.note_id))
        found.append(Duplicates(winner, tuple(losers)))
    return found


def _say_the_same(first: Note, second: Note) -> bool:
    if first.scope != second.scope or first.speaker != second.speaker or first.attachments != second.attachments:
        return False
    if first.source_note_ids or second.source_note_ids:
        return False
    # The same words of something that happened tell of two events where they were said on different days.
    if NoteKind.OBSERVATION in {first.kind, second.kind} and first.time.date() != second.time.date():
        return False
    earlier, later = sorted((first, second), key=lambda note: (note.time, note.note_id))
    if _words(earlier) == _words(later):
        return True
    return relation(earlier.spoken or earlier.content, later.spoken or later.content) is Relation.SAME


def _words(note: Note) -> str:
    return " ".join((note.spoken or note.content).split()).casefold()

"""Reports over a user's notes. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from services.agentic.config import ConsolidationSettings, PruningSettings
from services.agentic.decay import strength_of
from services.agentic.generation.words import is_topic
from services.agentic.maintenance.duplicates import find_duplicates
from services.agentic.maintenance.grouping import similar_pairs
from services.agentic.maintenance.reading import UserNotes
from services.agentic.model import LinkType, Note


@dataclass(frozen=True, slots=True)
class Health:
    """Measures of a user's active notes; shares are 0 where there are none."""

    notes: int
    links: int
    orphans: int  # without a link
    duplicates: int  # say the same as an older one
    never_read_share: float
    junk_share: float  # faded
    made: int  # by maintenance


@dataclass(frozen=True, slots=True)
class Reflection:
    """A period in a user's notes."""

    start_time: datetime
    end_time: datetime
    learned: tuple[Note, ...]  # written in the period, the most important first
    topics: tuple[tuple[str, int], ...]
    contradictions: tuple[tuple[Note, Note], ...]
    unused: tuple[Note, ...]  # from before the period, never returned by a search, oldest first


def measure(state: UserNotes, consolidation: ConsolidationSettings, pruning: PruningSettings) -> Health:
    """The health of a user's notes. Time counts up to the user's latest activity, as in pruning."""
    notes = [stored.note for stored in state.notes]
    if not notes:
        return Health(0, 0, 0, 0, 0.0, 0.0, 0)
    linked = {end for link in state.links for end in (link.key.from_note_id, link.key.to_note_id)}
    with_vector = [stored for stored in state.notes if stored.vector is not None]
    duplicates = 0
    if with_vector:
        vectors = np.stack([stored.vector for stored in with_vector if stored.vector is not None])
        pairs = list(similar_pairs(vectors, consolidation.duplicate_similarity_min))
        groups = find_duplicates([s.note for s in with_vector], pairs, group_max=consolidation.duplicates_max)
        duplicates = sum(len(group.losers) for group in groups)
    time = state.active_time
    faded = sum(strength_of(note, time, scale_days=pruning.scale_days) < pruning.strength_min for note in notes)
    return Health(
        notes=len(notes),
        links=len(state.links),
        orphans=sum(note.note_id not in linked for note in notes),
        duplicates=duplicates,
        never_read_share=sum(note.access_count == 0 for note in notes) / len(notes),
        junk_share=faded / len(notes),
        made=sum(bool(note.source_note_ids) for note in notes),
    )


def reflect(state: UserNotes, start_time: datetime, end_time: datetime, *, topics_max: int) -> Reflection:
    """What was learned in a period, what contradicts it, and what from before is unused."""
    notes = {stored.note.note_id: stored.note for stored in state.notes}
    said = [note for note in notes.values() if not note.source_note_ids]
    learned = [note for note in said if start_time <= note.create_time < end_time]
    learned.sort(key=lambda note: (-note.importance, note.create_time, note.note_id))
    fresh = {note.note_id for note in learned}
    pairs = [
        (notes[link.key.from_note_id], notes[link.key.to_note_id])
        for link in state.links
        if link.key.type is LinkType.CONTRADICTS and fresh & {link.key.from_note_id, link.key.to_note_id}
    ]
    unused = [note for note in said if note.create_time < start_time and note.access_count == 0]
    unused.sort(key=lambda note: (note.create_time, note.note_id))
    return Reflection(start_time, end_time, tuple(learned), topics_of(learned, topics_max), tuple(pairs), tuple(unused))


def topics_of(notes: Sequence[Note], limit: int) -> tuple[tuple[str, int], ...]:
    """The most frequent keywords that name a topic, with their notes; ties in the order of the alphabet."""
    counts = Counter(keyword.casefold() for note in notes for keyword in set(note.keywords) if is_topic(keyword))
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit])

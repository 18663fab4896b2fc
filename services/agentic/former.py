"""Notes as of a time: with the text that they had then, and those that were archived since (SPEC 3.7).

They are found by what they say today: their former texts have no vectors. Importance, uses, judgements and links are
those of today.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime

from services.agentic.model import Note, NoteStatus, ScoredNote
from services.agentic.store import NoteSearch, NoteStore
from services.agentic.versions import NoteHistory
from services.common.owners import Owner


class FormerNotes:
    """Searches notes as of a time."""

    def __init__(self, store: NoteStore, *, candidates: int) -> None:
        """Look at how so many of the nearest active and of the nearest archived notes were then."""
        self._store = store
        self._candidates = candidates

    async def search(
        self, owner: Owner, wanted: NoteSearch, *, known_at: datetime | None, held_at: datetime | None
    ) -> list[ScoredNote]:
        """The nearest notes that were active at a time, as they were then.

        Args:
            owner: Whose notes.
            wanted: A search among active notes.
            known_at: What was recorded later is left out. None: nothing is.
            held_at: Texts and statuses of then, of the notes that were there then; those written later as they are.
                Corrections count whenever they were made, unless `known_at` is earlier. None: the present.
        """
        active = replace(wanted, limit=max(wanted.limit, self._candidates))
        found = await asyncio.gather(
            self._store.search(owner, active), self._store.search(owner, replace(active, is_archived=True))
        )
        hits = sorted((hit for some in found for hit in some), key=lambda hit: (-hit.score, hit.hops, hit.note.note_id))
        histories = await self._store.histories(owner, [hit.note.note_id for hit in hits]) if hits else {}
        shown: list[ScoredNote] = []
        for hit in hits:
            history = histories.get(hit.note.note_id)
            state = None if history is None else state_at(history, known_at=known_at, held_at=held_at)
            if state is not None and len(shown) < wanted.limit:
                shown.append(_with(hit, state))
        return shown


def state_at(history: NoteHistory, *, known_at: datetime | None, held_at: datetime | None) -> Note | None:
    """A note as it was; None where it was not there or not active. See `FormerNotes.search`."""
    note, time = history.note, known_at
    if known_at is not None and not _was_known(note, known_at):
        return None
    if held_at is not None and note.create_time <= held_at and (known_at is None or held_at < known_at):
        time = held_at
    state = note if time is None else _at(history, time, known_at=known_at)
    return state if state.status is NoteStatus.ACTIVE else None


def _at(history: NoteHistory, time: datetime, *, known_at: datetime | None) -> Note:
    """The state of a time by what was known: corrections that had been made by then count."""
    if time == known_at:
        return history.at(time)
    known = tuple(
        version if known_at is None or version.end_time <= known_at else replace(version, was_wrong=False)
        for version in history.versions
    )
    return replace(history, versions=known).at(time, corrected=True)


def _was_known(note: Note, known_at: datetime) -> bool:
    """Whether a note was there. One that was made of a turn counts as long as the turn, of which its id says it."""
    return note.create_time <= known_at or bool(note.derived_from and not note.source_note_ids)


def _with(hit: ScoredNote, state: Note) -> ScoredNote:
    """A hit with its note as it was; without the attachment that it was found by where the note had others."""
    has_same = state.attachments == hit.note.attachments
    return replace(hit, note=state, place=hit.place if has_same else None)

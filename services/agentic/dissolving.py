"""Deletes notes with what maintenance made of them: nothing derived outlives its source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from services.agentic.model import NoteId, NoteStatus
from services.agentic.store import NoteWriter, RemovedCounts


async def made_of(writer: NoteWriter, note_ids: Iterable[NoteId]) -> set[NoteId]:
    """The notes that maintenance made from these, and from those, without these themselves."""
    known = set(note_ids)
    found: set[NoteId] = set()
    latest = sorted(known)
    while latest:
        latest = [each for each in await writer.made_from(latest) if each not in found and each not in known]
        found.update(latest)
    return found


async def dissolve(writer: NoteWriter, note_ids: Iterable[NoteId], *, now: datetime) -> None:
    """Deletes the concepts and summaries that were made of notes whose text has changed: they say what it was.

    What a summary stood for is active again, until maintenance makes another one.
    """
    made = sorted(await made_of(writer, note_ids))
    if made:
        await writer.set_status(await writer.replaced_by(made), NoteStatus.ACTIVE, update_time=now)
        await writer.delete_notes(made)


async def delete_with_derived(
    writer: NoteWriter, note_ids: Sequence[NoteId], *, now: datetime, keeps_merged: bool
) -> RemovedCounts:
    """Deletes notes, and the concepts and summaries that hold something of them.

    Archived notes that a deleted concept or summary stood for stay archived, without a successor.

    Args:
        writer: Of the notes' user.
        note_ids: What to delete.
        now: When.
        keeps_merged: Duplicates that were merged into a deleted note come back, as their own sources are still there;
            else they go with it, since they say the same.
    """
    gone = set(note_ids)
    made = {note_id for note_id, note in (await writer.get_notes(sorted(gone))).items() if note.source_note_ids}
    if not keeps_merged:
        gone.update(await writer.replaced_by(sorted(gone - made)))
    dissolved = await made_of(writer, gone)
    merged = [each for each in await writer.replaced_by(sorted(gone | dissolved)) if each not in gone | dissolved]
    back = set(merged) & set(await writer.replaced_by(sorted(gone - made)))
    removed = await writer.delete_notes(sorted(gone | dissolved))
    await writer.set_successors(dict.fromkeys(merged))
    await writer.set_status(sorted(back), NoteStatus.ACTIVE, update_time=now)
    return removed

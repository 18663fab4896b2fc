"""Job: archives notes that faded, several at a time, as a summary that leads back to them (SPEC 4.5)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Final

from services.agentic.config import PruningSettings
from services.agentic.decay import strength_of, touched
from services.agentic.maintenance.made_notes import SUMMARY, NoteMaker, made_id
from services.agentic.maintenance.making import NoteMaking, WantedNote, note_ids_of
from services.agentic.maintenance.reading import NoteReading, UserNotes
from services.agentic.model import Note, NoteId
from services.agentic.store import NoteStore
from services.common.decay import SECONDS_PER_DAY
from services.common.maintenance import Cap, Change, Step
from services.common.maintenance.grounds import grounds
from services.common.owners import Owner

_SUMMARISE: Final = "summarise"


class PruneNotes:
    """Archives what has faded: importance x decay below a threshold, and untouched for long. Both are needed."""

    name = "agentic.prune_notes"

    def __init__(
        self, store: NoteStore, making: NoteMaking, maker: NoteMaker, settings: PruningSettings, *, page: int
    ) -> None:
        """Archives in `store`; reads `page` notes at once."""
        self._making = making
        self._maker = maker
        self._settings = settings
        self._reading = NoteReading(store, model="", page=page)
        self.cap = Cap(share=settings.share_max, at_least=settings.summary_notes_min)

    def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[UserNotes]]:
        """See `Job.steps`."""
        return self._reading.steps(after=after, owner=owner)

    def plan(self, state: UserNotes, now: datetime) -> Sequence[Change]:
        """See `Job.plan`. Time counts up to the user's latest activity."""
        settings = self._settings
        time = min(now, state.active_time)
        faded: dict[str, list[Note]] = {}
        for stored in state.notes:
            note = stored.note
            days = (time - touched(note)).total_seconds() / SECONDS_PER_DAY
            if note.source_note_ids or days < settings.untouched_days:
                continue
            if _grounds(note) in state.undone:
                continue
            if strength_of(note, time, scale_days=settings.scale_days) < settings.strength_min:
                faded.setdefault(note.scope.key, []).append(note)
        changes: list[Change] = []
        for key in sorted(faded):
            notes = sorted(faded[key], key=lambda note: (note.time, note.note_id))
            for start in range(0, len(notes), settings.summary_notes_max):
                members = notes[start : start + settings.summary_notes_max]
                members = members[: max(settings.summary_notes_min, self.cap.allowed(len(state.notes)))]
                if len(members) >= settings.summary_notes_min:
                    group: list[str] = [note.note_id for note in members]
                    note_id = made_id(now, [note.note_id for note in members], SUMMARY)
                    seen = tuple(map(_grounds, members))
                    changes.append(Change(_SUMMARISE, note_id, len(group), {"members": group}, seen))
        return changes

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`."""
        if owner is None:
            return []
        wanted = [WantedNote(NoteId(change.target), note_ids_of(change.facts["members"])) for change in changes]
        made = await self._making.make(owner, wanted, self._maker.summary, retires=True)
        return [change for change in changes if change.target in made]

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`."""
        if owner is None:
            return 0
        return sum([await self._making.unmake(owner, NoteId(change.target)) for change in changes])


def _grounds(note: Note) -> str:
    """A note that was taken back stays until it was used or changed, and has faded again."""
    return grounds(_SUMMARISE, (note.note_id,), touched(note).isoformat(), note.importance, texts=(note.content,))

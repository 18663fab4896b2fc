"""Use cases of erasure: what is derived from interactions goes with them, and is not derived again."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from services.agentic.config import AgenticSettings
from services.agentic.dissolving import delete_with_derived, made_of
from services.agentic.embedded import embed_notes
from services.agentic.links import relink_notes
from services.agentic.model import Note
from services.agentic.service import keywords_of
from services.agentic.store import NoteStore, NoteWriter, RemovedCounts
from services.agentic.versions import Earlier
from services.common.clock import Clock
from services.common.errors import Conflict
from services.common.maintenance.store import MaintenanceStore
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.tier_embedder import TierEmbedder

_ANSWER_TAG: Final = "answer"
_BLOCKED_MAX: Final = 2_000
"""Interactions that one transaction blocks at most where all of a user goes."""


@dataclass(frozen=True, slots=True)
class SourceRemoval:
    """What removing interactions changed."""

    removed: RemovedCounts
    changed_notes: int  # notes that stay


@dataclass(frozen=True, slots=True)
class OwnerRemoval:
    """What of a user was removed."""

    removed: RemovedCounts
    has_more: bool  # notes are left, for a repeat


class NoteRemoval:
    """Removes what interactions or users left in the tier."""

    def __init__(
        self,
        store: NoteStore,
        embedder: TierEmbedder,
        *,
        clock: Clock,
        settings: AgenticSettings,
        maintenance: MaintenanceStore | None = None,
    ) -> None:
        """All collaborators are owned by the caller; `maintenance` has the log of jobs, if any run."""
        self._maintenance = maintenance
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._settings = settings

    async def by_source(self, owner: Owner, interaction_ids: Sequence[InteractionId]) -> SourceRemoval:
        """Removes what was derived from interactions, and blocks them.

        A note that comes from other interactions too stays and loses these. The note of an answer loses a question of
        these, and is embedded and linked anew without it.

        Raises:
            Conflict: Notes were changed at the same time; nothing was removed.
        """
        gone, now = frozenset(interaction_ids), self._clock.now()
        found = await self._store.write(owner, lambda writer: writer.notes_of_sources(interaction_ids))
        # The model runs before the lock is taken, so that it does not hold up the user's other writes.
        own = [note for note in found if not note.source_note_ids]  # what maintenance made goes as a whole
        expected = _reworded(own, self._remaining(own, gone, now))
        embedded = await embed_notes(self._embedder, expected, captions_max=self._settings.captions_embedded_max)

        async def work(writer: NoteWriter) -> SourceRemoval:
            notes = await writer.notes_of_sources(interaction_ids)
            made = {note.note_id for note in notes if note.source_note_ids}
            made |= await made_of(writer, [note.note_id for note in notes])
            notes = [note for note in notes if note.note_id not in made]
            remaining = self._remaining(notes, gone, now)
            reworded = _reworded(notes, remaining)
            if _texts(reworded) != _texts(expected):
                raise Conflict("notes were changed at the same time")
            kept = {note.note_id for note in remaining}
            lost = [*made, *(note.note_id for note in notes if note.note_id not in kept)]
            removed = await delete_with_derived(writer, lost, now=now, keeps_merged=True)
            await writer.update_notes(remaining, earlier=Earlier.ERASED)
            await writer.erase_versions(interaction_ids)
            if reworded:
                model = self._embedder.model_id
                await relink_notes(writer, reworded, embedded, model=model, settings=self._settings)
            await writer.idempotency().erase(owner.user_id, sorted(kept))
            await writer.block(interaction_ids)
            return SourceRemoval(removed, len(remaining))

        return await self._store.write(owner, work)

    async def of_owner(self, owner: Owner, *, notes_max: int = 0) -> OwnerRemoval:
        """Removes all notes of a user and blocks the interactions that were processed.

        Args:
            owner: Whose notes.
            notes_max: How many notes are removed at most; 0 for all. Where there are as many or more, the rest and what
                names them are left for a repeat.
        """

        async def work(writer: NoteWriter) -> OwnerRemoval:
            removed = await writer.delete_some(notes_max) if notes_max else RemovedCounts(notes=0, links=0)
            if notes_max and removed.notes == notes_max:
                return OwnerRemoval(removed, has_more=True)
            rest = await writer.delete_all()
            await writer.idempotency().erase(owner.user_id)
            both = replace(rest, notes=removed.notes + rest.notes, links=removed.links + rest.links)
            return OwnerRemoval(both, has_more=False)

        # First, as none of it is counted: a call that ends here leaves all counts to its repeat.
        while await self._store.write(owner, lambda writer: writer.block_some(_BLOCKED_MAX)) == _BLOCKED_MAX:
            pass
        removal = await self._store.write(owner, work)
        if self._maintenance is not None and not removal.has_more:
            await self._maintenance.remove_owner(owner)
        return removal

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """Users of a tenant that have notes; see `NoteStore.users`."""
        return await self._store.users(tenant_id, after=after, limit=limit)

    def _remaining(self, notes: Sequence[Note], gone: Set[InteractionId], now: datetime) -> list[Note]:
        """Those of the notes that stay, as they are without the interactions."""
        remaining: list[Note] = []
        for note in notes:
            sources = tuple(source for source in note.derived_from if source not in gone)
            if note.derived_from and not sources:
                continue
            changed = replace(note, derived_from=sources, update_time=now)
            remaining.append(self._without_question(changed) if note.question_id in gone else changed)
        return remaining

    def _without_question(self, note: Note) -> Note:
        """An answer's note without the question that it quotes."""
        spoken = note.spoken[note.question_chars :]
        content = f"{note.speaker}: {spoken}" if note.question_chars else note.content
        return replace(
            note,
            content=content,
            spoken=spoken,
            keywords=keywords_of(spoken, self._settings),
            tags=tuple(tag for tag in note.tags if tag != _ANSWER_TAG),
            question_id=None,
            question_chars=0,
        )


def _reworded(notes: Sequence[Note], remaining: Sequence[Note]) -> list[Note]:
    """Those of the remaining notes whose text is another than before."""
    before = {note.note_id: note.embedded_text for note in notes}
    return [note for note in remaining if note.embedded_text != before[note.note_id]]


def _texts(notes: Sequence[Note]) -> list[tuple[object, ...]]:
    """What the vectors of notes are made from."""
    return [(note.note_id, note.embedded_text, note.attachments) for note in notes]

"""Writes what the jobs plan: made notes with their links, and notes that another one stands for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from services.agentic.model import Link, LinkKey, LinkOrigin, LinkType, Note, NoteId, NoteStatus
from services.agentic.store import NoteStore, NoteWriter
from services.common.clock import Clock
from services.common.maintenance.model import Json
from services.common.owners import Owner
from services.common.tier_embedder import TierEmbedder

Build = Callable[[NoteId, Sequence[Note], datetime], Note]


class NoteMaking:
    """Stores made notes in one transaction with what they replace, once their sources were read again."""

    def __init__(self, store: NoteStore, embedder: TierEmbedder, clock: Clock) -> None:
        """All collaborators are owned by the caller."""
        self._store = store
        self._embedder = embedder
        self._clock = clock

    async def make(
        self,
        owner: Owner,
        note_id: NoteId,
        member_ids: Sequence[NoteId],
        build: Build,
        *,
        strength: float | None = None,
        retires: bool = False,
    ) -> bool:
        """Makes a note of others, or makes it anew; returns whether all was as planned.

        The model runs before the lock is taken; what was changed meanwhile is found by comparing the sources.

        Args:
            owner: Whose notes.
            note_id: Of the made note.
            member_ids: The sources: active notes.
            build: Makes the note of its id, its sources and the time.
            strength: Of a link from each source to the note; None makes none.
            retires: Archive the sources, with the note as their successor.
        """
        now = self._clock.now()
        sources = await self._sources(owner, member_ids)
        if sources is None:
            return False
        note = await asyncio.to_thread(build, note_id, sources, now)
        vectors = await self._embedder.embed([note.embedded_text])

        async def work(writer: NoteWriter) -> bool:
            found = await writer.get_notes([*member_ids, note_id])
            current = _all_active(found.values(), member_ids)
            if current is None or [_said(n) for n in current] != [_said(n) for n in sources]:
                return False
            model = self._embedder.model_id
            before = found.get(note_id)
            if before is None:
                await writer.add_notes([note], vectors, model=model)
            else:
                await writer.update_notes([replace(note, create_time=before.create_time, raised=before.raised)])
                await writer.replace_vectors([note_id], vectors, model=model)
            if strength is not None:
                await self._link(writer, note_id, member_ids, before, strength, now)
            if retires:
                await writer.set_status(member_ids, NoteStatus.ARCHIVED, update_time=now)
                await writer.set_successor(member_ids, note_id)
            return True

        return await self._store.write(owner, work)

    async def unmake(self, owner: Owner, note_id: NoteId) -> bool:
        """Deletes a made note and restores what it stands for; False where it is not there."""

        async def work(writer: NoteWriter) -> bool:
            if note_id not in await writer.get_notes([note_id]):
                return False
            replaced = await writer.replaced_by([note_id])
            await writer.set_status(replaced, NoteStatus.ACTIVE, update_time=self._clock.now())
            await writer.delete_notes([note_id])
            return True

        return await self._store.write(owner, work)

    async def _sources(self, owner: Owner, member_ids: Sequence[NoteId]) -> list[Note] | None:
        async def read(writer: NoteWriter) -> list[Note] | None:
            return _all_active((await writer.get_notes(member_ids)).values(), member_ids)

        return await self._store.write(owner, read)

    @staticmethod
    async def _link(
        writer: NoteWriter,
        note_id: NoteId,
        member_ids: Sequence[NoteId],
        before: Note | None,
        strength: float,
        now: datetime,
    ) -> None:
        for gone in set(before.source_note_ids if before else ()) - set(member_ids):
            await writer.delete_link(LinkKey(gone, note_id, LinkType.PART_OF))
        keys = [LinkKey(member_id, note_id, LinkType.PART_OF) for member_id in member_ids]
        await writer.put_links([Link(key, strength, LinkOrigin.CONSOLIDATION, now, now) for key in keys])


def _all_active(notes: Iterable[Note], member_ids: Sequence[NoteId]) -> list[Note] | None:
    """The sources in their order; None where one is missing or not active."""
    by_id = {note.note_id: note for note in notes if note.status is NoteStatus.ACTIVE}
    return [by_id[i] for i in member_ids] if all(i in by_id for i in member_ids) else None


def _said(note: Note) -> tuple[object, ...]:
    """What a made note is made from."""
    return (note.note_id, note.content, note.keywords, note.time, note.derived_from, note.importance)


def note_ids_of(value: Json) -> list[NoteId]:
    """The ids of notes among the facts of a change."""
    assert isinstance(value, list)
    return [NoteId(str(each)) for each in value]

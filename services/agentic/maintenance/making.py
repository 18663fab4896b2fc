"""Stores the notes that maintenance makes of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np

from services.agentic.model import Link, LinkKey, LinkOrigin, LinkType, Note, NoteId, NoteStatus
from services.agentic.store import NoteStore, NoteWriter
from services.common.clock import Clock
from services.common.embedding.vectors import Matrix, Vector
from services.common.maintenance.model import Json
from services.common.maintenance.pace import Pace, computed, rest
from services.common.owners import Owner
from services.common.tier_embedder import TierEmbedder

Build = Callable[[NoteId, Sequence[Note], datetime], Note]

_BATCH: Final = 4
"""Notes that one transaction makes, between which requests go on."""
_LENGTH_MIN: Final = 1e-6
"""Of the mean of opposite vectors, which has no direction."""


@dataclass(frozen=True, slots=True)
class WantedNote:
    """A note to make, or to make anew."""

    note_id: NoteId
    member_ids: Sequence[NoteId]  # the sources: active notes


@dataclass(frozen=True, slots=True)
class _Built:
    """A note with the sources that it was made from."""

    note: Note
    sources: Sequence[Note]

    @property
    def member_ids(self) -> list[NoteId]:
        return [source.note_id for source in self.sources]


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
        wanted: Sequence[WantedNote],
        build: Build,
        *,
        strength: float | None = None,
        retires: bool = False,
    ) -> set[NoteId]:
        """Makes notes of others, or makes them anew; returns those that were made as planned.

        Several in a transaction: each by itself depends on its own sources alone. The texts are written before the lock
        is taken; what was changed meanwhile is found by comparing the sources.

        Args:
            owner: Whose notes.
            wanted: What to make of what.
            build: Makes the note of its id, its sources and the time.
            strength: Of a link from each source to the note; None makes none.
            retires: Archive the sources, with the note as their successor.
        """
        made: set[NoteId] = set()
        pace = Pace()
        for start in range(0, len(wanted), _BATCH):
            now = self._clock.now()
            built = await self._build(owner, wanted[start : start + _BATCH], build, now)
            if built:
                made |= await self._put(owner, built, now, strength=strength, retires=retires)
            await pace.rest()
        return made

    async def _build(self, owner: Owner, wanted: Sequence[WantedNote], build: Build, now: datetime) -> list[_Built]:
        """The notes whose sources are all there and active."""
        ids = sorted({member_id for each in wanted for member_id in each.member_ids})
        found = await self._store.write(owner, lambda writer: writer.get_notes(ids))
        sources = {each.note_id: _all_active(found, each.member_ids) for each in wanted}

        def work() -> list[_Built]:
            built: list[_Built] = []
            for note_id, of in sources.items():
                if of is not None:
                    built.append(_Built(build(note_id, of, now), of))
                    rest()
            return built

        return await computed(work)

    async def _put(
        self, owner: Owner, built: Sequence[_Built], now: datetime, *, strength: float | None, retires: bool
    ) -> set[NoteId]:
        async def work(writer: NoteWriter) -> set[NoteId]:
            ids = {note_id for each in built for note_id in (each.note.note_id, *each.member_ids)}
            found = await writer.get_notes(sorted(ids))
            member_ids = sorted({member_id for each in built for member_id in each.member_ids})
            vector_of = await writer.vectors_of(member_ids, model=self._embedder.model_id)
            ready = _unchanged(built, found, vector_of, retires=retires)
            if not ready:
                return set()
            await self._store_notes(writer, ready, found, vector_of)
            if strength is not None:
                await _link(writer, ready, found, strength, now)
            if retires:
                successors = {member_id: each.note.note_id for each in ready for member_id in each.member_ids}
                await writer.set_status(list(successors), NoteStatus.ARCHIVED, update_time=now)
                await writer.set_successors(successors)
            return {each.note.note_id for each in ready}

        return await self._store.write(owner, work)

    async def _store_notes(
        self,
        writer: NoteWriter,
        built: Sequence[_Built],
        found: Mapping[NoteId, Note],
        vector_of: Mapping[NoteId, Vector],
    ) -> None:
        model = self._embedder.model_id
        made = {each.note.note_id: _mean([vector_of[member_id] for member_id in each.member_ids]) for each in built}

        def vectors(of: Sequence[Note]) -> Matrix:
            return np.stack([made[note.note_id] for note in of])

        new = [each.note for each in built if each.note.note_id not in found]
        again = [each.note for each in built if each.note.note_id in found]
        if new:
            await writer.add_notes(new, vectors(new), model=model)
        if again:
            before = [found[note.note_id] for note in again]
            await writer.update_notes(
                [
                    replace(note, create_time=old.create_time, raised=old.raised)
                    for note, old in zip(again, before, strict=True)
                ]
            )
            await writer.replace_vectors([note.note_id for note in again], vectors(again), model=model)

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


async def _link(
    writer: NoteWriter, built: Iterable[_Built], found: Mapping[NoteId, Note], strength: float, now: datetime
) -> None:
    """Links the sources to the notes, and those no more that notes were made from before."""
    keys: list[LinkKey] = []
    for each in built:
        note_id = each.note.note_id
        before = found.get(note_id)
        for gone in sorted(set(before.source_note_ids if before else ()) - set(each.member_ids)):
            await writer.delete_link(LinkKey(gone, note_id, LinkType.PART_OF))
        keys += [LinkKey(member_id, note_id, LinkType.PART_OF) for member_id in each.member_ids]
    await writer.put_links([Link(key, strength, LinkOrigin.CONSOLIDATION, now, now) for key in keys])


def _mean(vectors: Sequence[Vector]) -> Vector:
    """The direction of the middle of the sources: a model would take as long for each made note as for a question."""
    middle: Vector = np.mean(vectors, axis=0, dtype=np.float32)
    length = float(np.linalg.norm(middle))
    return middle / np.float32(length) if length > _LENGTH_MIN else vectors[0]


def _unchanged(
    built: Iterable[_Built], found: Mapping[NoteId, Note], vector_of: Mapping[NoteId, Vector], *, retires: bool
) -> list[_Built]:
    """Those whose sources are active, say what they said, and have vectors of the model, which a job may have to add.

    What one of them archives no other is made from.
    """
    ready: list[_Built] = []
    retired: set[NoteId] = set()
    for each in built:
        current = _all_active(found, each.member_ids)
        if current is None or [_said(note) for note in current] != [_said(note) for note in each.sources]:
            continue
        if not retired.isdisjoint(each.member_ids) or not vector_of.keys() >= set(each.member_ids):
            continue
        if retires:
            retired.update(each.member_ids)
        ready.append(each)
    return ready


def _all_active(found: Mapping[NoteId, Note], member_ids: Sequence[NoteId]) -> list[Note] | None:
    """The sources in their order; None where one is missing or not active."""
    sources = [found[member_id] for member_id in member_ids if member_id in found]
    is_whole = len(sources) == len(member_ids) and all(note.status is NoteStatus.ACTIVE for note in sources)
    return sources if is_whole else None


def _said(note: Note) -> tuple[object, ...]:
    """What a made note is made from."""
    return (note.note_id, note.content, note.keywords, note.time, note.derived_from, note.importance)


def note_ids_of(value: Json) -> list[NoteId]:
    """The ids of notes among the facts of a change."""
    assert isinstance(value, list)
    return [NoteId(str(each)) for each in value]

"""Job: merges duplicates, raises the importance of what is used often, makes concept notes above topics (SPEC 4.4)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import numpy as np

from services.agentic.config import ConsolidationSettings
from services.agentic.maintenance.duplicates import find_duplicates
from services.agentic.maintenance.grouping import clusters, similar_pairs
from services.agentic.maintenance.made_notes import CONCEPT, NoteMaker, made_id
from services.agentic.maintenance.making import NoteMaking, note_ids_of
from services.agentic.maintenance.reading import NoteReading, UserNotes
from services.agentic.model import Note, NoteId, NoteStatus
from services.agentic.store import NoteStore, NoteWriter
from services.common.clock import Clock
from services.common.maintenance import Cap, Change, Step
from services.common.maintenance.model import Json
from services.common.owners import Owner

_MERGE: Final = "merge"
_RAISE: Final = "raise"
_MAKE: Final = "make_concept"
_UPDATE: Final = "update_concept"
_OVERLAP_MIN: Final = 0.5
"""Share of a concept's notes that a topic must have to be the concept's topic still."""


class ConsolidateNotes:
    """Merges, raises and makes concepts, one user a step.

    What has been consolidated stays as it is: a second run over the same notes plans nothing.
    """

    name = "agentic.consolidate"

    def __init__(
        self,
        store: NoteStore,
        making: NoteMaking,
        maker: NoteMaker,
        clock: Clock,
        settings: ConsolidationSettings,
        *,
        model: str,
    ) -> None:
        """Consolidates in `store`, by vectors of `model`."""
        self._store = store
        self._making = making
        self._maker = maker
        self._clock = clock
        self._settings = settings
        self._reading = NoteReading(store, model=model, page=settings.notes_page)
        self.cap = Cap(share=settings.share_max)

    def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[UserNotes]]:
        """See `Job.steps`."""
        return self._reading.steps(after=after, owner=owner)

    def plan(self, state: UserNotes, now: datetime) -> Sequence[Change]:
        """See `Job.plan`."""
        settings = self._settings
        notes = [stored.note for stored in state.notes]
        dimension = next((len(stored.vector) for stored in state.notes if stored.vector is not None), 1)
        nothing = np.zeros(dimension, dtype=np.float32)
        vectors = np.stack(
            [
                nothing if stored.vector is None or stored.note.source_note_ids else stored.vector
                for stored in state.notes
            ]
        )
        least = min(settings.duplicate_similarity_min, settings.cluster_similarity_min)
        pairs = list(similar_pairs(vectors, least))
        changes, merged = self._merges(notes, [pair for pair in pairs if pair[2] >= settings.duplicate_similarity_min])
        changes += self._raises(notes, merged)
        within = [
            (first, second, similarity)
            for first, second, similarity in pairs
            if notes[first].scope == notes[second].scope
            and notes[first].note_id not in merged
            and notes[second].note_id not in merged
        ]
        return [*changes, *self._concepts(notes, within, now)]

    def _merges(
        self, notes: Sequence[Note], pairs: Sequence[tuple[int, int, float]]
    ) -> tuple[list[Change], set[NoteId]]:
        changes: list[Change] = []
        for group in find_duplicates(notes, pairs, group_max=self._settings.duplicates_max):
            importance = max(note.importance for note in (group.winner, *group.losers))
            for loser in group.losers:
                facts: dict[str, Json] = {
                    "winner": group.winner.note_id,
                    "winner_importance": group.winner.importance,
                    "importance": importance,
                    "loser_updated": loser.update_time.isoformat(),
                    "winner_updated": group.winner.update_time.isoformat(),
                }
                changes.append(Change(_MERGE, loser.note_id, 1, facts))
        return changes, {NoteId(change.target) for change in changes}

    def _raises(self, notes: Sequence[Note], merged: set[NoteId]) -> list[Change]:
        changes: list[Change] = []
        for note in notes:
            level = sum(note.access_count >= uses for uses in self._settings.uses_raising)
            if level <= note.raised or note.note_id in merged:
                continue
            raised = min(1.0, note.importance + (level - note.raised) * self._settings.importance_step)
            facts: dict[str, Json] = {
                "importance": note.importance, "to": round(raised, 6), "raised": note.raised, "level": level,
            }  # fmt: skip
            changes.append(Change(_RAISE, note.note_id, 0, facts))
        return changes

    def _concepts(self, notes: Sequence[Note], pairs: Sequence[tuple[int, int, float]], now: datetime) -> list[Change]:
        settings = self._settings
        known = {note.note_id: note for note in notes if note.source_note_ids and CONCEPT in note.tags}
        changes: list[Change] = []
        for group in clusters(
            len(notes),
            pairs,
            similarity_min=settings.cluster_similarity_min,
            size_min=settings.cluster_notes_min,
            size_max=settings.cluster_notes_max,
        ):
            members = [notes[i] for i in group]
            ids: list[str] = [note.note_id for note in members]
            concept = _concept_of(ids, known)
            if concept is None:
                note_id = made_id(now, [note.note_id for note in members], CONCEPT)
                changes.append(Change(_MAKE, note_id, 0, {"members": ids}))
                continue
            del known[concept.note_id]
            fresh = self._maker.concept(concept.note_id, members, now)
            if (fresh.content, fresh.source_note_ids) != (concept.content, concept.source_note_ids):
                facts: dict[str, Json] = {"members": ids, "before": list(concept.source_note_ids)}
                changes.append(Change(_UPDATE, concept.note_id, 0, facts))
        return changes

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`: each group in a transaction of its own, in which its sources are read again."""
        if owner is None:
            return []
        made: list[Change] = []
        simple = [change for change in changes if change.action in {_MERGE, _RAISE}]
        for start in range(0, len(simple), 100):
            made += await self._apply_simple(owner, simple[start : start + 100])
        for change in changes:
            if change.action in {_MAKE, _UPDATE} and await self._make(owner, change, "members"):
                made.append(change)
        return made

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`."""
        if owner is None:
            return 0
        count = 0
        for change in changes:
            if change.action == _MAKE:
                count += await self._making.unmake(owner, NoteId(change.target))
            elif change.action == _UPDATE:
                count += await self._make(owner, change, "before")
            else:
                count += await self._undo_simple(owner, change)
        return count

    async def _make(self, owner: Owner, change: Change, which: str) -> bool:
        return await self._making.make(
            owner,
            NoteId(change.target),
            note_ids_of(change.facts[which]),
            self._maker.concept,
            strength=self._settings.concept_strength,
        )

    async def _apply_simple(self, owner: Owner, changes: Sequence[Change]) -> list[Change]:
        now = self._clock.now()

        async def work(writer: NoteWriter) -> list[Change]:
            wanted = {NoteId(change.target) for change in changes}
            wanted |= {NoteId(str(change.facts["winner"])) for change in changes if change.action == _MERGE}
            found = dict(await writer.get_notes(sorted(wanted)))
            made: list[Change] = []
            for change in changes:
                note = found.get(NoteId(change.target))
                if note is None or note.status is not NoteStatus.ACTIVE:
                    continue
                if change.action == _RAISE:
                    if note.raised == change.facts["raised"]:
                        raised = replace(
                            note, importance=_number(change.facts["to"]), raised=int(_number(change.facts["level"]))
                        )
                        await writer.update_notes([replace(raised, update_time=now)])
                        made.append(change)
                elif await _merge(writer, change, note, found, now):
                    made.append(change)
            return made

        return await self._store.write(owner, work)

    async def _undo_simple(self, owner: Owner, change: Change) -> int:
        now = self._clock.now()

        async def work(writer: NoteWriter) -> int:
            note_id, facts = NoteId(change.target), change.facts
            note = (await writer.get_notes([note_id])).get(note_id)
            if note is None:
                return 0
            if change.action == _RAISE:
                if note.raised != facts["level"] or note.importance != facts["to"]:
                    return 0
                before = replace(note, importance=_number(facts["importance"]), raised=int(_number(facts["raised"])))
                await writer.update_notes([replace(before, update_time=now)])
                return 1
            winner_id = NoteId(str(facts["winner"]))
            if note.successor_id != winner_id:
                return 0
            await writer.set_status([note_id], NoteStatus.ACTIVE, update_time=now)
            winner = (await writer.get_notes([winner_id])).get(winner_id)
            if winner is not None and winner.importance == facts["importance"]:
                await writer.update_notes([replace(winner, importance=_number(facts["winner_importance"]))])
            return 1

        return await self._store.write(owner, work)


async def _merge(writer: NoteWriter, change: Change, loser: Note, found: dict[NoteId, Note], now: datetime) -> bool:
    """Archives a duplicate if neither it nor its winner was changed since the plan."""
    facts = change.facts
    winner = found.get(NoteId(str(facts["winner"])))
    if winner is None or winner.status is not NoteStatus.ACTIVE:
        return False
    is_same_winner = winner.update_time.isoformat() == facts["winner_updated"]
    if loser.update_time.isoformat() != facts["loser_updated"] or not is_same_winner:
        return False
    if winner.importance != facts["importance"]:
        await writer.update_notes([replace(winner, importance=_number(facts["importance"]))])
    await writer.set_status([loser.note_id], NoteStatus.ARCHIVED, update_time=now)
    await writer.set_successor([loser.note_id], winner.note_id)
    # What was merged into the loser is found from the winner in one step.
    await writer.set_successor(await writer.replaced_by([loser.note_id]), winner.note_id)
    return True


def _concept_of(member_ids: Sequence[str], known: Mapping[NoteId, Note]) -> Note | None:
    """The concept that shares most notes with a topic, and at least half of its own; of equal ones the oldest."""
    members = set(member_ids)
    ranked = [
        (-len(members & set(note.source_note_ids)), note.note_id)
        for note in known.values()
        if len(members & set(note.source_note_ids)) >= _OVERLAP_MIN * len(note.source_note_ids)
    ]
    return known[min(ranked)[1]] if ranked else None


def _number(value: Json) -> float:
    return float(str(value))

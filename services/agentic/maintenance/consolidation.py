"""Job: merges duplicates, raises the importance of what is used often, makes concept notes above topics (SPEC 4.4)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import numpy as np

from services.agentic.config import ConsolidationSettings
from services.agentic.maintenance.duplicates import find_duplicates
from services.agentic.maintenance.grouping import clusters, similar_pairs
from services.agentic.maintenance.made_notes import CONCEPT, NoteMaker, made_id
from services.agentic.maintenance.making import NoteMaking, WantedNote, note_ids_of
from services.agentic.maintenance.reading import NoteReading, UserNotes
from services.agentic.model import Note, NoteId, NoteStatus
from services.agentic.store import NoteStore, NoteWriter
from services.common.clock import Clock
from services.common.maintenance import Cap, Change, Step
from services.common.maintenance.grounds import grounds
from services.common.maintenance.model import Json
from services.common.maintenance.pace import Pace, rest
from services.common.owners import Owner

_MERGE: Final = "merge"
_RAISE: Final = "raise"
_MAKE: Final = "make_concept"
_UPDATE: Final = "update_concept"
_BATCH: Final = 25
"""Merges and raises of one transaction."""
_CHANGES_MIN: Final = 20
"""Raises and concepts that a run may make however few notes there are; others wait for the next one."""
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
        merges = self._merges(notes, [pair for pair in pairs if pair[2] >= settings.duplicate_similarity_min])
        # Also those that were taken apart again, which are left alone: a topic has the notes that it had before.
        merged = {NoteId(change.target) for change in merges}
        changes = [change for change in merges if state.undone.isdisjoint(change.grounds)]
        within = [
            (first, second, similarity)
            for first, second, similarity in pairs
            if notes[first].scope == notes[second].scope
            and notes[first].note_id not in merged
            and notes[second].note_id not in merged
        ]
        others = [
            change
            for change in (*self._raises(notes, changes, merged), *self._concepts(notes, within, now))
            if state.undone.isdisjoint(change.grounds)
        ]
        return [*changes, *others[: max(_CHANGES_MIN, math.floor(settings.changes_share_max * len(notes)))]]

    def _merges(self, notes: Sequence[Note], pairs: Sequence[tuple[int, int, float]]) -> list[Change]:
        changes: list[Change] = []
        for group in find_duplicates(notes, pairs, group_max=self._settings.duplicates_max):
            members = (group.winner, *group.losers)
            importance = max(note.importance for note in members)
            for loser in group.losers:
                facts: dict[str, Json] = {
                    "winner": group.winner.note_id,
                    "winner_importance": group.winner.importance,
                    "importance": importance,
                    "loser_updated": loser.update_time.isoformat(),
                    "winner_updated": group.winner.update_time.isoformat(),
                }
                # That it is the same as any other of them was taken back with the merge.
                asserted = tuple(
                    grounds(_MERGE, (loser.note_id, other.note_id), texts=(loser.content, other.content))
                    for other in members
                    if other is not loser
                )
                changes.append(Change(_MERGE, loser.note_id, 1, facts, asserted))
        return changes

    def _raises(self, notes: Sequence[Note], merges: Sequence[Change], merged: Collection[NoteId]) -> list[Change]:
        importances = {change.facts["winner"]: _number(change.facts["importance"]) for change in merges}
        changes: list[Change] = []
        for note in notes:
            level = sum(note.access_count >= uses for uses in self._settings.uses_raising)
            if level <= note.raised or note.note_id in merged:
                continue
            before = importances.get(note.note_id, note.importance)  # the merges are made first
            raised = min(1.0, before + (level - note.raised) * self._settings.importance_step)
            facts: dict[str, Json] = {
                "importance": before, "to": round(raised, 6), "raised": note.raised, "level": level,
            }  # fmt: skip
            changes.append(Change(_RAISE, note.note_id, 0, facts, (grounds(_RAISE, (note.note_id,), level),)))
        return changes

    def _concepts(self, notes: Sequence[Note], pairs: Sequence[tuple[int, int, float]], now: datetime) -> list[Change]:
        settings = self._settings
        known = _Concepts(note for note in notes if note.source_note_ids and CONCEPT in note.tags)
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
            texts = [note.content for note in members]
            concept = known.take(ids)
            if concept is None:
                note_id = made_id(now, [note.note_id for note in members], CONCEPT)
                seen = (grounds(_MAKE, ids, texts=texts),)
                changes.append(Change(_MAKE, note_id, 0, {"members": ids}, seen))
                continue
            fresh = self._maker.concept(concept.note_id, members, now)
            rest()
            if (fresh.content, fresh.source_note_ids) != (concept.content, concept.source_note_ids):
                facts: dict[str, Json] = {"members": ids, "before": list(concept.source_note_ids)}
                seen = (grounds(_UPDATE, (concept.note_id, *ids), texts=texts),)
                changes.append(Change(_UPDATE, concept.note_id, 0, facts, seen))
        return changes

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`: some changes in a transaction, in which the sources of each are read again."""
        if owner is None:
            return []
        made: list[Change] = []
        simple = [change for change in changes if change.action in {_MERGE, _RAISE}]
        pace = Pace()
        for start in range(0, len(simple), _BATCH):
            made += await self._apply_simple(owner, simple[start : start + _BATCH])
            await pace.rest()
        concepts = [change for change in changes if change.action in {_MAKE, _UPDATE}]
        ids = await self._make(owner, concepts, "members")
        return [*made, *(change for change in concepts if change.target in ids)]

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`."""
        if owner is None:
            return 0
        count = 0
        for change in changes:
            if change.action == _MAKE:
                count += await self._making.unmake(owner, NoteId(change.target))
            elif change.action == _UPDATE:
                count += len(await self._make(owner, [change], "before"))
            else:
                count += await self._undo_simple(owner, change)
        return count

    async def _make(self, owner: Owner, changes: Sequence[Change], which: str) -> set[NoteId]:
        return await self._making.make(
            owner,
            [WantedNote(NoteId(change.target), note_ids_of(change.facts[which])) for change in changes],
            self._maker.concept,
            strength=self._settings.concept_strength,
        )

    async def _apply_simple(self, owner: Owner, changes: Sequence[Change]) -> list[Change]:
        now = self._clock.now()

        async def work(writer: NoteWriter) -> list[Change]:
            wanted = {NoteId(change.target) for change in changes}
            wanted |= {NoteId(str(change.facts["winner"])) for change in changes if change.action == _MERGE}
            found = dict(await writer.get_notes(sorted(wanted)))
            changed: dict[NoteId, Note] = {}
            successors: dict[NoteId, NoteId] = {}
            made: list[Change] = []
            for change in changes:
                note_id = NoteId(change.target)
                note = found.get(note_id)
                after = _raised(change, note, now) if change.action == _RAISE else _merged(change, note, found)
                if note is None or after is None:
                    continue
                if change.action == _MERGE:
                    successors[note_id] = after.note_id
                    found[note_id] = replace(note, status=NoteStatus.ARCHIVED)
                if after != found[after.note_id]:
                    found[after.note_id] = changed[after.note_id] = after
                made.append(change)
            await _store(writer, list(changed.values()), successors, now)
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


async def _store(
    writer: NoteWriter, changed: Sequence[Note], successors: Mapping[NoteId, NoteId], now: datetime
) -> None:
    """Stores what has another importance, and archives what has a successor."""
    if changed:
        await writer.update_notes(changed)
    if successors:
        losers = list(successors)
        # What was merged into a loser is found from the winner in one step.
        earlier = await writer.get_notes(await writer.replaced_by(losers))
        moved = {
            note.note_id: successors[note.successor_id] for note in earlier.values() if note.successor_id is not None
        }
        await writer.set_status(losers, NoteStatus.ARCHIVED, update_time=now)
        await writer.set_successors({**moved, **successors})


def _raised(change: Change, note: Note | None, now: datetime) -> Note | None:
    """The note as it is with more importance; None where it is another one than the plan saw."""
    facts = change.facts
    if note is None or note.status is not NoteStatus.ACTIVE:
        return None
    if (note.raised, note.importance) != (facts["raised"], facts["importance"]):
        return None
    return replace(note, importance=_number(facts["to"]), raised=int(_number(facts["level"])), update_time=now)


def _merged(change: Change, loser: Note | None, found: Mapping[NoteId, Note]) -> Note | None:
    """The winner as it is with the loser merged into it; None where one of both was changed since the plan."""
    facts = change.facts
    winner = found.get(NoteId(str(facts["winner"])))
    if loser is None or loser.status is not NoteStatus.ACTIVE:
        return None
    if winner is None or winner.status is not NoteStatus.ACTIVE:
        return None
    is_same_winner = winner.update_time.isoformat() == facts["winner_updated"]
    if loser.update_time.isoformat() != facts["loser_updated"] or not is_same_winner:
        return None
    return replace(winner, importance=_number(facts["importance"]))


class _Concepts:
    """Concepts there are, each of which is the concept of one topic."""

    def __init__(self, concepts: Iterable[Note]) -> None:
        self._left = {concept.note_id: concept for concept in concepts}
        self._made_of: dict[NoteId, list[NoteId]] = {}
        for concept in self._left.values():
            for source_id in concept.source_note_ids:
                self._made_of.setdefault(source_id, []).append(concept.note_id)

    def take(self, member_ids: Sequence[str]) -> Note | None:
        """The concept that shares most notes with a topic, and at least half of its own; of equal ones the oldest."""
        shared = Counter(
            note_id
            for member_id in member_ids
            for note_id in self._made_of.get(NoteId(member_id), ())
            if note_id in self._left
        )
        ranked = [
            (-count, note_id)
            for note_id, count in shared.items()
            if count >= _OVERLAP_MIN * len(self._left[note_id].source_note_ids)
        ]
        return self._left.pop(min(ranked)[1]) if ranked else None


def _number(value: Json) -> float:
    return float(str(value))

"""Use case: notes that were returned together become linked, and their links stronger (SPEC 4.3).

A use is one response. It is counted once, whatever repeats and replicas send it: its id is recorded with its changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import combinations
from typing import Final

from services.agentic.config import AgenticSettings, UseSettings
from services.agentic.model import Link, LinkKey, LinkOrigin, LinkType, Note, NoteId, NoteStatus
from services.agentic.store import NoteStore, NoteWriter
from services.agentic.upkeep_store import NotePair, PairUse
from services.common.clock import Clock
from services.common.idempotency.model import IdempotencyKey, IdempotencyRecord
from services.common.owners import Owner

_PRINCIPAL: Final = "note-use"
"""Under which uses are recorded among the idempotency records, apart from the requests of callers."""


@dataclass(frozen=True, slots=True)
class NoteUse:
    """A response that notes were returned in."""

    use_id: str  # a UUID
    note_ids: tuple[NoteId, ...]  # best first
    time: datetime  # aware, UTC


@dataclass(frozen=True, slots=True)
class UseCounts:
    """What a batch of uses changed."""

    uses: int = 0  # that had not been counted before
    strengthened: int = 0  # links
    created: int = 0  # links


class NoteUses:
    """Counts uses of notes."""

    def __init__(self, store: NoteStore, *, clock: Clock, settings: AgenticSettings) -> None:
        """All collaborators are owned by the caller."""
        self._store = store
        self._clock = clock
        self._settings = settings.use
        self._retention = timedelta(seconds=settings.idempotency_retention_seconds)

    async def record(self, owner: Owner, uses: Sequence[NoteUse]) -> UseCounts:
        """Counts those of the uses that were not counted before, all or none. Unknown and archived notes do not count.

        Several uses in a batch change what they would change one by one.
        """
        if not self._settings.is_enabled:
            return UseCounts()

        async def work(writer: NoteWriter) -> UseCounts:
            fresh = await self._fresh(writer, owner, uses)
            ids = list(dict.fromkeys(note_id for use in fresh for note_id in use.note_ids))
            pairs = used_together(fresh, await writer.get_notes(ids), notes_max=self._settings.notes_max)
            if not pairs:
                return UseCounts(len(fresh))
            linked: dict[NotePair, list[Link]] = {}
            for link in await writer.links_among(sorted({note_id for pair in pairs for note_id in pair})):
                linked.setdefault(_pair(link.key.from_note_id, link.key.to_note_id), []).append(link)
            stronger = [
                strengthened(link, use, self._settings)
                for pair, use in pairs.items()
                for link in linked.get(pair, ())
                if link.follows_use
            ]
            counts = await writer.count_pairs([use for pair, use in pairs.items() if pair not in linked])
            made = links_of_use(counts, pairs, self._settings)
            await writer.put_links([*stronger, *made])
            await writer.forget_pairs([(link.key.from_note_id, link.key.to_note_id) for link in made])
            return UseCounts(len(fresh), len(stronger), len(made))

        return await self._store.write(owner, work)

    async def _fresh(self, writer: NoteWriter, owner: Owner, uses: Iterable[NoteUse]) -> list[NoteUse]:
        """Those that were not counted before, which are recorded as counted."""
        records, now = writer.idempotency(), self._clock.now()
        fresh: list[NoteUse] = []
        for use in uses:
            key = IdempotencyKey(_PRINCIPAL, use.use_id, "")
            if await records.find(key) is None:
                record = IdempotencyRecord(key, owner.user_id, "", None, now)
                await records.add(record, purge_before=now - self._retention)
                fresh.append(use)
        return fresh


def used_together(uses: Iterable[NoteUse], notes: Mapping[NoteId, Note], *, notes_max: int) -> dict[NotePair, PairUse]:
    """How often each pair of notes was used together.

    Args:
        uses: The uses.
        notes: Those of their notes that are there. Archived ones do not count, nor pairs of which neither note is
            visible from the place of the other: no walk takes a link between them.
        notes_max: First notes of a use that count.
    """
    pairs: dict[NotePair, PairUse] = {}
    for use in uses:
        found = [notes[note_id] for note_id in dict.fromkeys(use.note_ids) if note_id in notes]
        active = [note for note in found if note.status is NoteStatus.ACTIVE][:notes_max]
        for one, other in combinations(active, 2):
            if one.scope.sees(other.scope) or other.scope.sees(one.scope):
                pair = _pair(one.note_id, other.note_id)
                known = pairs.get(pair)
                count, time = (known.count, max(known.time, use.time)) if known else (0, use.time)
                pairs[pair] = PairUse(pair, count + 1, time)
    return pairs


def strengthened(link: Link, use: PairUse, settings: UseSettings) -> Link:
    """The link after its notes were used together: strength x factor for each use, at most 1."""
    strength = min(1.0, link.strength * settings.factor**use.count)
    return replace(link, strength=strength, update_time=max(link.update_time, use.time))


def links_of_use(counts: Mapping[NotePair, int], uses: Mapping[NotePair, PairUse], settings: UseSettings) -> list[Link]:
    """Links of pairs that were used together in more than `contexts` responses; later ones strengthen them already."""
    return [
        Link(
            LinkKey(*pair, LinkType.RELATED_TO),
            min(1.0, settings.strength * settings.factor ** (count - settings.contexts - 1)),
            LinkOrigin.USE,
            create_time=uses[pair].time,
            update_time=uses[pair].time,
        )
        for pair, count in sorted(counts.items())
        if count > settings.contexts
    ]


def _pair(one: NoteId, other: NoteId) -> NotePair:
    return (one, other) if one <= other else (other, one)

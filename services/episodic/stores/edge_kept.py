"""Owners with many episodes whose lanes are kept in memory beside the engine."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import structlog

from services.common.errors import StoreUnavailable
from services.episodic.config import EdgeSettings
from services.episodic.model import EpisodeKey, Owner
from services.episodic.owner_counts import OwnerCounts
from services.episodic.store import IndexedPiece, IndexQuery, LaneHits
from services.episodic.stores.edge_host import EdgeHost
from services.episodic.stores.kept_lanes import KeptLanes, KeptPiece, LaneScores, Terms, unit
from services.episodic.stores.points import id_behind, point_id

_log = structlog.get_logger(__name__)

_LISTED_AT_ONCE: Final = 2_000
"""Of 100,000 among a million points: 35 ms. Half of that goes into finding where to go on."""
_READ_AT_ONCE: Final = 50
"""Points that are read in 2 ms, in which nothing else runs."""
_READING_SECONDS_MAX: Final = 0.01
"""Of reading at a stretch, however long others had the loop before."""
_COMPARED_IN_PLACE_MAX: Final = 150_000
"""Pieces whose comparison, 3 ms, is not worth another thread: to wait there for the interpreter takes as long."""
_QUESTIONS_KEPT: Final = 4


class KeptOwners:
    """Lanes of the owners that were searched last. Belongs to the index, whose every write goes through it."""

    def __init__(self, engine: EdgeHost, settings: EdgeSettings, *, dimension: int) -> None:
        """Read from the engine, whose results must be taken in the order in which they come."""
        self._engine = engine
        self._settings = settings
        self._dimension = dimension
        self._kept: OrderedDict[Owner, KeptLanes] = OrderedDict()
        self._reading: dict[Owner, KeptLanes] = {}
        self._searches = OwnerCounts()
        self._tasks: set[asyncio.Task[None]] = set()
        self._scored: OrderedDict[int, tuple[IndexQuery, KeptLanes, LaneScores]] = OrderedDict()

    @property
    def count(self) -> int:
        """Pieces that are kept, of all owners."""
        return sum(map(len, self._kept.values()))

    async def search(self, query: IndexQuery, terms: Terms, *, limit: int) -> LaneHits | None:
        """Both lanes; None where the owner's are not kept. It may be that they will be."""
        lanes = self._kept.get(query.owner)
        if lanes is None:
            self._consider(query.owner)
            return None
        self._kept.move_to_end(query.owner)
        vector = unit(query.vector)

        def compare() -> tuple[LaneScores, LaneHits]:
            scores = lanes.scores(vector, terms, query.scope_keys)
            return scores, lanes.search(scores, limit=limit, overfetch=self._settings.overfetch_factor)

        if len(lanes) <= _COMPARED_IN_PLACE_MAX:
            scores, hits = compare()
        else:
            scores, hits = await asyncio.to_thread(compare)
        self._scored[id(query)] = query, lanes, scores
        while len(self._scored) > _QUESTIONS_KEPT:
            self._scored.popitem(last=False)
        return hits

    def score(
        self, query: IndexQuery, *, dense: Sequence[EpisodeKey], lexical: Sequence[EpisodeKey]
    ) -> LaneHits | None:
        """Scores of named episodes for a question just searched for; None where they are not known."""
        known = self._scored.get(id(query))
        if known is None or known[0] is not query or not known[1].is_current(known[2]):
            return None
        _, lanes, scores = known
        return LaneHits(
            dense=lanes.score(scores, dense, lexical=False),
            lexical=lanes.score(scores, lexical, lexical=True),
            dense_complete=False,
            lexical_complete=False,
        )

    def wants(self, pieces: Sequence[IndexedPiece]) -> bool:
        """Whether any of the pieces belongs to an owner that is cached or being read."""
        return any(piece.owner in self._kept or piece.owner in self._reading for piece in pieces)

    def put(self, pieces: Sequence[tuple[IndexedPiece, Terms]]) -> None:
        """Take in pieces, with their terms, that the engine has taken in."""
        by_owner: dict[Owner, list[KeptPiece]] = defaultdict(list)
        for piece, terms in pieces:
            if piece.owner in self._kept or piece.owner in self._reading:
                identifier = point_id(piece.key, piece.number).int
                kept = KeptPiece(identifier, piece.key, piece.scope_key, unit(piece.vector), terms)
                by_owner[piece.owner].append(kept)
        for owner, found in by_owner.items():
            for lanes in self._lanes_of(owner):
                lanes.put(found)
            self._forget_some()

    def remove(self, owner: Owner, keys: Sequence[EpisodeKey]) -> None:
        """Let go of what the engine has let go of."""
        for lanes in self._lanes_of(owner):
            lanes.remove(keys)
            if lanes.is_sparse:
                self._kept.pop(owner, None)

    def remove_owner(self, owner: Owner) -> None:
        """Drop everything of an owner whose points were removed."""
        self._kept.pop(owner, None)
        self._reading.pop(owner, None)

    def forget_all(self) -> None:
        """When it is not known what the engine holds."""
        self._kept.clear()
        self._reading.clear()
        self._scored.clear()

    async def settle(self) -> None:
        """Wait for what is being read in the background."""
        while self._tasks:
            await asyncio.gather(*self._tasks)

    async def aclose(self) -> None:
        """Stop reading and forget everything. Closing twice is allowed."""
        for task in list(self._tasks):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self.forget_all()

    def _lanes_of(self, owner: Owner) -> list[KeptLanes]:
        return [found for found in (self._kept.get(owner), self._reading.get(owner)) if found is not None]

    def _consider(self, owner: Owner) -> None:
        if not self._settings.kept_bytes_max:
            return
        # Looked at again now and then: it may have grown.
        is_due = self._searches.add(owner) % self._settings.kept_after_searches == 0
        if is_due and owner not in self._reading:
            self._reading[owner] = KeptLanes(self._dimension)
            task = asyncio.create_task(self._read(owner), name="episodic-kept-lanes")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _read(self, owner: Owner) -> None:
        lanes = self._reading.get(owner)
        if lanes is None:
            return
        try:
            count = await self._engine.call("count", owner)
            if count < self._settings.kept_points_min or not self._fits(count):
                return
            # What has come in until here is counted.
            lanes = self._reading[owner] = KeptLanes(self._dimension, count=count)
            if await self._fill(lanes, owner):
                self._kept[owner] = lanes
                self._forget_some()
        except StoreUnavailable as error:
            _log.warning("lanes are not kept", error=str(error.__cause__ or error))
        finally:
            if self._reading.get(owner) is lanes:
                del self._reading[owner]

    async def _fill(self, lanes: KeptLanes, owner: Owner) -> bool:
        """Read all points of an owner; what is written meanwhile comes in by itself. Whether it is still wanted."""
        start: UUID | None = UUID(int=0)
        while start is not None:
            listed: list[UUID] = await self._engine.call("ids_of", owner, start, _LISTED_AT_ONCE)
            until = 0.0
            for first in range(0, len(listed), _READ_AT_ONCE):
                if time.perf_counter() >= until:
                    until = await self._after_others()
                if self._reading.get(owner) is not lanes:
                    return False
                await self._read_points(
                    lanes, [found for found in listed[first : first + _READ_AT_ONCE] if found.int not in lanes]
                )
            start = id_behind(listed[-1]) if len(listed) == _LISTED_AT_ONCE else None
        return self._reading.get(owner) is lanes

    async def _after_others(self) -> float:
        """Pause, and return until when to read then: for longer where others had the loop for longer."""
        started = time.perf_counter()
        await asyncio.sleep(self._settings.kept_pause_seconds)
        now = time.perf_counter()
        return now + min((now - started) * self._settings.kept_reading_factor, _READING_SECONDS_MAX)

    async def _read_points(self, lanes: KeptLanes, identifiers: list[UUID]) -> None:
        """Taken in right when the result is there: what was written before is in it, what comes later follows."""
        lanes.put([KeptPiece(*row) for row in await self._engine.call("pieces_of", identifiers)])

    def _fits(self, count: int) -> bool:
        return KeptLanes.bytes_of(count, self._dimension) <= self._settings.kept_bytes_max

    def _forget_some(self) -> None:
        size = sum(lanes.size_bytes for lanes in self._kept.values())
        while size > self._settings.kept_bytes_max and self._kept:
            _, dropped = self._kept.popitem(last=False)
            size -= dropped.size_bytes

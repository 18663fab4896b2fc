"""Token vectors of candidates, from memory where they were read before."""

from __future__ import annotations

import asyncio
import mmap
from collections import deque
from collections.abc import Sequence
from typing import TypeAlias
from uuid import UUID

import numpy as np
import structlog

from services.common.background import BackgroundWork
from services.common.embedding.tokens import TokenSpace
from services.common.errors import MnemeError
from services.episodic.config import TokenSettings
from services.episodic.late_interaction import TokenRun, candidate_tokens, sentence_end_table
from services.episodic.model import EpisodeId, Owner
from services.episodic.owner_counts import OwnerCounts, is_doubled
from services.episodic.token_format import packed_shapes, unpack
from services.episodic.token_store import TokenStore

_log = structlog.get_logger(__name__)

_TOKEN_BYTES: int = 3
"""What a token takes beside its vector: its id, and whether a sentence begins there."""

_READ_AT_ONCE: int = 200
"""Episodes, a megabyte or less."""

_Name: TypeAlias = bytes
"""Episode id and owner. What an episode says never changes, so that an entry is good for ever."""


class TokenCache:
    """Reads token vectors of one space, and keeps those that were read last. Belongs to one event loop."""

    def __init__(self, store: TokenStore, space: TokenSpace, settings: TokenSettings) -> None:
        """Keep some of what is in `store`."""
        self._store = store
        self._settings = settings
        self._space = space
        self._ends = sentence_end_table(space.sentence_ends)
        self._kept = TokenRing(
            space.dimension, token_count=settings.cache_bytes_max // (space.dimension + _TOKEN_BYTES)
        )
        self._reads = OwnerCounts()  # that had to ask the store
        self._ahead = BackgroundWork[Owner]("episodic-tokens-ahead")

    @property
    def kept_count(self) -> int:
        """Episodes that are kept."""
        return len(self._kept)

    async def read(self, owner: Owner, episode_ids: Sequence[bytes]) -> tuple[TokenRun | None, list[int]]:
        """Token vectors of the owner's episodes.

        What is not kept is read with one statement.

        Args:
            owner: Whose.
            episode_ids: 16 bytes each.

        Returns:
            Those of the episodes that have some, None where none has; and where in `episode_ids` each of them is.

        Raises:
            StoreUnavailable: The store cannot be asked.
        """
        suffix = owner.key.encode()
        names = [episode_id + suffix for episode_id in episode_ids]
        known, places = self._kept.gather(names)
        if len(places) == len(names):
            return known, places
        self._consider(owner)
        at_hand = set(places)
        missing = [place for place in range(len(names)) if place not in at_hand]
        ids = [EpisodeId(UUID(bytes=episode_ids[place])) for place in missing]
        stored = await self._store.tokens(owner, ids, model=self._space.fingerprint)
        there = [(place, stored[name]) for place, name in zip(missing, ids, strict=True) if name in stored]
        run, fresh = self._keep([names[place] for place, _ in there], [data for _, data in there])
        if run is None:
            return known, places
        return (run if known is None else TokenRun.joined([known, run])), [*places, *(there[i][0] for i in fresh)]

    async def settle(self) -> None:
        """Wait until what is read ahead is there."""
        await self._ahead.settle()

    async def aclose(self) -> None:
        """Stop reading ahead. Closing twice is allowed."""
        await self._ahead.aclose()

    def _consider(self, owner: Owner) -> None:
        """Whoever asks several times will ask again: read what the answers may need, once in a while."""
        reads = self._reads.add(owner)
        # Twice as many for each time it was done: what cannot be kept is not read over and over again.
        if self._settings.ahead_bytes_max and is_doubled(reads, self._settings.ahead_after_reads):
            self._ahead.begin(owner, lambda: self._read_ahead(owner))

    async def _read_ahead(self, owner: Owner) -> None:
        """The owner's token vectors, the newest first, in small steps."""
        suffix = owner.key.encode()
        room = min(self._settings.ahead_bytes_max, self._settings.cache_bytes_max // 2)
        before: EpisodeId | None = None
        try:
            while True:
                found = await self._store.newest_tokens(
                    owner, model=self._space.fingerprint, before=before, limit=_READ_AT_ONCE
                )
                fresh: dict[_Name, bytes] = {}
                for episode_id, data in found:
                    room -= len(data)
                    name = episode_id.bytes + suffix
                    if room >= 0 and name not in self._kept:
                        fresh[name] = data
                self._keep([*fresh], [*fresh.values()])
                if room < 0 or len(found) < _READ_AT_ONCE:
                    return
                before = found[-1][0]
                await asyncio.sleep(self._settings.ahead_pause_seconds)
        except MnemeError as error:
            _log.warning("token vectors are not read ahead", error=str(error))

    def _usable(self, packed: Sequence[bytes]) -> list[int]:
        """Which of what was read has tokens that can be compared."""
        if not packed:
            return []
        shapes = packed_shapes(packed)
        alike = shapes.dimensions == self._space.dimension
        if not shapes.sound.all():
            _log.warning("stored token vectors cannot be read", count=int((~shapes.sound).sum()))
        if not alike[shapes.sound].all():
            _log.warning("stored token vectors have another dimension", count=int((shapes.sound & ~alike).sum()))
        usable: list[int] = (shapes.sound & alike & (shapes.tokens > 0)).nonzero()[0].tolist()
        return usable

    def _keep(self, names: Sequence[_Name], packed: Sequence[bytes]) -> tuple[TokenRun | None, list[int]]:
        """What was read of episodes with these names, and which of them have any; it is kept.

        All at once: that takes a fifth of one by one.
        """
        usable = self._usable(packed)
        if not usable:
            return None, []
        run = candidate_tokens(unpack([packed[i] for i in usable]), self._ends)
        self._kept.put([names[i] for i in usable], run)
        return run, usable


class TokenRing:
    """Token vectors of episodes in one piece of memory, where the newest overwrite the oldest.

    So those of a search are copied out at once, and nothing has to be remembered of their use.
    """

    def __init__(self, dimension: int, *, token_count: int) -> None:
        """Reserve room for so many tokens; the system gives the memory as it is used."""
        self._ids = np.ndarray(token_count, np.uint16, buffer=_reserved(2 * token_count))
        self._vectors = np.ndarray((token_count, dimension), np.uint8, buffer=_reserved(dimension * token_count))
        self._begins = np.ndarray(token_count, np.bool_, buffer=_reserved(token_count))
        self._places: dict[_Name, tuple[int, int]] = {}  # first token, and their number
        self._order: deque[tuple[int, _Name]] = deque()  # end and name of each, oldest first
        self._head = 0

    def __len__(self) -> int:
        """Number of episodes."""
        return len(self._places)

    def __contains__(self, name: _Name) -> bool:
        """Whether an episode is there."""
        return name in self._places

    def gather(self, names: Sequence[_Name]) -> tuple[TokenRun | None, list[int]]:
        """A copy of those of the episodes that are there, and which of `names` they are."""
        there = self._places
        found = [(place, *entry) for place, name in enumerate(names) if (entry := there.get(name)) is not None]
        if not found:
            return None, []
        columns = np.array(found, dtype=np.int64)
        starts, sizes = columns[:, 1], columns[:, 2]
        rows = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
        rows += np.arange(len(rows))
        run = TokenRun(
            self._ids.take(rows), self._vectors.take(rows, axis=0), self._begins.take(rows), np.ascontiguousarray(sizes)
        )
        return run, [place for place, _, _ in found]

    def put(self, names: Sequence[_Name], run: TokenRun) -> None:
        """Keep episodes' tokens; those of a longer text than there is room for are left alone.

        Args:
            names: Of the run's candidates, each once.
            run: What they say.
        """
        ends = np.cumsum(run.sizes).tolist()
        if self._head + len(run.ids) <= len(self._ids) and self._places.keys().isdisjoint(names):
            self._append(names, run, 0, ends)
            return
        for name, start, end in zip(names, [0, *ends[:-1]], ends, strict=True):
            size = end - start
            if name in self._places or size > len(self._ids):
                continue
            if self._head + size > len(self._ids):
                self._make_room(len(self._ids))
                self._head = 0
            self._append([name], run, start, [end])

    def _append(self, names: Sequence[_Name], run: TokenRun, start: int, ends: Sequence[int]) -> None:
        """Keep some neighbours of a run, for which there is room behind the head: where they start, and each ends."""
        head, last = self._head, ends[-1]
        self._make_room(head + last - start)
        own, theirs = slice(head, head + last - start), slice(start, last)
        self._ids[own], self._vectors[own] = run.ids[theirs], run.vectors[theirs]
        self._begins[own] = run.begins[theirs]
        begin = start
        for name, end in zip(names, ends, strict=True):
            self._places[name] = (head + begin - start, end - begin)
            self._order.append((head + end - start, name))
            begin = end
        self._head = head + last - start

    def _make_room(self, end: int) -> None:
        """Forget what lies between the head and `end`: the oldest, since the head goes round."""
        while self._order and self._head < self._order[0][0] and self._places[self._order[0][1]][0] < end:
            _, name = self._order.popleft()
            del self._places[name]


def _reserved(size: int) -> mmap.mmap:
    """Memory that is given as it is used, in small pages.

    For large arrays of its own numpy asks for pages of 2 MB. Where the system's memory is full of cached files it first
    has to move some about to make one: 7 ms for each, in which a search waits. In small pages the same takes 0.8 ms.
    """
    return mmap.mmap(-1, max(1, size), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

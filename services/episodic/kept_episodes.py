"""Whole episodes of the owners who ask, kept in memory: what a search has found is read without the store."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from services.common.background import BackgroundWork
from services.common.errors import MnemeError
from services.episodic.config import KeptEpisodesSettings
from services.episodic.convert import WholeEpisode, episode_to_bytes
from services.episodic.model import Episode, EpisodeId, EpisodeStatus, Owner
from services.episodic.owner_counts import OwnerCounts, is_doubled
from services.episodic.service import EpisodeService
from services.episodic.snapshots import Snapshot, SnapshotRow, row_agrees, row_time
from services.episodic.store import EpisodeCursor, EpisodeFilter

_log = structlog.get_logger(__name__)

_READ_AT_ONCE: Final = 50
"""Episodes that are read ahead in one step: 2 ms, in which nothing else runs."""
_ENTRY_BYTES: Final = 300
"""What keeping an episode takes beside its message."""


@dataclass(slots=True)
class _Kept:
    """One owner's messages, each with the row of the snapshot that it belongs to."""

    messages: dict[EpisodeId, tuple[SnapshotRow, bytes]] = field(default_factory=dict)
    size_bytes: int = 0

    def find(self, episode_id: EpisodeId, row: SnapshotRow) -> bytes | None:
        entry = self.messages.get(episode_id)
        return entry[1] if entry is not None and entry[0] == row else None

    def put(self, episode_id: EpisodeId, row: SnapshotRow, message: bytes) -> int:
        """Keep a message; returns the bytes that this takes more than before."""
        before = self.messages.get(episode_id)
        more = _size(message) - (0 if before is None else _size(before[1]))
        self.messages[episode_id] = row, message
        self.size_bytes += more
        return more


class KeptEpisodes:
    """Reads episodes as of a search, and keeps those of whoever searches. Belongs to one event loop.

    What an episode says never changes, and what can change of it is in its row of the owner's snapshot, except how
    often it was used. So a message is good as long as the snapshot, which each search brings up to date, has an equal
    row. Messages are kept as bytes: Python looks for garbage in objects, and there may be hundreds of thousands.
    """

    def __init__(self, episodes: EpisodeService, settings: KeptEpisodesSettings) -> None:
        """Keep some of what `episodes` reads."""
        self._episodes = episodes
        self._settings = settings
        self._ahead_bytes_max = min(settings.ahead_bytes_max, settings.bytes_max // 2)
        self._kept: OrderedDict[Owner, _Kept] = OrderedDict()
        self._size_bytes = 0
        self._reads = OwnerCounts()  # that had to ask the store
        self._ahead = BackgroundWork[Owner]("episodic-episodes-ahead")

    @property
    def kept_count(self) -> int:
        """Episodes that are kept."""
        return sum(len(kept.messages) for kept in self._kept.values())

    @property
    def kept_bytes(self) -> int:
        """About the memory that they take."""
        return self._size_bytes

    async def read(self, owner: Owner, episode_ids: Sequence[EpisodeId], *, as_of: int) -> list[WholeEpisode]:
        """Those of the episodes that exist, in the order asked for.

        Args:
            owner: Whose.
            episode_ids: Which.
            as_of: Number of a change: they are as they were then or later, from memory where that is known.

        Raises:
            StoreUnavailable: The store has to be asked and cannot be.
        """
        snapshot = self._episodes.snapshot(owner, since=as_of)
        found = self._find(owner, snapshot, episode_ids)
        missing = [episode_id for episode_id in dict.fromkeys(episode_ids) if episode_id not in found]
        if missing:
            if snapshot is not None:
                self._consider(owner)
            found.update(await self._from_store(owner, snapshot, missing))
        there = [found[episode_id] for episode_id in episode_ids if episode_id in found]
        factors = self._episodes.decay_factors([time for time, _ in there])
        return [WholeEpisode(message, factor) for (_, message), factor in zip(there, factors, strict=True)]

    async def settle(self) -> None:
        """Wait until what is read ahead is there."""
        await self._ahead.settle()

    async def aclose(self) -> None:
        """Stop reading ahead, and forget everything. Closing twice is allowed."""
        await self._ahead.aclose()
        self._kept.clear()
        self._size_bytes = 0

    def _find(
        self, owner: Owner, snapshot: Snapshot | None, episode_ids: Iterable[EpisodeId]
    ) -> dict[EpisodeId, tuple[float, bytes]]:
        """Time and message of those of the episodes that are kept as the snapshot has them."""
        kept = self._kept.get(owner)
        if kept is None or snapshot is None:
            return {}
        self._kept.move_to_end(owner)
        found = {}
        for episode_id in episode_ids:
            row = snapshot.row(episode_id)
            if row is not None and (message := kept.find(episode_id, row)) is not None:
                found[episode_id] = row_time(row), message
        return found

    async def _from_store(
        self, owner: Owner, snapshot: Snapshot | None, episode_ids: Sequence[EpisodeId]
    ) -> dict[EpisodeId, tuple[float, bytes]]:
        read = await self._episodes.batch_get(owner, episode_ids)
        messages = [episode_to_bytes(episode) for episode in read]
        if snapshot is not None:
            self._keep(owner, snapshot, zip(read, messages, strict=True))
        return {
            episode.content.episode_id: (episode.content.time.timestamp(), message)
            for episode, message in zip(read, messages, strict=True)
        }

    def _keep(self, owner: Owner, snapshot: Snapshot, read: Iterable[tuple[Episode, bytes]]) -> bool:
        """Keep what is as the snapshot has it, and neither older nor newer; whether there was room for all of it."""
        kept = self._kept.get(owner) or _Kept()
        for episode, message in read:
            row = snapshot.row(episode.content.episode_id)
            if row is not None and row_agrees(row, episode):
                self._size_bytes += kept.put(episode.content.episode_id, row, message)
        if not kept.messages:
            return True
        self._kept[owner] = kept
        self._kept.move_to_end(owner)
        while self._size_bytes > self._settings.bytes_max and self._kept:
            _, dropped = self._kept.popitem(last=False)
            self._size_bytes -= dropped.size_bytes
        return owner in self._kept

    def _consider(self, owner: Owner) -> None:
        """Whoever asks several times will ask again: read what the answers may need, once in a while."""
        reads = self._reads.add(owner)
        # Twice as many for each time it was done: what cannot be kept is not read over and over again.
        if self._ahead_bytes_max and is_doubled(reads, self._settings.ahead_after_reads):
            self._ahead.begin(owner, lambda: self._read_ahead(owner))

    async def _read_ahead(self, owner: Owner) -> None:
        """The owner's episodes, the newest first, in small steps."""
        room = self._ahead_bytes_max
        after: EpisodeCursor | None = None
        try:
            while (snapshot := self._episodes.snapshot(owner)) is not None:
                page = await self._episodes.list_episodes(
                    owner,
                    EpisodeFilter(session_id=None, status=EpisodeStatus.ACTIVE),
                    page_size=_READ_AT_ONCE,
                    after=after,
                )
                read = [(episode, episode_to_bytes(episode)) for episode in page.episodes]
                room -= sum(_size(message) for _, message in read)
                if room < 0 or not self._keep(owner, snapshot, read) or page.next_cursor is None:
                    return
                after = page.next_cursor
                await asyncio.sleep(self._settings.ahead_pause_seconds)
        except MnemeError as error:
            _log.warning("episodes are not read ahead", error=str(error))


def _size(message: bytes) -> int:
    return len(message) + _ENTRY_BYTES

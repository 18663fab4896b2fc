"""Goes through the index point by point, and repairs what counts of an owner do not tell."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TypeVar

import structlog

from services.common.errors import MnemeError
from services.episodic.config import IndexerSettings
from services.episodic.model import EpisodeId, EpisodeKey, Owner
from services.episodic.store import EpisodeIndex, EpisodeStore, IndexedEpisode

_log = structlog.get_logger(__name__)

_T = TypeVar("_T")


@dataclass(slots=True, kw_only=True)
class _Counts:
    """What one walk through the index has seen and done."""

    episodes: int = 0
    pieces: int = 0
    orphans: int = 0  # episodes in the index that the store does not have, or has archived
    orphan_pieces: int = 0  # of them
    differing: int = 0  # active episodes with more or fewer pieces than became active
    removed: int = 0  # episodes whose pieces were taken out of the index
    reset: int = 0  # episodes that became pending


@dataclass(slots=True)
class _Findings:
    """What is wrong with one step's episodes."""

    orphans: list[IndexedEpisode] = field(default_factory=list)
    surplus: list[IndexedEpisode] = field(default_factory=list)  # active, with pieces of an earlier indexing
    differing: list[tuple[Owner, EpisodeId]] = field(default_factory=list)  # the surplus, and those that lack pieces


class IndexSweep:
    """Removes from the index what the store does not know, and resets active episodes whose pieces are not right.

    The first walk looks. Only if something is wrong, a second one repairs what it finds wrong once more, right after
    the store was asked again. Rows are stored before their points are written, so that points without a row are
    nobody's; episodes that are pending are left alone.

    If more is unknown to the store than a share of the index, nothing is removed: it is rather the wrong database.
    What the index lacks altogether shows when its owner is counted after the sweep.
    """

    def __init__(
        self,
        store: EpisodeStore,
        index: EpisodeIndex,
        settings: IndexerSettings | None = None,
        *,
        notify: Callable[[], None] = lambda: None,
    ) -> None:
        """Compare `index` with `store`, and call `notify` when there is work for the indexer."""
        self._store = store
        self._index = index
        self._settings = settings or IndexerSettings()
        self._notify = notify

    async def run(self) -> int:
        """Go through the index, and return how often episodes were removed from it or became pending.

        Where the store or the index cannot be asked, nothing is removed; it waits and goes on where it was.
        """
        seen = await self._walk(removable=None)
        removable = self._removable(seen)
        if seen.orphan_pieces > removable:
            _refuse(seen)
            return 0
        if not seen.orphans and not seen.differing:
            _log.info("the index holds nothing that it should not", **asdict(seen))
            return 0
        done = await self._walk(removable=removable)
        _log.warning("the index was repaired", **asdict(done))
        return done.removed + done.reset

    def _removable(self, seen: _Counts) -> int:
        """How many pieces may be removed from the index."""
        is_small = seen.pieces <= self._settings.orphans_small_index
        return seen.pieces if is_small else int(seen.pieces * self._settings.orphans_share_max)

    async def _walk(self, *, removable: int | None) -> _Counts:
        """From end to end; repairs where a number of removable pieces is named, until they would be exceeded."""
        counts, failures = _Counts(), 0
        after: EpisodeKey | None = None
        while True:
            started = time.perf_counter()
            try:
                page = await self._index.scan(after=after, limit=self._settings.scanned_pieces)
                if not page:
                    return counts
                found = await self._compared(page)
                orphan_pieces = sum(episode.piece_count for episode in found.orphans)
                if removable is not None:
                    if counts.orphan_pieces + orphan_pieces > removable:
                        _refuse(counts)
                        return counts
                    await self._repair(found, counts)
            except MnemeError as error:
                failures += 1
                _log.warning("the index cannot be gone through", error=str(error), failures=failures)
                await asyncio.sleep(self._settings.outage_seconds(failures))
                continue
            failures = 0
            counts.episodes += len(page)
            counts.pieces += sum(episode.piece_count for episode in page)
            counts.orphans += len(found.orphans)
            counts.orphan_pieces += orphan_pieces
            counts.differing += len(found.differing)
            after = page[-1].key
            # The embedded engine takes longer for a step the more it holds, and nothing is answered meanwhile.
            elapsed = time.perf_counter() - started
            settings = self._settings
            await asyncio.sleep(max(settings.scan_pause_seconds, settings.scan_pause_factor * elapsed))

    async def _compared(self, page: Sequence[IndexedEpisode]) -> _Findings:
        places = [(episode.owner, episode.key) for episode in page]
        expected = await self._store.expected_episodes(self._index.model, places)
        found = _Findings()
        for episode, wanted in zip(page, expected, strict=True):
            if wanted is None:
                found.orphans.append(episode)
            elif wanted.piece_count not in {None, episode.piece_count}:
                found.differing.append((episode.owner, wanted.episode_id))
                if episode.piece_count > (wanted.piece_count or 0):
                    found.surplus.append(episode)
        return found

    async def _repair(self, found: _Findings, counts: _Counts) -> None:
        """Points go before rows are reset: what the indexer writes for these is not removed.

        Counts what is done at once. If the rest fails, it must still be known that owners have lost pieces.
        """
        for owner, keys in _by_owner((episode.owner, episode.key) for episode in [*found.orphans, *found.surplus]):
            await self._index.remove(owner, keys)
            counts.removed += len(keys)
        for owner, episode_ids in _by_owner(found.differing):
            counts.reset += len(await self._store.reset_listed(owner, episode_ids))
            self._notify()


def _by_owner(items: Iterable[tuple[Owner, _T]]) -> Iterable[tuple[Owner, list[_T]]]:
    grouped: dict[Owner, list[_T]] = {}
    for owner, item in items:
        grouped.setdefault(owner, []).append(item)
    return grouped.items()


def _refuse(counts: _Counts) -> None:
    _log.error(
        "the store does not know so much of the index that nothing more is removed: is it the right database? "
        "If it is, set orphans_share_max of the indexer to 1 until the index has been repaired",
        **asdict(counts),
    )

"""Job: goes through the index point by point, and repairs what counts of an owner do not show."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from services.common.maintenance import Cap, Change, Step
from services.common.maintenance.model import Json
from services.episodic.comparison_store import ExpectedEpisode, IndexedEpisode
from services.episodic.config import IndexerSettings
from services.episodic.model import EpisodeKey, Owner, TenantId, UserId
from services.episodic.store import EpisodeIndex, EpisodeStore

_T = TypeVar("_T")

_REMOVE: Final = "remove_orphan"
_INDEX_AGAIN: Final = "index_again"


@dataclass(frozen=True, slots=True)
class ComparedEpisode:
    """One episode in the index and in the store."""

    indexed: IndexedEpisode
    expected: ExpectedEpisode | None  # None: the store does not have it, or it is archived


class CollectOrphans:
    """Removes from the index what the store does not know, and indexes active episodes again whose pieces differ.

    Rows are stored before their points are written, so that points without a row are nobody's; pending episodes are
    left alone. If more is unknown to the store than a share of the index, nothing is removed: it is rather the wrong
    database. What the index lacks altogether shows when its owner is compared afterwards.
    """

    name = "episodic.collect_orphans"

    def __init__(
        self,
        store: EpisodeStore,
        index: EpisodeIndex,
        settings: IndexerSettings | None = None,
        *,
        notify: Callable[[], None] = lambda: None,
    ) -> None:
        """Compares `index` with `store`, and calls `notify` when there is work for the indexer."""
        self._store = store
        self._index = index
        self._settings = settings or IndexerSettings()
        self._notify = notify
        self.cap = Cap(
            share=self._settings.orphans_share_max, at_least=self._settings.orphans_small_index, of_store=True
        )

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[Sequence[ComparedEpisode]]]:
        """See `Job.steps`: some points a step, with pauses; of a single owner those among them."""
        settings = self._settings
        last = EpisodeKey(int(after)) if after else None
        while True:
            started = time.perf_counter()
            page = await self._index.scan(after=last, limit=settings.scanned_pieces)
            if not page:
                return
            last = page[-1].key
            listed = [episode for episode in page if owner is None or episode.owner == owner]
            pieces = sum(episode.piece_count for episode in listed)
            yield Step(await self._compared(listed), str(last), memory_count=pieces)
            # The embedded engine takes longer for a step the more it holds, and serves nothing meanwhile.
            elapsed = time.perf_counter() - started
            await asyncio.sleep(max(settings.scan_pause_seconds, settings.scan_pause_factor * elapsed))

    def plan(self, state: Sequence[ComparedEpisode], now: datetime) -> Sequence[Change]:
        """See `Job.plan`. A change retires as many memories as it removes points."""
        del now
        return [change for compared in state if (change := _change(compared)) is not None]

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`. Points go before rows are reset: what the indexer writes for these is not removed."""
        del owner  # the changes name theirs
        page = [_indexed(change) for change in changes]
        compared = await self._compared(page)
        wanted = {(change.target, change.action): change for change in changes}
        still = {
            (change.target, change.action): episode
            for episode in compared
            if (change := _change(episode)) is not None and (change.target, change.action) in wanted
        }
        removed = [(episode.indexed.owner, episode.indexed.key) for episode in still.values() if _has_surplus(episode)]
        for owner_of, keys in _by_owner(removed):
            await self._index.remove(owner_of, keys)
        again = [
            (episode.indexed.owner, episode.expected.episode_id)
            for episode in still.values()
            if episode.expected is not None
        ]
        for owner_of, episode_ids in _by_owner(again):
            await self._store.reset_listed(owner_of, episode_ids)
            self._notify()
        return [wanted[key] for key in still]

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`. There is nothing to take back: an orphan is nobody's, and the rest is indexed again."""
        del owner, changes
        return 0

    async def _compared(self, page: Sequence[IndexedEpisode]) -> list[ComparedEpisode]:
        places = [(episode.owner, episode.key) for episode in page]
        expected = await self._store.expected_episodes(self._index.model, places) if places else []
        return [ComparedEpisode(episode, wanted) for episode, wanted in zip(page, expected, strict=True)]


def _change(compared: ComparedEpisode) -> Change | None:
    """What an episode needs, None where nothing."""
    indexed, expected = compared.indexed, compared.expected
    facts: dict[str, Json] = {
        "tenant_id": indexed.owner.tenant_id,
        "user_id": indexed.owner.user_id,
        "pieces": indexed.piece_count,
    }
    if expected is None:
        return Change(_REMOVE, str(indexed.key), indexed.piece_count, facts)
    if expected.piece_count in {None, indexed.piece_count}:
        return None
    return Change(_INDEX_AGAIN, str(indexed.key), 0, facts)


def _has_surplus(compared: ComparedEpisode) -> bool:
    """Whether the index has points of an episode that must go."""
    expected = compared.expected
    return expected is None or compared.indexed.piece_count > (expected.piece_count or 0)


def _indexed(change: Change) -> IndexedEpisode:
    facts = change.facts
    owner = Owner(TenantId(str(facts["tenant_id"])), UserId(str(facts["user_id"])))
    return IndexedEpisode(owner=owner, key=EpisodeKey(int(change.target)), piece_count=int(str(facts["pieces"])))


def _by_owner(items: Iterable[tuple[Owner, _T]]) -> Iterable[tuple[Owner, list[_T]]]:
    grouped: dict[Owner, list[_T]] = {}
    for owner, item in items:
        grouped.setdefault(owner, []).append(item)
    return grouped.items()

"""Finds what the index has lost, or never had, and sends those episodes through the indexer again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog

from services.common.errors import MnemeError
from services.episodic.config import IndexerSettings
from services.episodic.model import EpisodeId, Owner
from services.episodic.store import EpisodeIndex, EpisodeStore, IndexState

_log = structlog.get_logger(__name__)


class IndexReconciler:
    """Compares, owner by owner, what the store believes to be indexed with what the index holds.

    Two things differ from the truth: episodes that were indexed with another model or into an index that is gone,
    and owners of whom the index has fewer pieces than became active, such as after a power failure. Both become
    pending again. Work is cut into short statements, so that its size has no limit and searches go on meanwhile.
    """

    def __init__(
        self,
        store: EpisodeStore,
        index: EpisodeIndex,
        settings: IndexerSettings | None = None,
        *,
        notify: Callable[[], None] = lambda: None,
    ) -> None:
        """Compare `store` with `index`, and call `notify` when there is work for the indexer."""
        self._store = store
        self._index = index
        self._settings = settings or IndexerSettings()
        self._notify = notify

    async def run(self) -> int:
        """Go through all owners once, and return how many episodes became pending.

        Where the store or the index cannot be asked, it waits and goes on where it was.
        """
        total, failures = 0, 0
        after: Owner | None = None
        while True:
            try:
                states = await self._store.index_states(
                    self._index.model, after=after, limit=self._settings.reconciled_owners
                )
                for state in states:
                    total += await self._repair(state)
                    after = state.owner
            except MnemeError as error:
                failures += 1
                _log.warning("the index cannot be compared with the store", error=str(error), failures=failures)
                await asyncio.sleep(self._settings.outage_seconds(failures))
                continue
            failures = 0
            if len(states) < self._settings.reconciled_owners:
                break
        if total:
            _log.warning("episodes that were not in the index are indexed again", count=total)
        return total

    async def _repair(self, state: IndexState) -> int:
        """Reset what is not in the index. Points come before their rows, so that the index may have more, not less."""
        if state.piece_count and await self._index.count(state.owner) < state.piece_count:
            return await self._reset(state.owner, kept_model=None)
        if state.other_episodes:
            return await self._reset(state.owner, kept_model=self._index.model)
        return 0

    async def _reset(self, owner: Owner, *, kept_model: str | None) -> int:
        count = 0
        last: EpisodeId | None = None
        limit = self._settings.reset_batch_max
        while True:
            # Behind the last one: what the indexer has repaired meanwhile is not reset once more.
            found = await self._store.reset_episodes(owner, kept_model=kept_model, after=last, limit=limit)
            count += len(found)
            if found:
                self._notify()
            if len(found) < limit:
                return count
            last = max(found)

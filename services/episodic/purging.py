"""Rewrites the embedded vector indexes when a purge of the installation is asked for."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import structlog

from services.common.background import BackgroundWork, every
from services.common.maintenance.purges import index_is_purged, pending_index_purge
from services.common.postgres.types import Pool
from services.episodic.config import EpisodicSettings
from services.episodic.second_index import PairedEpisodeIndex
from services.episodic.store import EpisodeIndex
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.edge_purge import purge_closed_shards

_log = structlog.get_logger(__name__)


class IndexPurger:
    """Looks for purges that wait for the indexes, also for those of before a restart, and does them."""

    def __init__(
        self, pool: Pool, folder: Path | None, indexes: Sequence[EdgeEpisodeIndex], settings: EpisodicSettings
    ) -> None:
        """Purge by `step`.

        Args:
            pool: Of the database in which purges are asked for.
            folder: Of the embedded indexes; None where they are on a server, which its operator purges.
            indexes: The embedded ones in use.
            settings: Of the tier.
        """
        self._pool = pool
        self._folder = folder
        self._indexes = indexes
        self._settings = settings

    async def step(self) -> bool:
        """Do all that was asked for by now; returns whether there was anything.

        Raises:
            StoreUnavailable: The database or an engine failed; the purge waits for the next step.
        """
        begun = await pending_index_purge(self._pool)
        if begun is None:
            return False
        if self._folder is not None:
            await purge_closed_shards(self._folder, text=self._settings.text, settings=self._settings.edge)
        for index in self._indexes:
            await index.purge()
        await index_is_purged(self._pool, begun)
        _log.info("episode_indexes_purged", indexes=len(self._indexes))
        return True


@contextlib.asynccontextmanager
async def indexes_purged(
    pool: Pool, folder: Path | None, index: EpisodeIndex, settings: EpisodicSettings
) -> AsyncIterator[None]:
    """Purges the embedded indexes when that is asked for, for the length of the block; see `IndexPurger`."""
    parts = [index.first, index.second] if isinstance(index, PairedEpisodeIndex) else [index]
    purger = IndexPurger(pool, folder, [part for part in parts if isinstance(part, EdgeEpisodeIndex)], settings)
    async with BackgroundWork[str]("episodic-purge") as background:
        background.keep_running("purge-indexes", every(settings.edge.purge_poll_seconds, purger.step))
        yield

"""The episode index on Qdrant's own engine, embedded: in a process of its own beside this one."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog

from services.common.cache import OwnerCache
from services.common.disk import DiskWatch
from services.common.errors import StoreUnavailable
from services.episodic.comparison_store import IndexedEpisode
from services.episodic.config import EdgeSettings, TextSettings
from services.episodic.model import EpisodeKey, Owner
from services.episodic.store import IndexedPiece, IndexQuery, RetrieverHits, Vector
from services.episodic.stores.cached_rows import Terms, terms_of
from services.episodic.stores.edge_cache import EdgeCache
from services.episodic.stores.edge_engine import ShardState
from services.episodic.stores.edge_host import EdgeHost
from services.episodic.stores.edge_shard import shard_folder
from services.episodic.stores.points import create_bm25, scan_episodes

_log = structlog.get_logger(__name__)


class EdgeEpisodeIndex:
    """An `EpisodeIndex` in a folder that only this service uses. Belongs to one event loop; `aclose` it."""

    def __init__(
        self,
        qdrant_folder: Path,
        *,
        model: str,
        dimension: int,
        text: TextSettings,
        settings: EdgeSettings,
        disk: DiskWatch,
        cache: OwnerCache,
    ) -> None:
        """Name the index; use `open`."""
        self._model = model
        self._dimension = dimension
        self._settings = settings
        self._disk = disk
        self._bm25 = create_bm25(text)
        self._host = EdgeHost(
            shard_folder(qdrant_folder, model=model, dimension=dimension),
            dimension=dimension,
            text=text,
            settings=settings,
            disk=disk,
            on_lost=self._forget_cached,
        )
        self._cache = EdgeCache(self._host, cache, settings, dimension=dimension)
        self._last_search_seconds = -math.inf
        self._is_dirty = False
        self._left_unindexed = 0
        self._upkeep: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        qdrant_folder: Path,
        *,
        model: str,
        dimension: int,
        text: TextSettings | None = None,
        settings: EdgeSettings | None = None,
        disk: DiskWatch | None = None,
        cache: OwnerCache | None = None,
    ) -> EdgeEpisodeIndex:
        """Open or create the index of a model. A damaged one is set aside and replaced by an empty one.

        Args:
            qdrant_folder: Folder of the installation's vector indexes.
            model: Fingerprint of the embedding model; each model has a folder of its own.
            dimension: Components of its vectors.
            text: How text becomes terms.
            settings: Sizes and times.
            disk: Watches the folder's disk; with the default settings where None.
            cache: The process's; None: one of its own.

        Raises:
            DataDirLocked: Another process has this index open.
            StoreUnavailable: The folder cannot be read or written.
        """
        index = cls(
            qdrant_folder,
            model=model,
            dimension=dimension,
            text=text or TextSettings(),
            settings=settings or EdgeSettings(),
            disk=disk or DiskWatch(qdrant_folder),
            cache=cache or OwnerCache(),
        )
        await index._host.open()
        index._model = f"{model}@{index._host.generation}"
        index._upkeep = asyncio.create_task(index._keep_up(), name="episodic-edge-upkeep")
        return index

    @property
    def model(self) -> str:
        """Fingerprint of the model, and of the shard: what is noted as indexed in another one is not in it.

        So the episodes are indexed again when the folder was lost.
        """
        return self._model

    @property
    def dimension(self) -> int:
        """Components of a vector."""
        return self._dimension

    @property
    def cached_count(self) -> int:
        """Pieces that are cached."""
        return self._cache.count

    async def settle(self) -> None:
        """Wait until the engine runs on sound files, and what is being loaded is cached."""
        await self._host.settle()
        await self._cache.settle()

    async def state(self) -> ShardState:
        """Size of the shard."""
        state: ShardState = await self._host.call("state")
        return state

    async def put(self, pieces: Sequence[IndexedPiece]) -> None:
        """See `EpisodeIndex.put`. A kill of the process loses nothing; `flush` follows within seconds."""
        for start in range(0, len(pieces), self._settings.upsert_points_max):
            self._disk.require_space()
            chunk = pieces[start : start + self._settings.upsert_points_max]
            is_wanted = self._cache.wants(chunk)
            terms: list[Terms] = await self._write("put", chunk, with_terms=is_wanted)
            if is_wanted:
                self._cache.put(list(zip(chunk, terms, strict=True)))

    async def search(self, query: IndexQuery, *, limit: int) -> RetrieverHits:
        """See `EpisodeIndex.search`."""
        self._last_search_seconds = asyncio.get_running_loop().time()
        hits = await self._cache.search(query, terms_of(self._bm25.embed_query(query.text)), limit=limit)
        return hits if hits is not None else await self._asked("search", query, limit)

    async def score(
        self, query: IndexQuery, *, dense: Sequence[EpisodeKey], lexical: Sequence[EpisodeKey]
    ) -> RetrieverHits:
        """See `EpisodeIndex.score`."""
        hits = self._cache.score(query, dense=dense, lexical=lexical)
        if hits is not None:
            return hits
        if not dense and not lexical:
            return RetrieverHits(dense={}, lexical={}, dense_complete=False, lexical_complete=False)
        return await self._asked("score", query, dense, lexical)

    async def vectors(self, owner: Owner, keys: Sequence[EpisodeKey]) -> Mapping[EpisodeKey, Vector]:
        """See `EpisodeIndex.vectors`. Searches of the engine wait for it."""
        if not keys:
            return {}
        found: list[tuple[EpisodeKey, Vector]] = await self._host.call("vectors_of", owner, keys)
        return dict(found)

    async def remove(self, owner: Owner, keys: Sequence[EpisodeKey]) -> None:
        """See `EpisodeIndex.remove`."""
        if keys:
            await self._write("remove", owner, keys)
            self._cache.remove(owner, keys)

    async def remove_owner(self, owner: Owner) -> None:
        """See `EpisodeIndex.remove_owner`."""
        await self._write("remove_owner", owner)
        self._cache.remove_owner(owner)

    async def count(self, owner: Owner) -> int:
        """See `EpisodeIndex.count`."""
        return int(await self._host.call("count", owner))

    async def scan(self, *, after: EpisodeKey | None, limit: int) -> list[IndexedEpisode]:
        """See `EpisodeIndex.scan`."""

        async def read(start: UUID, count: int) -> list[tuple[UUID, dict[str, Any]]]:
            points: list[tuple[UUID, dict[str, Any]]] = await self._host.call("owners_from", start, count)
            return points

        return await scan_episodes(read, after=after, limit=limit)

    async def optimize(self) -> None:
        """Build segments that are searched faster, of what was written last. Searches of the engine wait for it."""
        self._disk.require_space()
        state: ShardState = await self._host.call("optimize")
        self._left_unindexed = state.unindexed_points

    async def purge(self) -> None:
        """Write the files anew without what was removed. Calls of the engine wait for it.

        Cached owners are searched on; searches that wait for longer than `search_timeout_seconds` are made by words
        alone. A kill leaves a usable index; removed points may be in its files then.

        Raises:
            StoreUnavailable: The engine failed; it is restarted.
        """
        self._disk.require_space()
        state: ShardState = await self._host.call("purge")
        self._left_unindexed = state.unindexed_points

    async def check(self) -> None:
        """See `EpisodeIndex.check`. The engine belongs to this service and ends with it."""

    async def aclose(self) -> None:
        """Write what is buffered and close the engine. Closing twice is allowed."""
        if self._upkeep is not None:
            self._upkeep.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._upkeep
            self._upkeep = None
        await self._cache.aclose()
        await self._host.aclose()

    def _forget_cached(self) -> None:
        self._cache.forget_all()

    async def _asked(self, name: str, *arguments: Any) -> RetrieverHits:
        """Hits of the engine, unless it is busy with the disk for too long: then the store searches by words alone."""
        try:
            async with asyncio.timeout(self._settings.search_timeout_seconds):
                hits: RetrieverHits = await self._host.call(name, *arguments)
                return hits
        except TimeoutError as error:
            raise StoreUnavailable("qdrant", 1.0) from error

    async def _write(self, name: str, *arguments: Any, **keywords: Any) -> Any:
        self._is_dirty = True
        try:
            return await self._host.call(name, *arguments, **keywords)
        except BaseException:
            self._cache.forget_all()  # whether the engine has done it is not known
            raise

    async def _keep_up(self) -> None:
        """Flush to disk, and optimise, rather in quiet times, for as long as the index is open."""
        loop = asyncio.get_running_loop()
        pause = 0.0
        while True:
            await asyncio.sleep(max(self._settings.flush_seconds, pause))
            started = loop.time()
            try:
                if self._is_dirty:
                    self._is_dirty = False
                    await self._host.call("flush")
                # A slow disk is left to others for most of the time.
                pause = (loop.time() - started) * self._settings.flush_pause_factor
                is_quiet = loop.time() - self._last_search_seconds >= self._settings.optimize_quiet_seconds
                if await self._is_worth_optimizing(loaded=not is_quiet):
                    await self.optimize()
            except StoreUnavailable as error:
                self._is_dirty = True
                _log.warning("episode index upkeep failed", error=str(error.__cause__ or error))

    async def _is_worth_optimizing(self, *, loaded: bool) -> bool:
        settings = self._settings
        # What the engine has left alone once it will leave alone again.
        fresh = (await self.state()).unindexed_points - self._left_unindexed
        return fresh >= (settings.optimize_loaded_after_points if loaded else settings.optimize_after_points)

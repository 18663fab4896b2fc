"""Rewrites the embedded indexes that nobody has open, beside the one in use: those of former embedding models."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from services.common.datadir import DataDirLocked
from services.common.errors import StoreUnavailable
from services.episodic.config import EdgeSettings, TextSettings
from services.episodic.stores.edge_process import EngineFailedError, EngineProcess
from services.episodic.stores.edge_shard import known_shards, lock_shard, remove_damaged


async def purge_closed_shards(qdrant_folder: Path, *, text: TextSettings, settings: EdgeSettings) -> int:
    """Write closed shards anew without the points that were removed, and remove those that were set aside.

    Each in a process of its own, one after the other. May be interrupted and repeated.

    Returns:
        How many were rewritten. Open shards are left alone: the process that has them open rewrites them.

    Raises:
        StoreUnavailable: The engine failed.
    """
    count = 0
    shards = await asyncio.to_thread(known_shards, qdrant_folder)
    for folder, dimension in shards.values():
        try:
            lock = await asyncio.to_thread(lock_shard, folder)
        except DataDirLocked:
            continue
        try:
            await _purge(folder, lock, dimension=dimension, text=text, settings=settings)
        except EngineFailedError as error:
            raise StoreUnavailable("qdrant", 1.0) from error
        finally:
            os.close(lock)
        count += 1
    await asyncio.to_thread(remove_damaged, qdrant_folder)
    return count


async def _purge(folder: Path, lock: int, *, dimension: int, text: TextSettings, settings: EdgeSettings) -> None:
    process = await EngineProcess.start(inherited=lock)
    try:
        await process.call("open", folder, dimension=dimension, text=text, settings=settings)
        await process.call("purge")
        await process.call("close")
    finally:
        await process.stop()

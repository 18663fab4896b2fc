"""Physical removal from the embedded engines of a data folder."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from services.common.datadir import DataDir
from services.common.postgres.purging import purge_postgres, purge_postgres_server
from services.common.postgres.server import EmbeddedPostgres, EmbeddedPostgresSettings
from services.episodic.config import EdgeSettings
from services.episodic.stores.edge_shard import known_shards, purge_shard, remove_damaged


@dataclass(frozen=True, slots=True)
class Purged:
    """What was written anew."""

    shards: int  # vector indexes
    damaged: int  # damaged indexes that had been set aside, and were removed


async def purge_server(admin_url: str) -> Purged:
    """Rewrites the database of a PostgreSQL server, as a superuser; see `purge_data_dir`.

    Raises:
        StoreUnavailable: The server cannot be reached.
    """
    await purge_postgres_server(admin_url)
    return Purged(0, 0)


async def purge_data_dir(path: Path, admin_url: str = "") -> Purged:
    """Rewrites all files of a data folder that nobody uses, without what was deleted or erased.

    May be interrupted and repeated.

    Args:
        path: The folder.
        admin_url: A PostgreSQL server that is used instead of the folder's own, as a superuser.

    Raises:
        DataDirError: The folder is in use or cannot be read.
        EmbeddedPostgresError: The database does not start.
        StoreUnavailable: The vector engine failed.
    """
    with DataDir(path) as data_dir:
        if admin_url:
            await purge_postgres_server(admin_url)
        else:
            async with EmbeddedPostgres(data_dir, EmbeddedPostgresSettings(recycles_wal=False)) as postgres:
                await purge_postgres(postgres.superuser_dsn)
        shards = known_shards(data_dir.qdrant)
        for folder, dimension in shards.values():
            await asyncio.to_thread(purge_shard, folder, dimension=dimension, settings=EdgeSettings())
        damaged = await asyncio.to_thread(remove_damaged, data_dir.qdrant)
        # A log from before may quote a key of a row.
        (data_dir.postgres / "server.log.1").unlink(missing_ok=True)
    return Purged(len(shards), damaged)

"""Physical removal from the engines of an installation, while its services are stopped or while they run."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass
from pathlib import Path

from services.common.datadir import DataDir, DataDirLocked
from services.common.errors import FailedPrecondition
from services.common.maintenance.purges import (
    Purge,
    begin_purge,
    database_is_purged,
    index_is_purged,
    is_index_purged,
)
from services.common.postgres.pool import translate_errors
from services.common.postgres.purging import is_used_by_others, purge_postgres, without_recycled_wal
from services.common.postgres.purging_online import OnlinePurgeSettings, purge_online, purging_connection
from services.common.postgres.running import running_superuser_url
from services.common.postgres.server import EmbeddedPostgres, EmbeddedPostgresSettings
from services.common.postgres.types import Connection
from services.episodic.config import EdgeSettings
from services.episodic.stores.edge_shard import known_shards, purge_shard, remove_damaged

_INDEX_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Purged:
    """What was written anew."""

    shards: int  # vector indexes of a folder whose services are stopped
    damaged: int  # damaged indexes that had been set aside, and were removed
    is_running: bool = False  # services used the database meanwhile
    is_index_pending: bool = False  # the episodic service has not rewritten its indexes by now

    def summary(self) -> str:
        """What was done, for people."""
        if self.is_running:
            return "rewritten: the database" + ("" if self.is_index_pending else ", the vector indexes of the services")
        return f"rewritten: the database, {self.shards} vector indexes; removed: {self.damaged} damaged indexes"


async def purge_installation(
    folder: Path | None, admin_url: str, settings: OnlinePurgeSettings, *, index_seconds: float
) -> Purged:
    """Purges a data folder, a PostgreSQL server or both, whether their services run or not.

    Args:
        folder: The data folder; None where there is none.
        admin_url: A PostgreSQL server in the place of the folder's own, as a superuser; empty: the folder's own.
        settings: How long calls may wait where services run.
        index_seconds: How long running services are waited for, which rewrite their indexes.

    Raises:
        DataDirError: The folder cannot be read.
        EmbeddedPostgresError: The database of a folder that nobody uses does not start.
        MnemeError: See the functions below.
    """
    if folder is None:
        return await purge_server(admin_url, settings, index_seconds=index_seconds)
    try:
        return await purge_data_dir(folder, admin_url)
    except DataDirLocked:
        return await purge_running(folder, admin_url, settings, index_seconds=index_seconds)


async def purge_server(
    admin_url: str,
    settings: OnlinePurgeSettings | None = None,
    *,
    index_seconds: float = 0.0,
    are_indexes_done: bool = False,
) -> Purged:
    """Rewrites the database of a PostgreSQL server, as a superuser, whether services use it or not.

    Args:
        admin_url: The database, as a superuser.
        settings: How long calls may wait where services use it.
        index_seconds: How long the episodic service is waited for, which rewrites its embedded indexes.
        are_indexes_done: They were rewritten just now, while no service ran.

    Raises:
        StoreUnavailable: The server cannot be reached.
        Conflict: Another purge is running, or a part could not be rewritten without longer waits.
    """
    with translate_errors():
        async with purging_connection(admin_url) as connection:
            purge = await begin_purge(connection, uuid.uuid4())
            is_used = await is_used_by_others(connection)
            if is_used:
                await purge_online(connection, settings or OnlinePurgeSettings())
            else:
                async with without_recycled_wal(connection):
                    await purge_postgres(admin_url)
            if purge is None:
                return Purged(0, 0, is_running=is_used)
            await database_is_purged(connection, purge)
            if are_indexes_done:
                await index_is_purged(connection, purge.begin_time)
            is_done = await _index_done(connection, purge, index_seconds if is_used else 0.0)
    return Purged(0, 0, is_running=is_used, is_index_pending=is_used and not is_done)


async def purge_running(
    path: Path, admin_url: str = "", settings: OnlinePurgeSettings | None = None, *, index_seconds: float
) -> Purged:
    """Rewrites the files of a data folder whose services run, together with them; see `purge_server`.

    Raises:
        FailedPrecondition: The database is neither the folder's own nor named.
        StoreUnavailable: The server cannot be reached.
        Conflict: Another purge is running, or a part could not be rewritten without longer waits.
    """
    postgres_folder = DataDir(path).postgres
    url = admin_url or running_superuser_url(postgres_folder)
    if url is None:
        raise FailedPrecondition(
            f"the services of {path} use a PostgreSQL server: name it by --admin-url, as a superuser"
        )
    purged = await purge_server(url, settings, index_seconds=index_seconds)
    _remove_old_log(postgres_folder)
    return purged


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
        shards = await asyncio.to_thread(known_shards, data_dir.qdrant)
        for folder, dimension in shards.values():
            await asyncio.to_thread(purge_shard, folder, dimension=dimension, settings=EdgeSettings())
        damaged = await asyncio.to_thread(remove_damaged, data_dir.qdrant)
        if admin_url:
            await purge_server(admin_url, are_indexes_done=bool(shards))
        else:
            async with EmbeddedPostgres(data_dir, EmbeddedPostgresSettings(recycles_wal=False)) as postgres:
                await _purge_embedded(postgres.superuser_dsn)
        _remove_old_log(data_dir.postgres)
    return Purged(len(shards), damaged)


async def _purge_embedded(url: str) -> None:
    with translate_errors():
        async with purging_connection(url) as connection:
            purge = await begin_purge(connection, uuid.uuid4())
            await purge_postgres(url)
            if purge is not None:
                await database_is_purged(connection, purge)
                await index_is_purged(connection, purge.begin_time)


async def _index_done(connection: Connection, purge: Purge, seconds: float) -> bool:
    until = asyncio.get_running_loop().time() + seconds
    while not (is_done := await is_index_purged(connection, purge)):
        if asyncio.get_running_loop().time() >= until:
            break
        await asyncio.sleep(_INDEX_POLL_SECONDS)
    return is_done


def _remove_old_log(postgres_folder: Path) -> None:
    # A log from before may quote a key of a row.
    (postgres_folder / "server.log.1").unlink(missing_ok=True)

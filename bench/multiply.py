"""Makes a large store of a loaded one: every row and every point again, as of another time, in minutes.

Each copy of a memory has ids, a conversation, a day and vectors of its own, and the same texts, owner and word pieces.
What refers to one another within the store does so within a copy: turns, episodes, facts, notes and links. README.md
beside this file says what may be read from times on such a store.
"""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Final

import asyncpg

from bench.common import BenchError
from bench.multiply_points import copy_points
from bench.multiply_rows import copy_rows, known_conversations, prepare, span_days
from services.cli.engines import migrate_schemas
from services.common.datadir import DataDir
from services.common.postgres.server import EmbeddedPostgres, EmbeddedPostgresSettings

TIMES_MAX: Final = 100
_SERVER: Final = EmbeddedPostgresSettings(shared_buffers_mb=512)
"""For writing much at once. It holds for this server's life, not for the store."""


def copy_store(source: Path, target: Path) -> None:
    """Copy an installation of embedded engines that nobody uses, owners and holes of files included. Blocks.

    Args:
        source: Its folder.
        target: Is not there yet.

    Raises:
        DataDirError: Somebody uses it.
        CalledProcessError: It cannot be copied; standard error says why.
    """
    with DataDir(source):
        subprocess.run(["cp", "-a", source, target], check=True)


async def multiply(data_dir: Path, times: int, *, seed: int) -> None:
    """Let an installation of embedded engines hold so many times what it holds. Nothing else may use it meanwhile.

    The store is ruined where this fails: work on a copy.

    Args:
        data_dir: Its folder, filled through the gateway and at rest.
        times: 2 to `TIMES_MAX`; 3 makes 300 memories of 100.
        seed: Of the noise on vectors.

    Raises:
        BenchError: The number is out of range, work is left to be done in the store, or it has a table of which
            `multiply_rows` does not say what becomes of it.
    """
    if not 2 <= times <= TIMES_MAX:
        raise BenchError(f"a store can be multiplied by 2 to {TIMES_MAX}, not by {times}")
    with DataDir(data_dir) as folder:
        async with EmbeddedPostgres(folder, _SERVER) as postgres:
            await migrate_schemas(postgres.owner_dsn, has_graph=False)
            connection = await asyncpg.connect(postgres.superuser_dsn)
            try:
                await prepare(connection)
                conversations = await known_conversations(connection)
                days = await span_days(connection)
                async with asyncio.TaskGroup() as group:
                    group.create_task(copy_rows(connection, times, conversations=conversations, days=days, seed=seed))
                    group.create_task(
                        asyncio.to_thread(
                            copy_points, folder.qdrant, times, conversations=conversations, days=days, seed=seed
                        )
                    )
            finally:
                await connection.close()

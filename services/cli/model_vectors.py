"""The vectors of facts and notes by their embedding models, for `mneme model`."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from services.agentic.former_vectors import NoteVectors
from services.agentic.stores.postgres import PostgresNoteStore
from services.cli.engines import open_database
from services.common.datadir import DataDir
from services.common.hosting import HostSettings
from services.common.model_change import FormerVectorStore, count_owners_with_others, drop_former_vectors
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.running import running_superuser_url
from services.semantic.facts.stores.postgres_vectors import PostgresFactVectors


@dataclass(frozen=True, slots=True)
class FormerVectorsFound:
    """What is there of other models than the one in use."""

    what: str  # "facts" or "notes"
    users: int  # with rows that have such vectors beside those of the model in use
    dropped: int  # rows that lost them


async def former_vectors(
    settings: HostSettings, data_dir: Path, *, model: str, check: bool
) -> Sequence[FormerVectorsFound]:
    """Removes vectors of other models from facts and notes that have one of this model; may be repeated.

    Those in Neo4j have one each, and so has a data folder without a database none.

    Args:
        settings: Where the database is.
        data_dir: Of the embedded PostgreSQL, where no other is configured; its services may run.
        model: Fingerprint of the one in use.
        check: Remove nothing.

    Raises:
        DataDirError, EmbeddedPostgresError: The data folder is in use or cannot be read.
        StoreUnavailable: PostgreSQL cannot be reached.
    """
    if settings.neo4j_url:
        return []
    async with _database(settings, data_dir) as url:
        if not url:
            return []
        opened = await create_pool(url, PoolSettings(size_max=2))
        async with opened as pool, contextlib.aclosing(PostgresNoteStore(pool)) as notes:
            stores: dict[str, FormerVectorStore] = {
                "facts": PostgresFactVectors(pool),
                "notes": NoteVectors(notes, captions_max=0),
            }
            found = []
            for what, store in stores.items():
                users = await count_owners_with_others(store, model=model)
                dropped = 0 if check else await drop_former_vectors(store, model=model)
                found.append(FormerVectorsFound(what, users, dropped))
            return found


@contextlib.asynccontextmanager
async def _database(settings: HostSettings, data_dir: Path) -> AsyncIterator[str]:
    """URL of the database; empty where a folder has none."""
    if settings.postgres_url:
        yield settings.postgres_url
    elif not DataDir.is_one(data_dir):
        yield ""
    elif running := running_superuser_url(DataDir(data_dir).postgres):
        yield running
    else:
        with DataDir(data_dir) as opened:
            async with open_database(settings, opened) as database:
                yield database.url

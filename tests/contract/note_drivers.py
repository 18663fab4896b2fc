"""Fresh note stores for tests."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from services.agentic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresNoteStore
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from tests.support.postgres import fresh_postgres


@contextlib.asynccontextmanager
async def postgres_note_store(server: EmbeddedPostgres) -> AsyncIterator[PostgresNoteStore]:
    """A store on a database of its own."""
    async with (
        fresh_postgres(server, migrations=[(SCHEMA, MIGRATIONS_FOLDER)]) as urls,
        await create_pool(urls.app, PoolSettings(size_max=4)) as pool,
    ):
        yield PostgresNoteStore(pool)

"""Fresh fact and profile stores for tests, and statements to fill them with."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.semantic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA
from tests.support.postgres import fresh_postgres


@contextlib.asynccontextmanager
async def semantic_pool(server: EmbeddedPostgres) -> AsyncIterator[Pool]:
    """A pool on a database of its own."""
    async with (
        fresh_postgres(server, migrations=[(SCHEMA, MIGRATIONS_FOLDER)]) as urls,
        await create_pool(urls.app, PoolSettings(size_max=6)) as pool,
    ):
        yield pool

"""asyncpg's types for annotations: generic for the type checker, plain classes at run time."""

from typing import TYPE_CHECKING, TypeAlias

import asyncpg
import asyncpg.pool

from services.common.postgres.reading_pool import ReadingPool

Pool: TypeAlias = ReadingPool
Record: TypeAlias = asyncpg.Record

if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
else:
    Connection = asyncpg.Connection

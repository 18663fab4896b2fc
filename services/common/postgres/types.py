"""asyncpg's types for annotations: generic for the type checker, plain classes at run time."""

from typing import TYPE_CHECKING, TypeAlias

import asyncpg
import asyncpg.pool

Record: TypeAlias = asyncpg.Record

if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
    Pool: TypeAlias = asyncpg.Pool[asyncpg.Record]
else:
    Connection = asyncpg.Connection
    Pool = asyncpg.Pool

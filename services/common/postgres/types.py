"""asyncpg's types for annotations: generic for the type checker, plain classes at run time."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

import asyncpg
import asyncpg.pool

Record: TypeAlias = asyncpg.Record

if TYPE_CHECKING:
    Pool: TypeAlias = asyncpg.Pool[asyncpg.Record]
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
else:
    Pool = asyncpg.Pool
    Connection = asyncpg.Connection


def array_of_ids(ids: Iterable[str]) -> str:
    """UUIDs as the text of an array, for a parameter `$1::text::uuid[]`.

    The driver looks at each element of an array in Python, several times.
    """
    return "{" + ",".join(ids) + "}"

"""The fence around what a job writes: the store refuses a replica whose term is over."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from typing import Final

from services.common.errors import Conflict
from services.common.maintenance.store import Claim
from services.common.postgres.pool import translate_errors
from services.common.postgres.types import Connection, Pool

_CURRENT: Final[ContextVar[Claim | None]] = ContextVar("mneme_maintenance_claim", default=None)

# The row stays locked until the transaction ends: another replica's claim waits for what is written here.
_CHECK: Final = """
    SELECT true FROM maintenance.claims
    WHERE job = $1 AND tenant_id = $2 AND user_id = $3 AND holder = $4 AND term = $5 FOR SHARE
"""


@contextlib.contextmanager
def writing_under(claim: Claim) -> Iterator[None]:
    """What is written inside, through `check_fence`, is written under a claim."""
    token = _CURRENT.set(claim)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_claim() -> Claim | None:
    """The claim under which is written; None outside of a job."""
    return _CURRENT.get()


async def check_fence(connection: Connection, claim: Claim | None = None) -> None:
    """Refuses the rest of a transaction whose claim another replica has taken over.

    Outside of a job nothing is checked.

    Raises:
        Conflict: The claim is another replica's by now.
    """
    current = claim or _CURRENT.get()
    if current is None:
        return
    await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
    if not await connection.fetchval(_CHECK, current.job, *current.key, current.holder, current.term):
        raise Conflict("another replica has taken the maintenance job over")


@contextlib.asynccontextmanager
async def fenced_transaction(pool: Pool) -> AsyncIterator[Connection]:
    """A transaction of a job's store; see `check_fence`."""
    with translate_errors():
        async with pool.acquire() as connection, connection.transaction():
            await check_fence(connection)
            yield connection

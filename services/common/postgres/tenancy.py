"""Transactions that are bound to one tenant by row-level security."""

import contextlib
from collections.abc import AsyncIterator
from typing import Final

from services.common.postgres.types import Connection, Pool

TENANT_SETTING: Final = "mneme.tenant"
"""Run-time setting that policies compare with: `tenant_id = current_setting('mneme.tenant', true)`."""


@contextlib.asynccontextmanager
async def tenant_transaction(
    pool: Pool, tenant_id: str, *, acquire_timeout_seconds: float = 5.0
) -> AsyncIterator[Connection]:
    """A transaction in which only one tenant's rows exist.

    The setting is local to the transaction: the next user of the connection starts without a tenant and
    sees nothing, as does a statement outside of such a transaction. Works behind PgBouncer.

    Args:
        pool: A pool of a role bound by row-level security (neither superuser nor the tables' owner).
        tenant_id: The tenant, not empty.
        acquire_timeout_seconds: Patience with a pool that has no free connection.

    Yields:
        The connection; `connection.transaction()` inside makes a savepoint.

    Raises:
        ValueError: The tenant is empty: a default must never become a tenant.
        TimeoutError: No connection became free.
    """
    if not tenant_id:
        raise ValueError("a tenant transaction needs a tenant")
    async with (
        pool.acquire(timeout=acquire_timeout_seconds) as connection,
        connection.transaction(),
    ):
        await connection.execute("SELECT set_config($1, $2, true)", TENANT_SETTING, tenant_id)
        yield connection

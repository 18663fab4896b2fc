"""The choice of the serving model in PostgreSQL, in the schema of maintenance."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from services.common.idempotency.model import IdempotencyRecords
from services.common.idempotency.postgres import PostgresIdempotencyRecords
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.common.serving_model.store import Choose, ModelHolder, ServingState

_T = TypeVar("_T")

_SCHEMA: Final = "maintenance"
_LOCK: Final = "LOCK TABLE maintenance.serving_model IN SHARE ROW EXCLUSIVE MODE"
_READ: Final = "SELECT model, former, revision, change_time FROM maintenance.serving_model"
_CHOOSE: Final = """
    INSERT INTO maintenance.serving_model AS s (model, former) VALUES ($1, $2)
    ON CONFLICT (is_only) DO UPDATE
        SET model = $1, former = $2, revision = s.revision + 1, change_time = clock_timestamp()
        WHERE s.model <> $1
"""
_END: Final = "UPDATE maintenance.serving_model SET former = NULL WHERE model = $1 AND former IS NOT NULL"
_FORGET: Final = "DELETE FROM maintenance.serving_model WHERE model = $1"
# The server's clock dates all reports: those of the processes may differ.
_REPORT: Final = """
    INSERT INTO maintenance.model_holders (process_id, service, models, serving, report_time)
    VALUES ($1, $2, $3, $4, statement_timestamp())
    ON CONFLICT (process_id) DO UPDATE
        SET models = $3, serving = $4, report_time = statement_timestamp()
"""
_FORGET_OLD: Final = """
    DELETE FROM maintenance.model_holders WHERE report_time < statement_timestamp() - interval '1 hour'
"""
_LEAVE: Final = "DELETE FROM maintenance.model_holders WHERE process_id = $1"
_HOLDERS: Final = """
    SELECT process_id, service, models, serving FROM maintenance.model_holders
    WHERE report_time > statement_timestamp() - make_interval(secs => $1)
    ORDER BY service, process_id
"""


class PostgresServingModels:
    """Implements `ServingModelStore`; see there for what each method guarantees."""

    def __init__(self, pool: Pool) -> None:
        """Uses a pool of the services' role; the schema must be migrated."""
        self._pool = pool

    async def read(self) -> ServingState | None:
        """See `ServingModelStore.read`."""
        with translate_errors():
            row = await self._pool.fetchrow(_READ)
        return None if row is None else ServingState(**row)

    async def choose(self, model: str, *, former: str) -> ServingState:
        """See `ServingModelStore.choose`."""
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                return await _choose(connection, model, former)

    async def choosing(self, tenant_id: str, work: Callable[[IdempotencyRecords, Choose], Awaitable[_T]]) -> _T:
        """See `ServingModelStore.choosing`. Readers of the choice do not wait."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            await connection.execute(_LOCK)
            return await work(
                PostgresIdempotencyRecords(connection, tenant_id, schema=_SCHEMA), partial(_choose, connection)
            )

    async def end(self, model: str) -> None:
        """See `ServingModelStore.end`."""
        await self._execute(_END, model)

    async def forget(self, model: str) -> None:
        """See `ServingModelStore.forget`."""
        await self._execute(_FORGET, model)

    async def report(self, holder: ModelHolder) -> None:
        """See `ServingModelStore.report`."""
        await self._execute(_REPORT, holder.process_id, holder.service, list(holder.models), holder.serving)
        await self._execute(_FORGET_OLD)

    async def leave(self, process_id: str) -> None:
        """See `ServingModelStore.leave`."""
        await self._execute(_LEAVE, process_id)

    async def holders(self, *, seconds: float) -> Sequence[ModelHolder]:
        """See `ServingModelStore.holders`."""
        with translate_errors():
            rows = await self._pool.fetch(_HOLDERS, seconds)
        return [ModelHolder(**row) for row in rows]

    async def _execute(self, statement: str, *arguments: Any) -> None:
        with translate_errors():
            await self._pool.execute(statement, *arguments)


async def _choose(connection: Connection, model: str, former: str) -> ServingState:
    await connection.execute(_CHOOSE, model, former)
    row = await connection.fetchrow(_READ)
    assert row is not None, "the row was written in this transaction"
    return ServingState(**row)

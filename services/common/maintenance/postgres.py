"""Claims and the log of maintenance in PostgreSQL."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeVar
from uuid import UUID

from services.common.errors import Conflict
from services.common.idempotency.model import IdempotencyRecords
from services.common.idempotency.postgres import PostgresIdempotencyRecords
from services.common.maintenance.fence import check_fence
from services.common.maintenance.model import Change
from services.common.maintenance.store import Claim, JobState, LogEntry, RunSummary
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.migrations import APP_ROLE, migrate
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool

_T = TypeVar("_T")

SCHEMA: Final = "maintenance"
MIGRATIONS_FOLDER: Final = Path(__file__).parent / "migrations"

_CLAIM: Final = """
    INSERT INTO maintenance.claims AS c (job, tenant_id, user_id, holder, run_id, is_open, cursor, lease_until, term)
    VALUES ($1, $2, $3, $4, $5, true, '', $7, $8)
    ON CONFLICT (job, tenant_id, user_id) DO UPDATE
        SET holder = $4, run_id = CASE WHEN c.is_open THEN c.run_id ELSE $5 END, is_open = true, lease_until = $7,
            term = $8
        WHERE c.term < $8 OR (c.term = $8 AND (c.holder = '' OR c.lease_until <= $6))
    RETURNING run_id, cursor
"""
_RENEW: Final = """
    UPDATE maintenance.claims SET cursor = $5, lease_until = $6
    WHERE job = $1 AND tenant_id = $2 AND user_id = $3 AND holder = $4 AND term = $7
"""
_RELEASE: Final = """
    UPDATE maintenance.claims SET holder = '', is_open = NOT $5, cursor = CASE WHEN $5 THEN '' ELSE cursor END,
        failures = CASE WHEN $5 THEN 0 WHEN $8 THEN failures + 1 ELSE failures END,
        complete_time = CASE WHEN $5 THEN $7 ELSE complete_time END
    WHERE job = $1 AND tenant_id = $2 AND user_id = $3 AND holder = $4 AND term = $6
"""
_STATES: Final = """
    SELECT job, failures, complete_time FROM maintenance.claims WHERE tenant_id = '' AND user_id = '' AND job = ANY ($1)
"""
_RUNS: Final = """
    SELECT run_id, job, min(create_time) AS time, bool_and(is_undone) AS is_undone,
        sum(jsonb_array_length(changes)) AS applied,
        sum((SELECT sum((change ->> 'retires')::bigint) FROM jsonb_array_elements(changes) AS change)) AS retired
    FROM maintenance.log
    WHERE tenant_id = $1 AND user_id = $2 AND job = ANY ($3) AND is_applied AND ($4::uuid IS NULL OR run_id < $4)
        AND ($5::uuid IS NULL OR run_id = $5)
    GROUP BY run_id, job
    ORDER BY run_id DESC
    LIMIT $6
"""
_PURGE_LOG: Final = """
    DELETE FROM maintenance.log AS l USING (
        SELECT tenant_id, entry_id FROM maintenance.log
        WHERE create_time < $1 AND (NOT is_undone OR create_time < $3)
        ORDER BY create_time LIMIT $2 FOR UPDATE SKIP LOCKED
    ) AS old WHERE l.tenant_id = old.tenant_id AND l.entry_id = old.entry_id
"""
_UNDONE: Final = """
    SELECT DISTINCT grounds
    FROM maintenance.log,
        jsonb_array_elements(changes) AS change,
        jsonb_array_elements_text(change -> 'grounds') AS grounds
    WHERE tenant_id = $1 AND user_id = $2 AND job = $3 AND is_undone AND create_time >= $4
"""
_ENTRIES: Final = """
    SELECT * FROM maintenance.log WHERE run_id = $1 AND ($2::text IS NULL OR (tenant_id = $2 AND user_id = $3))
    ORDER BY entry_id
"""


async def migrate_maintenance(owner_dsn: str, *, app_role: str | None = APP_ROLE) -> None:
    """Brings the schema of maintenance up to date; every service that runs jobs does."""
    await migrate(owner_dsn, schema=SCHEMA, folder=MIGRATIONS_FOLDER, app_role=app_role)


class PostgresMaintenanceStore:
    """Implements the `MaintenanceStore` port; see there for what each method guarantees."""

    def __init__(self, pool: Pool) -> None:
        """Uses a pool whose role is bound by row-level security; the schema must be migrated."""
        self._pool = pool

    async def claim(
        self,
        job: str,
        owner: Owner | None,
        *,
        holder: str,
        run_id: str,
        now: datetime,
        lease: timedelta,
        term: int = 0,
    ) -> Claim | None:
        """See `MaintenanceStore.claim`."""
        async with self._transaction() as connection:
            row = await connection.fetchrow(_CLAIM, job, *_key(owner), holder, UUID(run_id), now, now + lease, term)
        return Claim(job, owner, holder, str(row["run_id"]), row["cursor"], term) if row is not None else None

    async def next_term(self) -> int:
        """See `MaintenanceStore.next_term`."""
        with translate_errors():
            return int(await self._pool.fetchval("SELECT nextval('maintenance.terms')"))

    async def renew(self, claim: Claim, *, cursor: str, now: datetime, lease: timedelta) -> None:
        """See `MaintenanceStore.renew`."""
        async with self._transaction() as connection:
            status = await connection.execute(
                _RENEW, claim.job, *claim.key, claim.holder, cursor, now + lease, claim.term
            )
        if status == "UPDATE 0":
            raise Conflict("another replica has taken the maintenance job over")

    async def release(self, claim: Claim, *, is_finished: bool, now: datetime, is_failed: bool = False) -> None:
        """See `MaintenanceStore.release`."""
        async with self._transaction() as connection:
            await connection.execute(
                _RELEASE, claim.job, *claim.key, claim.holder, is_finished, claim.term, now, is_failed
            )

    async def job_states(self, jobs: Sequence[str]) -> Mapping[str, JobState]:
        """See `MaintenanceStore.job_states`."""
        async with self._transaction() as connection:
            rows = await connection.fetch(_STATES, list(jobs))
        return {row["job"]: JobState(row["failures"], row["complete_time"]) for row in rows}

    async def resume(self, job: str) -> None:
        """See `MaintenanceStore.resume`."""
        async with self._transaction() as connection:
            await connection.execute(
                "UPDATE maintenance.claims SET failures = 0 WHERE job = $1 AND tenant_id = '' AND user_id = ''", job
            )

    async def log_planned(self, claim: Claim, owner: Owner | None, changes: Sequence[Change], now: datetime) -> int:
        """See `MaintenanceStore.log_planned`."""
        async with self._transaction() as connection:
            await check_fence(connection, claim)
            entry_id: int = await connection.fetchval(
                "INSERT INTO maintenance.log (tenant_id, user_id, run_id, job, changes, create_time)"
                " VALUES ($1, $2, $3, $4, $5, $6) RETURNING entry_id",
                *_key(owner),
                UUID(claim.run_id),
                claim.job,
                [change.fields() for change in changes],
                now,
            )
        return entry_id

    async def log_applied(self, owner: Owner | None, entry_id: int, changes: Sequence[Change]) -> None:
        """See `MaintenanceStore.log_applied`."""
        tenant_id, _ = _key(owner)
        async with self._transaction() as connection:
            if not changes:
                await connection.execute(
                    "DELETE FROM maintenance.log WHERE tenant_id = $1 AND entry_id = $2", tenant_id, entry_id
                )
                return
            await connection.execute(
                "UPDATE maintenance.log SET changes = $3, is_applied = true WHERE tenant_id = $1 AND entry_id = $2",
                tenant_id,
                entry_id,
                [change.fields() for change in changes],
            )

    async def log_undone(self, owner: Owner | None, entry_id: int) -> None:
        """See `MaintenanceStore.log_undone`."""
        async with self._transaction() as connection:
            await connection.execute(
                "UPDATE maintenance.log SET is_undone = true WHERE tenant_id = $1 AND entry_id = $2",
                _key(owner)[0],
                entry_id,
            )

    async def undone(self, owner: Owner, job: str, *, since: datetime) -> frozenset[str]:
        """See `MaintenanceStore.undone`."""
        async with self._transaction() as connection:
            rows = await connection.fetch(_UNDONE, *_key(owner), job, since)
        return frozenset(row["grounds"] for row in rows)

    async def entries(self, run_id: str, *, owner: Owner | None = None) -> Sequence[LogEntry]:
        """See `MaintenanceStore.entries`."""
        whose = (None, None) if owner is None else _key(owner)
        async with self._transaction() as connection:
            rows = await connection.fetch(_ENTRIES, UUID(run_id), *whose)
        return [_entry(row) for row in rows]

    async def runs(
        self, owner: Owner, *, jobs: Sequence[str], before_run_id: str, run_id: str = "", limit: int
    ) -> Sequence[RunSummary]:
        """See `MaintenanceStore.runs`."""
        before, only = (UUID(text) if text else None for text in (before_run_id, run_id))
        async with self._transaction() as connection:
            rows = await connection.fetch(_RUNS, *_key(owner), list(jobs), before, only, limit)
        return [
            RunSummary(
                str(row["run_id"]), row["job"], row["time"], int(row["applied"]), int(row["retired"]), row["is_undone"]
            )
            for row in rows
        ]

    async def with_requests(self, tenant_id: TenantId, work: Callable[[IdempotencyRecords], Awaitable[_T]]) -> _T:
        """See `MaintenanceStore.with_requests`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return await work(PostgresIdempotencyRecords(connection, tenant_id, schema=SCHEMA))

    async def purge_log(self, *, before: datetime, undone_before: datetime, limit: int) -> int:
        """See `MaintenanceStore.purge_log`."""
        async with self._transaction() as connection:
            status = await connection.execute(_PURGE_LOG, before, limit, undone_before)
        return int(status.rpartition(" ")[2])

    async def remove_owner(self, owner: Owner) -> int:
        """See `MaintenanceStore.remove_owner`."""
        count = 0
        async with self._transaction() as connection:
            for table in ("claims", "log"):  # an entry that is being noted under a claim is waited for, and goes too
                status = await connection.execute(
                    f"DELETE FROM maintenance.{table} WHERE tenant_id = $1 AND user_id = $2",  # noqa: S608 - ours
                    *_key(owner),
                )
                count += int(status.rpartition(" ")[2])
            await PostgresIdempotencyRecords(connection, owner.tenant_id, schema=SCHEMA).erase(owner.user_id)
        return count

    @contextlib.asynccontextmanager
    async def _transaction(self) -> AsyncIterator[Connection]:
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                yield connection


def _key(owner: Owner | None) -> tuple[str, str]:
    return ("", "") if owner is None else (owner.tenant_id, owner.user_id)


def _entry(row: Any) -> LogEntry:
    owner = Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])) if row["tenant_id"] else None
    return LogEntry(
        entry_id=row["entry_id"],
        run_id=str(row["run_id"]),
        job=row["job"],
        owner=owner,
        changes=tuple(Change.of(change) for change in row["changes"]),
        is_applied=row["is_applied"],
        is_undone=row["is_undone"],
    )

"""The outbox in PostgreSQL, as its worker sees it."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg
from asyncpg.pool import PoolAcquireContext

from services.common.clock import Clock
from services.common.encryption.postgres import DataKeys
from services.common.encryption.rows import ciphers_of, opened_rows
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.gateway.journal.model import (
    IN_ORDER,
    Caller,
    Delivery,
    DeliveryOutcome,
    Feedback,
    Interaction,
    RetryCommand,
    RetryPolicy,
    SessionEvent,
    SubjectKind,
    Tier,
    TierBacklog,
)
from services.gateway.journal.stores import rows

_CLAIM = """
    SELECT tenant_id, delivery_id, kind, subject_id, attempts, trace_context, create_time, user_id, payload
    FROM gateway.deliveries
    WHERE tier = $1 AND tenant_id = $2 AND given_up_time IS NULL AND next_attempt_time <= $3
    ORDER BY next_attempt_time, delivery_id LIMIT $4
    FOR UPDATE SKIP LOCKED
"""
_CLAIM_OF_USERS = """
    SELECT tenant_id, delivery_id, kind, subject_id, attempts, trace_context, create_time, user_id, payload
    FROM gateway.deliveries
    WHERE tier = $1 AND tenant_id = $2 AND given_up_time IS NULL AND next_attempt_time <= $3 AND user_id = ANY($5)
        AND (next_attempt_time, delivery_id) <= ($6, $7)
    ORDER BY next_attempt_time, delivery_id LIMIT $4
    FOR UPDATE SKIP LOCKED
"""
# Locked before their deliveries are: who has deliveries of a user has the user. The lock ends with the transaction. The
# last of the deliveries that were looked at bounds what is read of the backlog next.
_LOCK_USERS = """
    WITH due AS MATERIALIZED (
        SELECT user_id, next_attempt_time, delivery_id FROM gateway.deliveries
        WHERE tier = $1 AND tenant_id = $2 AND given_up_time IS NULL AND next_attempt_time <= $3
        ORDER BY next_attempt_time, delivery_id LIMIT $4
    ), users AS MATERIALIZED (SELECT DISTINCT user_id FROM due)
    SELECT user_id, last.next_attempt_time, last.delivery_id FROM users
    CROSS JOIN (
        SELECT next_attempt_time, delivery_id FROM due ORDER BY next_attempt_time DESC, delivery_id DESC LIMIT 1
    ) AS last
    WHERE pg_try_advisory_xact_lock(
        hashtextextended('mneme.deliveries.' || $1::int || chr(31) || $2 || chr(31) || user_id, 0))
"""
# A claim reads deliveries_due in its order. Planned otherwise, it would read and sort the whole backlog each time.
_AS_CLAIMING_WORKER: Final = """
    SELECT set_config('mneme.worker', 'on', true), set_config('enable_bitmapscan', 'off', true),
           set_config('enable_sort', 'off', true)
"""
_TENANTS_DUE = "SELECT tenant, is_due FROM gateway.tenants_due($1, $2, $3, $4, $5, $6)"
_WALK_STEPS: Final = 1_000
"""Tenants that one statement looks at."""
_TENANTS_TRIED: Final = 16
"""Tenants that one claim tries where other gateways have claimed all that is due of them."""
# Looked up one by one, whatever the planner believes about sizes: each is in one part of its table.
_FEEDBACK = """
    SELECT f.tenant_id, f.feedback_id, f.user_id, f.kinds, f.memory_ids, f.value, r.*
    FROM unnest($1::text[], $2::uuid[]) AS wanted (tenant_id, feedback_id)
    CROSS JOIN LATERAL (
        SELECT * FROM gateway.feedback AS b
        WHERE b.tenant_id = wanted.tenant_id AND b.feedback_id = wanted.feedback_id OFFSET 0
    ) AS f
    LEFT JOIN LATERAL (
        SELECT to_jsonb(c) AS recall FROM gateway.recalls AS c
        WHERE c.tenant_id = f.tenant_id AND c.recall_id = f.recall_id AND c.user_id = f.user_id OFFSET 0
    ) AS r ON true
"""
_INTERACTIONS = f"""
    SELECT {rows.INTERACTION_COLUMNS}
    FROM unnest($1::text[], $2::uuid[]) AS wanted (tenant_id, interaction_id)
    CROSS JOIN LATERAL (
        SELECT * FROM gateway.interactions AS t
        WHERE t.tenant_id = wanted.tenant_id AND t.interaction_id = wanted.interaction_id OFFSET 0
    ) AS i
"""  # noqa: S608 - constants
_OLD_REQUESTS = """
    SELECT tenant_id, principal_id, method, request_id FROM gateway.requests
    WHERE create_time < $1 ORDER BY create_time LIMIT $2 FOR UPDATE SKIP LOCKED
"""
# By the key: a place in a table (ctid) is no row's alone where the table has parts.
_DELETE_REQUESTS = """
    DELETE FROM gateway.requests AS r
    USING unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS old (tenant_id, principal_id, method, request_id)
    WHERE r.tenant_id = old.tenant_id AND r.principal_id = old.principal_id AND r.method = old.method
        AND r.request_id = old.request_id
"""


class PostgresQueue(ABC):
    """The part of the journal that implements `DeliveryQueue`."""

    _pool: Pool
    _clock: Clock
    _retry: RetryPolicy
    _keys: DataKeys
    _last_tenants: dict[Tier, str]  # where the next claim goes on: behind this tenant

    @abstractmethod
    def _acquire(self) -> PoolAcquireContext:
        """A connection of the pool."""

    @contextlib.asynccontextmanager
    async def claim(self, tier: Tier, *, limit: int) -> AsyncIterator[PostgresDeliveryBatch]:
        """See `DeliveryQueue.claim`: row locks of one transaction, so that a dead process lets go at once."""
        with translate_errors():
            async with (
                self._acquire() as connection,
                connection.transaction(),
            ):
                await connection.execute(_AS_CLAIMING_WORKER)
                deliveries = await self._next_deliveries(connection, tier, limit)
                yield PostgresDeliveryBatch(connection, deliveries, self._retry, self._clock)

    async def backlog_of_all(self) -> Sequence[TierBacklog]:
        """See `DeliveryQueue.backlog_of_all`."""
        with translate_errors():
            async with self._acquire() as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                return rows.backlog(await connection.fetch(f"{rows.BACKLOG} GROUP BY tier"))

    async def complete(self, tenant_id: str, tier: Tier, subject_ids: Sequence[str]) -> None:
        """See `DeliveryQueue.complete`. Does not wait for the disk."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            await connection.execute("SET LOCAL synchronous_commit = off")
            await connection.execute(
                "DELETE FROM gateway.deliveries WHERE tenant_id = $1 AND tier = $2 AND kind = 1"
                " AND given_up_time IS NULL AND sequence IN ("
                "   SELECT sequence FROM gateway.interactions WHERE tenant_id = $1 AND interaction_id = ANY($3))",
                tenant_id,
                int(tier),
                [UUID(subject_id) for subject_id in subject_ids],
            )

    async def retry(self, caller: Caller, command: RetryCommand) -> int:
        """See `DeliveryQueue.retry`."""
        with translate_errors():
            async with self._acquire() as connection:
                result = await connection.fetchval(
                    "SELECT gateway.retry_deliveries($1, $2, $3, $4, $5, $6)",
                    caller.tenant_id,
                    caller.principal_id,
                    command.request_id,
                    command.digest,
                    list(command.delivery_ids),
                    self._clock.now(),
                )
        return int(rows.checked(result)["retried"])

    async def purge_requests(self, *, before: datetime, limit: int) -> int:
        """See `DeliveryQueue.purge_requests`. Two gateways remove different ones."""
        with translate_errors():
            async with self._acquire() as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                old = await connection.fetch(_OLD_REQUESTS, before, limit)
                if old:
                    await connection.execute(_DELETE_REQUESTS, *(list(column) for column in zip(*old, strict=True)))
        return len(old)

    async def _next_deliveries(self, connection: Connection, tier: Tier, limit: int) -> Sequence[Delivery]:
        """Claims deliveries of the next tenant in turn that has any which nobody else has claimed."""
        now = self._clock.now()
        tried: set[str] = set()
        while len(tried) < _TENANTS_TRIED:
            tenant = await self._next_tenant(connection, tier, now)
            if tenant is None or tenant in tried:
                break
            tried.add(tenant)
            self._last_tenants[tier] = tenant
            if claimed := await self._claimed(connection, tier, tenant, now, limit):
                return await _with_subjects(connection, self._keys, tier, claimed)
        return ()

    async def _claimed(
        self, connection: Connection, tier: Tier, tenant_id: str, now: datetime, limit: int
    ) -> Sequence[asyncpg.Record]:
        """Claims deliveries of a tenant that nobody else has; see `IN_ORDER`."""
        if tier not in IN_ORDER:
            return await connection.fetch(_CLAIM, int(tier), tenant_id, now, limit)
        locked = await connection.fetch(_LOCK_USERS, int(tier), tenant_id, now, limit)
        if not locked:
            return []
        users, last = [row["user_id"] for row in locked], locked[0]
        until = (last["next_attempt_time"], last["delivery_id"])
        return await connection.fetch(_CLAIM_OF_USERS, int(tier), tenant_id, now, limit, users, *until)

    async def _next_tenant(self, connection: Connection, tier: Tier, now: datetime) -> str | None:
        """The next tenant with due deliveries, once around at most."""
        start = self._last_tenants.get(tier, "")
        after, until = start, None
        while True:
            walked = await connection.fetch(_TENANTS_DUE, int(tier), now, after, until, 1, _WALK_STEPS)
            for row in walked:
                if row["is_due"]:
                    return str(row["tenant"])
            if walked[-1]["tenant"] is not None:
                after = walked[-1]["tenant"]
            elif until is None and start:
                after, until = "", start
            else:
                return None


async def _with_subjects(
    connection: Connection, keys: DataKeys, tier: Tier, claimed: Sequence[asyncpg.Record]
) -> Sequence[Delivery]:
    """Reads the subjects of claimed deliveries.

    A delivery whose subject is gone is left out and removed: there is nothing left to deliver.
    """
    events = [c for c in claimed if c["kind"] == SubjectKind.SESSION_EVENT]
    subjects: dict[tuple[str, str], Interaction | Feedback | SessionEvent] = {
        **await _interactions(connection, keys, [c for c in claimed if c["kind"] == SubjectKind.INTERACTION]),
        **await _feedback(connection, keys, [c for c in claimed if c["kind"] == SubjectKind.FEEDBACK]),
        **{
            (c["tenant_id"], str(c["subject_id"])): SessionEvent(
                c["tenant_id"], str(c["subject_id"]), c["user_id"], c["payload"]
            )
            for c in await opened_rows(keys, connection, rows.DELIVERIES, events)
        },
    }
    orphans = [c for c in claimed if (c["tenant_id"], str(c["subject_id"])) not in subjects]
    if orphans:
        await _delete(connection, [c["tenant_id"] for c in orphans], [c["delivery_id"] for c in orphans])
    return tuple(
        Delivery(
            tenant_id=c["tenant_id"],
            delivery_id=c["delivery_id"],
            tier=tier,
            attempts=c["attempts"],
            trace_context=c["trace_context"],
            subject=subjects[c["tenant_id"], str(c["subject_id"])],
            create_time=c["create_time"],
        )
        for c in claimed
        if (c["tenant_id"], str(c["subject_id"])) in subjects
    )


class PostgresDeliveryBatch:
    """Implements `DeliveryBatch` inside the claiming transaction."""

    def __init__(
        self, connection: Connection, deliveries: Sequence[Delivery], retry: RetryPolicy, clock: Clock
    ) -> None:
        """Belongs to the connection's open transaction."""
        self._connection = connection
        self._deliveries = deliveries
        self._retry = retry
        self._clock = clock

    @property
    def deliveries(self) -> Sequence[Delivery]:
        """See `DeliveryBatch.deliveries`."""
        return self._deliveries

    async def settle(self, outcome: DeliveryOutcome) -> None:
        """See `DeliveryBatch.settle`."""
        # The tier has it durably; if this deletion is lost in a crash, the tier sees a repeat and ignores it.
        await self._connection.execute("SET LOCAL synchronous_commit = off")
        if outcome.done:
            await _delete(
                self._connection,
                [delivery.tenant_id for delivery in outcome.done],
                [delivery.delivery_id for delivery in outcome.done],
            )
        now = self._clock.now()
        for failure in outcome.failed:
            attempts = failure.delivery.attempts + 1
            give_up = failure.permanent or attempts >= self._retry.attempts_max
            await self._connection.execute(
                "UPDATE gateway.deliveries SET attempts = $3, last_reason = $4, last_detail = $5,"
                " next_attempt_time = $6, given_up_time = $7 WHERE tenant_id = $1 AND delivery_id = $2",
                failure.delivery.tenant_id,
                failure.delivery.delivery_id,
                attempts,
                failure.reason,
                failure.detail,
                now + self._retry.delay(attempts),
                now if give_up else None,
            )


async def _delete(connection: Connection, tenant_ids: Sequence[str], delivery_ids: Sequence[int]) -> None:
    await connection.execute(
        "DELETE FROM gateway.deliveries d USING unnest($1::text[], $2::bigint[]) AS gone (tenant_id, delivery_id)"
        " WHERE d.tenant_id = gone.tenant_id AND d.delivery_id = gone.delivery_id",
        list(tenant_ids),
        list(delivery_ids),
    )


async def _interactions(
    connection: Connection, keys: DataKeys, claimed: Sequence[asyncpg.Record]
) -> dict[tuple[str, str], Interaction]:
    if not claimed:
        return {}
    found = await opened_rows(
        keys, connection, rows.INTERACTIONS, await connection.fetch(_INTERACTIONS, *_names(claimed))
    )
    return {(row["tenant_id"], str(row["interaction_id"])): rows.interaction(row) for row in found}


async def _feedback(
    connection: Connection, keys: DataKeys, claimed: Sequence[asyncpg.Record]
) -> dict[tuple[str, str], Feedback]:
    if not claimed:
        return {}
    found = await connection.fetch(_FEEDBACK, *_names(claimed))
    ciphers = await ciphers_of(keys, connection, found)
    feedback: dict[tuple[str, str], Feedback] = {}
    for row in found:
        recall = row["recall"]
        if recall is not None:
            recall = rows.RECALLS.open(ciphers.of(row["tenant_id"], row["user_id"]), recall)
        feedback[row["tenant_id"], str(row["feedback_id"])] = rows.feedback({**dict(row), "recall": recall})
    return feedback


def _names(claimed: Sequence[asyncpg.Record]) -> tuple[list[str], list[UUID]]:
    return [c["tenant_id"] for c in claimed], [c["subject_id"] for c in claimed]

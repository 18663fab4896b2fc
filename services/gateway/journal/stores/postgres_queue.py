"""The outbox in PostgreSQL, as its worker sees it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import asyncpg

from services.common.clock import Clock
from services.common.postgres.types import Connection
from services.gateway.journal.model import (
    Delivery,
    DeliveryOutcome,
    Feedback,
    Interaction,
    RetryPolicy,
    SubjectKind,
    Tier,
)
from services.gateway.journal.stores import rows

_CLAIM = """
    SELECT tenant_id, delivery_id, kind, subject_id, attempts, trace_context, create_time
    FROM gateway.deliveries
    WHERE tier = $1 AND given_up_time IS NULL AND next_attempt_time <= $2
    ORDER BY next_attempt_time, delivery_id LIMIT $3
    FOR UPDATE SKIP LOCKED
"""
# Looked up one by one, whatever the planner believes about sizes: each is in one part of its table.
_FEEDBACK = """
    SELECT f.tenant_id, f.feedback_id, f.user_id, f.memory_ids, f.value
    FROM unnest($1::text[], $2::uuid[]) AS wanted (tenant_id, feedback_id)
    CROSS JOIN LATERAL (
        SELECT * FROM gateway.feedback AS b
        WHERE b.tenant_id = wanted.tenant_id AND b.feedback_id = wanted.feedback_id OFFSET 0
    ) AS f
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
_FORGET_REQUESTS = """
    DELETE FROM gateway.requests AS r
    USING unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS old (tenant_id, principal_id, method, request_id)
    WHERE r.tenant_id = old.tenant_id AND r.principal_id = old.principal_id AND r.method = old.method
        AND r.request_id = old.request_id
"""


async def claimed_deliveries(connection: Connection, tier: Tier, *, limit: int, now: datetime) -> Sequence[Delivery]:
    """Locks due deliveries for the length of the connection's transaction and reads their subjects.

    A delivery whose subject is gone is left out and removed: there is nothing left to deliver.
    """
    await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
    claimed = await connection.fetch(_CLAIM, int(tier), now, limit)
    if not claimed:
        return ()
    subjects: dict[tuple[str, str], Interaction | Feedback] = {
        **await _interactions(connection, [c for c in claimed if c["kind"] == SubjectKind.INTERACTION]),
        **await _feedback(connection, [c for c in claimed if c["kind"] == SubjectKind.FEEDBACK]),
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
        """The deliveries, oldest first."""
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
                "UPDATE gateway.deliveries SET attempts = $3, last_reason = $4, next_attempt_time = $5,"
                " given_up_time = $6 WHERE tenant_id = $1 AND delivery_id = $2",
                failure.delivery.tenant_id,
                failure.delivery.delivery_id,
                attempts,
                failure.reason,
                now + self._retry.delay(attempts),
                now if give_up else None,
            )


async def forget_old_requests(connection: Connection, *, before: datetime, limit: int) -> int:
    """Drops the oldest answers, within the connection's transaction; two workers drop different ones."""
    await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
    old = await connection.fetch(_OLD_REQUESTS, before, limit)
    if old:
        await connection.execute(_FORGET_REQUESTS, *(list(column) for column in zip(*old, strict=True)))
    return len(old)


async def _delete(connection: Connection, tenant_ids: Sequence[str], delivery_ids: Sequence[int]) -> None:
    await connection.execute(
        "DELETE FROM gateway.deliveries d USING unnest($1::text[], $2::bigint[]) AS gone (tenant_id, delivery_id)"
        " WHERE d.tenant_id = gone.tenant_id AND d.delivery_id = gone.delivery_id",
        list(tenant_ids),
        list(delivery_ids),
    )


async def _interactions(
    connection: Connection, claimed: Sequence[asyncpg.Record]
) -> dict[tuple[str, str], Interaction]:
    if not claimed:
        return {}
    found = await connection.fetch(_INTERACTIONS, *_keys(claimed))
    return {(row["tenant_id"], str(row["interaction_id"])): rows.interaction(row) for row in found}


async def _feedback(connection: Connection, claimed: Sequence[asyncpg.Record]) -> dict[tuple[str, str], Feedback]:
    if not claimed:
        return {}
    found = await connection.fetch(_FEEDBACK, *_keys(claimed))
    return {
        (row[0], str(row[1])): Feedback(row[0], str(row[1]), row[2], tuple(map(str, row[3])), row[4]) for row in found
    }


def _keys(claimed: Sequence[asyncpg.Record]) -> tuple[list[str], list[UUID]]:
    return [c["tenant_id"] for c in claimed], [c["subject_id"] for c in claimed]

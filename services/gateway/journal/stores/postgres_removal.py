"""Removal from the journal, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from services.common.clock import Clock
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.common.scope import GLOBAL_SCOPE, Scope
from services.gateway.journal.model import Feedback, RecallRecord, Removed
from services.gateway.journal.stores import rows

_CHOSEN: Final = "SELECT interaction_id FROM gateway.interactions WHERE tenant_id = $1"
_BY_IDS: Final = f"{_CHOSEN} AND user_id = $2 AND interaction_id = ANY($3)"
_BY_CONVERSATION: Final = f"{_CHOSEN} AND user_id = $2 AND conversation_id = $3"
_BY_USER: Final = f"{_CHOSEN} AND user_id = $2"

_TOMBSTONES: Final = """
    INSERT INTO gateway.tombstones (tenant_id, interaction_id, create_time)
    SELECT $1, unnest($2::uuid[]), $3 ON CONFLICT DO NOTHING
"""
# Waits for workers that hold one of them: what is under way is delivered before this returns, and nothing after it.
_DELETE_DELIVERIES: Final = """
    DELETE FROM gateway.deliveries WHERE tenant_id = $1 AND sequence = ANY($2::bigint[])
"""
_DELETE_INTERACTIONS: Final = """
    DELETE FROM gateway.interactions WHERE tenant_id = $1 AND interaction_id = ANY($2::uuid[])
    RETURNING sequence, user_id, conversation_id, speaker
"""
_COUNT_DOWN: Final = """
    UPDATE gateway.conversations AS c SET interaction_count = c.interaction_count - gone.count
    FROM (SELECT * FROM unnest($2::text[], $3::text[], $4::bigint[]) AS g (user_id, conversation_id, count)) AS gone
    WHERE c.tenant_id = $1 AND c.user_id = gone.user_id AND c.conversation_id = gone.conversation_id
"""
_DELETE_SPEAKERS: Final = """
    DELETE FROM gateway.speakers AS s WHERE s.tenant_id = $1 AND s.user_id = $2 AND s.speaker = ANY($3::text[])
    AND NOT EXISTS (SELECT FROM gateway.interactions AS i
                    WHERE i.tenant_id = $1 AND i.user_id = $2 AND i.speaker = s.speaker)
"""
_EMPTY_FEEDBACK: Final = """
    DELETE FROM gateway.feedback WHERE tenant_id = $1 AND user_id = $2 AND memory_ids = '{}' AND recall_id IS NULL
    RETURNING sequence
"""
_STRIP: Final = """
    UPDATE gateway.{table} AS r SET
        memory_ids = coalesce(rest.ids, '{{}}'), kinds = coalesce(rest.kinds, '{{}}'){more}
    FROM (
        SELECT w.{key}, array_agg(t.m ORDER BY t.n) FILTER (WHERE t.m <> ALL($3::uuid[])) AS ids,
               array_agg(t.k ORDER BY t.n) FILTER (WHERE t.m <> ALL($3::uuid[])) AS kinds
        FROM gateway.{table} AS w CROSS JOIN unnest(w.memory_ids, w.kinds) WITH ORDINALITY AS t (m, k, n)
        WHERE w.tenant_id = $1 AND w.user_id = $2 AND w.memory_ids && $3::uuid[] GROUP BY w.{key}
    ) AS rest
    WHERE r.tenant_id = $1 AND r.{key} = rest.{key}
"""
_STRIP_FEEDBACK: Final = _STRIP.format(table="feedback", key="feedback_id", more="") + "RETURNING r.recall_id"
_STRIP_RECALLS: Final = _STRIP.format(table="recalls", key="recall_id", more=", query = ''")
# Of recalls whose record was purged, the time of the judgement stands for that of the recall.
_JUDGEMENTS: Final = """
    SELECT DISTINCT ON (f.recall_id) f.recall_id, f.feedback_id, f.value,
        coalesce(c.create_time, f.create_time) AS create_time, c.scope_key, c.procedure_ids
    FROM gateway.feedback AS f
    LEFT JOIN gateway.recalls AS c
        ON c.tenant_id = f.tenant_id AND c.recall_id = f.recall_id AND c.user_id = f.user_id
    WHERE f.tenant_id = $1 AND f.user_id = $2 AND f.recall_id = ANY($3::uuid[])
    ORDER BY f.recall_id, f.feedback_id DESC
"""

DELETE_CONVERSATION: Final = """
    DELETE FROM gateway.conversations WHERE tenant_id = $1 AND user_id = $2 AND conversation_id = $3
"""
_USERS: Final = """
    SELECT user_id FROM gateway.conversations WHERE tenant_id = $1
    UNION SELECT user_id FROM gateway.feedback WHERE tenant_id = $1
    UNION SELECT user_id FROM gateway.recalls WHERE tenant_id = $1
    UNION SELECT user_id FROM gateway.requests WHERE tenant_id = $1 AND user_id <> ''
    UNION SELECT user_id FROM gateway.grants WHERE tenant_id = $1
    UNION SELECT user_id FROM gateway.documents WHERE tenant_id = $1
    UNION SELECT user_id FROM gateway.imports WHERE tenant_id = $1
    UNION SELECT user_id FROM gateway.data_keys WHERE tenant_id = $1
    UNION SELECT user_id FROM gateway.audit_entries WHERE tenant_id = $1 AND user_id <> ''
"""
# The records stay until they are purged, so that a repeat does not write again what was removed. The response to a
# Remember holds ids and positions alone.
_ERASE_REQUESTS: Final = """
    UPDATE gateway.requests SET user_id = '',
        response = CASE WHEN method = 'Remember' THEN response ELSE '{"erased": true}' END
    WHERE tenant_id = $1 AND user_id = $2
"""
# What the audit log said of the user; the commitments stay, so that its tree and its proofs do.
BLIND: Final = """
    UPDATE gateway.audit_entries SET salt = NULL, body = NULL, user_id = '' WHERE tenant_id = $1 AND user_id = $2
"""


class PostgresRemoval:
    """The part of the journal that implements `JournalRemoval`; each call is one transaction."""

    _pool: Pool
    _clock: Clock
    _keys: DataKeys

    async def remove_interactions(self, tenant_id: str, user_id: str, interaction_ids: Sequence[str]) -> Removed:
        """See `JournalRemoval.remove_interactions`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return await remove_interactions(connection, tenant_id, user_id, interaction_ids, now=self._clock.now())

    async def remove_conversation(self, tenant_id: str, user_id: str, conversation_id: str) -> Removed:
        """See `JournalRemoval.remove_conversation`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            now = self._clock.now()
            removed = await _remove_chosen(connection, _BY_CONVERSATION, tenant_id, user_id, conversation_id, now=now)
            await connection.execute(DELETE_CONVERSATION, tenant_id, user_id, conversation_id)
        return removed

    async def remove_user(self, tenant_id: str, user_id: str) -> Removed:
        """See `JournalRemoval.remove_user`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return await remove_user(connection, tenant_id, user_id, now=self._clock.now(), keys=self._keys)

    async def remove_tenant(self, tenant_id: str) -> Removed:
        """See `JournalRemoval.remove_tenant`."""
        removed = Removed()
        async with tenant_transaction(self._pool, tenant_id) as connection:
            for user_id in await users_of(connection, tenant_id):
                removed += await remove_user(connection, tenant_id, user_id, now=self._clock.now(), keys=self._keys)
        return removed


async def users_of(connection: Connection, tenant_id: str) -> list[str]:
    """All users with rows in the journal."""
    return [row["user_id"] for row in await connection.fetch(_USERS, tenant_id)]


async def remove_interactions(
    connection: Connection, tenant_id: str, user_id: str, interaction_ids: Sequence[str], *, now: datetime
) -> Removed:
    """See `JournalRemoval.remove_interactions`; in the connection's transaction."""
    wanted = [identifier for identifier in map(rows.uuid_or_none, interaction_ids) if identifier]
    return await _remove_chosen(connection, _BY_IDS, tenant_id, user_id, wanted, now=now)


async def remove_user(
    connection: Connection, tenant_id: str, user_id: str, *, now: datetime, keys: DataKeys = NO_DATA_KEYS
) -> Removed:
    """See `JournalRemoval.remove_user`; in the connection's transaction."""
    destroyed = await keys.destroy(connection, tenant_id, user_id)
    removed = await _remove_chosen(connection, _BY_USER, tenant_id, user_id, now=now)
    deliveries = await _deleted(connection, "deliveries", tenant_id, user_id)
    requests = rows.affected(await connection.execute(_ERASE_REQUESTS, tenant_id, user_id))
    await connection.execute(BLIND, tenant_id, user_id)
    counts = {
        table: await _deleted(connection, table, tenant_id, user_id)
        for table in ("feedback", "recalls", "grants", "documents", "speakers", "conversations", "imports")
    }
    return removed + Removed(
        feedback=counts["feedback"],
        deliveries=deliveries,
        recalls=counts["recalls"],
        requests=requests,
        grants=counts["grants"],
        data_keys=destroyed,
        documents=counts["documents"],
    )


async def _remove_chosen(
    connection: Connection, choice: str, tenant_id: str, user_id: str, *arguments: object, now: datetime
) -> Removed:
    """Removes the interactions that a statement names, with what hangs on them."""
    chosen = [row[0] for row in await connection.fetch(choice, tenant_id, user_id, *arguments)]
    if not chosen:
        return Removed()
    tombstones = [rows.tombstone(tenant_id, interaction_id) for interaction_id in chosen]
    await connection.execute(_TOMBSTONES, tenant_id, tombstones, now)
    # Deliveries before their subjects: a worker that holds one still reads its subject.
    sequences = await connection.fetch(
        "SELECT sequence FROM gateway.interactions WHERE tenant_id = $1 AND interaction_id = ANY($2::uuid[])",
        tenant_id,
        chosen,
    )
    deliveries = rows.affected(await connection.execute(_DELETE_DELIVERIES, tenant_id, [row[0] for row in sequences]))
    gone = await connection.fetch(_DELETE_INTERACTIONS, tenant_id, chosen)
    await _count_down(connection, tenant_id, gone)
    await connection.execute(_DELETE_SPEAKERS, tenant_id, user_id, sorted({row["speaker"] for row in gone}))
    feedback, judged = await _remove_judgements(connection, tenant_id, user_id, chosen)
    return Removed(interactions=len(gone), feedback=feedback, deliveries=deliveries + judged)


async def _count_down(connection: Connection, tenant_id: str, gone: Sequence[Any]) -> None:
    counts: dict[tuple[str, str], int] = {}
    for row in gone:
        key = (row["user_id"], row["conversation_id"])
        counts[key] = counts.get(key, 0) + 1
    users, conversations = [list(column) for column in zip(*counts, strict=True)] if counts else ([], [])
    await connection.execute(_COUNT_DOWN, tenant_id, users, conversations, list(counts.values()))


async def _remove_judgements(
    connection: Connection, tenant_id: str, user_id: str, memory_ids: Sequence[UUID]
) -> tuple[int, int]:
    """Takes memories out of feedback and recall records; returns how much feedback went, and deliveries of it."""
    await connection.execute(_STRIP_FEEDBACK, tenant_id, user_id, memory_ids)
    await connection.execute(_STRIP_RECALLS, tenant_id, user_id, memory_ids)
    emptied = await connection.fetch(_EMPTY_FEEDBACK, tenant_id, user_id)
    deliveries = rows.affected(
        await connection.execute(_DELETE_DELIVERIES, tenant_id, [row["sequence"] for row in emptied])
    )
    return len(emptied), deliveries


async def forget_recalls(
    connection: Connection, tenant_id: str, user_id: str, memory_ids: Sequence[str]
) -> Sequence[str]:
    """Takes memories out of feedback and recall records, with the queries of these; ids of those that were judged.

    Feedback outlives the records of recalls, and names what they returned.
    """
    wanted = [identifier for identifier in map(rows.uuid_or_none, memory_ids) if identifier]
    stripped = await connection.fetch(_STRIP_FEEDBACK, tenant_id, user_id, wanted)
    await connection.execute(_STRIP_RECALLS, tenant_id, user_id, wanted)
    return sorted({str(row["recall_id"]) for row in stripped if row["recall_id"] is not None})


async def judgements(
    connection: Connection, tenant_id: str, user_id: str, recall_ids: Sequence[str]
) -> Sequence[Feedback]:
    """The latest judgement of each of some recalls, without a query."""
    found = await connection.fetch(_JUDGEMENTS, tenant_id, user_id, [UUID(recall_id) for recall_id in recall_ids])
    return [
        Feedback(
            tenant_id=tenant_id,
            feedback_id=str(row["feedback_id"]),
            user_id=user_id,
            memories=(),
            value=row["value"],
            recall=RecallRecord(
                tenant_id=tenant_id,
                recall_id=str(row["recall_id"]),
                user_id=user_id,
                memories=(),
                create_time=row["create_time"],
                scope=Scope.from_key(row["scope_key"]) if row["scope_key"] else GLOBAL_SCOPE,
                procedure_ids=tuple(map(str, row["procedure_ids"] or ())),
            ),
        )
        for row in found
    ]


async def _deleted(connection: Connection, table: str, tenant_id: str, user_id: str) -> int:
    """Deletes a user's rows of a table and returns how many there were."""
    status = await connection.execute(
        f"DELETE FROM gateway.{table} WHERE tenant_id = $1 AND user_id = $2",  # noqa: S608 - names of ours
        tenant_id,
        user_id,
    )
    return rows.affected(status)

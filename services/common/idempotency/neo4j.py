"""Idempotency records in Neo4j, as nodes of a label of their own for each service.

CREATE CONSTRAINT mneme_semantic_idempotency_key IF NOT EXISTS
FOR (r:MnemeSemanticIdempotencyRecord) REQUIRE (r.tenant_id, r.principal_id, r.request_id) IS UNIQUE;
CREATE INDEX mneme_semantic_idempotency_oldest IF NOT EXISTS
FOR (r:MnemeSemanticIdempotencyRecord) ON (r.tenant_id, r.create_time);
CREATE INDEX mneme_semantic_idempotency_user IF NOT EXISTS
FOR (r:MnemeSemanticIdempotencyRecord) ON (r.tenant_id, r.user_id);
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, LiteralString

from services.common.idempotency.model import IdempotencyKey, IdempotencyRecord
from services.common.idempotency.responses import ResponseSealing, opened_response, sealed_response
from services.common.neo4j.graph import GraphTransaction
from services.common.owners import UserId

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class IdempotencyQueries:
    """The queries of one label. Constants: tests read their plans."""

    find: LiteralString
    add: LiteralString
    erase: LiteralString
    erase_some: LiteralString

    @classmethod
    def of(cls, label: LiteralString) -> IdempotencyQueries:
        """The queries of a label, such as "MnemeSemanticIdempotencyRecord"."""
        return cls(
            find=f"""
            MATCH (r:{label} {{tenant_id: $tenant_id, principal_id: $principal_id, request_id: $request_id}})
            RETURN r.digest AS digest, r.user_id AS user_id, r.resource_id AS resource_id, r.response AS response,
                r.create_time.epochMillis * 1000 + r.create_time.microsecond % 1000 AS create_time
            """,
            # Old ones are deleted a few at a time, the oldest first, in the order in which others lock them.
            add=f"""
            CALL () {{
                MATCH (old:{label} {{tenant_id: $tenant_id}})
                WHERE old.create_time < $purge_before
                WITH old ORDER BY old.tenant_id, old.create_time LIMIT 32
                DELETE old
                RETURN count(*) AS purged
            }}
            CREATE (:{label} {{
                tenant_id: $tenant_id, principal_id: $principal_id, request_id: $request_id, digest: $digest,
                user_id: $user_id, resource_id: $resource_id, response: $response, create_time: $create_time
            }})
            """,
            erase=f"""
            MATCH (r:{label} {{tenant_id: $tenant_id, user_id: $user_id}})
            WHERE $resource_ids IS NULL OR r.resource_id IN $resource_ids
            REMOVE r.response
            """,
            erase_some=f"""
            MATCH (r:{label} {{tenant_id: $tenant_id, user_id: $user_id}})
            WHERE r.response IS NOT NULL
            WITH r LIMIT $limit
            REMOVE r.response
            RETURN count(*) AS removed
            """,
        )

    @property
    def all(self) -> tuple[LiteralString, ...]:
        """Every query."""
        return (self.find, self.add, self.erase, self.erase_some)


class Neo4jIdempotencyRecords:
    """`IdempotencyRecords` in an open transaction."""

    def __init__(
        self,
        transaction: GraphTransaction,
        tenant_id: str,
        queries: IdempotencyQueries,
        *,
        sealing: ResponseSealing | None = None,
    ) -> None:
        """Use the nodes that `queries` name; responses are encrypted by `sealing`."""
        self._sealing = sealing
        self._transaction = transaction
        self._tenant_id = tenant_id
        self._queries = queries

    async def find(self, key: IdempotencyKey) -> IdempotencyRecord | None:
        """The record of this principal and request id, or None."""
        rows = await self._transaction.run(
            self._queries.find,
            {"tenant_id": self._tenant_id, "principal_id": key.principal_id, "request_id": key.request_id},
        )
        if not rows:
            return None
        [row] = rows
        response = row["response"]
        if row["digest"] == key.digest:
            response = await opened_response(self._sealing, key, response)
        return IdempotencyRecord(
            IdempotencyKey(key.principal_id, key.request_id, row["digest"]),
            row["user_id"],
            row["resource_id"],
            response,
            _EPOCH + timedelta(microseconds=row["create_time"]),
        )

    async def add(self, record: IdempotencyRecord, *, purge_before: datetime) -> None:
        """Store a record, and delete some old ones."""
        response = await sealed_response(self._sealing, record.key, record.response)
        await self._transaction.run(
            self._queries.add,
            {
                "tenant_id": self._tenant_id,
                "principal_id": record.key.principal_id,
                "request_id": record.key.request_id,
                "digest": record.key.digest,
                "user_id": record.user_id,
                "resource_id": record.resource_id,
                "response": response,
                "create_time": record.create_time,
                "purge_before": purge_before,
            },
        )

    async def erase(self, user_id: UserId, resource_ids: Sequence[str] | None = None) -> None:
        """Erase responses about resources of a user."""
        ids = None if resource_ids is None else list(resource_ids)
        await self._transaction.run(
            self._queries.erase, {"tenant_id": self._tenant_id, "user_id": user_id, "resource_ids": ids}
        )

"""Idempotency records in PostgreSQL, in a table of the service's schema.

CREATE TABLE idempotency_records (
tenant_id text NOT NULL,
principal_id text NOT NULL,
request_id text NOT NULL,
digest text NOT NULL,
user_id text NOT NULL,
resource_id text NOT NULL,
response text,
create_time timestamptz NOT NULL,
PRIMARY KEY (tenant_id, principal_id, request_id)
);
CREATE INDEX idempotency_records_oldest ON idempotency_records (tenant_id, create_time);
CREATE INDEX idempotency_records_by_user ON idempotency_records (tenant_id, user_id);
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from services.common.idempotency.model import IdempotencyKey, IdempotencyRecord
from services.common.idempotency.responses import ResponseSealing, opened_response, sealed_response
from services.common.owners import UserId
from services.common.postgres.types import Connection

_FIND: Final = """
SELECT digest, user_id, resource_id, response, create_time FROM {schema}.idempotency_records
WHERE tenant_id = $1 AND principal_id = $2 AND request_id = $3
"""
_ADD: Final = """
INSERT INTO {schema}.idempotency_records (
    tenant_id, principal_id, request_id, digest, user_id, resource_id, response, create_time
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""
# A few with each write, so that no job is needed and none waits long. Rows that another write purges are left to it.
_PURGE: Final = """
DELETE FROM {schema}.idempotency_records WHERE (tenant_id, principal_id, request_id) IN (
    SELECT tenant_id, principal_id, request_id FROM {schema}.idempotency_records
    WHERE tenant_id = $1 AND create_time < $2
    ORDER BY create_time LIMIT 32 FOR UPDATE SKIP LOCKED
)
"""
_ERASE: Final = """
UPDATE {schema}.idempotency_records SET response = NULL
WHERE tenant_id = $1 AND user_id = $2 AND ($3::text[] IS NULL OR resource_id = ANY ($3))
"""


class PostgresIdempotencyRecords:
    """`IdempotencyRecords` in an open transaction."""

    def __init__(
        self, connection: Connection, tenant_id: str, *, schema: str, sealing: ResponseSealing | None = None
    ) -> None:
        """Use a connection whose transaction is bound to the tenant; responses are encrypted by `sealing`."""
        self._sealing = sealing
        self._connection = connection
        self._tenant_id = tenant_id
        self._schema = schema

    async def find(self, key: IdempotencyKey) -> IdempotencyRecord | None:
        """The record of this principal and request id, or None."""
        row = await self._connection.fetchrow(self._statement(_FIND), self._tenant_id, key.principal_id, key.request_id)
        if row is None:
            return None
        known = IdempotencyKey(key.principal_id, key.request_id, row["digest"])
        response = row["response"]
        if row["digest"] == key.digest:
            response = await opened_response(self._sealing, key, response)
        return IdempotencyRecord(known, row["user_id"], row["resource_id"], response, row["create_time"])

    async def add(self, record: IdempotencyRecord, *, purge_before: datetime) -> None:
        """Store a record, and delete some old ones."""
        response = await sealed_response(self._sealing, record.key, record.response)
        await self._connection.execute(self._statement(_PURGE), self._tenant_id, purge_before)
        await self._connection.execute(
            self._statement(_ADD),
            self._tenant_id,
            record.key.principal_id,
            record.key.request_id,
            record.key.digest,
            record.user_id,
            record.resource_id,
            response,
            record.create_time,
        )

    async def erase(self, user_id: UserId, resource_ids: Sequence[str] | None = None) -> None:
        """Erase responses about resources of a user."""
        ids = None if resource_ids is None else list(resource_ids)
        await self._connection.execute(self._statement(_ERASE), self._tenant_id, user_id, ids)

    def _statement(self, template: str) -> str:
        return template.format(schema=self._schema)

"""Grants in PostgreSQL, in the schema of the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from services.common.clock import Clock
from services.common.errors import FieldViolation, InvalidArgument, LimitExceeded, NotFound
from services.common.ids import IdSource
from services.common.postgres.tenancy import as_tenant, tenant_connection, tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.common.scope import Scope
from services.gateway.grants.model import CreateGrant, Grant, Granted, GrantSettings, MemoryKind, RevokeGrant
from services.gateway.journal.model import Caller, Page
from services.gateway.journal.store import Cursor
from services.gateway.journal.stores.request_records import claim_request, store_response

_CREATE_METHOD: Final = "CreateGrant"
_REVOKE_METHOD: Final = "RevokeGrant"
_COLUMNS: Final = "grant_id, user_id, from_key, to_key, kinds, create_time, expire_time, principal_id"
_IN_FORCE: Final = "(expire_time IS NULL OR expire_time > $3)"
_GRANTS_OF: Final = as_tenant(
    f"SELECT {_COLUMNS} FROM gateway.grants WHERE tenant_id = $1 AND user_id = $2 AND {_IN_FORCE}"  # noqa: S608
    " ORDER BY grant_id"
)
_UPSERT: Final = f"""
    INSERT INTO gateway.grants (tenant_id, user_id, grant_id, from_key, to_key, kinds, expire_time, principal_id,
                                create_time)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (tenant_id, user_id, from_key, to_key) DO UPDATE
        SET kinds = excluded.kinds, expire_time = excluded.expire_time, principal_id = excluded.principal_id,
            create_time = excluded.create_time
    RETURNING {_COLUMNS}
"""  # noqa: S608 - constants
_LIST: Final = f"""
    SELECT {_COLUMNS} FROM gateway.grants
    WHERE tenant_id = $1 AND user_id = $2 AND {_IN_FORCE} AND ($4::uuid IS NULL OR grant_id > $4)
    ORDER BY grant_id LIMIT $5
"""  # noqa: S608 - constants


class PostgresGrants:
    """Implements the `GrantStore` port; see there for what each method guarantees."""

    def __init__(self, pool: Pool, *, clock: Clock, ids: IdSource, settings: GrantSettings | None = None) -> None:
        """Uses a pool whose role is bound by row-level security; the schema must be migrated."""
        self._pool = pool
        self._clock = clock
        self._ids = ids
        self._settings = settings or GrantSettings()

    async def create(self, caller: Caller, command: CreateGrant) -> Granted:
        """See `GrantStore.create`."""
        now = self._clock.now()
        user = (caller.tenant_id, command.user_id)
        places = (command.from_scope.key, command.to_scope.key)
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            earlier = await _claim(connection, caller, _CREATE_METHOD, command, now)
            if earlier is not None:
                return Granted(_from_response(earlier), replayed=True)
            if command.expire_time is not None and command.expire_time <= now:
                raise InvalidArgument(
                    "the request is not valid", violations=[FieldViolation("expire_time", "must be in the future")]
                )
            # One at a time for each user: the limit holds under concurrent writes.
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", "\x1f".join(user))
            await connection.execute(
                f"DELETE FROM gateway.grants WHERE tenant_id = $1 AND user_id = $2 AND NOT {_IN_FORCE}",  # noqa: S608
                *user,
                now,
            )
            others = await connection.fetchval(
                "SELECT count(*) FROM gateway.grants WHERE tenant_id = $1 AND user_id = $2"
                " AND (from_key, to_key) <> ($3, $4)",
                *user,
                *places,
            )
            if others >= self._settings.grants_per_user_max:
                raise LimitExceeded("grants_per_user_max", self._settings.grants_per_user_max)
            row = await connection.fetchrow(
                _UPSERT,
                *user,
                UUID(self._ids.new_id()),
                *places,
                [int(kind) for kind in command.kinds],
                command.expire_time,
                caller.principal_id,
                now,
            )
            grant = _from_row(row)
            await store_response(connection, caller, _CREATE_METHOD, command.request_id, _to_response(grant))
        return Granted(grant, replayed=False)

    async def revoke(self, caller: Caller, command: RevokeGrant) -> bool:
        """See `GrantStore.revoke`."""
        now = self._clock.now()
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            if await _claim(connection, caller, _REVOKE_METHOD, command, now) is not None:
                return True
            found = await connection.fetchval(
                "DELETE FROM gateway.grants WHERE tenant_id = $1 AND user_id = $2 AND grant_id = $4"  # noqa: S608
                f" AND {_IN_FORCE} RETURNING true",
                caller.tenant_id,
                command.user_id,
                now,
                UUID(command.grant_id),
            )
            if not found:
                raise NotFound("grant", command.grant_id)
            await store_response(connection, caller, _REVOKE_METHOD, command.request_id, {"revoked": True})
        return False

    async def list_grants(self, tenant_id: str, user_id: str, *, limit: int, after: Cursor | None) -> Page[Grant]:
        """See `GrantStore.list_grants`. Ids grow with time."""
        begin = UUID(str(after[0])) if after is not None else None
        async with tenant_transaction(self._pool, tenant_id) as connection:
            listed = await connection.fetch(_LIST, tenant_id, user_id, self._clock.now(), begin, limit + 1)
        found = tuple(map(_from_row, listed))
        return Page(found[:limit], (found[limit - 1].grant_id,) if len(found) > limit else None)

    async def grants_of(self, tenant_id: str, user_id: str) -> Sequence[Grant]:
        """See `GrantStore.grants_of`."""
        async with tenant_connection(self._pool) as connection:
            found = await connection.fetch(_GRANTS_OF, tenant_id, user_id, self._clock.now())
        return list(map(_from_row, found))


async def _claim(
    connection: Connection, caller: Caller, method: str, command: CreateGrant | RevokeGrant, now: datetime
) -> Mapping[str, Any] | None:
    return await claim_request(
        connection,
        caller,
        method,
        request_id=command.request_id,
        user_id=command.user_id,
        digest=command.digest,
        now=now,
    )


def _from_row(row: Any) -> Grant:
    return Grant(
        grant_id=str(row["grant_id"]),
        user_id=row["user_id"],
        from_scope=Scope.from_key(row["from_key"]),
        to_scope=Scope.from_key(row["to_key"]),
        kinds=tuple(map(MemoryKind, row["kinds"])),
        create_time=row["create_time"],
        expire_time=row["expire_time"],
        principal_id=row["principal_id"],
    )


def _to_response(grant: Grant) -> dict[str, Any]:
    return {
        "grant_id": grant.grant_id,
        "user_id": grant.user_id,
        "from_key": grant.from_scope.key,
        "to_key": grant.to_scope.key,
        "kinds": list(map(int, grant.kinds)),
        "create_time": grant.create_time.isoformat(),
        "expire_time": grant.expire_time.isoformat() if grant.expire_time else None,
        "principal_id": grant.principal_id,
    }


def _from_response(response: Mapping[str, Any]) -> Grant:
    expires = response["expire_time"]
    return _from_row(
        {
            **response,
            "create_time": datetime.fromisoformat(response["create_time"]),
            "expire_time": datetime.fromisoformat(expires) if expires else None,
        }
    )

"""What jobs read and write of the activity log on PostgreSQL."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from services.common.encryption.cipher import PLAIN, Cipher
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.sealing import OwnerSealing, opened_of
from services.common.maintenance.fence import check_fence, fenced_transaction
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import fetch_as_tenant, tenant_transaction
from services.common.postgres.types import Pool
from services.episodic.activity.model import FileOperation, Pattern
from services.episodic.activity.store import ActivityOwner, FileChange, LogState, Partition, ToolOutcome
from services.episodic.activity.stores import postgres_sql as sql
from services.episodic.activity.stores.postgres_sealing import PATTERNS, TOOLS


class PostgresActivityUpkeep:
    """An `ActivityUpkeepStore`. Partitions are made and dropped by functions that run as the owner of the tables."""

    def __init__(self, pool: Pool, *, keys: DataKeys = NO_DATA_KEYS) -> None:
        """Uses a pool of `create_pool`, of a role bound by row-level security; its owner closes it."""
        self._pool = pool
        self._keys = keys

    async def owners(self, *, after: Owner | None, limit: int) -> Sequence[ActivityOwner]:
        """See `ActivityUpkeepStore.owners`."""
        tenant_id, user_id = ("", "") if after is None else (after.tenant_id, after.user_id)
        with translate_errors():
            found = await self._pool.fetch(
                "SELECT * FROM episodic.activity_owners_after($1, $2, $3)", tenant_id, user_id, limit
            )
        return [
            ActivityOwner(Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])), row["revision"], row["is_changed"])
            for row in found
        ]

    async def outcomes(self, owner: Owner, *, since: datetime, limit: int) -> Sequence[ToolOutcome]:
        """See `ActivityUpkeepStore.outcomes`."""
        found = await fetch_as_tenant(self._pool, sql.OUTCOMES, owner.tenant_id, owner.user_id, since, limit)
        return [
            ToolOutcome(
                row["task_id"],
                row["scope_key"],
                row["tool_name"],
                row["success"],
                row["error_message"],
                row["time"],
            )
            for row in await opened_of(self._keys, self._pool, owner, TOOLS, found)
        ]

    async def changes(self, owner: Owner, *, since: datetime, limit: int) -> Sequence[FileChange]:
        """See `ActivityUpkeepStore.changes`."""
        found = await fetch_as_tenant(self._pool, sql.CHANGES, owner.tenant_id, owner.user_id, since, limit)
        return [
            FileChange(
                row["task_id"],
                row["scope_key"],
                row["path"],
                FileOperation(row["operation"]),
                row["previous_path"],
                row["time"],
            )
            for row in found
        ]

    async def pattern_counts(self, owner: Owner) -> Mapping[str, tuple[int, int]]:
        """See `ActivityUpkeepStore.pattern_counts`."""
        found = await fetch_as_tenant(self._pool, sql.PATTERN_COUNTS, owner.tenant_id, owner.user_id)
        return {str(row["pattern_id"]): (row["observed_count"], row["contrary_count"]) for row in found}

    async def log_state(self, owner: Owner) -> LogState | None:
        """See `ActivityUpkeepStore.log_state`."""
        found = await fetch_as_tenant(self._pool, sql.LOG_STATE, owner.tenant_id, owner.user_id)
        return LogState(found[0]["revision"], found[0]["erasure_id"]) if found else None

    async def put_patterns(
        self, owner: Owner, patterns: Sequence[Pattern], *, removed: Sequence[str], learned: LogState | None
    ) -> bool:
        """See `ActivityUpkeepStore.put_patterns`."""
        name = (owner.tenant_id, owner.user_id)
        with contextlib.suppress(_ErasedError):
            async with tenant_transaction(self._pool, owner.tenant_id) as connection:
                await check_fence(connection)
                # The key before other locks; that of a user who was erased is not left: the transaction is taken back.
                cipher = await OwnerSealing(self._keys, connection, owner).cipher(is_new=True) if patterns else PLAIN
                if learned is not None:
                    of_log = (learned.revision, learned.erasure_id)
                    if not await connection.fetchval(sql.LEARNED, *name, *of_log):
                        raise _ErasedError
                if patterns:
                    await connection.execute(sql.PUT_PATTERNS, *name, *_columns(patterns, cipher))
                if removed:
                    await connection.execute(sql.REMOVE_PATTERNS, *name, list(removed))
            return True
        return False

    async def partitions(self) -> Sequence[Partition]:
        """See `ActivityUpkeepStore.partitions`."""
        with translate_errors():
            found = await self._pool.fetch("SELECT part, month FROM episodic.activity_partitions()")
        return [Partition(row["part"], row["month"]) for row in found]

    async def make_partitions(self, month: datetime) -> int:
        """See `ActivityUpkeepStore.make_partitions`."""
        async with fenced_transaction(self._pool) as connection:
            return int(await connection.fetchval("SELECT episodic.make_activity_partitions($1)", month))

    async def drop_partition(self, name: str) -> bool:
        """See `ActivityUpkeepStore.drop_partition`."""
        async with fenced_transaction(self._pool) as connection:
            return bool(await connection.fetchval("SELECT episodic.drop_activity_partition($1)", name))

    async def delete_before(self, time: datetime) -> int:
        """See `ActivityUpkeepStore.delete_before`."""
        async with fenced_transaction(self._pool) as connection:
            return int(await connection.fetchval("SELECT episodic.delete_activity_before($1)", time))


class _ErasedError(Exception):
    """Records that patterns were learned from are gone."""


def _columns(patterns: Sequence[Pattern], cipher: Cipher) -> list[list[Any]]:
    sealed = [PATTERNS.seal(cipher, {"pattern_id": one.pattern_id, "error": one.error}) for one in patterns]
    return [
        [one.pattern_id for one in patterns],
        [int(one.kind) for one in patterns],
        [one.scope_key for one in patterns],
        ["\x1e".join(one.paths) for one in patterns],
        [one.tool_name for one in patterns],
        [one["error"] for one in sealed],
        [one.folder for one in patterns],
        [one.observed_count for one in patterns],
        [one.contrary_count for one in patterns],
        [one.first_time for one in patterns],
        [one.last_time for one in patterns],
        [one.confidence for one in patterns],
    ]

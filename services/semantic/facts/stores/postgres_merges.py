"""Groups of similar facts in PostgreSQL."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import Any, Final

from services.common.owners import Owner
from services.common.postgres.types import Connection
from services.common.scope import Reader, keys_seen
from services.semantic.facts.merge_groups import MergeGroup, MergeGroupId, MergePosition, MergeState
from services.semantic.facts.model import FactId

_COLUMNS: Final = "group_id, fact_ids, state, create_time, decide_time, survivor_id"
_GET: Final = f"""
SELECT {_COLUMNS} FROM semantic.merge_groups WHERE tenant_id = $1 AND user_id = $2 AND group_id = $3
"""  # noqa: S608 - no input in it
_LIST: Final = f"""
SELECT {_COLUMNS} FROM semantic.merge_groups AS g
WHERE tenant_id = $1 AND user_id = $2 AND ($3::smallint IS NULL OR state = $3)
    AND ($4::timestamptz IS NULL OR create_time < $4 OR (create_time = $4 AND group_id > $5::uuid))
    AND ($7::text[] IS NULL OR NOT EXISTS (
        SELECT FROM semantic.facts AS f
        WHERE f.tenant_id = $1 AND f.user_id = $2 AND f.fact_id = ANY (g.fact_ids) AND f.scope_key <> ALL ($7)
    ))
ORDER BY create_time DESC, group_id
LIMIT $6
"""  # noqa: S608 - no input in it
_QUEUE: Final = """
INSERT INTO semantic.merge_groups (tenant_id, user_id, group_id, fact_ids, state, create_time)
SELECT $1, $2, $3, $4::uuid[], 1, $5
WHERE cardinality($4::uuid[]) = (
    SELECT count(*) FROM semantic.facts
    WHERE tenant_id = $1 AND user_id = $2 AND fact_id = ANY ($4::uuid[]) AND status IN (1, 2) AND valid_to_time IS NULL
)
ON CONFLICT DO NOTHING
RETURNING group_id
"""
_PUT: Final = """
INSERT INTO semantic.merge_groups
    (tenant_id, user_id, group_id, fact_ids, state, create_time, decide_time, survivor_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (tenant_id, user_id, group_id) DO UPDATE
SET fact_ids = EXCLUDED.fact_ids, state = EXCLUDED.state, decide_time = EXCLUDED.decide_time,
    survivor_id = EXCLUDED.survivor_id
"""
_WITHDRAW: Final = """
DELETE FROM semantic.merge_groups WHERE tenant_id = $1 AND user_id = $2 AND group_id = ANY ($3::uuid[]) AND state = 1
RETURNING group_id
"""
_WITHDRAW_WITH: Final = """
DELETE FROM semantic.merge_groups WHERE tenant_id = $1 AND user_id = $2 AND state = 1 AND fact_ids && $3::uuid[]
"""
_LEFT: Final = "ARRAY(SELECT i FROM unnest(fact_ids) WITH ORDINALITY AS u (i, n) WHERE NOT i = ANY ($3) ORDER BY n)"
REMOVE_FACTS: Final = (
    # A group that waits, or whose survivor goes, says nothing about the rest; nor does one fact alone.
    f"""
DELETE FROM semantic.merge_groups WHERE tenant_id = $1 AND user_id = $2 AND fact_ids && $3::uuid[]
    AND (state = 1 OR survivor_id = ANY ($3) OR cardinality({_LEFT}) < 2)
""",  # noqa: S608 - no input in it
    f"""
UPDATE semantic.merge_groups SET fact_ids = {_LEFT} WHERE tenant_id = $1 AND user_id = $2 AND fact_ids && $3::uuid[]
""",  # noqa: S608 - no input in it
)
"""What becomes of groups when facts are removed; in this order."""
REMOVE_OWNER: Final = "DELETE FROM semantic.merge_groups WHERE tenant_id = $1 AND user_id = $2"


class PostgresMergeGroupWriter:
    """Implements `MergeGroupWriter` in an open transaction; see there for what each method guarantees."""

    def __init__(self, connection: Connection, owner: Owner) -> None:
        """Writes for `owner` through a connection bound to its tenant."""
        self._connection = connection
        self._key = (owner.tenant_id, owner.user_id)

    async def get(self, group_id: MergeGroupId) -> MergeGroup | None:
        """See `MergeGroupWriter.get`."""
        row = await self._connection.fetchrow(_GET, *self._key, uuid.UUID(group_id))
        return None if row is None else _group(row)

    async def queue(self, groups: Sequence[MergeGroup]) -> list[MergeGroupId]:
        """See `MergeGroupWriter.queue`."""
        values = [(*self._key, uuid.UUID(g.group_id), _uuids(g.fact_ids), g.create_time) for g in groups]
        if not values:
            return []
        return [_id(row) for row in await self._connection.fetchmany(_QUEUE, values)]

    async def put(self, group: MergeGroup) -> None:
        """See `MergeGroupWriter.put`."""
        survivor = None if group.survivor_id is None else uuid.UUID(group.survivor_id)
        key = (*self._key, uuid.UUID(group.group_id))
        values = (_uuids(group.fact_ids), int(group.state), group.create_time, group.decide_time, survivor)
        await self._connection.execute(_PUT, *key, *values)

    async def withdraw(self, group_ids: Sequence[MergeGroupId]) -> list[MergeGroupId]:
        """See `MergeGroupWriter.withdraw`."""
        return sorted(map(_id, await self._connection.fetch(_WITHDRAW, *self._key, _uuids(group_ids))))

    async def withdraw_with(self, fact_ids: Sequence[FactId]) -> None:
        """See `MergeGroupWriter.withdraw_with`."""
        await self._connection.execute(_WITHDRAW_WITH, *self._key, _uuids(fact_ids))


async def list_merge_groups(
    connection: Connection,
    owner: Owner,
    *,
    state: MergeState | None,
    after: MergePosition | None,
    limit: int,
    reader: Reader | None,
) -> list[MergeGroup]:
    """See `FactStore.merge_groups`."""
    position = (None, None) if after is None else (after.create_time, uuid.UUID(after.group_id))
    wanted = None if state is None else int(state)
    rows = await connection.fetch(_LIST, owner.tenant_id, owner.user_id, wanted, *position, limit, keys_seen(reader))
    return [_group(row) for row in rows]


def _group(row: Any) -> MergeGroup:
    survivor = row["survivor_id"]
    return MergeGroup(
        group_id=_id(row),
        fact_ids=tuple(FactId(str(i)) for i in row["fact_ids"]),
        state=MergeState(row["state"]),
        create_time=row["create_time"],
        decide_time=row["decide_time"],
        survivor_id=None if survivor is None else FactId(str(survivor)),
    )


def _id(row: Any) -> MergeGroupId:
    return MergeGroupId(str(row["group_id"]))


def _uuids(ids: Iterable[str]) -> list[uuid.UUID]:
    return [uuid.UUID(i) for i in ids]

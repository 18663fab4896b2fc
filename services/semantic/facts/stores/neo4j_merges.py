"""Groups of similar facts in Neo4j."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, LiteralString

from services.common.neo4j.graph import Graph, GraphTransaction, Record
from services.common.owners import Owner
from services.common.scope import Reader, keys_seen
from services.semantic.facts.merge_groups import MergeGroup, MergeGroupId, MergePosition, MergeState
from services.semantic.facts.model import FactId
from services.semantic.stores.neo4j import known_moment_of, microseconds, moment_of

_BEFORE_ALL: Final = MergePosition(datetime.max.replace(tzinfo=UTC), MergeGroupId(""))
"""Where the first page of a list begins."""
_GROUP: Final[LiteralString] = f"""
    g.group_id AS group_id, g.fact_ids AS fact_ids, g.state AS state, g.survivor_id AS survivor_id,
    {microseconds("g.create_time")} AS create_time, {microseconds("g.decide_time")} AS decide_time
"""
_OWN: Final[LiteralString] = """
MATCH (g:MnemeMergeGroup {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX g:MnemeMergeGroup(tenant_id, user_id, group_id)
WHERE g.group_id IS NOT NULL
"""
GET: Final[LiteralString] = f"""
MATCH (g:MnemeMergeGroup {{tenant_id: $tenant_id, user_id: $user_id, group_id: $group_id}})
RETURN {_GROUP}
"""
LIST: Final[LiteralString] = f"""
MATCH (g:MnemeMergeGroup {{tenant_id: $tenant_id, user_id: $user_id}})
USING INDEX g:MnemeMergeGroup(tenant_id, user_id, create_time)
WHERE g.create_time <= $after_time
WITH g ORDER BY g.tenant_id DESC, g.user_id DESC, g.create_time DESC, g.group_id
WHERE (g.create_time < $after_time OR g.group_id > $after_id) AND ($state IS NULL OR g.state = $state)
    AND ($scope_keys IS NULL OR all(fact_id IN g.fact_ids WHERE NOT EXISTS {{
        MATCH (f:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id}})
        WHERE NOT f.scope_key IN $scope_keys
    }}))
WITH g ORDER BY g.tenant_id DESC, g.user_id DESC, g.create_time DESC, g.group_id LIMIT $limit
RETURN {_GROUP}
"""
QUEUE: Final[LiteralString] = """
UNWIND $groups AS row
OPTIONAL MATCH (known:MnemeMergeGroup {tenant_id: $tenant_id, user_id: $user_id, group_id: row.group_id})
WITH row WHERE known IS NULL
CALL (row) {
    UNWIND row.fact_ids AS fact_id
    MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id})
    WHERE f.status < 3 AND f.valid_to_time IS NULL
    RETURN count(f) AS count
}
WITH row WHERE count = size(row.fact_ids)
CREATE (g:MnemeMergeGroup {tenant_id: $tenant_id, user_id: $user_id, group_id: row.group_id})
SET g.fact_ids = row.fact_ids, g.state = 1, g.create_time = row.create_time
RETURN g.group_id AS group_id
"""
PUT: Final[LiteralString] = """
MERGE (g:MnemeMergeGroup {tenant_id: $tenant_id, user_id: $user_id, group_id: $group_id})
ON CREATE SET g.create_time = $create_time
SET g.fact_ids = $fact_ids, g.state = $state, g.decide_time = $decide_time, g.survivor_id = $survivor_id
"""
WITHDRAW: Final[LiteralString] = """
UNWIND $group_ids AS group_id
MATCH (g:MnemeMergeGroup {tenant_id: $tenant_id, user_id: $user_id, group_id: group_id})
WHERE g.state = 1
DELETE g
RETURN group_id ORDER BY group_id
"""
WITHDRAW_WITH: Final[LiteralString] = f"""
{_OWN} AND g.state = 1 AND any(fact_id IN g.fact_ids WHERE fact_id IN $fact_ids)
DELETE g
"""
# A group that waits, or whose survivor goes, says nothing about the rest; nor does one fact alone.
REMOVE_FACTS: Final[LiteralString] = f"""
{_OWN} AND any(fact_id IN g.fact_ids WHERE fact_id IN $fact_ids)
WITH g, [fact_id IN g.fact_ids WHERE NOT fact_id IN $fact_ids] AS left
SET g.fact_ids = left
WITH g, left WHERE g.state = 1 OR coalesce(g.survivor_id IN $fact_ids, false) OR size(left) < 2
DELETE g
"""
REMOVE_OWNER: Final[LiteralString] = f"""
{_OWN}
WITH g LIMIT $limit
DELETE g
RETURN count(*) AS removed
"""
ALL_QUERIES: Final[tuple[LiteralString, ...]] = (
    GET,
    LIST,
    QUEUE,
    PUT,
    WITHDRAW,
    WITHDRAW_WITH,
    REMOVE_FACTS,
    REMOVE_OWNER,
)
"""For the test that reads their plans."""


class Neo4jMergeGroupWriter:
    """Implements `MergeGroupWriter` in an open transaction; see there for what each method guarantees."""

    def __init__(self, transaction: GraphTransaction, owner: Owner) -> None:
        """Writes for `owner` in a transaction that holds its lock."""
        self._transaction = transaction
        self._owner = owner

    async def get(self, group_id: MergeGroupId) -> MergeGroup | None:
        """See `MergeGroupWriter.get`."""
        rows = await self._run(GET, group_id=group_id)
        return _group(rows[0]) if rows else None

    async def queue(self, groups: Sequence[MergeGroup]) -> list[MergeGroupId]:
        """See `MergeGroupWriter.queue`."""
        states = [{"group_id": g.group_id, "fact_ids": list(g.fact_ids), "create_time": g.create_time} for g in groups]
        return _ids(await self._run(QUEUE, groups=states)) if states else []

    async def put(self, group: MergeGroup) -> None:
        """See `MergeGroupWriter.put`."""
        await self._run(
            PUT,
            group_id=group.group_id,
            fact_ids=list(group.fact_ids),
            state=int(group.state),
            create_time=group.create_time,
            decide_time=group.decide_time,
            survivor_id=group.survivor_id,
        )

    async def withdraw(self, group_ids: Sequence[MergeGroupId]) -> list[MergeGroupId]:
        """See `MergeGroupWriter.withdraw`."""
        return _ids(await self._run(WITHDRAW, group_ids=list(group_ids)))

    async def withdraw_with(self, fact_ids: Sequence[FactId]) -> None:
        """See `MergeGroupWriter.withdraw_with`."""
        await self._run(WITHDRAW_WITH, fact_ids=list(fact_ids))

    async def _run(self, query: LiteralString, **parameters: Any) -> list[Record]:
        return await self._transaction.run(query, {**_key(self._owner), **parameters})


async def list_merge_groups(
    graph: Graph,
    owner: Owner,
    *,
    state: MergeState | None,
    after: MergePosition | None,
    limit: int,
    reader: Reader | None,
) -> list[MergeGroup]:
    """See `FactStore.merge_groups`."""
    position = after or _BEFORE_ALL
    parameters = {
        **_key(owner),
        "state": None if state is None else int(state),
        "after_time": position.create_time,
        "after_id": position.group_id,
        "limit": limit,
        "scope_keys": keys_seen(reader),
    }
    return [_group(row) for row in await graph.read(LIST, parameters)]


def _key(owner: Owner) -> dict[str, Any]:
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id}


def _ids(rows: Sequence[Record]) -> list[MergeGroupId]:
    return [MergeGroupId(row["group_id"]) for row in rows]


def _group(row: Record) -> MergeGroup:
    survivor = row["survivor_id"]
    return MergeGroup(
        group_id=MergeGroupId(row["group_id"]),
        fact_ids=tuple(FactId(i) for i in row["fact_ids"]),
        state=MergeState(row["state"]),
        create_time=known_moment_of(row["create_time"]),
        decide_time=moment_of(row["decide_time"]),
        survivor_id=None if survivor is None else FactId(survivor),
    )

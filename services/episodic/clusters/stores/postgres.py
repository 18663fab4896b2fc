"""Clusters in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from services.common.maintenance.fence import check_fence
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool, Record
from services.common.scope import Reader, keys_seen
from services.episodic.clusters.model import Cluster, ClusterId, Extent, Member, Placed, Update
from services.episodic.clusters.store import ClusterOwner, ClusterPosition, MemberPosition
from services.episodic.model import EpisodeId, Owner, TenantId, UserId
from services.episodic.stores import postgres_rows as rows

_MEMBERS_PAGE: Final = 1_000
"""Members that one statement writes: the event loop waits while its parameters are encoded."""
_ACTIVE: Final = """
    FROM episodic.cluster_members AS m
    JOIN episodic.episodes AS e ON e.tenant_id = m.tenant_id AND e.user_id = m.user_id AND e.episode_id = m.episode_id
    WHERE m.tenant_id = $1 AND m.user_id = $2 AND e.tenant_id = $1 AND e.user_id = $2 AND e.status = 2
"""
_LIST: Final = f"""
    SELECT c.cluster_id, c.scope_key, c.create_time, found.* FROM episodic.clusters AS c CROSS JOIN LATERAL (
        SELECT count(*) AS episode_count, min(e.time) AS start_time, max(e.time) AS end_time,
            (array_agg(e.episode_id ORDER BY m.membership DESC, m.episode_id))[1:3] AS typical
        {_ACTIVE} AND m.cluster_id = c.cluster_id
    ) AS found
    WHERE c.tenant_id = $1 AND c.user_id = $2 AND found.episode_count > 0
        AND ($3::timestamptz IS NULL OR (c.create_time, c.cluster_id) < ($3, $4::uuid))
        AND ($6::text[] IS NULL OR c.scope_key = ANY($6))
    ORDER BY c.create_time DESC, c.cluster_id DESC LIMIT $5
"""  # noqa: S608 - built from constants of this module
_MEMBERS: Final = f"""
    SELECT m.episode_id, m.membership, e.time {_ACTIVE} AND m.cluster_id = $3
        AND ($4::float8 IS NULL OR m.membership < $4 OR (m.membership = $4 AND m.episode_id > $5::uuid))
        AND ($7::text[] IS NULL OR e.scope_key = ANY($7))
    ORDER BY m.membership DESC, m.episode_id LIMIT $6
"""
_OWNER: Final = """
    SELECT o.revision, o.revision > coalesce(c.revision, 0) AS is_changed
    FROM episodic.owners AS o
    LEFT JOIN episodic.cluster_owners AS c ON c.tenant_id = o.tenant_id AND c.user_id = o.user_id
    WHERE o.tenant_id = $1 AND o.user_id = $2
"""
_EXTENT: Final = """
    SELECT count(*) AS active, count(*) FILTER (WHERE m.episode_id IS NULL) AS new,
        coalesce((
            SELECT c.added FROM episodic.cluster_owners AS c WHERE c.tenant_id = $1 AND c.user_id = $2
        ), 0) AS added
    FROM episodic.episodes AS e LEFT JOIN episodic.cluster_members AS m
        ON m.tenant_id = $1 AND m.user_id = $2 AND m.episode_id = e.episode_id
    WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.status = 2
"""
_ALL: Final = """
    SELECT e.episode_id, e.episode_key, e.scope_key, m.cluster_id
    FROM episodic.episodes AS e LEFT JOIN episodic.cluster_members AS m
        ON m.tenant_id = $1 AND m.user_id = $2 AND m.episode_id = e.episode_id
    WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.status = 2
    ORDER BY e.episode_id LIMIT $3
"""
_NEW: Final = """
    SELECT e.episode_id, e.episode_key, e.scope_key, NULL::uuid AS cluster_id FROM episodic.episodes AS e
    WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.status = 2 AND ($3::uuid IS NULL OR e.episode_id > $3)
        AND NOT EXISTS (
            SELECT FROM episodic.cluster_members AS m
            WHERE m.tenant_id = $1 AND m.user_id = $2 AND m.episode_id = e.episode_id
        )
    ORDER BY e.episode_id LIMIT $4
"""
_LEFT_OUT: Final = f"""
    SELECT e.episode_id, e.episode_key, e.scope_key, m.cluster_id {_ACTIVE} AND m.cluster_id IS NULL
    ORDER BY e.episode_id DESC LIMIT $3
"""
_TYPICAL: Final = f"""
    SELECT found.* FROM episodic.clusters AS c CROSS JOIN LATERAL (
        SELECT e.episode_id, e.episode_key, e.scope_key, m.cluster_id {_ACTIVE} AND m.cluster_id = c.cluster_id
        ORDER BY m.membership DESC, m.episode_id LIMIT $3
    ) AS found
    WHERE c.tenant_id = $1 AND c.user_id = $2
    ORDER BY c.create_time DESC, c.cluster_id DESC LIMIT $4
"""  # noqa: S608 - built from constants of this module
# Locked, so that a deletion meanwhile waits and finds the rows, or is seen here; in the order of the ids, as every
# write of several episodes does.
_PUT_MEMBERS: Final = """
    WITH present AS MATERIALIZED (
        SELECT e.episode_id FROM episodic.episodes AS e
        WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.episode_id = ANY($3::uuid[]) AND e.status = 2
        ORDER BY e.episode_id FOR KEY SHARE
    )
    INSERT INTO episodic.cluster_members AS m (tenant_id, user_id, episode_id, cluster_id, membership)
    SELECT $1, $2, made.episode_id, made.cluster_id, made.membership
    FROM unnest($3::uuid[], $4::uuid[], $5::float8[]) AS made (episode_id, cluster_id, membership)
    JOIN present USING (episode_id)
    ON CONFLICT (tenant_id, user_id, episode_id)
        DO UPDATE SET cluster_id = EXCLUDED.cluster_id, membership = EXCLUDED.membership
    RETURNING m.episode_id
"""
_PUT_CLUSTERS: Final = """
    INSERT INTO episodic.clusters (tenant_id, user_id, cluster_id, scope_key, create_time)
    SELECT $1, $2, made.cluster_id, made.scope_key, $5
    FROM unnest($3::uuid[], $4::text[]) AS made (cluster_id, scope_key)
    ON CONFLICT (tenant_id, user_id, cluster_id) DO NOTHING
"""
_EMPTY: Final = """
    DELETE FROM episodic.clusters AS c WHERE c.tenant_id = $1 AND c.user_id = $2 AND NOT EXISTS (
        SELECT FROM episodic.cluster_members AS m
        WHERE m.tenant_id = $1 AND m.user_id = $2 AND m.cluster_id = c.cluster_id
    )
"""
_PUT_OWNER: Final = """
    INSERT INTO episodic.cluster_owners AS o (tenant_id, user_id, revision, added) VALUES ($1, $2, coalesce($3, 0), $4)
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET
        revision = greatest(o.revision, EXCLUDED.revision),
        added = CASE WHEN $5 THEN 0 ELSE o.added + EXCLUDED.added END
"""


class PostgresClusterStore:
    """A `ClusterStore`, on a pool of `create_pool` of a role bound by row-level security; its owner closes it."""

    def __init__(self, pool: Pool) -> None:
        """The database has the migrations of the tier."""
        self._pool = pool

    async def list_clusters(
        self, owner: Owner, *, after: ClusterPosition | None, limit: int, reader: Reader | None = None
    ) -> Sequence[Cluster]:
        """See `ClusterStore.list_clusters`."""
        place = (None, None) if after is None else (after.create_time, after.cluster_id)
        return [_cluster(row) for row in await self._read(_LIST, owner, *place, limit, keys_seen(reader))]

    async def list_members(
        self,
        owner: Owner,
        cluster_id: ClusterId,
        *,
        after: MemberPosition | None,
        limit: int,
        reader: Reader | None = None,
    ) -> Sequence[Member]:
        """See `ClusterStore.list_members`."""
        place = (None, None) if after is None else (after.membership, after.episode_id)
        found = await self._read(_MEMBERS, owner, cluster_id, *place, limit, keys_seen(reader))
        return [
            Member(episode_id=EpisodeId(row["episode_id"]), membership=row["membership"], time=row["time"])
            for row in found
        ]

    async def owners(self, *, after: Owner | None, limit: int, only: Owner | None = None) -> Sequence[ClusterOwner]:
        """See `ClusterStore.owners`."""
        if only is not None:
            found = [] if only == after else await self._read(_OWNER, only)
            return [ClusterOwner(only, row["revision"], row["is_changed"]) for row in found]
        tenant_id, user_id = ("", "") if after is None else (after.tenant_id, after.user_id)
        with translate_errors():
            found = await self._pool.fetch(
                "SELECT * FROM episodic.cluster_owners_after($1, $2, $3)", tenant_id, user_id, limit
            )
        return [
            ClusterOwner(Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])), row["revision"], row["is_changed"])
            for row in found
        ]

    async def extent(self, owner: Owner) -> Extent:
        """See `ClusterStore.extent`."""
        (row,) = await self._read(_EXTENT, owner)
        return Extent(active=row["active"], new=row["new"], added=row["added"])

    async def all_episodes(self, owner: Owner, *, limit: int) -> Sequence[Placed]:
        """See `ClusterStore.all_episodes`."""
        return [_placed(row) for row in await self._read(_ALL, owner, limit)]

    async def new_episodes(self, owner: Owner, *, after: EpisodeId | None, limit: int) -> Sequence[Placed]:
        """See `ClusterStore.new_episodes`."""
        return [_placed(row) for row in await self._read(_NEW, owner, after, limit)]

    async def left_out(self, owner: Owner, *, limit: int) -> Sequence[Placed]:
        """See `ClusterStore.left_out`."""
        return [_placed(row) for row in await self._read(_LEFT_OUT, owner, limit)]

    async def typical(self, owner: Owner, *, per_cluster: int, limit: int) -> Sequence[Placed]:
        """See `ClusterStore.typical`."""
        return [_placed(row) for row in await self._read(_TYPICAL, owner, per_cluster, limit)]

    async def put(self, owner: Owner, update: Update, *, now: datetime) -> int:
        """See `ClusterStore.put`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await check_fence(connection)
            # Held until the end: two writers of a user follow one another.
            counted = 0 if update.is_computed else sum(len(one.episode_ids) for one in update.groups)
            counted += 0 if update.is_computed else len(update.left_out)
            await connection.execute(
                _PUT_OWNER, owner.tenant_id, owner.user_id, update.revision, counted, update.is_computed
            )
            if update.replaces:
                whole = "DELETE FROM episodic.cluster_members WHERE tenant_id = $1 AND user_id = $2"
                await connection.execute(whole, owner.tenant_id, owner.user_id)
            written = await _put_members(connection, owner, update)
            await connection.execute(
                _PUT_CLUSTERS,
                owner.tenant_id,
                owner.user_id,
                [group.cluster_id for group in update.groups],
                [group.scope_key for group in update.groups],
                now,
            )
            await connection.execute(_EMPTY, owner.tenant_id, owner.user_id)
        return written

    async def _read(self, statement: str, owner: Owner, *arguments: object) -> list[Record]:
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            found: list[Record] = await connection.fetch(statement, owner.tenant_id, owner.user_id, *arguments)
            return found


async def _put_members(connection: Connection, owner: Owner, update: Update) -> int:
    members: list[tuple[EpisodeId, ClusterId | None, float]] = [
        (episode_id, group.cluster_id, membership)
        for group in update.groups
        for episode_id, membership in zip(group.episode_ids, group.memberships, strict=True)
    ]
    members += [(episode_id, None, 0.0) for episode_id in update.left_out]
    # Rows are locked in the order of the ids, over all statements too.
    members.sort(key=lambda member: member[0].bytes)
    written = 0
    for start in range(0, len(members), _MEMBERS_PAGE):
        columns = zip(*members[start : start + _MEMBERS_PAGE], strict=True)
        written += len(await connection.fetch(_PUT_MEMBERS, owner.tenant_id, owner.user_id, *map(list, columns)))
    return written


def _cluster(row: Record) -> Cluster:
    return Cluster(
        cluster_id=ClusterId(row["cluster_id"]),
        scope_key=row["scope_key"],
        episode_count=row["episode_count"],
        typical=[EpisodeId(one) for one in row["typical"]],
        start_time=row["start_time"],
        end_time=row["end_time"],
        create_time=row["create_time"],
    )


def _placed(row: Record) -> Placed:
    cluster_id = row["cluster_id"]
    return Placed(
        episode_id=EpisodeId(row["episode_id"]),
        key=rows.key(row["episode_key"]),
        scope_key=row["scope_key"],
        cluster_id=None if cluster_id is None else ClusterId(cluster_id),
    )

"""The tier's part of exports and imports of a user: episodes without what the index computes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from services.common.clock import Clock
from services.common.copying.model import Kind, Owner, Record
from services.common.copying.postgres_values import microseconds
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.errors import StoreUnavailable
from services.common.portability.drivers import PostgresUserRecords
from services.common.portability.records import Shape, TierRecords, Written
from services.common.postgres.types import Connection, Pool
from services.episodic.activity.stores.postgres_sealing import SEALED_TABLES as ACTIVITY_TABLES
from services.episodic.model import EpisodeStatus
from services.episodic.stores.postgres import SCHEMA
from services.episodic.stores.postgres_rows import EPISODES

_EPISODES: Final = f"{SCHEMA}.episodes"
_INDEXING: Final = frozenset({"revision", "indexed_model", "index_attempts", "index_after", "piece_count", "fade_time"})
_TASKS: Final = f"{SCHEMA}.activity_tasks"
_VECTOR: Final = frozenset({"embedding", "embedding_model"})
_ACTIVITY: Final = f"{SCHEMA}.activity_"
_CHANGED: Final = """
    INSERT INTO episodic.activity_owners AS o (tenant_id, user_id, revision) VALUES ($1, $2, 1)
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET revision = o.revision + 1
"""
_NOT_DELETED: Final = """
    DELETE FROM episodic.deleted_episodes WHERE tenant_id = $1 AND user_id = $2 AND episode_id = ANY($3::uuid[])
"""


def episodic_user_records(pool: Pool, keys: DataKeys = NO_DATA_KEYS) -> PostgresUserRecords:
    """Where the records are."""
    return PostgresUserRecords(pool, SCHEMA, _written, keys=keys, sealed=[EPISODES, *ACTIVITY_TABLES])


def episodic_records(clock: Clock, settle: Callable[[], Awaitable[None]] | None = None) -> TierRecords:
    """What of the tier is exported, after `settle` has written access statistics.

    Imported episodes are indexed as new ones are.
    """

    async def restored(kind: str, records: list[Record]) -> Written:
        if kind == _EPISODES:
            now = microseconds(clock.now())
            return {kind: [_pending(record, now) for record in records]}
        if kind == _TASKS:
            return {kind: [{**record, **dict.fromkeys(_VECTOR)} for record in records]}
        return {kind: records}

    return TierRecords(
        hidden=frozenset(
            f"{SCHEMA}.{table}"
            for table in (
                "owners",
                "idempotency_records",
                "token_vectors",
                "deleted_episodes",
                "activity_owners",
                "activity_erasures",
                "data_keys",
                "clusters",
                "cluster_members",
                "cluster_owners",
            )
        ),
        shapes={_EPISODES: Shape(_INDEXING, outward=_settled, added={"archive_time": None}), _TASKS: Shape(_VECTOR)},
        restored=restored,
        settle=settle,
    )


def _settled(record: Record) -> Record:
    """An episode with the status that it has when it is indexed.

    Raises:
        StoreUnavailable: It was never indexed, so that its importance and summary are not there yet.
    """
    if record["status"] != EpisodeStatus.PENDING_EMBEDDING:
        return record
    if record["indexed_model"] is None and record["importance"] is None:
        raise StoreUnavailable("episode index", retry_after_seconds=0.2)
    return {**record, "status": int(EpisodeStatus.ACTIVE)}


def _pending(record: Record, now: int) -> Record:
    computed: dict[str, Any] = {
        "revision": 0,
        "indexed_model": None,
        "index_attempts": 0,
        "index_after": now,
        "piece_count": 0,
        "fade_time": None,
    }
    if record["status"] == EpisodeStatus.ACTIVE:
        computed["status"] = int(EpisodeStatus.PENDING_EMBEDDING)
    return {**record, **computed}


async def _written(connection: Connection, owner: Owner, kind: Kind, records: Sequence[Record]) -> None:
    if kind.name == _EPISODES:
        await connection.execute(_NOT_DELETED, *owner, [record["episode_id"] for record in records])
    elif kind.name.startswith(_ACTIVITY):
        await connection.execute(_CHANGED, *owner)

"""Copies the rows of PostgreSQL, for `bench.multiply`.

Columns are read from the catalogue, so that those of a later migration are copied as well: ids, times and names of
conversations are changed wherever they are, numbers that the database gives are given anew, all else is as it was.
What becomes of a table as a whole is said here; one that is not known stops the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, TypeAlias

import asyncpg
import numpy as np

from bench.common import BenchError
from bench.multiply_points import NOISE_LENGTH, Conversation
from services.episodic.model import Owner, TenantId, UserId

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


class Treatment(Enum):
    """What becomes of a table's rows."""

    COPIED = auto()
    """Each is there again in every copy."""
    KEPT = auto()
    """They stay as they are: one for each user or name, idempotency records, the migrations that ran."""
    ADDED_UP = auto()
    """They stay, with counts of all copies."""
    EMPTY = auto()
    """There must be none: work that is left to be done, or what a load does not write."""


TREATMENTS: Final = {
    "gateway.conversations": Treatment.COPIED,
    "gateway.interactions": Treatment.COPIED,
    "gateway.speakers": Treatment.KEPT,
    "gateway.feedback": Treatment.EMPTY,
    "gateway.deliveries": Treatment.EMPTY,
    "gateway.erasures": Treatment.EMPTY,
    "gateway.erasure_items": Treatment.EMPTY,
    "gateway.requests": Treatment.KEPT,
    "gateway.grants": Treatment.KEPT,
    "gateway.documents": Treatment.KEPT,
    "gateway.recalls": Treatment.KEPT,
    "gateway.tombstones": Treatment.EMPTY,
    "gateway.imports": Treatment.EMPTY,
    "gateway.audit_entries": Treatment.KEPT,
    "gateway.audit_trees": Treatment.KEPT,
    "gateway.data_keys": Treatment.EMPTY,
    "gateway.call_demand": Treatment.KEPT,
    "gateway.schema_migrations": Treatment.KEPT,
    "episodic.episodes": Treatment.COPIED,
    "episodic.token_vectors": Treatment.COPIED,
    "episodic.owners": Treatment.ADDED_UP,
    "episodic.deleted_episodes": Treatment.EMPTY,
    "episodic.embedded_index": Treatment.KEPT,
    "episodic.activity_files": Treatment.KEPT,
    "episodic.activity_learnings": Treatment.KEPT,
    "episodic.activity_owners": Treatment.KEPT,
    "episodic.activity_patterns": Treatment.KEPT,
    "episodic.activity_erasures": Treatment.KEPT,
    "episodic.activity_snapshots": Treatment.KEPT,
    "episodic.activity_tasks": Treatment.KEPT,
    "episodic.activity_tools": Treatment.KEPT,
    "episodic.cluster_members": Treatment.KEPT,
    "episodic.cluster_owners": Treatment.KEPT,
    "episodic.clusters": Treatment.KEPT,
    "episodic.idempotency_records": Treatment.EMPTY,
    "episodic.data_keys": Treatment.EMPTY,
    "episodic.schema_migrations": Treatment.KEPT,
    "semantic.data_keys": Treatment.EMPTY,
    "semantic.facts": Treatment.COPIED,
    "semantic.fact_statements": Treatment.COPIED,
    "semantic.fact_supports": Treatment.KEPT,
    "semantic.extracted_interactions": Treatment.COPIED,
    "semantic.observed_interactions": Treatment.COPIED,
    "semantic.merge_groups": Treatment.KEPT,
    "semantic.assertion_keys": Treatment.KEPT,
    "semantic.assertions": Treatment.KEPT,
    "semantic.supersessions": Treatment.KEPT,
    "semantic.code_repositories": Treatment.KEPT,
    "semantic.code_files": Treatment.KEPT,
    "semantic.procedures": Treatment.KEPT,
    "semantic.judged_recalls": Treatment.KEPT,
    "semantic.profiles": Treatment.KEPT,
    "semantic.idempotency_records": Treatment.KEPT,
    "semantic.owner_revisions": Treatment.KEPT,
    "semantic.schema_migrations": Treatment.KEPT,
    "agentic.notes": Treatment.COPIED,
    "agentic.note_vectors": Treatment.COPIED,
    "agentic.caption_vectors": Treatment.EMPTY,
    "agentic.link_ends": Treatment.COPIED,
    "agentic.note_pairs": Treatment.KEPT,
    "agentic.note_versions": Treatment.KEPT,
    "agentic.processed_interactions": Treatment.COPIED,
    "agentic.owner_revisions": Treatment.KEPT,
    "agentic.idempotency_records": Treatment.KEPT,
    "agentic.data_keys": Treatment.EMPTY,
    "agentic.schema_migrations": Treatment.KEPT,
    "maintenance.claims": Treatment.KEPT,
    "maintenance.idempotency_records": Treatment.KEPT,
    "maintenance.log": Treatment.KEPT,
    "maintenance.model_holders": Treatment.KEPT,
    "maintenance.purge_schedule": Treatment.KEPT,
    "maintenance.purges": Treatment.KEPT,
    "maintenance.schema_migrations": Treatment.KEPT,
    "maintenance.serving_model": Treatment.KEPT,
}
_NOISES: Final = 1_000
"""Vectors of noise; which one is added to a vector follows from its id and its copy."""
_CONVERSATION_COLUMNS: Final = frozenset(("conversation_id",))
_DIGEST_COLUMNS: Final = frozenset(("identity", "text_identity", "topic"))
"""Of what a fact says: facts of two copies are two facts, and do not contradict each other."""
_NOISE_JOIN: Final = """
JOIN pg_temp.noise AS p ON p.number = (
    get_byte(uuid_send(t.{id}), 15) * 256 + get_byte(uuid_send(t.{id}), 14) + $1::int * 37
) % {count}"""
_EPISODES_JOIN: Final = """
JOIN pg_temp.places AS q
    ON (q.tenant_id, q.user_id, q.conversation_id, q.copy) = (t.tenant_id, t.user_id, t.conversation_id, $1::int)
JOIN episodic.owners AS o ON (o.tenant_id, o.user_id) = (t.tenant_id, t.user_id)"""
_JOINS: Final = {
    "episodic.episodes": _EPISODES_JOIN,
    "semantic.facts": _NOISE_JOIN.format(id="fact_id", count=_NOISES),
    "agentic.note_vectors": _NOISE_JOIN.format(id="note_id", count=_NOISES),
}
_ROWS_AT_ONCE_SECONDS: Final = 3_600.0


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    type: str  # as PostgreSQL names it inside: int8, _uuid
    is_given: bool  # by the database: an identity, the next number of a sequence, or computed


async def prepare(connection: Connection) -> None:
    """Look whether a store can be multiplied.

    Raises:
        BenchError: It cannot; the message says why.
    """
    query = (
        "SELECT relnamespace::regnamespace || '.' || relname FROM pg_class "
        "WHERE relkind IN ('r', 'p', 'm') AND NOT relispartition AND relpersistence <> 't' "
        "AND relnamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
    )
    found = [str(row[0]) for row in await connection.fetch(query)]
    if unknown := [table for table in found if table not in TREATMENTS]:
        raise BenchError(
            f"bench.multiply does not know {', '.join(unknown)}: say in multiply_rows.TREATMENTS what becomes of it"
        )
    if missing := [table for table in TREATMENTS if table not in found]:
        raise BenchError(f"the store has no {', '.join(missing)}: take it out of multiply_rows.TREATMENTS")
    for table in (name for name, treatment in TREATMENTS.items() if treatment is Treatment.EMPTY):
        if await connection.fetchval(f"SELECT EXISTS (SELECT FROM {table})"):  # noqa: S608 - of this module
            raise BenchError(f"{table} is not empty: only a store that is loaded and at rest can be multiplied")
    if await connection.fetchval("SELECT EXISTS (SELECT FROM episodic.episodes WHERE status = 1)"):
        raise BenchError("episodes wait for their vectors: only a store that is at rest can be multiplied")


async def known_conversations(connection: Connection) -> list[Conversation]:
    """All conversations of the episodic tier."""
    rows = await connection.fetch("SELECT DISTINCT tenant_id, user_id, conversation_id FROM episodic.episodes")
    return [
        Conversation(Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])), str(row["conversation_id"]))
        for row in rows
    ]


async def span_days(connection: Connection) -> int:
    """Whole days in which everything was said, and one more: copies lie one behind the other."""
    query = "SELECT extract(day FROM max(said_time) - min(said_time))::int + 1 FROM gateway.interactions"
    days = await connection.fetchval(query)
    if days is None:
        raise BenchError("there is nothing in the store that could be multiplied")
    return int(days)


async def copy_rows(
    connection: Connection, times: int, *, conversations: Sequence[Conversation], days: int, seed: int
) -> None:
    """Add the rows of all copies.

    Args:
        connection: As the superuser, who sees the rows of every tenant; `prepare` has looked.
        times: How often each row is there in the end.
        conversations: All conversations of the store.
        days: How much earlier a copy is than the one before it.
        seed: Of the noise on vectors.
    """
    # What triggers would check holds for a copy as it does for the original.
    await connection.execute("SET session_replication_role = replica; SET synchronous_commit = off")
    await connection.execute(
        "CREATE FUNCTION pg_temp.copied(id uuid, copy int) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT AS "
        # The first byte is the same in all ids of one store, which begin with the time: copies keep their order.
        "$$ SELECT encode(set_byte(uuid_send(id), 0, get_byte(uuid_send(id), 0) # copy), 'hex')::uuid $$"
    )
    await _write_places(connection, times, conversations)
    await _write_noise(connection, seed)
    for table, treatment in TREATMENTS.items():
        if treatment is Treatment.COPIED:
            await _copy_table(connection, table, times, days=days)
    await _add_up(connection, times)
    await connection.execute("SET session_replication_role = origin")
    await connection.execute("VACUUM (ANALYZE)", timeout=_ROWS_AT_ONCE_SECONDS)
    await connection.execute("CHECKPOINT", timeout=_ROWS_AT_ONCE_SECONDS)


async def _write_places(connection: Connection, times: int, conversations: Sequence[Conversation]) -> None:
    """What the keys of a copy's episodes begin with, for each conversation."""
    await connection.execute(
        "CREATE TEMP TABLE places (tenant_id text, user_id text, conversation_id text, copy int, prefix bytea)"
    )
    records = [
        (
            conversation.owner.tenant_id,
            conversation.owner.user_id,
            conversation.conversation_id,
            copy,
            (conversation.copied(copy).key >> 32).to_bytes(10, "big"),
        )
        for copy in range(1, times)
        for conversation in conversations
    ]
    await connection.copy_records_to_table("places", records=records, schema_name="pg_temp")
    await connection.execute("ANALYZE places")


async def _write_noise(connection: Connection, seed: int) -> None:
    await connection.execute("CREATE TEMP TABLE noise (number int PRIMARY KEY, embedding vector)")
    query = (
        "SELECT max(dimension) FROM (SELECT max(vector_dims(embedding)) AS dimension FROM semantic.facts "
        "UNION ALL SELECT max(vector_dims(embedding)) FROM agentic.note_vectors) AS both_tiers"
    )
    dimension = await connection.fetchval(query)
    if dimension is not None:
        values = np.random.default_rng(seed).normal(0.0, NOISE_LENGTH / dimension**0.5, size=(_NOISES, dimension))
        texts = [f"[{','.join(f'{value:.6f}' for value in row)}]" for row in values.tolist()]
        query = "INSERT INTO noise SELECT n - 1, t::vector FROM unnest($1::text[]) WITH ORDINALITY AS w (t, n)"
        await connection.execute(query, texts)
    await connection.execute("ANALYZE noise")


async def _copy_table(connection: Connection, table: str, times: int, *, days: int) -> None:
    columns = [column for column in await _columns(connection, table) if not column.is_given]
    names = ", ".join(column.name for column in columns)
    values = ", ".join(_value(table, column, days=days) for column in columns)
    make = f"CREATE TEMP TABLE originals AS SELECT * FROM {table}"  # noqa: S608 - names of this module
    await connection.execute(make, timeout=_ROWS_AT_ONCE_SECONDS)
    await connection.execute("ANALYZE originals")
    insert = f"INSERT INTO {table} ({names}) SELECT {values} FROM originals AS t{_JOINS.get(table, '')}"  # noqa: S608
    count = await connection.fetchval("SELECT count(*) FROM originals")
    for copy in range(1, times):
        done = await connection.execute(insert, copy, timeout=_ROWS_AT_ONCE_SECONDS)
        if done != f"INSERT 0 {count}":
            raise BenchError(f"of {count} rows of {table}, a copy has: {done}")
    await connection.execute("DROP TABLE originals")


async def _columns(connection: Connection, table: str) -> list[_Column]:
    schema, _, name = table.partition(".")
    query = (
        "SELECT column_name, udt_name, is_identity = 'YES' OR is_generated = 'ALWAYS' "
        "OR coalesce(column_default LIKE 'nextval(%', false) AS is_given "
        "FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position"
    )
    rows = await connection.fetch(query, schema, name)
    return [_Column(row["column_name"], row["udt_name"], row["is_given"]) for row in rows]


def _value(table: str, column: _Column, *, days: int) -> str:
    """What a column holds in a copy, in SQL: $1 is the copy's number, t the row; the others are in `_JOINS`."""
    old = f"t.{column.name}"
    match (table, column.name):
        case "gateway.interactions", "sequence":
            return "nextval('gateway.journal_sequence')"
        case "episodic.episodes", "episode_key":
            return f"q.prefix || substr({old}, 11, 4)"
        case "episodic.episodes", "revision":  # 0: nobody has found it yet
            return f"CASE WHEN {old} > 0 THEN {old} + $1::int * o.revision ELSE 0 END"
        case _, "embedding":
            return f"l2_normalize({old} + p.embedding)"
        case _, name if name in _CONVERSATION_COLUMNS:
            return f"CASE WHEN {old} = '' THEN '' ELSE {old} || '~' || $1::int END"
        case _, name if name in _DIGEST_COLUMNS:
            return f"set_byte({old}, 0, get_byte({old}, 0) # $1::int)"
    match column.type:
        case "uuid":
            return f"pg_temp.copied({old}, $1::int)"
        case "_uuid":
            return (
                f"CASE WHEN {old} IS NOT NULL THEN ARRAY(SELECT pg_temp.copied(u.id, $1::int) "  # noqa: S608
                f"FROM unnest({old}) WITH ORDINALITY AS u (id, number) ORDER BY u.number) END"
            )
        case "timestamptz":
            return f"{old} - $1::int * interval '{days} days'"
    return old


async def _add_up(connection: Connection, times: int) -> None:
    """What is counted for each user, with all copies."""
    await connection.execute("UPDATE episodic.owners SET revision = revision * $1::bigint", times)

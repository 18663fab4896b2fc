"""What supports facts in a graph and what was decided about them, as the records of its tables."""

from __future__ import annotations

from typing import Any, Final, LiteralString

from services.common.copying.model import Kind, Record
from services.common.copying.neo4j import GraphKind, micros
from services.common.copying.postgres_values import moment
from services.semantic.stores.postgres import SCHEMA

_GROUP_READS: Final[dict[str, LiteralString]] = {
    "tenant_id": "n.tenant_id",
    "user_id": "n.user_id",
    "group_id": "n.group_id",
    "fact_ids": "n.fact_ids",
    "state": "n.state",
    "create_time": micros("n.create_time"),
    "decide_time": micros("n.decide_time"),
    "survivor_id": "n.survivor_id",
}


def _with_moments(record: Record, *names: str) -> dict[str, Any]:
    """The record with times as the stores write them."""
    return {**record, **{name: None if record[name] is None else moment(record[name]) for name in names}}


MERGE_GROUPS: Final = GraphKind(
    kind=Kind(name=f"{SCHEMA}.merge_groups", key=("tenant_id", "user_id", "group_id"), fields=frozenset(_GROUP_READS)),
    match="(n:MnemeMergeGroup)",
    reads=_GROUP_READS,
    indexed=3,
    row=lambda record: _with_moments(record, "create_time", "decide_time"),
    write="""
        UNWIND $rows AS row
        MERGE (n:MnemeMergeGroup {tenant_id: row.tenant_id, user_id: row.user_id, group_id: row.group_id})
        SET n.fact_ids = row.fact_ids, n.state = row.state, n.create_time = row.create_time,
            n.decide_time = row.decide_time, n.survivor_id = row.survivor_id
    """,
)
"""Groups of similar facts, and what was decided about them."""

_SUPPORT_READS: Final[dict[str, LiteralString]] = {
    "tenant_id": "n.tenant_id",
    "user_id": "n.user_id",
    "fact_id": "n.fact_id",
    "interaction_id": "n.interaction_id",
    "time": micros("n.time"),
    "recorded_time": micros("n.recorded_time"),
}
SUPPORTS: Final = GraphKind(
    kind=Kind(
        name=f"{SCHEMA}.fact_supports",
        key=("tenant_id", "user_id", "fact_id", "interaction_id"),
        fields=frozenset(_SUPPORT_READS),
    ),
    match="(n:MnemeFactSupport)",
    reads=_SUPPORT_READS,
    indexed=4,
    row=lambda record: _with_moments(record, "time", "recorded_time"),
    write="""
        UNWIND $rows AS row
        MATCH (f:MnemeFact {tenant_id: row.tenant_id, user_id: row.user_id, fact_id: row.fact_id})
        MERGE (n:MnemeFactSupport {
            tenant_id: row.tenant_id, user_id: row.user_id, fact_id: row.fact_id, interaction_id: row.interaction_id
        })
        SET n.time = row.time, n.recorded_time = row.recorded_time
        MERGE (n)-[:SUPPORTS]->(f)
    """,
)
"""Interactions that support facts in other words."""

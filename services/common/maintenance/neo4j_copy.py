"""Claims, the log and the idempotency records of maintenance in a graph as records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, LiteralString

from services.common.copying.model import Kind, Record
from services.common.copying.neo4j import GraphKind
from services.common.idempotency.neo4j_copy import idempotency_kind
from services.common.maintenance.graph_kinds import GRAPH_CLAIMS, GRAPH_LOG, GRAPH_REQUESTS, NUMBERED_BY_TABLE

_READS: Final[Mapping[str, LiteralString]] = {
    "tenant_id": "n.tenant_id",
    "entry_id": "n.entry_id",
    "run_id": "n.run_id",
    "job": "n.job",
    "user_id": "n.user_id",
    "changes": "n.changes",
    "is_applied": "n.is_applied",
    "is_undone": "n.is_undone",
    "create_time": "n.create_time",
}
_CLAIM_READS: Final[Mapping[str, LiteralString]] = {
    "tenant_id": "n.tenant_id",
    "user_id": "n.user_id",
    "job": "n.job",
    "run_id": "n.run_id",
    "is_open": "n.is_open",
    "cursor": "n.cursor",
    "failures": "n.failures",
    "complete_time": "n.complete_time",
}


def _row(record: Record) -> Mapping[str, Any]:
    entry = {**record, "changes": json.dumps(record["changes"])}
    # What a table has numbered is beyond all that this graph will.
    number = record["entry_id"] if record["entry_id"] < NUMBERED_BY_TABLE else 0
    return {"entry_id": record["entry_id"], "entry": entry, "number": number}


KINDS: Final = (
    GraphKind(
        kind=Kind(name=GRAPH_LOG, key=("tenant_id", "entry_id"), fields=frozenset(_READS)),
        match="(n:MaintenanceEntry)",
        reads=_READS,
        indexed=2,
        decode={"changes": json.loads},
        row=_row,
        # The graph numbers its next entries behind those of another graph.
        write="""
            UNWIND $rows AS row
            MERGE (n:MaintenanceEntry {entry_id: row.entry_id})
            SET n += row.entry
            WITH max(row.number) AS last
            MERGE (c:MaintenanceCounter {name: 'entries'})
            ON CREATE SET c.value = 0
            SET c.value = CASE WHEN c.value < last THEN last ELSE c.value END
        """,
    ),
    GraphKind(
        kind=Kind(name=GRAPH_CLAIMS, key=("tenant_id", "user_id", "job"), fields=frozenset(_CLAIM_READS)),
        match="(n:MaintenanceClaim)",
        reads=_CLAIM_READS,
        indexed=3,
        # Nobody holds the claim.
        write="""
            UNWIND $rows AS row
            MERGE (n:MaintenanceClaim {tenant_id: row.tenant_id, user_id: row.user_id, job: row.job})
            SET n += row, n.holder = '', n.term = 0, n.lease_until = 0, n.locks = 0
        """,
    ),
    # Those of requests to the tiers that are in the graph; earlier ones do not say of which tier they are.
    idempotency_kind(
        GRAPH_REQUESTS, "MaintenanceIdempotencyRecord", condition="n.resource_id IN ['semantic', 'agentic']"
    ),
)
"""Entries, claims, and idempotency records."""

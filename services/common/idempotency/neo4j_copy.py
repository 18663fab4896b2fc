"""Idempotency records in a graph as records of a copy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, LiteralString

from services.common.copying.model import Kind
from services.common.copying.neo4j import GraphKind, micros
from services.common.copying.postgres_values import moment

_READS: Final[Mapping[str, LiteralString]] = {
    "tenant_id": "n.tenant_id",
    "principal_id": "n.principal_id",
    "request_id": "n.request_id",
    "digest": "n.digest",
    "user_id": "n.user_id",
    "resource_id": "n.resource_id",
    "response": "n.response",
    "create_time": micros("n.create_time"),
}


def idempotency_kind(name: str, label: LiteralString, *, condition: LiteralString = "true") -> GraphKind:
    """The records of a label.

    Args:
        name: Of the kind.
        label: Of the nodes, such as "MnemeSemanticIdempotencyRecord".
        condition: Which of them are copied.
    """
    return GraphKind(
        kind=Kind(name=name, key=("tenant_id", "principal_id", "request_id"), fields=frozenset(_READS)),
        match=f"(n:{label})",
        reads=_READS,
        indexed=3,
        condition=condition,
        row=lambda record: {**record, "create_time": moment(record["create_time"])},
        write=f"""
            UNWIND $rows AS row
            MERGE (n:{label} {{
                tenant_id: row.tenant_id, principal_id: row.principal_id, request_id: row.request_id
            }})
            SET n.digest = row.digest, n.user_id = row.user_id, n.resource_id = row.resource_id,
                n.response = row.response, n.create_time = row.create_time
        """,
    )

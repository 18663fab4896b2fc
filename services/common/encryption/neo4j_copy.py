"""Data keys in a graph as records: a copy carries them as they are wrapped, and what they encrypt as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, LiteralString

from services.common.copying.model import Kind
from services.common.copying.neo4j import GraphKind, micros
from services.common.copying.postgres_values import moment

_READS: Final[Mapping[str, LiteralString]] = {
    "tenant_id": "n.tenant_id",
    "user_id": "n.user_id",
    "key_id": "n.key_id",
    "version": "n.version",
    "wrapped": "n.wrapped",
    "create_time": micros("n.create_time"),
}


def data_keys_kind(schema: str, label: LiteralString) -> GraphKind:
    """The data keys of a label, as the records of the table `data_keys` of a schema."""
    return GraphKind(
        kind=Kind(name=f"{schema}.data_keys", key=("tenant_id", "user_id"), fields=frozenset(_READS)),
        match=f"(n:{label})",
        reads=_READS,
        indexed=2,
        decode={"key_id": bytes, "wrapped": bytes},
        row=lambda record: {**record, "create_time": moment(record["create_time"])},
        # A key that is there is left: content may be encrypted with it.
        write=f"""
            UNWIND $rows AS row
            MERGE (n:{label} {{tenant_id: row.tenant_id, user_id: row.user_id}})
            ON CREATE SET n.key_id = row.key_id, n.version = row.version, n.wrapped = row.wrapped,
                n.create_time = row.create_time
        """,
    )

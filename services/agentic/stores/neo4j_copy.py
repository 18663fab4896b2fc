"""The tier's part of a graph as the records of its tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, LiteralString

from neo4j.vector import Vector as Neo4jVector

from services.agentic.model import NoteId, from_microseconds
from services.agentic.stores.neo4j_rows import caption_key, list_key
from services.agentic.stores.postgres import SCHEMA
from services.common.copying.model import Kind, Record
from services.common.copying.neo4j import GraphKind, four_byte, vector_from_graph
from services.common.copying.postgres_values import vector_values
from services.common.encryption.neo4j_copy import data_keys_kind
from services.common.idempotency.neo4j_copy import idempotency_kind

_NOTE_KEY: Final = ("tenant_id", "user_id", "note_id")


def _kind(table: str, key: tuple[str, ...], reads: Mapping[str, LiteralString]) -> Kind:
    return Kind(name=f"{SCHEMA}.{table}", key=key, fields=frozenset(reads))


def _fields(*names: LiteralString) -> dict[str, LiteralString]:
    """Properties that are fields of the same name."""
    return {name: f"n.{name}" for name in names}


def _note_row(record: Record) -> dict[str, Any]:
    fields = {
        **{name: value for name, value in record.items() if name not in _NOTE_KEY},
        "list_key": list_key(from_microseconds(record["create_time"]), NoteId(record["note_id"])),
        "attachments": json.dumps(record["attachments"], ensure_ascii=False),
        "metadata": json.dumps(record["metadata"], ensure_ascii=False),
    }
    return {**{name: record[name] for name in _NOTE_KEY}, "fields": fields}


_NOTE_READS: Final = _fields(
    "tenant_id", "user_id", "note_id", "content", "kind", "importance", "keywords", "tags", "attachments", "metadata",
    "derived_from", "time", "create_time", "update_time", "status", "access_count", "last_access_time", "scope_key",
    "speaker", "conversation_id", "position", "spoken", "question_id", "question_chars", "feedback",
    "source_note_ids", "successor_id", "raised",
)  # fmt: skip
_NOTES: Final = GraphKind(
    kind=_kind("notes", _NOTE_KEY, _NOTE_READS),
    match="(n:Note)",
    reads=_NOTE_READS,
    indexed=3,
    decode={"attachments": json.loads, "metadata": json.loads},
    row=_note_row,
    # The owner's node knows how many there are, so only those that are missing are made and counted.
    write="""
        UNWIND $rows AS row
        OPTIONAL MATCH (known:Note {tenant_id: row.tenant_id, user_id: row.user_id, note_id: row.note_id})
        WITH row, known
        WHERE known IS NULL
        CREATE (n:Note {tenant_id: row.tenant_id, user_id: row.user_id, note_id: row.note_id})
        SET n += row.fields
        WITH row.tenant_id AS tenant_id, row.user_id AS user_id, count(*) AS made
        MERGE (o:NoteOwner {tenant_id: tenant_id, user_id: user_id})
        ON CREATE SET o.works = 0, o.notes = 0
        SET o.notes = o.notes + made
    """,
)

_VECTOR_READS: Final[dict[str, LiteralString]] = {
    **_fields("tenant_id", "user_id", "note_id", "model", "scope_key"),
    "is_active": "(n.status = 1)",
    "embedding": four_byte("n.embedding"),
}
_VECTORS: Final = GraphKind(
    kind=_kind("note_vectors", (*_NOTE_KEY, "model"), _VECTOR_READS),
    match="(n:Note)",
    condition="n.model IS NOT NULL",
    reads=_VECTOR_READS,
    indexed=3,
    decode={"embedding": vector_from_graph},
    row=lambda record: {**record, "embedding": Neo4jVector.from_numpy(vector_values(record["embedding"]))},
    write="""
        UNWIND $rows AS row
        MATCH (n:Note {tenant_id: row.tenant_id, user_id: row.user_id, note_id: row.note_id})
        SET n.model = row.model, n.embedding = toFloatList(row.embedding)
    """,
    conflicts="""
        UNWIND $rows AS row
        MATCH (n:Note {tenant_id: row.tenant_id, user_id: row.user_id, note_id: row.note_id})
        WHERE n.model <> row.model
        RETURN count(*) AS conflicts
    """,
    conflict="notes have vectors of two embedding models, and Neo4j keeps one: finish the change of models first",
)

_CAPTION_READS: Final[dict[str, LiteralString]] = {
    **_fields("tenant_id", "user_id"),
    "note_id": "n.note_id",
    "place": "c.place",
    "model": "c.model",
    "scope_key": "n.scope_key",
    "is_active": "(n.status = 1)",
    "embedding": four_byte("c.embedding"),
}
_CAPTIONS: Final = GraphKind(
    kind=_kind("caption_vectors", (*_NOTE_KEY, "model", "place"), _CAPTION_READS),
    match="(n:Note)-[:HAS_CAPTION]->(c:NoteCaption)",
    reads=_CAPTION_READS,
    indexed=3,
    decode={"embedding": vector_from_graph},
    row=lambda record: {
        **record,
        "caption_key": caption_key(record["note_id"], record["place"]),
        "embedding": Neo4jVector.from_numpy(vector_values(record["embedding"])),
    },
    write="""
        UNWIND $rows AS row
        MATCH (n:Note {tenant_id: row.tenant_id, user_id: row.user_id, note_id: row.note_id})
        MERGE (c:NoteCaption {tenant_id: row.tenant_id, user_id: row.user_id, caption_key: row.caption_key})
        MERGE (n)-[:HAS_CAPTION]->(c)
        SET c.place = row.place, c.status = n.status, c.scope_key = n.scope_key, c.model = row.model,
            c.embedding = toFloatList(row.embedding)
    """,
)

# Tables have a row for each end of a link; here it is one relationship, read from both of its ends.
_LINK_READS: Final[dict[str, LiteralString]] = {
    **_fields("tenant_id", "user_id", "note_id"),
    "other_note_id": "other.note_id",
    "type": "l.type",
    "is_first": "(startNode(l) = n)",
    "strength": "l.strength",
    "origin": "l.origin",
    "create_time": "l.create_time",
    "update_time": "l.update_time",
    "feedback": "coalesce(l.feedback, 0)",
    "other_scope_key": "other.scope_key",
    "is_hidden": "(n.status <> 1 OR other.status <> 1)",
}
_LINKS: Final = GraphKind(
    kind=_kind("link_ends", (*_NOTE_KEY, "other_note_id", "type", "is_first"), _LINK_READS),
    match="(n:Note)-[l:LINKED]-(other:Note)",
    reads=_LINK_READS,
    indexed=3,
    write="""
        UNWIND $rows AS row
        WITH row
        WHERE row.is_first
        MATCH (a:Note {tenant_id: row.tenant_id, user_id: row.user_id, note_id: row.note_id})
        MATCH (b:Note {tenant_id: row.tenant_id, user_id: row.user_id, note_id: row.other_note_id})
        MERGE (a)-[l:LINKED {type: row.type}]->(b)
        SET l.strength = row.strength, l.origin = row.origin, l.create_time = row.create_time,
            l.update_time = row.update_time, l.feedback = row.feedback
    """,
)

_PAIR_READS: Final[dict[str, LiteralString]] = {
    **_fields("tenant_id", "user_id", "note_id"),
    "other_note_id": "other.note_id",
    "use_count": "u.use_count",
    "last_use_time": "u.last_use_time",
}
_PAIRS: Final = GraphKind(
    kind=_kind("note_pairs", (*_NOTE_KEY, "other_note_id"), _PAIR_READS),
    match="(n:Note)-[u:USED_WITH]->(other:Note)",
    reads=_PAIR_READS,
    indexed=3,
    write="""
        UNWIND $rows AS row
        MATCH (a:Note {tenant_id: row.tenant_id, user_id: row.user_id, note_id: row.note_id})
        MATCH (b:Note {tenant_id: row.tenant_id, user_id: row.user_id, note_id: row.other_note_id})
        MERGE (a)-[u:USED_WITH]->(b)
        SET u.use_count = row.use_count, u.last_use_time = row.last_use_time
    """,
)

_VERSION_KEY: Final = (*_NOTE_KEY, "end_microseconds")
_VERSION_READS: Final = _fields(
    "tenant_id", "user_id", "note_id", "end_microseconds", "status", "said", "was_wrong", "derived_from",
    "source_note_ids", "question_id",
)  # fmt: skip
_VERSIONS_OF_NOTES: Final = GraphKind(
    kind=_kind("note_versions", _VERSION_KEY, _VERSION_READS),
    match="(n:NoteVersion)",
    reads=_VERSION_READS,
    indexed=4,
    decode={"said": json.loads},
    row=lambda record: {**record, "said": json.dumps(record["said"], ensure_ascii=False)},
    write="""
        UNWIND $rows AS row
        MATCH (n:Note {tenant_id: row.tenant_id, user_id: row.user_id, note_id: row.note_id})
        MERGE (v:NoteVersion {
            tenant_id: row.tenant_id, user_id: row.user_id, note_id: row.note_id,
            end_microseconds: row.end_microseconds
        })
        MERGE (n)-[:WAS]->(v)
        SET v += row
    """,
)

_PROCESSED_READS: Final = _fields(
    "tenant_id", "user_id", "interaction_id", "conversation_id", "position", "note_ids", "speaker", "question"
)
_PROCESSED: Final = GraphKind(
    kind=_kind("processed_interactions", ("tenant_id", "user_id", "interaction_id"), _PROCESSED_READS),
    match="(n:ProcessedTurn)",
    reads=_PROCESSED_READS,
    indexed=3,
    write="""
        UNWIND $rows AS row
        MERGE (n:ProcessedTurn {tenant_id: row.tenant_id, user_id: row.user_id, interaction_id: row.interaction_id})
        SET n += row
    """,
)

_IDEMPOTENCY_RECORDS: Final = idempotency_kind(f"{SCHEMA}.idempotency_records", "NoteIdempotencyRecord")

KINDS: Final = (
    _NOTES,
    data_keys_kind(SCHEMA, "NoteDataKey"),
    _IDEMPOTENCY_RECORDS,
    _PROCESSED,
    _CAPTIONS,
    _LINKS,
    _PAIRS,
    _VECTORS,
    _VERSIONS_OF_NOTES,
)
"""All that the tier stores in a graph, in the order of its tables, but for its owners' nodes, which are made with the
notes."""

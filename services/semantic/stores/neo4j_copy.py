"""The tier's part of a graph as the records of its tables."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final, LiteralString

from services.common.copying.model import Kind, Record
from services.common.copying.neo4j import GraphKind, four_byte, micros, vector_from_graph
from services.common.copying.postgres_values import moment, vector_values
from services.common.encryption.neo4j_copy import data_keys_kind
from services.common.idempotency.neo4j_copy import idempotency_kind
from services.semantic.facts.stores.neo4j_records import graph_vector
from services.semantic.stores.neo4j_copy_evidence import MERGE_GROUPS, SUPPORTS
from services.semantic.stores.postgres import SCHEMA

_OWNER: Final = ("tenant_id", "user_id")
_JSON: Final[Callable[[Any], Any]] = json.loads


def _kind(table: str, key: tuple[str, ...], reads: Mapping[str, LiteralString]) -> Kind:
    return Kind(name=f"{SCHEMA}.{table}", key=key, fields=frozenset(reads))


def _fields(*names: LiteralString) -> dict[str, LiteralString]:
    """Properties that are fields of the same name."""
    return {name: f"n.{name}" for name in names}


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _moments(record: Record, *names: str) -> dict[str, Any]:
    """Times as the stores write them."""
    return {name: None if record[name] is None else moment(record[name]) for name in names}


def _fact_row(record: Record) -> dict[str, Any]:
    apart = ("tenant_id", "user_id", "fact_id", "contradictions", "embedding", "embedding_model")
    state = {
        **{name: value for name, value in record.items() if name not in apart},
        **_moments(
            record, "first_observed_time", "last_confirmed_time", "valid_from_time", "valid_to_time", "fade_time"
        ),
        "identity": record["identity"].hex(),
        "text_identity": record["text_identity"].hex(),
        "topic": None if record["topic"] is None else record["topic"].hex(),
        "versions": _json_text(record["versions"]),
    }
    return {
        **{name: record[name] for name in apart},
        "embedding": graph_vector(vector_values(record["embedding"])),
        "state": state,
    }


def _statement_row(record: Record) -> dict[str, Any]:
    key = ("tenant_id", "user_id", "fact_id", "statement_id")
    state = {
        **{name: value for name, value in record.items() if name not in key},
        **_moments(record, "time", "valid_from_time", "valid_to_time", "recorded_time"),
    }
    return {**{name: record[name] for name in key}, "state": state}


_FACT_READS: Final[dict[str, LiteralString]] = {
    **_fields(
        "tenant_id", "user_id", "fact_id", "identity", "text_identity", "topic", "text", "subject", "predicate",
        "object", "category", "confidence", "importance", "derived_from", "status", "merged_into_fact_id", "versions",
        "scope_key", "revision", "embedding_model", "evidence_count", "feedback", "previous_status",
    ),
    "embedding": four_byte("n.embedding"),
    "first_observed_time": micros("n.first_observed_time"),
    "last_confirmed_time": micros("n.last_confirmed_time"),
    "valid_from_time": micros("n.valid_from_time"),
    "valid_to_time": micros("n.valid_to_time"),
    "fade_time": micros("n.fade_time"),
    "contradictions": "[(n)-[:CONTRADICTS]->(other:MnemeFact) | other.fact_id]",
}  # fmt: skip
_FACTS: Final = GraphKind(
    kind=_kind("facts", (*_OWNER, "fact_id"), _FACT_READS),
    match="(n:MnemeFact)",
    # Others are placeholders for contradictions that are copied later.
    condition="n.identity IS NOT NULL",
    reads=_FACT_READS,
    indexed=3,
    decode={
        "identity": bytes.fromhex,
        "text_identity": bytes.fromhex,
        "topic": bytes.fromhex,
        "versions": _JSON,
        "embedding": vector_from_graph,
        "contradictions": sorted,
    },
    row=_fact_row,
    # A contradicting fact may be copied later: its node is made here and filled then.
    write="""
        UNWIND $rows AS row
        MERGE (n:MnemeFact {tenant_id: row.tenant_id, user_id: row.user_id, fact_id: row.fact_id})
        SET n += row.state, n.embedding_model = row.embedding_model
        WITH n, row
        CALL db.create.setNodeVectorProperty(n, 'embedding', row.embedding)
        WITH n, row
        UNWIND row.contradictions AS other_id
        MERGE (other:MnemeFact {tenant_id: row.tenant_id, user_id: row.user_id, fact_id: other_id})
        MERGE (n)-[:CONTRADICTS]->(other)
    """,
)

_STATEMENT_READS: Final[dict[str, LiteralString]] = {
    **_fields(
        "tenant_id", "user_id", "fact_id", "statement_id", "text", "category", "confidence", "importance", "subject",
        "predicate", "object", "interaction_ids", "is_correction",
    ),
    "time": micros("n.time"),
    "valid_from_time": micros("n.valid_from_time"),
    "valid_to_time": micros("n.valid_to_time"),
    "recorded_time": micros("n.recorded_time"),
    "sentences": "coalesce(n.sentences, [])",
    "shares_sentence": "coalesce(n.shares_sentence, false)",
}  # fmt: skip
_STATEMENTS: Final = GraphKind(
    kind=_kind("fact_statements", (*_OWNER, "fact_id", "statement_id"), _STATEMENT_READS),
    match="(n:MnemeStatement)",
    reads=_STATEMENT_READS,
    indexed=4,
    row=_statement_row,
    write="""
        UNWIND $rows AS row
        MATCH (f:MnemeFact {tenant_id: row.tenant_id, user_id: row.user_id, fact_id: row.fact_id})
        MERGE (n:MnemeStatement {
            tenant_id: row.tenant_id, user_id: row.user_id, fact_id: row.fact_id, statement_id: row.statement_id
        })
        SET n += row.state
        MERGE (n)-[:SUPPORTS]->(f)
    """,
)

_EXTRACTION_READS: Final = _fields("tenant_id", "user_id", "interaction_id", "fact_ids")
_EXTRACTIONS: Final = GraphKind(
    kind=_kind("extracted_interactions", (*_OWNER, "interaction_id"), _EXTRACTION_READS),
    match="(n:MnemeExtraction)",
    reads=_EXTRACTION_READS,
    indexed=3,
    write="""
        UNWIND $rows AS row
        MERGE (n:MnemeExtraction {
            tenant_id: row.tenant_id, user_id: row.user_id, interaction_id: row.interaction_id
        })
        SET n.fact_ids = row.fact_ids
    """,
)

_ASSERTION_READS: Final[dict[str, LiteralString]] = {
    **_fields(
        "tenant_id", "user_id", "interaction_id", "number", "text", "speaker", "scope_key", "keys", "is_only",
        "is_announced",
    ),
    "time": micros("n.time"),
}  # fmt: skip
_ASSERTIONS: Final = GraphKind(
    kind=_kind("assertions", (*_OWNER, "interaction_id", "number"), _ASSERTION_READS),
    match="(n:MnemeAssertion)",
    reads=_ASSERTION_READS,
    indexed=4,
    row=lambda record: {**record, **_moments(record, "time")},
    write="""
        UNWIND $rows AS row
        MERGE (n:MnemeAssertion {
            tenant_id: row.tenant_id, user_id: row.user_id, interaction_id: row.interaction_id, number: row.number
        })
        SET n.text = row.text, n.speaker = row.speaker, n.time = row.time, n.scope_key = row.scope_key,
            n.keys = row.keys, n.is_only = row.is_only, n.is_announced = row.is_announced
        WITH n, row
        UNWIND row.keys AS key
        MERGE (k:MnemeAssertionKey {tenant_id: row.tenant_id, user_id: row.user_id, key: key})
        MERGE (n)-[:ABOUT]->(k)
    """,
)
_SUPERSESSION_READS: Final[dict[str, LiteralString]] = {
    **_fields(
        "tenant_id", "user_id", "supersession_id", "loser_id", "loser_number", "winner_id", "winner_number", "reason",
        "state", "statement", "standing_statement", "is_whole", "is_turned",
    ),
    "premise": 'coalesce(n.premise, "")',
    "is_called_wrong": "coalesce(n.is_called_wrong, false)",
    "premise_place": 'coalesce(n.premise_place, "")',
    "decided_by": "coalesce(n.decided_by, 0)",
    "decision_reason": 'coalesce(n.decision_reason, "")',
    "end_time": micros("n.end_time"),
    "create_time": micros("n.create_time"),
}  # fmt: skip
_SUPERSESSIONS: Final = GraphKind(
    kind=_kind("supersessions", (*_OWNER, "supersession_id"), _SUPERSESSION_READS),
    match="(n:MnemeSupersession)",
    reads=_SUPERSESSION_READS,
    indexed=3,
    row=lambda record: {
        "tenant_id": record["tenant_id"],
        "user_id": record["user_id"],
        "supersession_id": record["supersession_id"],
        "state": {
            **{name: value for name, value in record.items() if name not in (*_OWNER, "supersession_id")},
            **_moments(record, "end_time", "create_time"),
        },
    },
    write="""
        UNWIND $rows AS row
        MERGE (n:MnemeSupersession {
            tenant_id: row.tenant_id, user_id: row.user_id, supersession_id: row.supersession_id
        })
        SET n += row.state
        MERGE (o:MnemeSupersessionOwner {tenant_id: row.tenant_id, user_id: row.user_id})
        WITH o, coalesce(o.marks, 0) + 1 AS revision
        SET o.marks = revision, o.marks_base = revision
    """,
)

_PROCEDURE_READS: Final[dict[str, LiteralString]] = {
    **_fields("tenant_id", "user_id", "procedure_id", "kind", "identity", "confidence", "derived_from", "state"),
    "create_time": micros("n.create_time"),
}
_PROCEDURES: Final = GraphKind(
    kind=_kind("procedures", (*_OWNER, "procedure_id"), _PROCEDURE_READS),
    match="(n:MnemeProcedure)",
    reads=_PROCEDURE_READS,
    indexed=3,
    decode={"state": _JSON},
    row=lambda record: {**record, "state": _json_text(record["state"]), **_moments(record, "create_time")},
    write="""
        UNWIND $rows AS row
        MERGE (n:MnemeProcedure {tenant_id: row.tenant_id, user_id: row.user_id, procedure_id: row.procedure_id})
        SET n.kind = row.kind, n.identity = row.identity, n.confidence = row.confidence,
            n.derived_from = row.derived_from, n.create_time = row.create_time, n.state = row.state
        MERGE (o:MnemeProcedureOwner {tenant_id: row.tenant_id, user_id: row.user_id})
        SET o.revision = coalesce(o.revision, 0) + 1
    """,
)
_JUDGED_READS: Final[dict[str, LiteralString]] = {
    **_fields("tenant_id", "user_id", "recall_id", "state"),
    "time": micros("n.time"),
}
_JUDGED_RECALLS: Final = GraphKind(
    kind=_kind("judged_recalls", (*_OWNER, "recall_id"), _JUDGED_READS),
    match="(n:MnemeJudgedRecall)",
    reads=_JUDGED_READS,
    indexed=3,
    decode={"state": _JSON},
    row=lambda record: {**record, "state": _json_text(record["state"]), **_moments(record, "time")},
    write="""
        UNWIND $rows AS row
        MERGE (n:MnemeJudgedRecall {tenant_id: row.tenant_id, user_id: row.user_id, recall_id: row.recall_id})
        SET n.time = row.time, n.state = row.state
    """,
)

# A node without preferences is a lock alone.
_PROFILE_READS: Final[dict[str, LiteralString]] = {
    **_fields("tenant_id", "user_id", "preferences", "etag"),
    "update_time": micros("n.update_time"),
}
_PROFILES: Final = GraphKind(
    kind=_kind("profiles", _OWNER, _PROFILE_READS),
    match="(n:MnemeProfile)",
    condition="n.preferences IS NOT NULL",
    reads=_PROFILE_READS,
    indexed=2,
    decode={"preferences": _JSON},
    row=lambda record: {
        **record, "preferences": _json_text(record["preferences"]), **_moments(record, "update_time")
    },
    write="""
        UNWIND $rows AS row
        MERGE (n:MnemeProfile {tenant_id: row.tenant_id, user_id: row.user_id})
        SET n.preferences = row.preferences, n.etag = row.etag, n.update_time = row.update_time
    """,
)  # fmt: skip
_INTERACTION_READS: Final[dict[str, LiteralString]] = {
    **_fields(
        "tenant_id", "user_id", "interaction_id", "conversation_id", "context_id", "scope_key", "role", "confidence",
        "query_type", "topics", "sources", "stated",
    ),
    "time": micros("n.time"),
    "feedback": "coalesce(n.feedback, 0)",
    "removed": "coalesce(n.removed, false)",
}  # fmt: skip


def _interaction_row(record: Record) -> dict[str, Any]:
    key = (*_OWNER, "interaction_id")
    stated = record["stated"]
    state = {
        **{name: value for name, value in record.items() if name not in key},
        **_moments(record, "time"),
        "stated": None if stated is None else _json_text(stated),
        "removed": record["removed"] or None,
    }
    state["learned_time"] = state["time"] if stated is not None or record["feedback"] else None
    return {**{name: record[name] for name in key}, "state": state}


_INTERACTIONS: Final = GraphKind(
    kind=_kind("observed_interactions", (*_OWNER, "interaction_id"), _INTERACTION_READS),
    match="(n:MnemeObservedInteraction)",
    reads=_INTERACTION_READS,
    indexed=3,
    decode={"stated": _JSON},
    row=_interaction_row,
    write="""
        UNWIND $rows AS row
        MERGE (n:MnemeObservedInteraction {
            tenant_id: row.tenant_id, user_id: row.user_id, interaction_id: row.interaction_id
        })
        SET n += row.state
    """,
)

_IDEMPOTENCY_RECORDS: Final = idempotency_kind(f"{SCHEMA}.idempotency_records", "MnemeSemanticIdempotencyRecord")

_CODE: Final = (*_OWNER, "repository_id")
_CODE_REPOSITORY_READS: Final[dict[str, LiteralString]] = {
    **_fields(*_CODE, "revision", "file_count", "line_count"),
    "create_time": micros("n.create_time"),
    "update_time": micros("n.update_time"),
}
_CODE_REPOSITORIES: Final = GraphKind(
    kind=_kind("code_repositories", _CODE, _CODE_REPOSITORY_READS),
    match="(n:MnemeCodeRepository)",
    reads=_CODE_REPOSITORY_READS,
    indexed=3,
    row=lambda record: {**record, **_moments(record, "create_time", "update_time"), "epoch": uuid.uuid4().int >> 76},
    write="""
        UNWIND $rows AS row
        MERGE (n:MnemeCodeRepository {
            tenant_id: row.tenant_id, user_id: row.user_id, repository_id: row.repository_id
        })
        SET n.revision = row.revision, n.file_count = row.file_count, n.line_count = row.line_count,
            n.epoch = row.epoch, n.create_time = row.create_time, n.update_time = row.update_time
    """,
)
_CODE_FILE_READS: Final[dict[str, LiteralString]] = _fields(
    *_CODE, "path", "digest", "language", "status", "line_count", "content", "revision"
)
_CODE_FILES: Final = GraphKind(
    kind=_kind("code_files", (*_CODE, "path"), _CODE_FILE_READS),
    match="(n:MnemeCodeFile)",
    reads=_CODE_FILE_READS,
    indexed=4,
    row=dict,
    write="""
        UNWIND $rows AS row
        MERGE (n:MnemeCodeFile {
            tenant_id: row.tenant_id, user_id: row.user_id, repository_id: row.repository_id, path: row.path
        })
        SET n.digest = row.digest, n.language = row.language, n.status = row.status, n.line_count = row.line_count,
            n.content = row.content, n.revision = row.revision
    """,
)

KINDS: Final = (
    _ASSERTIONS,
    _CODE_FILES,
    _CODE_REPOSITORIES,
    data_keys_kind(SCHEMA, "MnemeSemanticDataKey"),
    _EXTRACTIONS,
    _FACTS,
    _IDEMPOTENCY_RECORDS,
    _JUDGED_RECALLS,
    MERGE_GROUPS,
    _INTERACTIONS,
    _PROCEDURES,
    _PROFILES,
    _SUPERSESSIONS,
    _STATEMENTS,
    SUPPORTS,
)
"""All that the tier stores in a graph, in the order of its tables. Its locks are no data: they are made when they are
first needed."""

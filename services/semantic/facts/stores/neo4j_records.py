"""Between maps of Neo4j and facts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from neo4j.vector import Vector as GraphVector

from services.common.embedding.vectors import Vector
from services.common.encryption.cipher import Cipher
from services.common.neo4j.graph import Record
from services.common.owners import InteractionId, UserId
from services.common.scope import Scope
from services.semantic.facts.model import (
    Fact,
    FactCategory,
    FactDraft,
    FactId,
    FactRecord,
    FactStatus,
    FactVersion,
    ScoredFact,
    Statement,
    StatementId,
    Support,
    VersionReason,
)
from services.semantic.facts.store import FactChange
from services.semantic.stores.neo4j import known_moment_of, moment_of
from services.semantic.stores.neo4j_sealing import FACTS, STATEMENTS

_ROWS_ON_LOOP_MAX: Final = 64
"""Opening more of them takes longer than the event loop may wait."""


def fact_from_record(record: Record) -> Fact:
    """The fact, with its versions where they were read."""
    merged = record["merged_into_fact_id"]
    return Fact(
        fact_id=FactId(record["fact_id"]),
        user_id=UserId(record["user_id"]),
        text=record["text"],
        subject=record["subject"],
        predicate=record["predicate"],
        object=record["object"],
        category=FactCategory(record["category"]),
        confidence=record["confidence"],
        importance=record["importance"],
        first_observed_time=known_moment_of(record["first_observed_time"]),
        last_confirmed_time=known_moment_of(record["last_confirmed_time"]),
        valid_from_time=moment_of(record["valid_from_time"]),
        valid_to_time=moment_of(record["valid_to_time"]),
        derived_from=tuple(InteractionId(i) for i in record["derived_from"]),
        evidence_count=record["evidence_count"],
        contradictions=tuple(sorted(FactId(i) for i in record["contradictions"])),
        status=FactStatus(record["status"]),
        merged_into_fact_id=None if merged is None else FactId(merged),
        versions=tuple(_version(version) for version in json.loads(record.get("versions", "[]"))),
        scope=Scope.from_key(record["scope_key"]),
        revision=record["revision"],
        fade_time=moment_of(record["fade_time"]),
        feedback=record["feedback"],
    )


def scored_from_record(record: Record) -> ScoredFact:
    """A hit; rounding may have put the cosine of equal vectors a little above 1."""
    return ScoredFact(fact_from_record(record), max(-1.0, min(1.0, record["similarity"])))


def stored_record(record: Record, *, reduced: Collection[FactId] = ()) -> FactRecord:
    """A fact with its statements; all of them if it is in `reduced`."""
    fact = fact_from_record(record)
    statements = tuple(sorted((_statement(s) for s in record["statements"]), key=lambda s: s.order))
    known = {i for statement in statements for i in statement.interaction_ids}
    return FactRecord(
        fact_id=fact.fact_id,
        identity=bytes.fromhex(record["identity"]),
        text_identity=bytes.fromhex(record["text_identity"]),
        topic=None if record["topic"] is None else bytes.fromhex(record["topic"]),
        statements=statements,
        scope=fact.scope,
        fact=fact,
        earlier_evidence=0 if fact.fact_id in reduced else max(0, fact.evidence_count - len(known)),
        is_context=record["is_context"],
        is_reduced=fact.fact_id in reduced,
    )


def with_supports(record: FactRecord, supports: Sequence[Support]) -> FactRecord:
    """The record with its supports, oldest first, of which the earlier evidence is less."""
    if not supports:
        return record
    stating = {i for statement in record.statements for i in statement.interaction_ids}
    others = sum(support.interaction_id not in stating for support in supports)
    earlier = 0 if record.is_reduced else max(0, record.earlier_evidence - others)
    return replace(record, supports=tuple(supports), earlier_evidence=earlier)


async def opened_records(cipher: Cipher, rows: Sequence[Record]) -> Sequence[Record]:
    """Facts with their statements, decrypted; many of them on a thread.

    Raises:
        DecryptionError: See `Cipher.open`.
    """
    if sum(1 + len(row["statements"]) for row in rows) <= _ROWS_ON_LOOP_MAX:
        return [_opened(cipher, row) for row in rows]
    return await asyncio.to_thread(lambda: [_opened(cipher, row) for row in rows])


def _opened(cipher: Cipher, row: Record) -> Record:
    named = ({**statement, "fact_id": row["fact_id"]} for statement in row["statements"])
    statements = [STATEMENTS.open(cipher, statement) for statement in named]
    return {**dict(FACTS.open(cipher, row)), "statements": statements}


def fact_row(change: FactChange, cipher: Cipher) -> dict[str, Any]:
    """What a fact's node gets; what is None is removed from it."""
    fact, record = change.fact, change.record
    versions = [[v.text, v.confidence, v.replaced_time.isoformat(), int(v.reason)] for v in fact.versions]
    state = {
        "identity": record.identity.hex(),
        "text_identity": record.text_identity.hex(),
        "topic": None if record.topic is None else record.topic.hex(),
        "text": fact.text,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "category": int(fact.category),
        "confidence": float(fact.confidence),
        "importance": float(fact.importance),
        "first_observed_time": fact.first_observed_time,
        "last_confirmed_time": fact.last_confirmed_time,
        "valid_from_time": fact.valid_from_time,
        "valid_to_time": fact.valid_to_time,
        "derived_from": list(fact.derived_from),
        "evidence_count": fact.evidence_count,
        "status": int(fact.status),
        "merged_into_fact_id": fact.merged_into_fact_id,
        "versions": json.dumps(versions, ensure_ascii=False),
        "scope_key": fact.scope.key,
        "revision": fact.revision,
        "fade_time": fact.fade_time,
        "feedback": fact.feedback,
    }
    sealed = FACTS.seal(cipher, {**state, "fact_id": fact.fact_id})
    return {"fact_id": fact.fact_id, "state": sealed}


def statement_row(fact_id: FactId, statement: Statement, cipher: Cipher) -> dict[str, Any]:
    """What a statement's node gets."""
    draft = statement.draft
    state = {
        "time": statement.time,
        "text": draft.text,
        "category": int(draft.category),
        "confidence": float(draft.confidence),
        "importance": float(draft.importance),
        "subject": draft.subject,
        "predicate": draft.predicate,
        "object": draft.object,
        "valid_from_time": draft.valid_from,
        "valid_to_time": draft.valid_to,
        "interaction_ids": list(statement.interaction_ids),
        "is_correction": statement.is_correction,
        "recorded_time": statement.recorded_time,
        "sentences": list(statement.sentences),
        "shares_sentence": statement.shares_sentence,
    }
    key = {"fact_id": fact_id, "statement_id": statement.statement_id}
    return {**key, "state": STATEMENTS.seal(cipher, {**state, **key})}


def graph_vector(vector: Vector) -> GraphVector:
    """A vector as the server takes it fastest: 4-byte numbers, the highest byte first."""
    return GraphVector(vector.astype(">f4").tobytes(), "f32")


def _statement(values: Mapping[str, Any]) -> Statement:
    draft = FactDraft(
        text=values["text"],
        category=FactCategory(values["category"]),
        confidence=values["confidence"],
        importance=values["importance"],
        subject=values["subject"],
        predicate=values["predicate"],
        object=values["object"],
        valid_from=moment_of(values["valid_from_time"]),
        valid_to=moment_of(values["valid_to_time"]),
    )
    return Statement(
        StatementId(values["statement_id"]),
        known_moment_of(values["time"]),
        draft,
        tuple(InteractionId(i) for i in values["interaction_ids"]),
        values["is_correction"],
        moment_of(values["recorded_time"]),
        tuple(values["sentences"] or ()),
        bool(values["shares_sentence"]),
    )


def _version(values: list[Any]) -> FactVersion:
    text, confidence, replaced_time, reason = values
    return FactVersion(text, confidence, datetime.fromisoformat(replaced_time), VersionReason(reason))

"""Between rows and facts."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from services.common.encryption.cipher import Cipher
from services.common.encryption.rows import Row
from services.common.owners import InteractionId, Owner, UserId
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
from services.semantic.stores.postgres_sealing import FACTS, STATEMENTS

#: By number: faster than calling the enumeration.
_CATEGORIES: Final = {int(category): category for category in FactCategory}
_STATUSES: Final = {int(status): status for status in FactStatus}


def fact_from_row(row: Row) -> Fact:
    """The fact, with its versions where the row has them."""
    merged = row["merged_into_fact_id"]
    return Fact(
        fact_id=FactId(str(row["fact_id"])),
        user_id=UserId(row["user_id"]),
        text=row["text"],
        subject=row["subject"],
        predicate=row["predicate"],
        object=row["object"],
        category=FactCategory(row["category"]),
        confidence=row["confidence"],
        importance=row["importance"],
        first_observed_time=row["first_observed_time"],
        last_confirmed_time=row["last_confirmed_time"],
        valid_from_time=row["valid_from_time"],
        valid_to_time=row["valid_to_time"],
        derived_from=tuple(InteractionId(str(i)) for i in row["derived_from"]),
        evidence_count=row["evidence_count"],
        contradictions=tuple(FactId(str(i)) for i in row["contradictions"]),
        status=FactStatus(row["status"]),
        merged_into_fact_id=None if merged is None else FactId(str(merged)),
        versions=tuple(_version(values) for values in row.get("versions", ())),
        scope=Scope.from_key(row["scope_key"]),
        revision=row["revision"],
        fade_time=row["fade_time"],
        feedback=row["feedback"],
    )


def found_from_row(row: Row, user_id: UserId) -> Fact:
    """The fact of a row of `postgres_sql.FOUND_AS_TENANT`. By position: each Recall reads some."""
    (
        fact_id,
        text,
        subject,
        predicate,
        object_,
        category,
        confidence,
        importance,
        first_observed_time,
        last_confirmed_time,
        valid_from_time,
        valid_to_time,
        derived_from,
        evidence_count,
        contradictions,
        status,
        merged_into_fact_id,
        scope_key,
        revision,
        fade_time,
        feedback,
        _,
    ) = row.values()
    return Fact(
        fact_id,
        user_id,
        text,
        subject,
        predicate,
        object_,
        _CATEGORIES[category],
        confidence,
        importance,
        first_observed_time,
        last_confirmed_time,
        valid_from_time,
        valid_to_time,
        tuple(derived_from),
        evidence_count,
        tuple(contradictions),
        _STATUSES[status],
        merged_into_fact_id,
        (),
        Scope.from_key(scope_key),
        revision,
        fade_time=fade_time,
        feedback=feedback,
    )


def scored_fact(fact: Fact, similarity: float) -> ScoredFact:
    """A hit; rounding may have put the cosine of equal vectors a little above 1."""
    return ScoredFact(fact, max(-1.0, min(1.0, similarity)))


def records_from_rows(
    rows: Sequence[Row],
    statements: Sequence[Row],
    supports: Mapping[FactId, Sequence[Support]],
    *,
    context: Collection[uuid.UUID] = (),
    reduced: Collection[uuid.UUID] = (),
) -> list[FactRecord]:
    """The facts with their evidence, in the order of the rows; those in `context` or `reduced` are marked so."""
    by_fact: dict[uuid.UUID, list[Statement]] = {}
    for statement in statements:
        by_fact.setdefault(statement["fact_id"], []).append(_statement(statement))

    def earlier_evidence(row: Row) -> int:
        known = {i for statement in by_fact.get(row["fact_id"], ()) for i in statement.interaction_ids}
        known |= {support.interaction_id for support in supports.get(FactId(str(row["fact_id"])), ())}
        counted: int = row["evidence_count"]
        return max(0, counted - len(known))

    return [
        FactRecord(
            fact_id=FactId(str(row["fact_id"])),
            identity=row["identity"],
            text_identity=row["text_identity"],
            topic=row["topic"],
            statements=tuple(sorted(by_fact.get(row["fact_id"], []), key=lambda s: s.order)),
            scope=Scope.from_key(row["scope_key"]),
            fact=fact_from_row(row),
            supports=tuple(supports.get(FactId(str(row["fact_id"])), ())),
            earlier_evidence=0 if row["fact_id"] in reduced else earlier_evidence(row),
            is_context=row["fact_id"] in context,
            is_reduced=row["fact_id"] in reduced,
        )
        for row in rows
    ]


def fact_values(owner: Owner, change: FactChange, cipher: Cipher) -> tuple[object, ...]:
    """The values of a fact's row."""
    fact, record = change.fact, change.record
    merged = fact.merged_into_fact_id
    sealed = FACTS.seal(
        cipher,
        {
            "fact_id": fact.fact_id,
            "text": fact.text,
            "subject": fact.subject,
            "predicate": fact.predicate,
            "object": fact.object,
            "versions": [[v.text, v.confidence, v.replaced_time.isoformat(), int(v.reason)] for v in fact.versions],
        },
    )
    return (
        owner.tenant_id,
        owner.user_id,
        uuid.UUID(fact.fact_id),
        record.identity,
        record.text_identity,
        record.topic,
        sealed["text"],
        sealed["subject"],
        sealed["predicate"],
        sealed["object"],
        int(fact.category),
        fact.confidence,
        fact.importance,
        fact.first_observed_time,
        fact.last_confirmed_time,
        fact.valid_from_time,
        fact.valid_to_time,
        [uuid.UUID(i) for i in fact.derived_from],
        [uuid.UUID(i) for i in fact.contradictions],
        int(fact.status),
        None if merged is None else uuid.UUID(merged),
        sealed["versions"],
        fact.scope.key,
        fact.revision,
        change.model,
        change.vector,
        fact.evidence_count,
        fact.fade_time,
        fact.feedback,
    )


def statement_values(owner: Owner, fact_id: FactId, statement: Statement, cipher: Cipher) -> tuple[object, ...]:
    """The values of a statement's row."""
    draft = statement.draft
    sealed = STATEMENTS.seal(
        cipher,
        {
            "fact_id": fact_id,
            "statement_id": statement.statement_id,
            "text": draft.text,
            "subject": draft.subject,
            "predicate": draft.predicate,
            "object": draft.object,
        },
    )
    return (
        owner.tenant_id,
        owner.user_id,
        uuid.UUID(fact_id),
        uuid.UUID(statement.statement_id),
        statement.time,
        sealed["text"],
        int(draft.category),
        draft.confidence,
        draft.importance,
        sealed["subject"],
        sealed["predicate"],
        sealed["object"],
        draft.valid_from,
        draft.valid_to,
        [uuid.UUID(i) for i in statement.interaction_ids],
        statement.is_correction,
        statement.recorded_time,
        list(statement.sentences),
        statement.shares_sentence,
    )


def _statement(row: Row) -> Statement:
    draft = FactDraft(
        text=row["text"],
        category=FactCategory(row["category"]),
        confidence=row["confidence"],
        importance=row["importance"],
        subject=row["subject"],
        predicate=row["predicate"],
        object=row["object"],
        valid_from=row["valid_from_time"],
        valid_to=row["valid_to_time"],
    )
    interaction_ids = tuple(InteractionId(str(i)) for i in row["interaction_ids"])
    statement_id = StatementId(str(row["statement_id"]))
    return Statement(
        statement_id,
        row["time"],
        draft,
        interaction_ids,
        row["is_correction"],
        row["recorded_time"],
        tuple(row["sentences"]),
        row["shares_sentence"],
    )


def _version(values: Sequence[Any]) -> FactVersion:
    text, confidence, replaced_time, reason = values
    return FactVersion(text, confidence, datetime.fromisoformat(replaced_time), VersionReason(reason))

"""A fact as text: the first answer to a request, kept to answer its repeat."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from services.common.scope import Scope
from services.semantic.facts.model import Fact, FactCategory, FactId, FactStatus, FactVersion
from services.semantic.model import InteractionId, UserId


def fact_to_json(fact: Fact) -> str:
    """The fact with all its fields."""
    values = {
        "fact_id": fact.fact_id,
        "user_id": fact.user_id,
        "text": fact.text,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "category": int(fact.category),
        "confidence": fact.confidence,
        "importance": fact.importance,
        "first_observed_time": fact.first_observed_time.isoformat(),
        "last_confirmed_time": fact.last_confirmed_time.isoformat(),
        "valid_from_time": _text(fact.valid_from_time),
        "valid_to_time": _text(fact.valid_to_time),
        "derived_from": fact.derived_from,
        "evidence_count": fact.evidence_count,
        "contradictions": fact.contradictions,
        "status": int(fact.status),
        "merged_into_fact_id": fact.merged_into_fact_id,
        "versions": [[v.text, v.confidence, v.replaced_time.isoformat(), v.reason] for v in fact.versions],
        "scope": fact.scope.key,
        "revision": fact.revision,
    }
    return json.dumps(values, ensure_ascii=False)


def fact_from_json(text: str) -> Fact:
    """The inverse of `fact_to_json`."""
    values: dict[str, Any] = json.loads(text)
    merged = values["merged_into_fact_id"]
    return Fact(
        fact_id=FactId(values["fact_id"]),
        user_id=UserId(values["user_id"]),
        text=values["text"],
        subject=values["subject"],
        predicate=values["predicate"],
        object=values["object"],
        category=FactCategory(values["category"]),
        confidence=values["confidence"],
        importance=values["importance"],
        first_observed_time=datetime.fromisoformat(values["first_observed_time"]),
        last_confirmed_time=datetime.fromisoformat(values["last_confirmed_time"]),
        valid_from_time=_moment(values["valid_from_time"]),
        valid_to_time=_moment(values["valid_to_time"]),
        derived_from=tuple(InteractionId(i) for i in values["derived_from"]),
        evidence_count=values.get("evidence_count", len(values["derived_from"])),
        contradictions=tuple(FactId(i) for i in values["contradictions"]),
        status=FactStatus(values["status"]),
        merged_into_fact_id=None if merged is None else FactId(merged),
        versions=tuple(
            FactVersion(said, confidence, datetime.fromisoformat(replaced), reason)
            for said, confidence, replaced, reason in values["versions"]
        ),
        scope=Scope.from_key(values["scope"]),
        revision=values["revision"],
    )


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)

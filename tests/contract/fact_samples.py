"""Facts made up for tests."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from services.common.embedding.vectors import Matrix, Vector
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel
from services.semantic.config import EvidenceSettings
from services.semantic.facts.identity import keys_of
from services.semantic.facts.model import (
    Fact,
    FactCategory,
    FactDraft,
    FactId,
    FactRecord,
    FactStatus,
    Statement,
    StatementId,
)
from services.semantic.facts.service import load_for
from services.semantic.facts.store import FactChange, FactSearch, FactStore, FactWriter
from services.semantic.facts.working_set import FactWorkingSet
from tests.support.embedding import HashingEmbedder

DAY_ONE = datetime(2026, 1, 1, 12, tzinfo=UTC)
ANN = Owner(TenantId("acme"), UserId("ann"))
BO = Owner(TenantId("acme"), UserId("bo"))
ANN_ELSEWHERE = Owner(TenantId("globex"), UserId("ann"))
EMBEDDER = HashingEmbedder()
MODEL = EMBEDDER.fingerprint
PROJECT = Scope(ScopeLevel.PROJECT, "p1")
OTHER_PROJECT = Scope(ScopeLevel.PROJECT, "p2")
AGENT = Scope(ScopeLevel.PROJECT, "p1", context_id="agent")

_numbers = itertools.count(1)


def new_id() -> str:
    """A UUID that sorts after those before."""
    return str(uuid.UUID(int=next(_numbers)))


def lives_in(place: str, *, confidence: float = 0.8) -> FactDraft:
    return FactDraft(
        text=f"Ann lives in {place}",
        category=FactCategory.PERSONAL_INFO,
        confidence=confidence,
        importance=0.7,
        subject="Ann",
        predicate="lives_in",
        object=place,
    )


def likes(thing: str, *, confidence: float = 0.8) -> FactDraft:
    return replace(
        lives_in(thing, confidence=confidence),
        text=f"Ann likes {thing}",
        category=FactCategory.PREFERENCE,
        predicate="likes",
    )


def said(draft: FactDraft, *, day: float = 0, interaction_id: str | None = None) -> Statement:
    """A statement of an interaction, so many days after the first day."""
    source = interaction_id or new_id()
    return Statement(StatementId(source), DAY_ONE + timedelta(days=day), draft, (InteractionId(source),))


def vector(text: str) -> Vector:
    return EMBEDDER.vector(text)


async def enter(
    store: FactStore,
    owner: Owner,
    statements: Sequence[Statement],
    *,
    scope: Scope = GLOBAL_SCOPE,
    model: str = MODEL,
    evidence: EvidenceSettings | None = None,
) -> list[FactId]:
    """Enter statements as the service does, in one work."""

    async def work(writer: FactWriter) -> list[FactId]:
        working_set = FactWorkingSet(owner.user_id, evidence or EvidenceSettings(), new_id=new_id, model=model)
        await load_for([(s.draft, scope) for s in statements], working_set, writer)
        entered = [working_set.enter(s, scope, vector(s.draft.text)) for s in statements]
        await writer.put(working_set.changes())
        return entered

    return await store.write(owner, work)


async def records(store: FactStore, owner: Owner, draft: FactDraft) -> list[FactRecord]:
    """What a statement of this draft is weighed against."""
    return await store.write(owner, lambda writer: writer.records([keys_of(draft, GLOBAL_SCOPE)]))


async def put(store: FactStore, owner: Owner, changes: Sequence[FactChange]) -> None:
    """Write states as they are."""
    await store.write(owner, lambda writer: writer.put(changes))


def unit_vectors(count: int, random: np.random.Generator) -> Matrix:
    """Vectors of length 1 in any directions of a few dimensions."""
    drawn = random.standard_normal((count, 8))
    scaled: Matrix = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    return scaled


def made_facts(count: int, owner: Owner, random: np.random.Generator) -> list[FactChange]:
    """New facts of any directions, confidences, states and scopes, without statements."""
    confidences = random.random(count).tolist()
    statuses = random.choice([int(status) for status in FactStatus], count).tolist()
    scopes = [GLOBAL_SCOPE if is_global else PROJECT for is_global in random.random(count) < 0.7]
    made = zip(unit_vectors(count, random), confidences, statuses, scopes, strict=True)
    return [
        made_fact(owner, vector, confidence=confidence, status=FactStatus(status), scope=scope)
        for vector, confidence, status, scope in made
    ]


def exact_search(changes: Sequence[FactChange], search: FactSearch) -> list[tuple[FactId, float]]:
    """What a search among these facts must find: ids and cosines, best first."""
    found = [
        (change.fact.fact_id, float(change.vector @ search.vector))
        for change in changes
        if change.vector is not None
        and change.fact.status in {FactStatus.TENTATIVE, FactStatus.STABLE}
        and change.fact.scope.key in search.reader.visible_keys()
        and change.fact.confidence > search.confidence
    ]
    return sorted(found, key=lambda hit: (-hit[1], hit[0]))[: search.limit]


def made_fact(
    owner: Owner,
    vector: Vector,
    *,
    confidence: float = 0.8,
    status: FactStatus = FactStatus.STABLE,
    scope: Scope = GLOBAL_SCOPE,
    model: str = MODEL,
) -> FactChange:
    """A new fact without statements."""
    fact_id = FactId(new_id())
    draft = likes(f"thing {fact_id}", confidence=confidence)
    keys = keys_of(draft, scope)
    fact = Fact(
        fact_id=fact_id,
        user_id=owner.user_id,
        text=draft.text,
        subject=draft.subject,
        predicate=draft.predicate,
        object=draft.object,
        category=draft.category,
        confidence=confidence,
        importance=draft.importance,
        first_observed_time=DAY_ONE,
        last_confirmed_time=DAY_ONE,
        status=status,
        scope=scope,
    )
    record = FactRecord(fact_id, keys.identity, keys.text_identity, keys.topic, (), scope)
    return FactChange(record, fact, (), vector, model)


def changed(change: FactChange, vector: Vector | None = None, *, model: str | None = None, **state: Any) -> FactChange:
    """Another state of a fact that is stored, with another vector where one is given."""
    fact = replace(change.fact, revision=change.fact.revision + 1, **state)
    record = replace(change.record, fact=change.fact, scope=fact.scope)
    return FactChange(record, fact, (), vector, model or change.model)

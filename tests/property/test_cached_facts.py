"""Facts that are compared in memory, by any of two replicas, against facts that the database compares."""

from __future__ import annotations

import itertools
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import Final

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.common.cache import OwnerCache
from services.common.embedding.vectors import Vector
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.server import EmbeddedPostgres
from services.common.scope import GLOBAL_SCOPE, Scope
from services.semantic.facts.model import FactStatus
from services.semantic.facts.store import FactChange, FactSearch
from services.semantic.facts.stores.postgres import PostgresFactStore
from tests.contract.fact_drivers import semantic_pool
from tests.contract.fact_samples import MODEL, PROJECT, changed, made_fact, put
from tests.support.caches import eager_cache
from tests.support.examples import share_of

CONFIDENCES: Final = (0.0, 0.3, 0.5, math.nextafter(0.5, 1.0), 1.0)
MODELS: Final = (MODEL, "another-model")
_examples = itertools.count()


@dataclass(frozen=True)
class State:
    """All of a fact that decides whether, and where, it is found."""

    degrees: int
    confidence: float
    status: FactStatus
    scope: Scope
    model: str


@dataclass(frozen=True)
class Write:
    """A new fact, or another state of one that there is."""

    number: int | None
    state: State


@dataclass(frozen=True)
class Question:
    """A search, and by which store."""

    replica: int
    model: str
    reader: Scope
    limit: int
    confidence: float
    includes_threshold: bool


STATES: Final = st.builds(
    State,
    degrees=st.sampled_from([0, 10, 10, 10, 60, 120, 180]),
    confidence=st.sampled_from(CONFIDENCES),
    status=st.sampled_from(FactStatus),
    scope=st.sampled_from([GLOBAL_SCOPE, PROJECT]),
    model=st.sampled_from([MODEL, *MODELS]),
)
WRITES: Final = st.builds(Write, number=st.none() | st.integers(0, 20), state=STATES)
QUESTIONS: Final = st.builds(
    Question,
    replica=st.integers(0, 1),
    model=st.sampled_from([MODEL, *MODELS]),
    reader=st.sampled_from([GLOBAL_SCOPE, PROJECT]),
    limit=st.integers(1, 12),
    confidence=st.sampled_from(CONFIDENCES),
    includes_threshold=st.booleans(),
)


def _angle(degrees: int) -> Vector:
    return np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))], np.float32)


@pytest.fixture
async def stores(postgres_server: EmbeddedPostgres) -> AsyncIterator[list[PostgresFactStore]]:
    """Two that cache vectors, and one that does not."""
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(semantic_pool(postgres_server))
        yield [
            await stack.enter_async_context(aclosing(PostgresFactStore(pool, cache=cache, cached_min=1)))
            for cache in (eager_cache(), eager_cache(), OwnerCache(0))
        ]


@settings(max_examples=share_of(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.lists(WRITES, min_size=1, max_size=6) | QUESTIONS, max_size=16))
async def test_what_is_found_in_memory_is_what_the_database_finds(
    stores: list[PostgresFactStore], steps: list[Sequence[Write] | Question]
) -> None:
    owner = Owner(TenantId("acme"), UserId(f"user-{next(_examples)}"))
    *replicas, plain = stores
    facts: list[FactChange] = []
    for step in steps:
        if not isinstance(step, Question):
            await put(plain, owner, [_written(owner, facts, write) for write in step])
            continue
        search = FactSearch(
            _angle(0), step.model, step.reader, step.limit, step.confidence, includes_threshold=step.includes_threshold
        )
        expected = await plain.search(owner, search)
        found = await replicas[step.replica].search(owner, search)
        await replicas[step.replica].settle()
        again = await replicas[step.replica].search(owner, search)
        assert [hit.fact for hit in found] == [hit.fact for hit in again] == [hit.fact for hit in expected]
        assert [hit.similarity for hit in again] == pytest.approx([hit.similarity for hit in expected], abs=1e-6)


def _written(owner: Owner, facts: list[FactChange], write: Write) -> FactChange:
    state, vector = write.state, _angle(write.state.degrees)
    if write.number is None or not facts:
        facts.append(
            made_fact(
                owner, vector, confidence=state.confidence, status=state.status, scope=state.scope, model=state.model
            )
        )
        return facts[-1]
    number = write.number % len(facts)
    facts[number] = changed(
        facts[number],
        vector,
        model=state.model,
        confidence=state.confidence,
        status=state.status,
        scope=state.scope,
    )
    return facts[number]

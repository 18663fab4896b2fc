"""The state of facts depends on what was said and when, and on nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, TypeAlias, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.common.interactions import SourceInteraction
from services.common.neo4j.graph import Neo4jServer, open_graph
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.scope import GLOBAL_SCOPE
from services.common.tier_embedder import TierEmbedder
from services.common.turns import MessageRole, Turn
from services.semantic.app import migrate_semantic_graph
from services.semantic.config import EvidenceSettings, SemanticSettings
from services.semantic.facts.extraction.extractor import ParsedFactExtractor
from services.semantic.facts.model import Fact, FactCategory, FactDraft, FactId, FactRecord, Statement, StatementId
from services.semantic.facts.service import FactService
from services.semantic.facts.store import FactFilter, FactStore, FactWriter
from services.semantic.facts.stores.neo4j import Neo4jFactStore
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.facts.working_set import FactWorkingSet
from services.semantic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA
from tests.support.clock import FakeClock
from tests.support.embedding import HashingEmbedder
from tests.support.examples import share_of
from tests.support.neo4j import ON_NEO4J
from tests.support.parsing import InProcessParser
from tests.support.postgres import fresh_postgres

_T = TypeVar("_T")
OpenStore: TypeAlias = Callable[[], AbstractAsyncContextManager[FactStore]]

START: Final = datetime(2026, 1, 1, tzinfo=UTC)
EMBEDDER: Final = HashingEmbedder()
STATEMENTS: Final = (
    ("lives_in", "Leeds"),
    ("lives_in", "Bristol"),
    ("lives_in", "Leeds, England"),
    ("works_at", "Acme"),
    ("works_at", "Nova"),
    ("left_job", "Acme"),
    ("likes", "chocolate"),
    ("dislikes", "chocolate"),
    ("plays", "the cello"),
)
SENTENCES: Final = (
    "I live in Leeds.",
    "I moved to Bristol last week.",
    "I work at Acme.",
    "I'm joining Nova! I start next Monday.",
    "I quit my job at Acme.",
    "I love chocolate.",
    "I've gone off chocolate.",
    "I'm vegetarian.",
    "My sister Anna lives in Rome.",
    "I have a dozen cats.",
    "I have twelve cats.",  # supports the one before
    "Hello there!",
)


def statement(index: int, what: int, hour: int, confidence: float) -> Statement:
    predicate, value = STATEMENTS[what]
    draft = FactDraft(
        text=f"Ann {predicate} {value}",
        category=FactCategory.CONTEXT,
        confidence=confidence,
        importance=0.5,
        subject="Ann",
        predicate=predicate,
        object=value,
    )
    source = str(uuid.UUID(int=index))
    return Statement(StatementId(source), START + timedelta(hours=hour), draft, (InteractionId(source),))


statements = st.lists(
    st.tuples(st.integers(0, len(STATEMENTS) - 1), st.integers(0, 12), st.sampled_from([0.3, 0.5, 0.8, 1.0])),
    min_size=1,
    max_size=14,
).map(lambda items: [statement(i, *item) for i, item in enumerate(items)])


def comparable(facts: Sequence[Fact]) -> Sequence[object]:
    """Facts with names in place of ids, and without the number of writes, which is that of the batches."""
    names = {fact.fact_id: f"{fact.predicate} {fact.object}" for fact in facts}
    return sorted(
        (
            names[fact.fact_id],
            sorted(names[other] for other in fact.contradictions),
            replace(fact, fact_id=FactId(""), contradictions=(), revision=0),
        )
        for fact in facts
    )


def entered(batches: Sequence[Sequence[Statement]]) -> dict[FactId, Fact]:
    """The facts after each batch went through a working_set of its own, as from a store."""
    numbers = itertools.count(1)
    records: dict[FactId, FactRecord] = {}
    for batch in batches:
        working_set = FactWorkingSet(
            UserId("u"), EvidenceSettings(), new_id=lambda: str(uuid.UUID(int=next(numbers))), model="m"
        )
        working_set.load(sorted(records.values(), key=lambda record: record.fact_id))
        for one in batch:
            working_set.enter(one, GLOBAL_SCOPE, EMBEDDER.vector(one.draft.text))
        for change in working_set.changes():
            records[change.fact.fact_id] = replace(change.record, fact=change.fact)
    return {fact_id: record.fact for fact_id, record in records.items() if record.fact is not None}


@given(said=statements, data=st.data())
def test_order_and_batches_do_not_matter(said: list[Statement], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(said))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(said)), max_size=4)))
    batches = [shuffled[a:b] for a, b in itertools.pairwise([0, *cuts, len(said)])]
    assert comparable(list(entered([said]).values())) == comparable(list(entered(batches).values()))


@given(said=statements)
def test_repeats_change_nothing(said: list[Statement]) -> None:
    once = entered([said])
    assert entered([said, said, list(reversed(said))]) == once


@given(said=statements)
def test_invariants_of_every_state(said: list[Statement]) -> None:
    facts = entered([[one] for one in said])
    for fact in facts.values():
        assert 0.0 <= fact.confidence <= 1.0
        assert fact.first_observed_time <= fact.last_confirmed_time
        assert fact.valid_to_time is None or fact.valid_to_time >= fact.last_confirmed_time
        assert fact.valid_to_time is None or fact.contradictions
        assert all(fact.fact_id in facts[other].contradictions for other in fact.contradictions)
        replaced = [version.replaced_time for version in fact.versions]
        assert replaced == sorted(replaced)
    assert sum(fact.evidence_count for fact in facts.values()) == len(said)


@contextlib.asynccontextmanager
async def on_postgres(url: str) -> AsyncIterator[FactStore]:
    async with await create_pool(url, PoolSettings(size_max=2)) as pool:
        yield PostgresFactStore(pool)


@contextlib.asynccontextmanager
async def on_neo4j(url: str) -> AsyncIterator[FactStore]:
    async with open_graph(Neo4jServer(url=url)) as graph:
        await migrate_semantic_graph(graph)
        yield Neo4jFactStore(graph)


@pytest.fixture(scope="module", params=["postgres", ON_NEO4J])
def open_store(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    if request.param == "neo4j":
        yield partial(on_neo4j, request.getfixturevalue("neo4j_url"))
        return
    loop = asyncio.new_event_loop()
    server = request.getfixturevalue("postgres_server")
    context = fresh_postgres(server, migrations=[(SCHEMA, MIGRATIONS_FOLDER)])
    yield partial(on_postgres, loop.run_until_complete(context.__aenter__()).app)
    loop.run_until_complete(context.__aexit__(None, None, None))
    loop.close()


@settings(max_examples=share_of(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.lists(st.tuples(st.integers(0, len(SENTENCES) - 1), st.integers(0, 60)), min_size=1, max_size=8),
    data=st.data(),
)
def test_spec_3_2_out_of_order_arrival_gives_the_same_facts(
    open_store: OpenStore, said: list[tuple[int, int]], data: st.DataObject
) -> None:
    sources = [
        SourceInteraction(
            InteractionId(str(uuid.UUID(int=i + 1))),
            UserId("ann"),
            "c",
            i,
            Turn(MessageRole.USER, SENTENCES[which], START + timedelta(days=day), "Ann"),
        )
        for i, (which, day) in enumerate(said)
    ]
    arrival = data.draw(st.permutations(sources))
    cut = data.draw(st.integers(0, len(sources)))

    async def run() -> list[list[Fact]]:
        async with open_store() as store:
            in_order = await facts_after(store, [[one] for one in sources])
            shuffled = await facts_after(store, [arrival[:cut], arrival[cut:], arrival])
            run_again = await facts_after(_RunsAgain(store), [arrival[:cut], arrival[cut:]])
            return [in_order, shuffled, run_again]

    in_order, *others = asyncio.run(run())
    for other in others:
        assert comparable(in_order) == comparable(other)


async def facts_after(store: FactStore, batches: Sequence[Sequence[SourceInteraction]]) -> list[Fact]:
    tenant_id = TenantId(f"t{uuid.uuid4()}")
    service = FactService(
        store,
        TierEmbedder(HashingEmbedder()),
        ParsedFactExtractor(InProcessParser()),
        clock=FakeClock(),
        ids=_RandomIds(),
        settings=SemanticSettings(),
    )
    for batch in batches:
        if batch:
            await service.extract(tenant_id, batch)
    return await store.list_facts(Owner(tenant_id, UserId("ann")), which=FactFilter(), after=None, limit=200)


class _TransientError(Exception):
    pass


class _RunsAgain:
    """A store whose works all fail at their end for the first time, as after a transient failure."""

    def __init__(self, store: FactStore) -> None:
        self._store = store
        self.extracted = store.extracted
        self.get = store.get
        self.list_facts = store.list_facts
        self.search = store.search
        self.archive = store.archive
        self.restore = store.restore
        self.remove_owner = store.remove_owner
        self.users = store.users
        self.facts_of = store.facts_of
        self.merge_groups = store.merge_groups
        self.active_time = store.active_time

    async def write(self, owner: Owner, work: Callable[[FactWriter], Awaitable[_T]]) -> _T:
        async def failing(writer: FactWriter) -> None:
            await work(writer)
            raise _TransientError

        with pytest.raises(_TransientError):
            await self._store.write(owner, failing)
        return await self._store.write(owner, work)


class _RandomIds:
    def new_id(self) -> str:
        return str(uuid.uuid4())

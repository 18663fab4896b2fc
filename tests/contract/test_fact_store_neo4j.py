"""The Neo4j fact store fulfils the contract, and what else is asked of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from services.common.encryption.neo4j import GraphDataKeys
from services.common.neo4j.graph import Graph
from services.semantic.facts.store import FactWriter
from services.semantic.facts.stores.neo4j import Neo4jFactStore
from services.semantic.stores.neo4j_sealing import DATA_KEYS
from tests.contract.fact_drivers import semantic_graph
from tests.contract.fact_removal import FactRemovalContract
from tests.contract.fact_samples import ANN, BO, DAY_ONE
from tests.contract.fact_store import FactStoreContract, MakeStore
from tests.contract.idempotency_records import record
from tests.support.encryption import GRAPH_ENCRYPTION, chosen_graph_keys


@pytest.fixture
async def graph(neo4j_url: str) -> AsyncIterator[Graph]:
    async with semantic_graph(neo4j_url) as opened:
        yield opened


class TestNeo4jFactStore(FactStoreContract):
    @pytest.fixture(params=GRAPH_ENCRYPTION)
    def keys(self, request: pytest.FixtureRequest, tmp_path: Path) -> GraphDataKeys:
        return chosen_graph_keys(request.param, tmp_path, DATA_KEYS)

    @pytest.fixture
    def make_store(self, graph: Graph, keys: GraphDataKeys) -> MakeStore:
        return partial(Neo4jFactStore, graph, keys=keys)


class TestNeo4jFactRemoval(FactRemovalContract):
    @pytest.fixture
    def make_store(self, graph: Graph, tmp_path: Path) -> MakeStore:
        return partial(Neo4jFactStore, graph, keys=chosen_graph_keys("encrypted", tmp_path, DATA_KEYS))


async def test_works_that_lock_each_other_out_are_run_again(graph: Graph) -> None:
    store = Neo4jFactStore(graph)
    records = [record("one"), record("other")]
    locked = [asyncio.Event(), asyncio.Event()]
    runs = [0, 0]

    async def work(number: int, writer: FactWriter) -> None:
        runs[number] += 1
        for index in (number, 1 - number):
            if await writer.idempotency.find(records[index].key) is None:
                await writer.idempotency.add(records[index], purge_before=DAY_ONE)
            locked[number].set()
            await locked[1 - number].wait()

    await asyncio.gather(store.write(ANN, partial(work, 0)), store.write(BO, partial(work, 1)))
    assert sum(runs) == 3, "one of them was ended by the server, and came to its end the second time"
    assert await store.write(ANN, lambda writer: writer.idempotency.find(records[1].key)) == records[1]

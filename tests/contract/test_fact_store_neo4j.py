"""The Neo4j fact store fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.common.neo4j.graph import Graph
from services.semantic.facts.store import FactStore
from services.semantic.facts.stores.neo4j import Neo4jFactStore
from tests.contract.fact_drivers import semantic_graph
from tests.contract.fact_store import FactStoreContract


@pytest.fixture
async def graph(neo4j_url: str) -> AsyncIterator[Graph]:
    async with semantic_graph(neo4j_url) as opened:
        yield opened


class TestNeo4jFactStore(FactStoreContract):
    @pytest.fixture
    def store(self, graph: Graph) -> FactStore:
        return Neo4jFactStore(graph)

"""The Neo4j store of supersessions fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.semantic.supersession.store import SupersessionStore
from services.semantic.supersession.stores.neo4j import Neo4jSupersessionStore
from tests.contract.fact_drivers import semantic_graph
from tests.contract.supersession_store import SupersessionStoreContract


class TestNeo4jSupersessionStore(SupersessionStoreContract):
    @pytest.fixture
    async def store(self, neo4j_url: str) -> AsyncIterator[SupersessionStore]:
        async with semantic_graph(neo4j_url) as graph:
            yield Neo4jSupersessionStore(graph)

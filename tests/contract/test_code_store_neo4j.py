"""The Neo4j store of the code graph fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.semantic.code.store import CodeStore
from services.semantic.code.stores.neo4j import Neo4jCodeStore
from tests.contract.code_store import CodeStoreContract
from tests.contract.fact_drivers import semantic_graph


class TestNeo4jCodeStore(CodeStoreContract):
    @pytest.fixture
    async def store(self, neo4j_url: str) -> AsyncIterator[CodeStore]:
        async with semantic_graph(neo4j_url) as graph:
            yield Neo4jCodeStore(graph)

"""The Neo4j store of procedures fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.semantic.procedures.store import ProcedureStore
from services.semantic.procedures.stores.neo4j import Neo4jProcedureStore
from tests.contract.fact_drivers import semantic_graph
from tests.contract.procedure_store import ProcedureStoreContract


class TestNeo4jProcedureStore(ProcedureStoreContract):
    @pytest.fixture
    async def store(self, neo4j_url: str) -> AsyncIterator[ProcedureStore]:
        async with semantic_graph(neo4j_url) as graph:
            yield Neo4jProcedureStore(graph)

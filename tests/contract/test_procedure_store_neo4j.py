"""The Neo4j store of procedures fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.encryption.neo4j import GraphDataKeys
from services.semantic.procedures.store import ProcedureStore
from services.semantic.procedures.stores.neo4j import Neo4jProcedureStore
from services.semantic.stores.neo4j_sealing import DATA_KEYS
from tests.contract.fact_drivers import semantic_graph
from tests.contract.procedure_erasure import ProcedureErasureContract
from tests.support.encryption import GRAPH_ENCRYPTION, chosen_graph_keys


class TestNeo4jProcedureStore(ProcedureErasureContract):
    @pytest.fixture(params=GRAPH_ENCRYPTION)
    def keys(self, request: pytest.FixtureRequest, tmp_path: Path) -> GraphDataKeys:
        return chosen_graph_keys(request.param, tmp_path, DATA_KEYS)

    @pytest.fixture
    async def store(self, neo4j_url: str, keys: GraphDataKeys) -> AsyncIterator[ProcedureStore]:
        async with semantic_graph(neo4j_url) as graph:
            yield Neo4jProcedureStore(graph, keys=keys)

"""The maintenance of facts in Neo4j fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from services.common.encryption.neo4j import GraphDataKeys
from services.common.maintenance.neo4j import Neo4jMaintenanceStore
from services.common.maintenance.store import MaintenanceStore
from services.common.neo4j.graph import Graph
from services.semantic.facts.stores.neo4j import Neo4jFactStore
from services.semantic.facts.stores.neo4j_upkeep import Neo4jFactUpkeep
from services.semantic.facts.upkeep_store import FactUpkeepStore
from services.semantic.stores.neo4j_sealing import DATA_KEYS
from tests.contract.fact_drivers import semantic_graph
from tests.contract.fact_merges import FactMergesContract
from tests.contract.fact_store import MakeStore
from tests.contract.fact_supports import FactSupportsContract
from tests.contract.fact_upkeep import FactUpkeepContract
from tests.support.encryption import GRAPH_ENCRYPTION, chosen_graph_keys


class TestNeo4jFactUpkeep(FactUpkeepContract, FactMergesContract, FactSupportsContract):
    @pytest.fixture(params=GRAPH_ENCRYPTION)
    def keys(self, request: pytest.FixtureRequest, tmp_path: Path) -> GraphDataKeys:
        return chosen_graph_keys(request.param, tmp_path, DATA_KEYS)

    @pytest.fixture
    async def graph(self, neo4j_url: str) -> AsyncIterator[Graph]:
        async with semantic_graph(neo4j_url) as opened:
            yield opened

    @pytest.fixture
    def make_store(self, graph: Graph, keys: GraphDataKeys) -> MakeStore:
        return partial(Neo4jFactStore, graph, keys=keys)

    @pytest.fixture
    def upkeep_store(self, graph: Graph, keys: GraphDataKeys) -> FactUpkeepStore:
        return Neo4jFactUpkeep(graph, keys=keys)

    @pytest.fixture
    def maintenance(self, graph: Graph) -> MaintenanceStore:
        return Neo4jMaintenanceStore(graph)

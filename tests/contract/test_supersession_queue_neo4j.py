"""The queue of supersessions in Neo4j fulfils the contract."""

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
from services.semantic.stores.neo4j_sealing import DATA_KEYS
from services.semantic.supersession.queue_store import SupersessionQueueStore
from services.semantic.supersession.store import SupersessionStore
from services.semantic.supersession.stores.neo4j import Neo4jSupersessionStore
from services.semantic.supersession.stores.neo4j_queue import Neo4jSupersessionQueue
from tests.contract.fact_drivers import semantic_graph
from tests.contract.fact_store import MakeStore
from tests.contract.supersession_queue import SupersessionQueueContract
from tests.support.encryption import GRAPH_ENCRYPTION, chosen_graph_keys


class TestNeo4jSupersessionQueue(SupersessionQueueContract):
    @pytest.fixture(params=GRAPH_ENCRYPTION)
    def keys(self, request: pytest.FixtureRequest, tmp_path: Path) -> GraphDataKeys:
        return chosen_graph_keys(request.param, tmp_path, DATA_KEYS)

    @pytest.fixture
    async def graph(self, neo4j_url: str) -> AsyncIterator[Graph]:
        async with semantic_graph(neo4j_url) as opened:
            yield opened

    @pytest.fixture
    def supersessions(self, graph: Graph, keys: GraphDataKeys) -> SupersessionStore:
        return Neo4jSupersessionStore(graph, keys=keys)

    @pytest.fixture
    def pairs(self, graph: Graph, keys: GraphDataKeys) -> SupersessionQueueStore:
        return Neo4jSupersessionQueue(graph, keys=keys)

    @pytest.fixture
    def make_store(self, graph: Graph, keys: GraphDataKeys) -> MakeStore:
        return partial(Neo4jFactStore, graph, keys=keys)

    @pytest.fixture
    def maintenance(self, graph: Graph) -> MaintenanceStore:
        return Neo4jMaintenanceStore(graph)

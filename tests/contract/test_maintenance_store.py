"""Both drivers of the maintenance store fulfil the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.common.maintenance.neo4j import COMPONENT, GRAPH_MIGRATIONS_FOLDER, Neo4jMaintenanceStore
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.maintenance.store import MaintenanceStore
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from tests.contract.maintenance_store import MaintenanceStoreContract
from tests.support.maintenance import MAINTENANCE
from tests.support.neo4j import fresh_graph
from tests.support.postgres import fresh_postgres


class TestPostgresMaintenanceStore(MaintenanceStoreContract):
    @pytest.fixture
    async def store(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[MaintenanceStore]:
        async with (
            fresh_postgres(postgres_server, migrations=[MAINTENANCE]) as urls,
            await create_pool(urls.app) as pool,
        ):
            yield PostgresMaintenanceStore(pool)


class TestNeo4jMaintenanceStore(MaintenanceStoreContract):
    @pytest.fixture
    async def store(self, neo4j_url: str) -> AsyncIterator[MaintenanceStore]:
        async with fresh_graph(neo4j_url, migrations=[(COMPONENT, GRAPH_MIGRATIONS_FOLDER)]) as graph:
            yield Neo4jMaintenanceStore(graph)

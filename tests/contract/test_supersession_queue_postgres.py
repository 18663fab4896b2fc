"""The queue of supersessions in PostgreSQL fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from services.common.encryption.postgres import DataKeys
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.maintenance.store import MaintenanceStore
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.stores.postgres import SCHEMA
from services.semantic.supersession.queue_store import SupersessionQueueStore
from services.semantic.supersession.store import SupersessionStore
from services.semantic.supersession.stores.postgres import PostgresSupersessionStore
from services.semantic.supersession.stores.postgres_queue import PostgresSupersessionQueue
from tests.contract.fact_drivers import semantic_pool
from tests.contract.fact_store import MakeStore
from tests.contract.supersession_queue import SupersessionQueueContract
from tests.support.encryption import ENCRYPTION, chosen_keys


class TestPostgresSupersessionQueue(SupersessionQueueContract):
    @pytest.fixture
    async def pool(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[Pool]:
        async with semantic_pool(postgres_server) as opened:
            yield opened

    @pytest.fixture(params=ENCRYPTION)
    def keys(self, request: pytest.FixtureRequest, tmp_path: Path) -> DataKeys:
        return chosen_keys(request.param, tmp_path, SCHEMA)

    @pytest.fixture
    def supersessions(self, pool: Pool, keys: DataKeys) -> SupersessionStore:
        return PostgresSupersessionStore(pool, keys=keys)

    @pytest.fixture
    def pairs(self, pool: Pool, keys: DataKeys) -> SupersessionQueueStore:
        return PostgresSupersessionQueue(pool, keys=keys)

    @pytest.fixture
    def make_store(self, pool: Pool, keys: DataKeys) -> MakeStore:
        return partial(PostgresFactStore, pool, keys=keys)

    @pytest.fixture
    def maintenance(self, pool: Pool) -> MaintenanceStore:
        return PostgresMaintenanceStore(pool)

"""The maintenance of facts in PostgreSQL fulfils the contract."""

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
from services.semantic.facts.stores.postgres_upkeep import PostgresFactUpkeep
from services.semantic.facts.upkeep_store import FactUpkeepStore
from services.semantic.stores.postgres import SCHEMA
from tests.contract.fact_drivers import semantic_pool
from tests.contract.fact_merges import FactMergesContract
from tests.contract.fact_store import MakeStore
from tests.contract.fact_supports import FactSupportsContract
from tests.contract.fact_upkeep import FactUpkeepContract
from tests.support.encryption import ENCRYPTION, chosen_keys


class TestPostgresFactUpkeep(FactUpkeepContract, FactMergesContract, FactSupportsContract):
    @pytest.fixture
    async def pool(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[Pool]:
        async with semantic_pool(postgres_server) as opened:
            yield opened

    @pytest.fixture(params=ENCRYPTION)
    def keys(self, request: pytest.FixtureRequest, tmp_path: Path) -> DataKeys:
        return chosen_keys(request.param, tmp_path, SCHEMA)

    @pytest.fixture
    def make_store(self, pool: Pool, keys: DataKeys) -> MakeStore:
        return partial(PostgresFactStore, pool, keys=keys)

    @pytest.fixture
    def upkeep_store(self, pool: Pool, keys: DataKeys) -> FactUpkeepStore:
        return PostgresFactUpkeep(pool, keys=keys)

    @pytest.fixture
    def maintenance(self, pool: Pool) -> MaintenanceStore:
        return PostgresMaintenanceStore(pool)

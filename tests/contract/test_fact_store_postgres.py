"""The PostgreSQL fact store fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.common.postgres.server import EmbeddedPostgres
from services.semantic.facts.store import FactStore
from services.semantic.facts.stores.postgres import PostgresFactStore
from tests.contract.fact_drivers import semantic_pool
from tests.contract.fact_store import FactStoreContract


class TestPostgresFactStore(FactStoreContract):
    @pytest.fixture
    async def store(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[FactStore]:
        async with semantic_pool(postgres_server) as pool:
            yield PostgresFactStore(pool)

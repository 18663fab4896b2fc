"""The PostgreSQL store of supersessions fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.common.postgres.server import EmbeddedPostgres
from services.semantic.supersession.store import SupersessionStore
from services.semantic.supersession.stores.postgres import PostgresSupersessionStore
from tests.contract.fact_drivers import semantic_pool
from tests.contract.supersession_store import SupersessionStoreContract


class TestPostgresSupersessionStore(SupersessionStoreContract):
    @pytest.fixture
    async def store(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[SupersessionStore]:
        async with semantic_pool(postgres_server) as pool:
            yield PostgresSupersessionStore(pool)

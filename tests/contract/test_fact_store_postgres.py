"""The PostgreSQL fact store fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

import pytest

from services.common.postgres.server import EmbeddedPostgres
from services.semantic.facts.stores.postgres import PostgresFactStore
from tests.contract.fact_drivers import semantic_pool
from tests.contract.fact_store import FactStoreContract, MakeStore


class TestPostgresFactStore(FactStoreContract):
    @pytest.fixture
    async def make_store(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[MakeStore]:
        async with semantic_pool(postgres_server) as pool:
            yield partial(PostgresFactStore, pool)

"""The PostgreSQL profile store fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.common.postgres.server import EmbeddedPostgres
from services.semantic.profile.store import ProfileStore
from services.semantic.profile.stores.postgres import PostgresProfileStore
from tests.contract.fact_drivers import semantic_pool
from tests.contract.profile_store import ProfileStoreContract


class TestPostgresProfileStore(ProfileStoreContract):
    @pytest.fixture
    async def store(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[ProfileStore]:
        async with semantic_pool(postgres_server) as pool:
            yield PostgresProfileStore(pool)

"""The PostgreSQL profile store fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.postgres.server import EmbeddedPostgres
from services.semantic.profile.store import ProfileStore
from services.semantic.profile.stores.postgres import PostgresProfileStore
from services.semantic.stores.postgres import SCHEMA
from tests.contract.fact_drivers import semantic_pool
from tests.contract.profile_store import ProfileStoreContract
from tests.support.encryption import ENCRYPTION, chosen_keys


class TestPostgresProfileStore(ProfileStoreContract):
    @pytest.fixture(params=ENCRYPTION)
    async def store(
        self, postgres_server: EmbeddedPostgres, request: pytest.FixtureRequest, tmp_path: Path
    ) -> AsyncIterator[ProfileStore]:
        async with semantic_pool(postgres_server) as pool:
            yield PostgresProfileStore(pool, keys=chosen_keys(request.param, tmp_path, SCHEMA))

"""The PostgreSQL store of the code graph fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.postgres.server import EmbeddedPostgres
from services.semantic.code.store import CodeStore
from services.semantic.code.stores.postgres import PostgresCodeStore
from services.semantic.stores.postgres import SCHEMA
from tests.contract.code_store import CodeStoreContract
from tests.contract.fact_drivers import semantic_pool
from tests.support.encryption import ENCRYPTION, chosen_keys


class TestPostgresCodeStore(CodeStoreContract):
    @pytest.fixture(params=ENCRYPTION)
    async def store(
        self, postgres_server: EmbeddedPostgres, request: pytest.FixtureRequest, tmp_path: Path
    ) -> AsyncIterator[CodeStore]:
        async with semantic_pool(postgres_server) as pool:
            yield PostgresCodeStore(pool, keys=chosen_keys(request.param, tmp_path, SCHEMA))

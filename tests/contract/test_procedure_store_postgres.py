"""The PostgreSQL store of procedures fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.postgres.server import EmbeddedPostgres
from services.semantic.procedures.store import ProcedureStore
from services.semantic.procedures.stores.postgres import PostgresProcedureStore
from services.semantic.stores.postgres import SCHEMA
from tests.contract.fact_drivers import semantic_pool
from tests.contract.procedure_erasure import ProcedureErasureContract
from tests.support.encryption import ENCRYPTION, chosen_keys


class TestPostgresProcedureStore(ProcedureErasureContract):
    @pytest.fixture(params=ENCRYPTION)
    async def store(
        self, postgres_server: EmbeddedPostgres, request: pytest.FixtureRequest, tmp_path: Path
    ) -> AsyncIterator[ProcedureStore]:
        async with semantic_pool(postgres_server) as pool:
            yield PostgresProcedureStore(pool, keys=chosen_keys(request.param, tmp_path, SCHEMA))

"""Reading what superseded the sentences of facts in PostgreSQL fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from services.common.encryption.postgres import DataKeys
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Pool
from services.semantic.config import EvidenceSettings
from services.semantic.facts.ends import FactMarkStore
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.facts.stores.postgres_marks import PostgresFactMarks
from services.semantic.stores.postgres import SCHEMA
from services.semantic.supersession.store import SupersessionStore
from services.semantic.supersession.stores.postgres import PostgresSupersessionStore
from tests.contract.fact_corrections import FactCorrectionsContract
from tests.contract.fact_drivers import semantic_pool
from tests.contract.fact_history import FactHistoryContract
from tests.contract.fact_marks import FactMarksContract, boat, mark
from tests.contract.fact_samples import enter
from tests.contract.fact_store import MakeStore
from tests.contract.supersession_samples import ADA
from tests.support.encryption import ENCRYPTION, chosen_keys


class TestPostgresFactMarks(FactMarksContract, FactCorrectionsContract, FactHistoryContract):
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
    def marks(self, pool: Pool, keys: DataKeys) -> FactMarkStore:
        return PostgresFactMarks(pool, keys=keys)

    @pytest.fixture
    def make_store(self, pool: Pool, keys: DataKeys) -> MakeStore:
        return partial(PostgresFactStore, pool, keys=keys)

    async def test_marks_count_where_no_revision_was_copied_with_them(
        self, make_store: MakeStore, marks: FactMarkStore, supersessions: SupersessionStore, pool: Pool
    ) -> None:
        store = make_store(EvidenceSettings())
        [one] = await enter(store, ADA, [boat(1, 0)])
        await supersessions.put(ADA, [mark(1)])
        async with tenant_transaction(pool, ADA.tenant_id) as connection:
            await connection.execute("DELETE FROM semantic.owner_revisions")
        assert list(await marks.marked(ADA, [one])) == [one]

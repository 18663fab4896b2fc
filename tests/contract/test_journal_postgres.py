"""The journal in PostgreSQL."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.ids import Uuid7Ids
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA, PostgresJournal
from tests.contract.journal import GATED, JournalContract
from tests.contract.journal_fairness import FairClaimsContract
from tests.contract.journal_removal import JournalRemovalContract
from tests.support.clock import FakeClock
from tests.support.encryption import ENCRYPTION, chosen_keys
from tests.support.postgres import fresh_postgres


class TestPostgresJournal(JournalContract, FairClaimsContract, JournalRemovalContract):
    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    async def pool(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[Pool]:
        async with fresh_postgres(postgres_server, migrations=[(SCHEMA, Path(MIGRATIONS))]) as urls:
            opened = await create_pool(urls.app)
            yield opened
            await opened.close()

    @pytest.fixture(params=ENCRYPTION)
    def encryption(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    async def journal(self, pool: Pool, clock: FakeClock, encryption: str, tmp_path: Path) -> PostgresJournal:
        keys = chosen_keys(encryption, tmp_path, SCHEMA)
        return PostgresJournal(pool, clock=clock, ids=Uuid7Ids(clock), settings=GATED, keys=keys)

    @pytest.fixture
    async def second(self, pool: Pool, clock: FakeClock, encryption: str, tmp_path: Path) -> PostgresJournal:
        return PostgresJournal(pool, clock=clock, ids=Uuid7Ids(clock), keys=chosen_keys(encryption, tmp_path, SCHEMA))

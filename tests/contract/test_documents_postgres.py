"""Documents in PostgreSQL, plain and encrypted."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.ids import Uuid7Ids
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.gateway.documents.stores.postgres import PostgresDocuments
from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA, PostgresJournal
from tests.contract.documents import ADA, SETTINGS, DocumentStoreContract, put, values, write
from tests.support.clock import FakeClock
from tests.support.encryption import ENCRYPTION, chosen_keys, occurrences
from tests.support.postgres import DatabaseUrls, fresh_postgres


class TestPostgresDocuments(DocumentStoreContract):
    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture(params=ENCRYPTION)
    def encryption(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    async def urls(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[DatabaseUrls]:
        async with fresh_postgres(postgres_server, migrations=[(SCHEMA, Path(MIGRATIONS))]) as urls:
            yield urls

    @pytest.fixture
    async def documents(
        self, urls: DatabaseUrls, clock: FakeClock, encryption: str, tmp_path: Path
    ) -> AsyncIterator[PostgresDocuments]:
        pool = await create_pool(urls.app)
        keys = chosen_keys(encryption, tmp_path, SCHEMA)
        yield PostgresDocuments(pool, clock=clock, ids=Uuid7Ids(clock), settings=SETTINGS, keys=keys)
        await pool.close()

    async def test_spec_6_6_an_erased_user_has_no_documents(
        self, documents: PostgresDocuments, urls: DatabaseUrls, clock: FakeClock, encryption: str, tmp_path: Path
    ) -> None:
        await write(documents, put("a", {"secret": "Zanzibar"}, search_texts=("Zanzibar",)), put("b"))
        await write(documents, put("a"), user="bob")
        stored = await occurrences(urls.superuser, "Zanzibar", schemas=[SCHEMA])
        assert bool(stored) == (encryption == "plain")
        pool = await create_pool(urls.app)
        keys = chosen_keys(encryption, tmp_path, SCHEMA)
        journal = PostgresJournal(pool, clock=clock, ids=Uuid7Ids(clock), keys=keys)
        removed = await journal.remove_user("acme", "ada")
        assert removed.documents == 2
        assert (await journal.remove_tenant("acme")).documents == 1
        await pool.close()
        assert await values(documents) == {}
        assert await occurrences(urls.superuser, "Zanzibar", schemas=[SCHEMA]) == {}
        await write(documents, put("a", 2))
        assert await values(documents, owner=ADA) == {"notes/a": 2}

"""Erasures in PostgreSQL: embedded, in a server of its own, and through PgBouncer."""

import json
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from services.common.ids import Uuid7Ids
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Pool
from services.gateway.erasure.model import Target, TargetKind
from services.gateway.erasure.stores.postgres import PostgresErasures
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA, PostgresJournal
from tests.contract.erasures import P1, ErasureStoreContract, erase
from tests.contract.journal import ACME
from tests.support.clock import FakeClock
from tests.support.encryption import ENCRYPTION, chosen_keys
from tests.support.postgres import fresh_postgres
from tests.support.postgres_server import PostgresByUrl


def erasures_in(pool: Pool, clock: FakeClock, encryption: str, folder: Path) -> PostgresErasures:
    keys = chosen_keys(encryption, folder, SCHEMA)
    return PostgresErasures(pool, clock=clock, ids=Uuid7Ids(clock), audited_max=2, keys=keys)


class PostgresErasuresContract(ErasureStoreContract):
    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    async def pool(self, server: EmbeddedPostgres | PostgresByUrl, settings: PoolSettings) -> AsyncIterator[Pool]:
        async with fresh_postgres(server, migrations=[(SCHEMA, Path(MIGRATIONS))]) as urls:
            opened = await create_pool(urls.app, settings)
            yield opened
            await opened.close()

    @pytest.fixture
    def encryption(self) -> str:
        return "plain"

    @pytest.fixture
    def journal(self, pool: Pool, clock: FakeClock, encryption: str, tmp_path: Path) -> PostgresJournal:
        return PostgresJournal(pool, clock=clock, ids=Uuid7Ids(clock), keys=chosen_keys(encryption, tmp_path, SCHEMA))

    @pytest.fixture
    def erasures(self, pool: Pool, clock: FakeClock, encryption: str, tmp_path: Path) -> PostgresErasures:
        return erasures_in(pool, clock, encryption, tmp_path)

    @pytest.fixture
    def second(self, pool: Pool, clock: FakeClock, encryption: str, tmp_path: Path) -> PostgresErasures:
        return erasures_in(pool, clock, encryption, tmp_path)

    async def test_spec_6_10_the_audit_log_names_what_is_erased(self, erasures: PostgresErasures, pool: Pool) -> None:
        memories = tuple((MemoryKind.FACT, str(uuid.uuid4())) for _ in range(3))
        of_memories, _ = await erasures.begin(ACME, erase(Target(TargetKind.MEMORIES, "u1", memories), "e1"))
        nested = Target(TargetKind.SCOPE, "u1", scope=P1, with_nested=True)
        of_scope, _ = await erasures.begin(ACME, erase(nested, "e2"))
        of_tenant, _ = await erasures.begin(ACME, erase(Target(TargetKind.TENANT), "e3"))
        await erasures.begin(ACME, erase(nested, "e2"))  # a repeat is no second call
        call, named, _, scope, tenant = await bodies(pool)
        assert (call["user_id"], call["memories"], call["principal"]) == ("", [], ACME.principal_id)
        assert call["target"] == {"erasure": of_memories.erasure_id, "kind": "memories"}
        assert (named["user_id"], named["memories"]) == ("u1", [memory_id for _, memory_id in memories[:2]])
        assert named["target"] == {**call["target"], "memories_beyond": 1}
        assert scope["target"] == {"erasure": of_scope.erasure_id, "kind": "scope", "scope": P1.key, "nested": True}
        assert tenant["target"] == {"erasure": of_tenant.erasure_id, "kind": "tenant"}


async def bodies(pool: Pool) -> list[dict[str, Any]]:
    """What the audit log says, in its order."""
    async with tenant_transaction(pool, "acme") as connection:
        found = await connection.fetch("SELECT body FROM gateway.audit_entries ORDER BY entry_id")
    return [json.loads(row["body"]) for row in found]


class TestEmbeddedPostgresErasures(PostgresErasuresContract):
    @pytest.fixture(params=ENCRYPTION)
    def encryption(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    def server(self, postgres_server: EmbeddedPostgres) -> EmbeddedPostgres:
        return postgres_server

    @pytest.fixture
    def settings(self) -> PoolSettings:
        return PoolSettings(vectors=False)


class TestPostgresServerErasures(PostgresErasuresContract):
    @pytest.fixture
    def server(self, real_postgres: PostgresByUrl) -> PostgresByUrl:
        return real_postgres

    @pytest.fixture
    def settings(self) -> PoolSettings:
        return PoolSettings(vectors=False)


class TestPooledPostgresErasures(PostgresErasuresContract):
    @pytest.fixture
    def server(self, pooled_postgres: PostgresByUrl) -> PostgresByUrl:
        return pooled_postgres

    @pytest.fixture
    def settings(self) -> PoolSettings:
        return PoolSettings(vectors=False, behind_pgbouncer=True)

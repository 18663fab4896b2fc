"""The journal in PostgreSQL."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.ids import Uuid7Ids
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Pool
from services.gateway.journal.model import DeliveryFailure, DeliveryOutcome, RetryCommand, Tier
from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA, PostgresJournal
from tests.contract.journal import ACME, GATED, JournalContract, append, command
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

    async def test_spec_6_10_a_retry_of_dead_letters_names_the_turns_of_each_user(
        self, journal: PostgresJournal, pool: Pool
    ) -> None:
        turns = [
            (await append(journal, command("I moved to Delft", user=user_id, request_id=user_id))).interaction_ids[0]
            for user_id in ("u1", "u2")
        ]
        async with journal.claim(Tier.AGENTIC, limit=10) as batch:
            given_up = tuple(DeliveryFailure(one, "INVALID_FIELD", permanent=True) for one in batch.deliveries)
            await batch.settle(DeliveryOutcome(failed=given_up))
        letters = (await journal.dead_letters("acme", tier=None, limit=10, after=None)).items
        assert await journal.retry(ACME, RetryCommand("r1", tuple(one.delivery_id for one in letters), b"retry")) == 2
        async with tenant_transaction(pool, "acme") as connection:
            found = await connection.fetch("SELECT body FROM gateway.audit_entries ORDER BY entry_id")
        bodies = [json.loads(row["body"]) for row in found]
        retried = [body for body in bodies if body["method"] == "RetryDeadLetters"]
        assert [(body["user_id"], body["memories"]) for body in retried] == [
            ("", []),
            ("u1", [turns[0]]),
            ("u2", [turns[1]]),
        ]
        assert retried[1]["target"] == {"dead_letters": 1}

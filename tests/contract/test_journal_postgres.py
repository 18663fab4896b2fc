"""The journal in PostgreSQL."""

import json
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from services.common.ids import Uuid7Ids
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Pool
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import DeliveryFailure, DeliveryOutcome, RecallRecord, RetryCommand, Tier
from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA, PostgresJournal
from tests.contract.journal import ACME, GATED, JournalContract, append, command
from tests.contract.journal_fairness import FairClaimsContract
from tests.contract.journal_removal import JournalRemovalContract
from tests.support.clock import FakeClock
from tests.support.encryption import ENCRYPTION, chosen_keys
from tests.support.postgres import fresh_postgres


async def bodies(pool: Pool) -> list[dict[str, Any]]:
    """What the audit log says, in its order."""
    async with tenant_transaction(pool, "acme") as connection:
        found = await connection.fetch("SELECT body FROM gateway.audit_entries ORDER BY entry_id")
    return [json.loads(row["body"]) for row in found]


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
        retried = [body for body in await bodies(pool) if body["method"] == "RetryDeadLetters"]
        assert [(body["user_id"], body["memories"]) for body in retried] == [
            ("", []),
            ("u1", [turns[0]]),
            ("u2", [turns[1]]),
        ]
        assert retried[1]["target"] == {"dead_letters": 1}

    async def test_spec_6_10_a_recall_that_is_recorded_twice_has_one_entry_with_all_that_was_read(
        self, journal: PostgresJournal, pool: Pool, clock: FakeClock
    ) -> None:
        recall, fact, turn, procedure = (str(uuid.uuid4()) for _ in range(4))
        record = RecallRecord(
            "acme",
            recall,
            "u1",
            ((MemoryKind.FACT, fact),),
            clock.now(),
            "agent",
            procedure_ids=(procedure,),
            also_read=(turn, "no UUID", fact),
        )
        await journal.add_recalls([record])
        await journal.add_recalls([record])
        (body,) = await bodies(pool)
        assert (body["method"], body["principal"], body["request_id"]) == ("Recall", "agent", recall)
        assert body["memories"] == [fact, turn, procedure]

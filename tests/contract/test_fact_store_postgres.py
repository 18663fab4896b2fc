"""The PostgreSQL fact store fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from services.common.postgres.server import EmbeddedPostgres
from services.semantic.config import EvidenceSettings
from services.semantic.facts.store import FactFilter, FactStore
from services.semantic.facts.stores.postgres import PostgresFactStore
from tests.contract.fact_drivers import semantic_pool
from tests.contract.fact_samples import ANN, DAY_ONE, enter, lives_in, records, said
from tests.contract.fact_store import FactStoreContract


class TestPostgresFactStore(FactStoreContract):
    @pytest.fixture
    async def store(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[FactStore]:
        async with semantic_pool(postgres_server) as pool:
            yield PostgresFactStore(pool)


@pytest.mark.parametrize("topic_facts_max", [3, 64])
async def test_a_long_topic_costs_each_statement_the_same(
    postgres_server: EmbeddedPostgres, topic_facts_max: int
) -> None:
    towns = [*(f"town{n}" for n in range(20)), "town2", "town20"]
    async with semantic_pool(postgres_server) as pool:
        store = PostgresFactStore(pool, EvidenceSettings(topic_facts_max=topic_facts_max))
        for day, town in enumerate(towns):
            await enter(store, ANN, [said(lives_in(town), day=day)])
        found = await records(store, ANN, lives_in("elsewhere"))
        facts = {f.object: f for f in await store.list_facts(ANN, which=FactFilter(), after=None, limit=100)}

    assert len([record for record in found if not record.is_context]) == min(topic_facts_max, 21)
    assert len(found) <= topic_facts_max + 6
    # What was settled stays settled, however few facts are loaded.
    ends = {town: fact.valid_to_time for town, fact in facts.items()}
    assert ends.pop("town20") is None
    assert ends.pop("town2") == DAY_ONE + timedelta(days=21)
    assert ends.pop("town19") == DAY_ONE + timedelta(days=20)
    assert all(ends[f"town{n}"] == DAY_ONE + timedelta(days=n + 1) for n in range(19) if n != 2)
    assert [v.replaced_time for v in facts["town2"].versions] == [DAY_ONE + timedelta(days=d) for d in (3, 20, 21)]


async def test_the_count_of_evidence_is_true_beyond_what_is_loaded(postgres_server: EmbeddedPostgres) -> None:
    async with semantic_pool(postgres_server) as pool:
        store = PostgresFactStore(pool, EvidenceSettings(statements_max=4))
        for day in (*range(1, 12), 0):
            await enter(store, ANN, [said(lives_in("Leeds"), day=day)])
        [fact] = await store.list_facts(ANN, which=FactFilter(), after=None, limit=5)
    assert (fact.evidence_count, fact.first_observed_time) == (12, DAY_ONE)
    assert fact.last_confirmed_time == DAY_ONE + timedelta(days=11)

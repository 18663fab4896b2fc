"""The PostgreSQL fact store fulfils the contract, whether or not vectors are cached."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from services.common.embedding.vectors import Vector
from services.common.owners import Owner
from services.common.postgres import cached_vectors
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Pool
from services.common.scope import GLOBAL_SCOPE
from services.semantic.config import EvidenceSettings
from services.semantic.facts.model import FactStatus, ScoredFact
from services.semantic.facts.store import FactChange, FactSearch
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.stores.postgres import SCHEMA
from tests.contract.fact_drivers import semantic_pool
from tests.contract.fact_removal import FactRemovalContract
from tests.contract.fact_samples import ANN, MODEL, PROJECT, changed, made_fact, put
from tests.contract.fact_store import FactStoreContract, MakeStore
from tests.support.caches import eager_cache
from tests.support.encryption import ENCRYPTION, chosen_keys

QUERY = np.array([1.0, 0.0], np.float32)


@pytest.fixture
async def pool(postgres_server: EmbeddedPostgres) -> AsyncIterator[Pool]:
    async with semantic_pool(postgres_server) as opened:
        yield opened


class TestPostgresFactStore(FactStoreContract):
    @pytest.fixture(params=ENCRYPTION)
    def make_store(self, pool: Pool, request: pytest.FixtureRequest, tmp_path: Path) -> MakeStore:
        return partial(PostgresFactStore, pool, keys=chosen_keys(request.param, tmp_path, SCHEMA))


class _CachingStore(PostgresFactStore):
    """Has the vectors of whoever is searched in memory."""

    async def search(self, owner: Owner, search: FactSearch) -> list[ScoredFact]:
        await super().search(owner, search)
        await self.settle()
        return await super().search(owner, search)


class TestPostgresFactStoreWithCachedVectors(FactStoreContract):
    @pytest.fixture
    async def make_store(self, pool: Pool, tmp_path: Path) -> AsyncIterator[MakeStore]:
        keys = chosen_keys("encrypted", tmp_path, SCHEMA)
        async with AsyncExitStack() as stack:

            def make(evidence: EvidenceSettings) -> _CachingStore:
                store = _CachingStore(pool, evidence, cache=eager_cache(), cached_min=1, keys=keys)
                stack.push_async_callback(store.aclose)
                return store

            yield make


class TestPostgresFactRemoval(FactRemovalContract):
    @pytest.fixture(params=ENCRYPTION)
    def make_store(self, pool: Pool, request: pytest.FixtureRequest, tmp_path: Path) -> MakeStore:
        return partial(PostgresFactStore, pool, keys=chosen_keys(request.param, tmp_path, SCHEMA))


class _WarmStore(PostgresFactStore):
    """Has the vectors of whoever was searched before in memory."""

    async def search(self, owner: Owner, search: FactSearch) -> list[ScoredFact]:
        found = await super().search(owner, search)
        await self.settle()
        return found


class TestPostgresFactRemovalWithCachedVectors(FactRemovalContract):
    @pytest.fixture
    async def make_store(self, pool: Pool) -> AsyncIterator[MakeStore]:
        async with AsyncExitStack() as stack:

            def make(evidence: EvidenceSettings) -> _WarmStore:
                store = _WarmStore(pool, evidence, cache=eager_cache(), cached_min=1)
                stack.push_async_callback(store.aclose)
                return store

            yield make


def _near(cosine: float) -> Vector:
    return np.array([cosine, np.sqrt(1.0 - cosine**2)], np.float32)


async def _found(store: PostgresFactStore, *, confidence: float = 0.3, limit: int = 10) -> list[float]:
    """Cosines to the query of what is found, to two digits: what facts are told apart by here."""
    wanted = FactSearch(QUERY, MODEL, GLOBAL_SCOPE, limit, confidence, includes_threshold=True)
    return [round(hit.similarity, 2) for hit in await store.search(ANN, wanted)]


class TestCachedVectors:
    @pytest.fixture
    async def store(self, pool: Pool) -> AsyncIterator[PostgresFactStore]:
        async with aclosing(PostgresFactStore(pool, cache=eager_cache(), cached_min=3)) as store:
            yield store

    @pytest.fixture
    async def facts(self, store: PostgresFactStore) -> list[FactChange]:
        """Three facts, which are cached."""
        facts = [made_fact(ANN, _near(cosine)) for cosine in (0.9, 0.8, 0.7)]
        await put(store, ANN, facts)
        assert await _found(store) == [0.9, 0.8, 0.7]
        await store.settle()
        assert store.cached_count == 3
        return facts

    @pytest.mark.parametrize("in_place_max", [0, 100], ids=["on another thread", "in place"])
    async def test_searches_see_what_was_written_since_they_were_cached(
        self,
        store: PostgresFactStore,
        facts: list[FactChange],
        monkeypatch: pytest.MonkeyPatch,
        in_place_max: int,
    ) -> None:
        monkeypatch.setattr(cached_vectors, "_COMPARED_IN_PLACE_MAX", in_place_max)
        await put(store, ANN, [made_fact(ANN, _near(0.85)), made_fact(ANN, _near(0.95), confidence=0.29)])
        assert await _found(store) == [0.9, 0.85, 0.8, 0.7]
        assert store.cached_count == 5
        await put(store, ANN, [changed(facts[0], _near(0.75)), changed(facts[1], confidence=0.2)])
        assert await _found(store) == [0.85, 0.75, 0.7]
        assert await _found(store, confidence=0.2) == [0.95, 0.85, 0.8, 0.75, 0.7]

    async def test_what_may_not_be_found_any_more_leaves_the_cache(
        self, store: PostgresFactStore, facts: list[FactChange]
    ) -> None:
        gone = [changed(facts[0], status=FactStatus.DEPRECATED), changed(facts[1], _near(0.1), model="another")]
        await put(store, ANN, gone)
        assert await _found(store) == [0.7]
        assert store.cached_count == 1
        await put(store, ANN, [changed(gone[0], status=FactStatus.TENTATIVE), changed(facts[2], scope=PROJECT)])
        assert await _found(store) == [0.9]

    @pytest.mark.parametrize("in_place_max", [0, 100], ids=["on another thread", "in place"])
    async def test_what_changes_in_one_work_is_seen_at_once(
        self,
        store: PostgresFactStore,
        facts: list[FactChange],
        monkeypatch: pytest.MonkeyPatch,
        in_place_max: int,
    ) -> None:
        monkeypatch.setattr(cached_vectors, "_COMPARED_IN_PLACE_MAX", in_place_max)
        states = [(FactStatus.STABLE, FactStatus.DEPRECATED), (FactStatus.DEPRECATED, FactStatus.STABLE)]
        await put(store, ANN, [changed(facts[1], status=FactStatus.DEPRECATED)])
        done = asyncio.Event()

        async def swap() -> None:
            """One of the first two may be found, at any time."""
            for number in range(1, 60):
                swapped = zip(facts[:2], states[number % 2], strict=True)
                await put(store, ANN, [changed(fact, status=status) for fact, status in swapped])
            done.set()

        async def look() -> set[tuple[float, ...]]:
            seen = set()
            while not done.is_set():
                seen.add(tuple(await _found(store)))
            return seen

        _, *seen = await asyncio.gather(swap(), look(), look(), look())
        found = set().union(*seen)
        assert found  # which of the two is a matter of time, never both or neither
        assert found <= {(0.9, 0.7), (0.8, 0.7)}
        assert store.cached_count == 2

    async def test_what_was_deleted_is_not_found(
        self, store: PostgresFactStore, facts: list[FactChange], pool: Pool
    ) -> None:
        async with tenant_transaction(pool, ANN.tenant_id) as connection:
            await connection.execute("DELETE FROM semantic.facts WHERE fact_id = $1", facts[0].fact.fact_id)
        assert await _found(store, limit=2) == [0.8, 0.7]
        assert store.cached_count == 2

    async def test_a_warm_second_replica_does_not_find_what_was_deleted(
        self, store: PostgresFactStore, facts: list[FactChange], pool: Pool
    ) -> None:
        async with aclosing(PostgresFactStore(pool, cache=eager_cache(), cached_min=3)) as other:
            assert await _found(other) == [0.9, 0.8, 0.7]
            await other.settle()
            assert other.cached_count == 3
            async with tenant_transaction(pool, ANN.tenant_id) as connection:
                ids = [facts[0].fact.fact_id, facts[2].fact.fact_id]
                await connection.execute("DELETE FROM semantic.facts WHERE fact_id = ANY ($1::uuid[])", ids)
            for replica in (store, other):
                assert await _found(replica) == [0.8]
                assert replica.cached_count == 1
            async with tenant_transaction(pool, ANN.tenant_id) as connection:
                await connection.execute("DELETE FROM semantic.facts WHERE user_id = $1", ANN.user_id)
                epoch = await connection.fetchval("SELECT epoch FROM semantic.owner_revisions")
            assert epoch == 2, "one for each statement, however many rows it deletes"
            assert await _found(store) == await _found(other) == []

    async def test_those_of_small_users_are_not_cached(self, store: PostgresFactStore) -> None:
        useless = made_fact(ANN, _near(0.6), status=FactStatus.DEPRECATED)
        await put(store, ANN, [useless, *(made_fact(ANN, _near(cosine)) for cosine in (0.9, 0.8))])
        await _found(store)
        await store.settle()
        assert store.cached_count == 0

    async def test_more_than_the_budget_is_not_cached(self, pool: Pool) -> None:
        async with aclosing(PostgresFactStore(pool, cache=eager_cache(bytes_max=1), cached_min=1)) as store:
            await put(store, ANN, [made_fact(ANN, _near(cosine)) for cosine in (0.9, 0.8)])
            for _ in range(3):
                assert await _found(store) == [0.9, 0.8]
                await store.settle()
            assert store.cached_count == 0

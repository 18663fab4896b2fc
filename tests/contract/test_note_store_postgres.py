"""The PostgreSQL note store fulfils the contract, whether or not vectors are cached."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from services.agentic.model import ScoredNote
from services.agentic.store import NoteSearch, NoteStore
from services.agentic.stores.postgres import SCHEMA, PostgresNoteStore
from services.common.owners import Owner
from services.common.postgres import cached_vectors
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.tenancy import tenant_transaction
from tests.contract.note_captions import NoteCaptionsContract
from tests.contract.note_drivers import postgres_note_store
from tests.contract.note_removal import NoteRemovalContract
from tests.contract.note_samples import ANN, add, make_note, numbers, search
from tests.contract.note_search import NoteSearchContract
from tests.contract.note_store import NoteStoreContract
from tests.contract.note_upkeep import NoteUpkeepContract
from tests.contract.note_use import NoteUseContract
from tests.contract.note_versions import NoteVersionsContract
from tests.support.caches import eager_cache
from tests.support.encryption import ENCRYPTION, chosen_keys


class TestPostgresNoteStore(
    NoteStoreContract,
    NoteSearchContract,
    NoteCaptionsContract,
    NoteRemovalContract,
    NoteUpkeepContract,
    NoteUseContract,
    NoteVersionsContract,
):
    @pytest.fixture(params=ENCRYPTION)
    def encryption(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    async def store(
        self, postgres_server: EmbeddedPostgres, encryption: str, tmp_path: Path
    ) -> AsyncIterator[NoteStore]:
        async with postgres_note_store(postgres_server, keys=chosen_keys(encryption, tmp_path, SCHEMA)) as store:
            yield store

    @pytest.fixture
    async def replica(self, store: PostgresNoteStore, encryption: str, tmp_path: Path) -> AsyncIterator[NoteStore]:
        keys = chosen_keys(encryption, tmp_path, SCHEMA)
        async with aclosing(PostgresNoteStore(store._pool, keys=keys)) as replica:
            yield replica


class _CachingStore(PostgresNoteStore):
    """Has the vectors of whoever is searched in memory."""

    async def search(self, owner: Owner, search: NoteSearch) -> list[ScoredNote]:
        await super().search(owner, search)
        await self.settle()
        return await super().search(owner, search)


class TestPostgresNoteStoreWithCachedVectors(
    NoteSearchContract, NoteCaptionsContract, NoteRemovalContract, NoteUpkeepContract, NoteVersionsContract
):
    @pytest.fixture
    async def store(self, postgres_server: EmbeddedPostgres, tmp_path: Path) -> AsyncIterator[NoteStore]:
        keys = chosen_keys("encrypted", tmp_path, SCHEMA)
        async with postgres_note_store(
            postgres_server, eager_cache(), cached_min=1, kind=_CachingStore, keys=keys
        ) as store:
            yield store

    @pytest.fixture
    async def replica(self, store: _CachingStore, tmp_path: Path) -> AsyncIterator[NoteStore]:
        keys = chosen_keys("encrypted", tmp_path, SCHEMA)
        async with aclosing(_CachingStore(store._pool, cache=eager_cache(), cached_min=1, keys=keys)) as replica:
            yield replica


class TestCachedVectors:
    @pytest.fixture
    async def store(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[PostgresNoteStore]:
        async with postgres_note_store(postgres_server, eager_cache(), cached_min=3) as store:
            yield store

    @pytest.mark.parametrize("in_place_max", [0, 100], ids=["on another thread", "in place"])
    async def test_searches_see_what_was_written_since_they_were_cached(
        self, store: PostgresNoteStore, monkeypatch: pytest.MonkeyPatch, in_place_max: int
    ) -> None:
        monkeypatch.setattr(cached_vectors, "_COMPARED_IN_PLACE_MAX", in_place_max)
        await add(store, {60: make_note(1), -30: make_note(3), 180: make_note(4)})
        assert numbers(await search(store, hops=0)) == [3, 1, 4]
        await store.settle()
        assert store.cached_count == 3
        await add(store, {30: make_note(2)})
        assert numbers(await search(store, hops=0)) == [2, 3, 1, 4]
        assert store.cached_count == 4
        assert numbers(await search(store, hops=0)) == [2, 3, 1, 4]

    async def test_spec_8_5_a_warm_replica_does_not_find_what_was_deleted(self, store: PostgresNoteStore) -> None:
        await add(store, {60: make_note(1), -30: make_note(3), 180: make_note(4)})
        async with aclosing(PostgresNoteStore(store._pool, cache=eager_cache(), cached_min=3)) as other:
            for replica in (store, other):
                await search(replica, hops=0)
                await replica.settle()
                assert replica.cached_count == 3
            async with tenant_transaction(store._pool, ANN.tenant_id) as connection:
                ids = [make_note(number).note_id for number in (3, 4)]
                await connection.execute("DELETE FROM agentic.notes WHERE note_id = ANY ($1::uuid[])", ids)
            for replica in (store, other):
                for hops in (0, 2):
                    assert numbers(await search(replica, hops=hops)) == [1]
                assert replica.cached_count == 1

    async def test_those_of_small_users_are_not_cached(self, store: PostgresNoteStore) -> None:
        await add(store, {60: make_note(1), -30: make_note(3)})
        await search(store, hops=0)
        await store.settle()
        assert store.cached_count == 0

    async def test_more_than_the_budget_is_not_cached(self, postgres_server: EmbeddedPostgres) -> None:
        async with postgres_note_store(postgres_server, eager_cache(bytes_max=1), cached_min=1) as store:
            await add(store, {60: make_note(1), -30: make_note(3)})
            await search(store, hops=0)
            await store.settle()
            assert store.cached_count == 0
            assert numbers(await search(store, hops=0)) == [3, 1]

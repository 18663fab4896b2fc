"""The PostgreSQL note store fulfils the contract, whether or not vectors are kept in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.agentic.config import KeptVectorsSettings
from services.agentic.model import Owner, ScoredNote
from services.agentic.store import NoteSearch, NoteStore
from services.agentic.stores.postgres import PostgresNoteStore
from services.common.postgres import kept_vectors
from services.common.postgres.server import EmbeddedPostgres
from tests.contract.note_drivers import postgres_note_store
from tests.contract.note_samples import add, make_note, numbers, search
from tests.contract.note_search import NoteSearchContract
from tests.contract.note_store import NoteStoreContract


class TestPostgresNoteStore(NoteStoreContract, NoteSearchContract):
    @pytest.fixture
    async def store(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[NoteStore]:
        async with postgres_note_store(postgres_server) as store:
            yield store


class _KeepingStore(PostgresNoteStore):
    """Has the vectors of whoever is searched in memory."""

    async def search(self, owner: Owner, search: NoteSearch) -> list[ScoredNote]:
        await super().search(owner, search)
        await self.settle()
        return await super().search(owner, search)


class TestPostgresNoteStoreWithVectorsKept(NoteSearchContract):
    @pytest.fixture
    async def store(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[NoteStore]:
        settings = KeptVectorsSettings(vectors_min=1, look_again_seconds=0.001)
        async with postgres_note_store(postgres_server, settings, kind=_KeepingStore) as store:
            yield store


class TestKeptVectors:
    @pytest.fixture
    async def store(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[PostgresNoteStore]:
        settings = KeptVectorsSettings(vectors_min=3, look_again_seconds=0.001)
        async with postgres_note_store(postgres_server, settings) as store:
            yield store

    @pytest.mark.parametrize("in_place_max", [0, 100], ids=["on another thread", "in place"])
    async def test_searches_see_what_was_written_since_they_are_kept(
        self, store: PostgresNoteStore, monkeypatch: pytest.MonkeyPatch, in_place_max: int
    ) -> None:
        monkeypatch.setattr(kept_vectors, "_COMPARED_IN_PLACE_MAX", in_place_max)
        await add(store, {60: make_note(1), -30: make_note(3), 180: make_note(4)})
        assert numbers(await search(store, hops=0)) == [3, 1, 4]
        await store.settle()
        assert store.kept_count == 3
        await add(store, {30: make_note(2)})
        assert numbers(await search(store, hops=0)) == [2, 3, 1, 4]
        assert store.kept_count == 4
        assert numbers(await search(store, hops=0)) == [2, 3, 1, 4]

    async def test_those_of_small_users_are_not_kept(self, store: PostgresNoteStore) -> None:
        await add(store, {60: make_note(1), -30: make_note(3)})
        await search(store, hops=0)
        await store.settle()
        assert store.kept_count == 0

    async def test_more_than_has_a_place_is_not_kept(self, postgres_server: EmbeddedPostgres) -> None:
        settings = KeptVectorsSettings(vectors_min=1, bytes_max=1)
        async with postgres_note_store(postgres_server, settings) as store:
            await add(store, {60: make_note(1), -30: make_note(3)})
            await search(store, hops=0)
            await store.settle()
            assert store.kept_count == 0
            assert numbers(await search(store, hops=0)) == [3, 1]

"""Vectors of facts and notes in PostgreSQL fulfil the contract of a change of the model, cached or not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from services.agentic.stores.postgres import SCHEMA as NOTES_SCHEMA
from services.common.cache import OwnerCache
from services.common.postgres.server import EmbeddedPostgres
from services.semantic.config import EvidenceSettings
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.facts.stores.postgres_vectors import PostgresFactVectors
from services.semantic.stores.postgres import SCHEMA as FACTS_SCHEMA
from tests.contract.fact_drivers import semantic_pool
from tests.contract.former_vectors import FactRows, FormerVectorsContract, NoteRows, Rows
from tests.contract.note_drivers import postgres_note_store
from tests.support.caches import eager_cache
from tests.support.encryption import ENCRYPTION, chosen_keys


def _cache(is_cached: bool) -> tuple[OwnerCache, int]:
    return (eager_cache(), 1) if is_cached else (OwnerCache(), 1_000)


@pytest.fixture(params=ENCRYPTION)
def encryption(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["uncached", "cached"])
def is_cached(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


class TestPostgresFactVectors(FormerVectorsContract):
    @pytest.fixture
    async def rows(
        self, postgres_server: EmbeddedPostgres, encryption: str, is_cached: bool, tmp_path: Path
    ) -> AsyncIterator[Rows]:
        keys = chosen_keys(encryption, tmp_path, FACTS_SCHEMA)
        cache, least = _cache(is_cached)
        async with (
            semantic_pool(postgres_server) as pool,
            aclosing(PostgresFactStore(pool, EvidenceSettings(), cache=cache, cached_min=least, keys=keys)) as store,
        ):
            yield FactRows(store, PostgresFactVectors(pool, keys=keys))


class TestPostgresNoteVectors(FormerVectorsContract):
    @pytest.fixture
    async def rows(
        self, postgres_server: EmbeddedPostgres, encryption: str, is_cached: bool, tmp_path: Path
    ) -> AsyncIterator[Rows]:
        keys = chosen_keys(encryption, tmp_path, NOTES_SCHEMA)
        cache, least = _cache(is_cached)
        async with postgres_note_store(postgres_server, cache, cached_min=least, keys=keys) as store:
            yield NoteRows(store)

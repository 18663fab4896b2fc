"""The PostgreSQL store of supersessions fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.postgres.server import EmbeddedPostgres
from services.semantic.stores.postgres import SCHEMA
from services.semantic.supersession.store import SupersessionStore
from services.semantic.supersession.stores.postgres import PostgresSupersessionStore
from tests.contract.fact_drivers import semantic_pool
from tests.contract.supersession_removal import SupersessionRemovalContract
from tests.contract.supersession_store import SupersessionStoreContract
from tests.support.encryption import ENCRYPTION, chosen_keys


@pytest.fixture(params=ENCRYPTION)
async def store(
    postgres_server: EmbeddedPostgres, request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[SupersessionStore]:
    async with semantic_pool(postgres_server) as pool:
        yield PostgresSupersessionStore(pool, keys=chosen_keys(request.param, tmp_path, SCHEMA))


class TestPostgresSupersessionStore(SupersessionStoreContract):
    """With the fixture above."""


class TestPostgresSupersessionRemoval(SupersessionRemovalContract):
    """With the fixture above."""

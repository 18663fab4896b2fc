"""Idempotency records in PostgreSQL fulfil the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.common.idempotency.postgres import PostgresIdempotencyRecords
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.tenancy import tenant_transaction
from services.semantic.stores.postgres import SCHEMA
from tests.contract.fact_drivers import semantic_pool
from tests.contract.idempotency_records import IdempotencyRecordsContract, Transact, Work


class TestPostgresIdempotencyRecords(IdempotencyRecordsContract):
    @pytest.fixture
    async def transact(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[Transact]:
        async with semantic_pool(postgres_server) as pool:

            async def run(tenant_id: str, work: Work) -> object:
                async with tenant_transaction(pool, tenant_id) as connection:
                    return await work(PostgresIdempotencyRecords(connection, tenant_id, schema=SCHEMA))

            yield run

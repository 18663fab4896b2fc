"""Idempotency records in Neo4j fulfil the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.common.idempotency.neo4j import Neo4jIdempotencyRecords
from services.semantic.stores.neo4j import IDEMPOTENCY
from tests.contract.fact_drivers import semantic_graph
from tests.contract.idempotency_records import IdempotencyRecordsContract, Transact, Work


class TestNeo4jIdempotencyRecords(IdempotencyRecordsContract):
    @pytest.fixture
    async def transact(self, neo4j_url: str) -> AsyncIterator[Transact]:
        async with semantic_graph(neo4j_url) as graph:

            async def run(tenant_id: str, work: Work) -> object:
                return await graph.write(
                    lambda transaction: work(Neo4jIdempotencyRecords(transaction, tenant_id, IDEMPOTENCY))
                )

            yield run

"""The Neo4j profile store fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.semantic.profile.store import ProfileStore
from services.semantic.profile.stores.neo4j import Neo4jProfileStore
from tests.contract.fact_drivers import semantic_graph
from tests.contract.profile_store import ProfileStoreContract


class TestNeo4jProfileStore(ProfileStoreContract):
    @pytest.fixture
    async def store(self, neo4j_url: str) -> AsyncIterator[ProfileStore]:
        async with semantic_graph(neo4j_url) as graph:
            yield Neo4jProfileStore(graph)

"""Vectors of facts and notes in Neo4j fulfil the contract of a change of the model."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.semantic.config import EvidenceSettings
from services.semantic.facts.stores.neo4j import Neo4jFactStore
from services.semantic.facts.stores.neo4j_vectors import Neo4jFactVectors
from tests.contract.fact_drivers import semantic_graph
from tests.contract.former_vectors import FactRows, FormerVectorsContract, NoteRows, Rows
from tests.contract.note_drivers import neo4j_note_store


class TestNeo4jFactVectors(FormerVectorsContract):
    @pytest.fixture
    async def rows(self, neo4j_url: str) -> AsyncIterator[Rows]:
        async with semantic_graph(neo4j_url) as graph:
            yield FactRows(Neo4jFactStore(graph, EvidenceSettings()), Neo4jFactVectors(graph))


class TestNeo4jNoteVectors(FormerVectorsContract):
    @pytest.fixture
    async def rows(self, neo4j_url: str) -> AsyncIterator[Rows]:
        async with neo4j_note_store(neo4j_url) as store:
            yield NoteRows(store)

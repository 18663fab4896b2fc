"""The Neo4j note store fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.agentic.store import NoteStore
from tests.contract.note_drivers import neo4j_note_store
from tests.contract.note_search import NoteSearchContract
from tests.contract.note_store import NoteStoreContract


class TestNeo4jNoteStore(NoteStoreContract, NoteSearchContract):
    @pytest.fixture
    async def store(self, neo4j_url: str) -> AsyncIterator[NoteStore]:
        async with neo4j_note_store(neo4j_url) as store:
            yield store

"""The PostgreSQL note store fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.agentic.store import NoteStore
from services.common.postgres.server import EmbeddedPostgres
from tests.contract.note_drivers import postgres_note_store
from tests.contract.note_search import NoteSearchContract
from tests.contract.note_store import NoteStoreContract


class TestPostgresNoteStore(NoteStoreContract, NoteSearchContract):
    @pytest.fixture
    async def store(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[NoteStore]:
        async with postgres_note_store(postgres_server) as store:
            yield store

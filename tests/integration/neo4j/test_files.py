"""What lies in the files of a Neo4j server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.agentic.stores.neo4j import COMPONENT as AGENTIC
from services.agentic.stores.neo4j import GRAPH_MIGRATIONS_FOLDER as AGENTIC_FOLDER
from services.agentic.stores.neo4j import Neo4jNoteStore
from services.agentic.stores.neo4j_sealing import DATA_KEYS as NOTE_KEYS
from services.common.encryption.neo4j import NO_GRAPH_DATA_KEYS
from services.common.neo4j.graph import Graph
from services.semantic.stores.neo4j import COMPONENT as SEMANTIC
from services.semantic.stores.neo4j import MIGRATIONS_FOLDER as SEMANTIC_FOLDER
from services.semantic.stores.neo4j_sealing import DATA_KEYS as FACT_KEYS
from tests.support import note_canaries, semantic_canaries
from tests.support.encryption import chosen_graph_keys
from tests.support.engines import absent
from tests.support.graph_content import files_with
from tests.support.neo4j import fresh_graph
from tests.support.semantic_stores import graph_stores
from tools.engines.group import EngineGroup, missing

WORD = "sardines"
"""Of the canaries. Short strings are stored packed, so a file need not hold each of them as it is."""


@contextlib.asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Graph]:
    """The emptied graph of a server on a folder. Its end is a clean stop, which writes a checkpoint."""
    engines = EngineGroup(folder, ["neo4j"], short_lived=True)
    try:
        url = (await asyncio.to_thread(engines.start_for_tests, "neo4j"))["MNEME_TEST_NEO4J_URL"]
        async with fresh_graph(url, migrations=[(SEMANTIC, SEMANTIC_FOLDER), (AGENTIC, AGENTIC_FOLDER)]) as graph:
            yield graph
    finally:
        await asyncio.to_thread(engines.stop)


@pytest.mark.proof("make test-proofs")
async def test_spec_7_3_no_file_of_neo4j_holds_what_was_said(
    engine_folder: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if reason := missing("neo4j"):
        absent(request, "neo4j", reason)
    async with served(engine_folder) as graph:
        encrypted = graph_stores(graph, chosen_graph_keys("encrypted", tmp_path, FACT_KEYS))
        await semantic_canaries.write_canaries(encrypted)
        notes = Neo4jNoteStore(graph, keys=chosen_graph_keys("encrypted", tmp_path, NOTE_KEYS))
        await note_canaries.write_canaries(notes)
    assert await files_with(engine_folder, WORD) == set()

    async with served(engine_folder) as graph:
        await semantic_canaries.write_canaries(graph_stores(graph, NO_GRAPH_DATA_KEYS))
        await note_canaries.write_canaries(Neo4jNoteStore(graph), 2)
    seen = await files_with(engine_folder, WORD)
    assert "neostore.propertystore.db.strings" in seen
    assert any(name.startswith("neostore.transaction.db") for name in seen)

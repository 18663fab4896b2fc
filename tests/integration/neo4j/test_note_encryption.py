"""Notes in Neo4j with encryption: what lies in their nodes, and what becomes of it without its key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from services.agentic.portability import agentic_records
from services.agentic.stores.neo4j import Neo4jNoteStore
from services.agentic.stores.neo4j_content import SEALED_KINDS
from services.agentic.stores.neo4j_copy import KINDS
from services.agentic.stores.neo4j_sealing import DATA_KEYS
from services.common.encryption.envelope import SEALED_TEXT
from services.common.encryption.neo4j import Neo4jDataKeys
from services.common.encryption.neo4j_content import encrypt_existing_graph
from services.common.neo4j.graph import Graph
from services.common.portability.drivers import GraphUserRecords
from services.common.portability.records import UserRecords
from services.common.tier_embedder import TierEmbedder
from tests.contract.note_drivers import note_graph
from tests.contract.note_encryption import NoteEncryptionContract
from tests.contract.note_samples import ANN, note_id
from tests.support.embedding import HashingEmbedder
from tests.support.encryption import key_ring
from tests.support.graph_content import labels_with
from tests.support.note_canaries import CANARY, FORMER, canary, former_content, write_canaries


@dataclass(frozen=True)
class World:
    graph: Graph
    folder: Path

    def keys(self) -> Neo4jDataKeys:
        return Neo4jDataKeys(key_ring(self.folder), DATA_KEYS)

    def store(self) -> Neo4jNoteStore:
        """A replica with a cache of its own."""
        return Neo4jNoteStore(self.graph, keys=self.keys())

    def plain(self) -> Neo4jNoteStore:
        return Neo4jNoteStore(self.graph)


@pytest.fixture
async def world(neo4j_url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with note_graph(neo4j_url) as graph:
        yield World(graph, tmp_path)


class TestNeo4jNoteEncryption(NoteEncryptionContract):
    """With the fixture of this module."""


async def test_spec_7_3_no_node_of_notes_holds_what_they_say(world: World) -> None:
    await write_canaries(world.store())
    assert await labels_with(world.graph, CANARY) == set()
    await world.store().write(ANN, lambda writer: writer.delete_all())
    await write_canaries(world.plain(), 2)
    assert await labels_with(world.graph, CANARY) == {"Note", "NoteVersion", "ProcessedTurn", "NoteIdempotencyRecord"}


async def test_spec_7_3_what_was_stored_before_is_encrypted_afterwards(world: World) -> None:
    await write_canaries(world.plain())
    counts = await encrypt_existing_graph(world.graph, world.keys(), SEALED_KINDS)
    assert counts == {"agentic.notes": 1, "agentic.note_versions": 1, "agentic.processed_interactions": 1}
    assert not any((await encrypt_existing_graph(world.graph, world.keys(), SEALED_KINDS)).values())
    assert await labels_with(world.graph, CANARY) == {"NoteIdempotencyRecord"}  # deleted by age
    assert await former_content(world.store()) == FORMER
    assert (await world.store().get(ANN, note_id(1), links_max=0)).note == canary()


async def test_spec_7_3_an_export_is_plain_and_its_import_is_encrypted(world: World) -> None:
    await write_canaries(world.store())
    owner = (str(ANN.tenant_id), str(ANN.user_id))
    records = UserRecords(
        GraphUserRecords(world.graph, KINDS, SEALED_KINDS, world.keys()),
        agentic_records(TierEmbedder(HashingEmbedder()), captions_max=4),
    )
    page = await records.read(owner, "", limit=100, memories_only=False)
    assert sum(line.count(CANARY) for line in page.lines) == 16
    assert not any(SEALED_TEXT in line for line in page.lines)
    await world.store().write(ANN, lambda writer: writer.delete_all())
    await records.write(owner, page.lines, validate_only=False)
    assert await labels_with(world.graph, CANARY) == set()
    assert (await world.store().get(ANN, note_id(1), links_max=0)).note.content == canary().content
    assert await former_content(world.store()) == FORMER

"""Notes in Neo4j with encryption: what lies in their nodes, and what becomes of it without its key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from services.agentic.portability import agentic_records
from services.agentic.store import NoteFilter, TurnKey
from services.agentic.stores.neo4j import Neo4jNoteStore
from services.agentic.stores.neo4j_content import SEALED_KINDS
from services.agentic.stores.neo4j_copy import KINDS
from services.agentic.stores.neo4j_sealing import DATA_KEYS
from services.common.encryption.envelope import SEALED_TEXT, DecryptionError
from services.common.encryption.neo4j import Neo4jDataKeys
from services.common.encryption.neo4j_content import encrypt_existing_graph
from services.common.neo4j.graph import Graph
from services.common.portability.drivers import GraphUserRecords
from services.common.portability.records import UserRecords
from services.common.tier_embedder import TierEmbedder
from tests.contract.note_drivers import note_graph
from tests.contract.note_samples import ANN, NOW, add, note_id
from tests.support.embedding import HashingEmbedder
from tests.support.encryption import key_ring
from tests.support.graph_content import labels_with
from tests.support.note_canaries import CANARY, canary, respond, write_canaries


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


async def test_spec_7_3_no_node_of_notes_holds_what_they_say(world: World) -> None:
    await write_canaries(world.store())
    assert await labels_with(world.graph, CANARY) == set()
    await world.store().write(ANN, lambda writer: writer.delete_all())
    await write_canaries(world.plain(), 2)
    assert await labels_with(world.graph, CANARY) == {"Note", "ProcessedTurn", "NoteIdempotencyRecord"}


async def test_spec_7_3_a_replica_reads_what_another_one_encrypted(world: World) -> None:
    await write_canaries(world.store())
    replica = world.store()
    assert (await replica.get(ANN, note_id(1), links_max=0)).note == canary()
    for tag, expected in ((f"{CANARY} (tag)", [canary()]), ("pets", [canary()]), ("dogs", [])):
        assert await replica.list_notes(ANN, NoteFilter(tag=tag), after=None, limit=9) == expected
    questions = await replica.questions(ANN, [TurnKey("c1", 1)])
    assert [(found.text, found.speaker) for found in questions.values()] == [(f"{CANARY}?", f"{CANARY} (asks)")]
    assert (await replica.write(ANN, lambda writer: respond(writer, 1))).text == f"{CANARY} (response)"
    with pytest.raises(DecryptionError):
        await world.plain().get(ANN, note_id(1), links_max=0)


async def test_spec_7_3_notes_from_before_are_found_by_their_tags(world: World) -> None:
    await add(world.plain(), {0.0: canary(1)})
    later = replace(canary(2), create_time=NOW + timedelta(minutes=1))
    await add(world.store(), {10.0: later})
    assert await world.store().list_notes(ANN, NoteFilter(tag="pets"), after=None, limit=9) == [later, canary(1)]


async def test_spec_7_3_erasing_a_user_destroys_the_key_whatever_replicas_have_in_memory(world: World) -> None:
    first, second = world.store(), world.store()
    await add(first, {0.0: canary(1)})
    await add(second, {10.0: canary(2)})
    assert (await first.write(ANN, lambda writer: writer.delete_all())).data_keys == 1
    assert (await first.write(ANN, lambda writer: writer.delete_all())).data_keys == 0
    await add(second, {20.0: canary(3)})
    assert (await first.get(ANN, note_id(3), links_max=0)).note == canary(3)


async def test_spec_7_3_what_was_stored_before_is_encrypted_afterwards(world: World) -> None:
    await write_canaries(world.plain())
    counts = await encrypt_existing_graph(world.graph, world.keys(), SEALED_KINDS)
    assert counts == {"agentic.notes": 1, "agentic.processed_interactions": 1}
    assert not any((await encrypt_existing_graph(world.graph, world.keys(), SEALED_KINDS)).values())
    assert await labels_with(world.graph, CANARY) == {"NoteIdempotencyRecord"}  # deleted by age
    assert (await world.store().get(ANN, note_id(1), links_max=0)).note == canary()


async def test_spec_7_3_an_export_is_plain_and_its_import_is_encrypted(world: World) -> None:
    await write_canaries(world.store())
    owner = (str(ANN.tenant_id), str(ANN.user_id))
    records = UserRecords(
        GraphUserRecords(world.graph, KINDS, SEALED_KINDS, world.keys()),
        agentic_records(TierEmbedder(HashingEmbedder()), captions_max=4),
    )
    page = await records.read(owner, "", limit=100, memories_only=False)
    assert sum(line.count(CANARY) for line in page.lines) == 10
    assert not any(SEALED_TEXT in line for line in page.lines)
    await world.store().write(ANN, lambda writer: writer.delete_all())
    await records.write(owner, page.lines, validate_only=False)
    assert await labels_with(world.graph, CANARY) == set()
    assert (await world.store().get(ANN, note_id(1), links_max=0)).note.content == canary().content

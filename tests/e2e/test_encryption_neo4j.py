"""All services with encryption at rest, the semantic and the agentic tier on Neo4j."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import LiteralString

import pytest

from mneme_client import Client, Turn
from services.cli.encrypting import encrypt_all, rewrap_all
from services.common.encryption.key_file import add_key
from services.common.hosting import HostSettings
from services.common.neo4j.graph import Graph, Neo4jServer, open_graph
from tests.support.graph_content import labels_with
from tests.support.neo4j import fresh_graph
from tests.support.stack import patient_client, running_stack, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

CANARY = "Pistachio-Xylophone"
TIERS = 4
"""That have data keys: the journal, episodes, facts, notes."""
STORED: LiteralString = "MATCH (:Note), (:MnemeObservedInteraction), (:MnemeExtraction) RETURN true AS stored LIMIT 1"
PATIENCE_SECONDS = 90.0
"""A server that just started plans each query for the first time."""


async def remember(client: Client, graph: Graph) -> None:
    """Returns once both tiers have stored what they made of a turn."""
    await client.remember("ada", "c1", [Turn(f"My password hint is the word {CANARY}, remember it.", speaker="Ada")])

    async def is_stored() -> bool:
        await asyncio.sleep(0.2)
        return len(await graph.read(STORED)) == 1

    await until(is_stored, timeout_seconds=PATIENCE_SECONDS)


async def check_recall(client: Client) -> None:
    async def is_found() -> bool:
        found = await client.recall("ada", "What is my password hint?", limit=3)
        return any(CANARY in memory.turn.content for memory in found.memories)

    await until(is_found, timeout_seconds=PATIENCE_SECONDS)


async def keys_of(graph: Graph) -> list[str]:
    rows = await graph.read("MATCH (k:MnemeSemanticDataKey|NoteDataKey) RETURN labels(k)[0] AS label ORDER BY label")
    return [row["label"] for row in rows]


async def test_spec_7_3_a_graph_holds_nothing_that_was_said_and_erasing_a_user_destroys_its_keys(
    tmp_path: Path, model_folder: Path, neo4j_url: str
) -> None:
    file = tmp_path / "encryption-keys"
    add_key(file)
    async with fresh_graph(neo4j_url):
        pass
    async with (
        running_stack(tmp_path / "data", model_folder, encryption_key_file=file, neo4j_url=neo4j_url) as services,
        open_graph(Neo4jServer(url=neo4j_url)) as graph,
        patient_client(services.gateway_target) as client,
    ):
        await remember(client, graph)
        await check_recall(client)
        assert await labels_with(graph, CANARY) == set()
        assert await keys_of(graph) == ["MnemeSemanticDataKey", "NoteDataKey"]

        erasure = await client.erase_user("ada")

        async def is_done() -> bool:
            return (await client.get_erasure(erasure.erasure_id)).complete_time is not None

        await until(is_done, timeout_seconds=PATIENCE_SECONDS)
        receipt = await client.get_erasure(erasure.erasure_id)
        assert sum(store.counts.get("data_keys", 0) for store in receipt.stores) == TIERS
        assert await keys_of(graph) == []


async def test_spec_7_3_a_graph_is_encrypted_afterwards_and_its_keys_are_rotated(
    tmp_path: Path, model_folder: Path, neo4j_url: str
) -> None:
    data_dir, file = tmp_path / "data", tmp_path / "encryption-keys"
    async with fresh_graph(neo4j_url):
        pass
    async with (
        running_stack(data_dir, model_folder, neo4j_url=neo4j_url) as services,
        open_graph(Neo4jServer(url=neo4j_url)) as graph,
        patient_client(services.gateway_target) as client,
    ):
        await remember(client, graph)
        assert await labels_with(graph, CANARY) != set()

    add_key(file)
    settings = HostSettings(encryption_key_file=file, neo4j_url=neo4j_url)
    counts = await encrypt_all(settings, data_dir, "")
    assert (counts["gateway.interactions"], counts["agentic.notes"]) == (1, 1)
    assert not any((await encrypt_all(settings, data_dir, "")).values())
    add_key(file)
    rotated = await rewrap_all(settings, data_dir)
    assert (rotated["agentic"], rotated["semantic"]) == (1, 1)
    newest = file.read_text("ascii").splitlines()[-1]
    file.write_text(newest + "\n", "ascii")

    async with (
        running_stack(data_dir, model_folder, encryption_key_file=file, neo4j_url=neo4j_url) as services,
        open_graph(Neo4jServer(url=neo4j_url)) as graph,
        patient_client(services.gateway_target) as client,
    ):
        await check_recall(client)
        seen = await labels_with(graph, CANARY)
        assert seen <= {"MnemeSemanticIdempotencyRecord", "NoteIdempotencyRecord"}

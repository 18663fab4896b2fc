"""The semantic tier on Neo4j with encryption: what lies in its nodes, and what becomes of it without its key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from services.agentic.stores.neo4j import COMPONENT as AGENTIC_COMPONENT
from services.agentic.stores.neo4j import GRAPH_MIGRATIONS_FOLDER as AGENTIC_FOLDER
from services.agentic.stores.neo4j_content import SEALED_KINDS as NOTE_KINDS
from services.common.encryption.envelope import SEALED_TEXT
from services.common.encryption.key_file import FileKeyManagement, add_key
from services.common.encryption.neo4j import NO_GRAPH_DATA_KEYS, Neo4jDataKeys, rewrap_graph
from services.common.encryption.neo4j_content import SealedKind, encrypt_existing_graph, replace_query
from services.common.encryption.postgres import Ciphers
from services.common.encryption.ring import DataKeyRing
from services.common.neo4j.graph import Graph, GraphTransaction, operators
from services.common.neo4j.migrations import migrate_graph
from services.common.owners import Owner, UserId
from services.common.portability.drivers import GraphUserRecords
from services.common.portability.records import UserRecords
from services.common.tier_embedder import TierEmbedder
from services.semantic.code.config import CodeLimits
from services.semantic.portability import semantic_records
from services.semantic.stores.neo4j_content import SEALED_KINDS
from services.semantic.stores.neo4j_copy import KINDS
from services.semantic.stores.neo4j_sealing import DATA_KEYS
from tests.contract import supersession_samples
from tests.contract.fact_drivers import semantic_graph
from tests.contract.fact_samples import ANN, enter, lives_in, said
from tests.contract.semantic_encryption import SemanticEncryptionContract
from tests.support.embedding import HashingEmbedder
from tests.support.encryption import key_ring
from tests.support.graph_content import labels_with
from tests.support.semantic_canaries import CANARY, EVERYTHING, TABLES, Stores, assertion, write_canaries
from tests.support.semantic_stores import graph_stores

LABELS = {
    "MnemeFact",
    "MnemeStatement",
    "MnemeAssertion",
    "MnemeSupersession",
    "MnemeProcedure",
    "MnemeJudgedRecall",
    "MnemeProfile",
    "MnemeObservedInteraction",
    "MnemeCodeFile",
    "MnemeSemanticIdempotencyRecord",
}


@dataclass(frozen=True)
class World:
    graph: Graph
    folder: Path

    def keys(self) -> Neo4jDataKeys:
        return Neo4jDataKeys(key_ring(self.folder), DATA_KEYS)

    def encrypted(self) -> Stores:
        return graph_stores(self.graph, self.keys())

    def plain(self) -> Stores:
        return graph_stores(self.graph, NO_GRAPH_DATA_KEYS)


@pytest.fixture
async def world(neo4j_url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with semantic_graph(neo4j_url) as graph:
        yield World(graph, tmp_path)


class TestNeo4jSemanticEncryption(SemanticEncryptionContract):
    """With the fixture of this module."""


async def test_spec_7_3_no_node_of_the_semantic_tier_holds_what_was_said(world: World) -> None:
    await write_canaries(world.encrypted())
    assert await labels_with(world.graph, CANARY) == set()
    await world.encrypted().content_keys.destroy(ANN)
    await write_canaries(world.plain())
    assert await labels_with(world.graph, CANARY) == LABELS  # each of them is a place where it would have been


async def test_spec_7_3_what_was_stored_before_is_encrypted_afterwards(world: World) -> None:
    fact_id = await write_canaries(world.plain())
    counts = await encrypt_existing_graph(world.graph, world.keys(), SEALED_KINDS)
    again = await encrypt_existing_graph(world.graph, world.keys(), SEALED_KINDS)
    changed = {kind.removeprefix("semantic.") for kind, count in counts.items() if count}
    assert changed == TABLES - {"idempotency_records"}
    assert not any(again.values())
    assert await labels_with(world.graph, CANARY) == {"MnemeSemanticIdempotencyRecord"}  # deleted by age
    fact = await world.encrypted().facts.get(ANN, fact_id)
    assert fact.text == f"{CANARY} (text)"
    assert [version.text for version in fact.versions] == [f"{CANARY} (version)"]
    assert (await world.encrypted().profiles.get(ANN)).statistics.topics == ((CANARY, 1),)


class FailingKeys(Neo4jDataKeys):
    """Keys of a service that ends after some transactions."""

    def __init__(self, world: World, left: int) -> None:
        super().__init__(key_ring(world.folder), DATA_KEYS)
        self.left = left

    async def for_writing(self, transaction: GraphTransaction, tenant_id: str, user_ids: Iterable[str]) -> Ciphers:
        if self.left == 0:
            raise RuntimeError("killed")
        self.left -= 1
        return await super().for_writing(transaction, tenant_id, user_ids)


async def test_spec_7_3_an_interrupted_encryption_goes_on_when_it_is_repeated(world: World) -> None:
    users = [Owner(ANN.tenant_id, UserId(f"u{n}")) for n in range(5)]
    for user in users:
        await enter(world.plain().facts, user, [said(lives_in("Ghent"))])
    with pytest.raises(RuntimeError, match="killed"):
        await encrypt_existing_graph(world.graph, FailingKeys(world, 3), SEALED_KINDS)
    counts = await encrypt_existing_graph(world.graph, world.keys(), SEALED_KINDS)
    assert (counts["semantic.facts"], counts["semantic.fact_statements"]) == (2, 5)
    assert await labels_with(world.graph, "Ghent") == set()


@pytest.mark.parametrize("sealed", [*SEALED_KINDS, *NOTE_KINDS], ids=lambda sealed: sealed.kind.kind.name)
async def test_what_is_encrypted_afterwards_is_found_by_an_index(world: World, sealed: SealedKind) -> None:
    await migrate_graph(world.graph, component=AGENTIC_COMPONENT, folder=AGENTIC_FOLDER)
    plan = operators(await world.graph.explain(replace_query(sealed.kind)))
    assert not [operator for operator in plan if "Scan" in operator]


async def test_spec_7_3_what_changes_while_it_is_encrypted_is_not_lost(world: World) -> None:
    users = [Owner(ANN.tenant_id, UserId(f"u{n}")) for n in range(4)]
    for user in users:
        await enter(world.plain().facts, user, [said(lives_in("Ghent"))])

    async def write(user: Owner) -> None:
        for town in ("Lyon", "Oslo"):
            await enter(world.encrypted().facts, user, [said(lives_in(town))])

    small = [replace(kind, records_at_once=1) for kind in SEALED_KINDS]
    await asyncio.gather(encrypt_existing_graph(world.graph, world.keys(), small), *map(write, users))
    await encrypt_existing_graph(world.graph, world.keys(), small)
    for user in users:
        facts = await world.encrypted().facts.list_facts(user, which=EVERYTHING, after=None, limit=9)
        assert {fact.object for fact in facts} == {"Ghent", "Lyon", "Oslo"}
    assert await labels_with(world.graph, "Ghent") == set()


async def test_spec_7_3_replicas_that_make_the_key_of_a_user_at_once_make_one(world: World) -> None:
    async def write(town: str) -> None:
        stores = world.encrypted()
        await enter(stores.facts, ANN, [said(lives_in(town))])

    async def state() -> None:
        await world.encrypted().supersessions.add(
            ANN, [assertion(1)], supersession_samples.decide, candidates_max=supersession_samples.at_most(9)
        )

    await asyncio.gather(write("Lyon"), state(), write("Oslo"), state())
    rows = await world.graph.read("MATCH (k:MnemeSemanticDataKey) RETURN count(k) AS count")
    assert [row["count"] for row in rows] == [1]
    facts = await world.encrypted().facts.list_facts(ANN, which=EVERYTHING, after=None, limit=9)
    assert {fact.object for fact in facts} == {"Lyon", "Oslo"}


async def test_spec_7_3_rotation_wraps_the_data_keys_anew_and_leaves_the_content(world: World) -> None:
    users = [Owner(ANN.tenant_id, UserId(f"u{n}")) for n in range(5)]
    for user in users:
        await enter(world.encrypted().facts, user, [said(lives_in("Lyon"))])
    file = world.folder / "encryption-keys"
    add_key(file)
    ring = DataKeyRing(FileKeyManagement(file))
    assert await rewrap_graph(world.graph, ring, DATA_KEYS, limit=2) == 5
    assert await rewrap_graph(world.graph, ring, DATA_KEYS, limit=2) == 0
    file.write_text(file.read_text("ascii").splitlines()[-1] + "\n", "ascii")
    for user in users:
        facts = await world.encrypted().facts.list_facts(user, which=EVERYTHING, after=None, limit=9)
        assert [fact.object for fact in facts] == ["Lyon"]


async def test_spec_7_3_an_export_is_plain_and_its_import_is_encrypted(world: World) -> None:
    fact_id = await write_canaries(world.encrypted())
    records = UserRecords(
        GraphUserRecords(world.graph, KINDS, SEALED_KINDS, world.keys()),
        semantic_records(TierEmbedder(HashingEmbedder()), CodeLimits()),
    )
    owner = (str(ANN.tenant_id), str(ANN.user_id))
    page = await records.read(owner, "", limit=100, memories_only=False)
    assert sum(line.count(CANARY) for line in page.lines) > 10
    assert not any(SEALED_TEXT in line for line in page.lines)
    await world.encrypted().content_keys.destroy(ANN)
    await records.write(owner, page.lines, validate_only=False)
    assert await labels_with(world.graph, CANARY) == set()
    assert (await world.encrypted().facts.get(ANN, fact_id)).text == f"{CANARY} (text)"
    assert (await world.encrypted().profiles.get(ANN)).preferences.language == CANARY

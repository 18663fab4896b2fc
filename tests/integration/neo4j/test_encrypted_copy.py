"""Copies of encrypted content between both engines, by administrators who have no key file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from services.agentic.copying import open_agentic_records
from services.agentic.stores.neo4j import COMPONENT as AGENTIC_COMPONENT
from services.agentic.stores.neo4j import GRAPH_MIGRATIONS_FOLDER as AGENTIC_FOLDER
from services.agentic.stores.neo4j import Neo4jNoteStore
from services.agentic.stores.neo4j_sealing import DATA_KEYS as NOTE_KEYS
from services.agentic.stores.postgres import MIGRATIONS_FOLDER as AGENTIC_TABLES
from services.agentic.stores.postgres import SCHEMA as AGENTIC
from services.agentic.stores.postgres import PostgresNoteStore
from services.common.copying.administration import open_administration
from services.common.copying.model import RecordStore
from services.common.copying.runner import Copier
from services.common.encryption.postgres import PostgresDataKeys
from services.common.neo4j.graph import Graph
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Connection, Pool
from services.semantic.copying import open_semantic_records
from services.semantic.facts.model import FactId
from services.semantic.stores.neo4j import COMPONENT as SEMANTIC_COMPONENT
from services.semantic.stores.neo4j import MIGRATIONS_FOLDER as SEMANTIC_FOLDER
from services.semantic.stores.neo4j_sealing import DATA_KEYS as FACT_KEYS
from services.semantic.stores.postgres import MIGRATIONS_FOLDER as SEMANTIC_TABLES
from services.semantic.stores.postgres import SCHEMA as SEMANTIC
from tests.contract.fact_samples import ANN
from tests.contract.note_samples import ANN as NOTES_ANN
from tests.contract.note_samples import note_id
from tests.support import note_canaries, semantic_canaries
from tests.support.encryption import chosen_graph_keys, key_ring
from tests.support.graph_content import labels_with
from tests.support.maintenance import MAINTENANCE
from tests.support.neo4j import fresh_graph
from tests.support.postgres import fresh_postgres
from tests.support.semantic_stores import graph_stores, table_stores
from tests.unit.common.test_copying import MemoryLedger, Silence

CANARY = semantic_canaries.CANARY


async def records(connection: Connection, graph: Graph | None) -> list[RecordStore]:
    return [*await open_semantic_records(connection, graph), *await open_agentic_records(connection, graph)]


async def copied(source: Sequence[RecordStore], target: Sequence[RecordStore]) -> None:
    copier = Copier(source, target, Silence(), batch_records=2)
    await copier.copy(MemoryLedger(), "source")
    assert [one.kind for one in await copier.compare() if not one.is_equal] == []


async def read_tables(pool: Pool, folder: Path, fact_id: FactId) -> None:
    stores = table_stores(pool, PostgresDataKeys(key_ring(folder), SEMANTIC))
    assert (await stores.facts.get(ANN, fact_id)).text == f"{CANARY} (text)"
    notes = PostgresNoteStore(pool, keys=PostgresDataKeys(key_ring(folder), AGENTIC))
    assert (await notes.get(NOTES_ANN, note_id(1), links_max=0)).note == note_canaries.canary()
    assert await note_canaries.former_content(notes) == note_canaries.FORMER


async def test_spec_7_3_encrypted_content_is_copied_to_a_graph_and_back_with_its_keys(
    postgres_server: EmbeddedPostgres, neo4j_url: str, tmp_path: Path
) -> None:
    tables = [(SEMANTIC, SEMANTIC_TABLES), (AGENTIC, AGENTIC_TABLES), MAINTENANCE]
    graph_folders = [(SEMANTIC_COMPONENT, SEMANTIC_FOLDER), (AGENTIC_COMPONENT, AGENTIC_FOLDER)]
    async with (
        fresh_postgres(postgres_server, migrations=tables) as first,
        fresh_postgres(postgres_server, migrations=tables) as second,
        fresh_graph(neo4j_url, migrations=graph_folders) as graph,
        await create_pool(first.app) as pool,
        await create_pool(second.app) as other_pool,
        open_administration([first.superuser], place="first") as connection,
        open_administration([second.superuser], place="second") as other_connection,
    ):
        written = table_stores(pool, PostgresDataKeys(key_ring(tmp_path), SEMANTIC))
        fact_id = await semantic_canaries.write_canaries(written)
        await note_canaries.write_canaries(PostgresNoteStore(pool, keys=PostgresDataKeys(key_ring(tmp_path), AGENTIC)))

        await copied(await records(connection, None), await records(connection, graph))
        assert await labels_with(graph, CANARY) == set()
        stores = graph_stores(graph, chosen_graph_keys("encrypted", tmp_path, FACT_KEYS))
        fact = await stores.facts.get(ANN, fact_id)
        assert (fact.text, [one.text for one in fact.versions]) == (f"{CANARY} (text)", [f"{CANARY} (version)"])
        (procedure,) = await stores.procedures.list_page(ANN, kind=None, after=None, limit=9)
        assert procedure.draft.trigger == CANARY
        assert await stores.profiles.get(ANN) == await written.profiles.get(ANN)
        (repository,) = await stores.code.list_repositories(ANN, after=None, limit=9)
        (file,) = await stores.code.changed(ANN, repository.repository_id, after_revision=0)
        assert file.content == CANARY.encode()
        notes = Neo4jNoteStore(graph, keys=chosen_graph_keys("encrypted", tmp_path, NOTE_KEYS))
        assert (await notes.get(NOTES_ANN, note_id(1), links_max=0)).note == note_canaries.canary()
        assert await note_canaries.former_content(notes) == note_canaries.FORMER

        await copied(await records(connection, graph), await records(other_connection, None))
        await read_tables(other_pool, tmp_path, fact_id)

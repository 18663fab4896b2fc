from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from services.agentic.copying import open_agentic_records
from services.agentic.stores.neo4j import GRAPH_MIGRATIONS_FOLDER as AGENTIC_FOLDER
from services.agentic.stores.neo4j_copy import KINDS as AGENTIC_KINDS
from services.agentic.stores.postgres import MIGRATIONS_FOLDER as AGENTIC_TABLES
from services.common.copying.administration import open_administration
from services.common.copying.model import CopyError, Kind, Record, RecordStore
from services.common.copying.neo4j import COPY_AGENT, GraphKind, GraphRecords, clients_connected, key_queries
from services.common.copying.postgres_values import vector_bytes
from services.common.maintenance.copying import open_maintenance_records
from services.common.maintenance.neo4j import COMPONENT as MAINTENANCE_COMPONENT
from services.common.maintenance.neo4j import GRAPH_MIGRATIONS_FOLDER as MAINTENANCE_FOLDER
from services.common.maintenance.neo4j_copy import KINDS as MAINTENANCE_KINDS
from services.common.neo4j.graph import Graph, Neo4jServer, open_graph, operators
from services.common.postgres.server import EmbeddedPostgres
from services.semantic.copying import open_semantic_records
from services.semantic.stores.neo4j import MIGRATIONS_FOLDER as SEMANTIC_FOLDER
from services.semantic.stores.neo4j_copy import KINDS as SEMANTIC_KINDS
from services.semantic.stores.postgres import MIGRATIONS_FOLDER as SEMANTIC_TABLES
from tests.contract.record_store import RecordStoreContract, Subject
from tests.support.maintenance import MAINTENANCE
from tests.support.neo4j import fresh_graph
from tests.support.postgres import fresh_postgres

ALL_KINDS = (*SEMANTIC_KINDS, *AGENTIC_KINDS, *MAINTENANCE_KINDS)

_MOMENT = 1_767_225_600_123_456


def identifier(n: int) -> str:
    return str(UUID(int=(7919 * n) % 1009 << 96 | n))


def vector(n: int) -> bytes:
    return vector_bytes(np.random.default_rng(n).normal(size=16).astype(np.float32))


def owner(n: int) -> dict[str, str]:
    return {"tenant_id": f"tenant-{n % 2}", "user_id": f"user-{n % 3}"}


def fact(n: int) -> Record:
    return {
        **owner(n),
        "fact_id": identifier(n),
        "identity": n.to_bytes(16, "big"),
        "text_identity": bytes([n, 0]),
        "topic": None if n % 2 else bytes([n]),
        "text": f"Ana's cat no. {n}: „Zoë“",
        "subject": "Ana",
        "predicate": "has",
        "object": "cat",
        "category": 1,
        "confidence": n / 7 % 1,
        "importance": 1.0,
        "first_observed_time": -_MOMENT,
        "last_confirmed_time": _MOMENT + n,
        "valid_from_time": None,
        "valid_to_time": _MOMENT if n % 2 else None,
        "derived_from": [identifier(100 + n)],
        # Of the same user; it may come on a later page, or on an earlier one.
        "contradictions": [identifier(n + 6)] if n < 6 else [],
        "status": 1,
        "previous_status": 2 if n % 2 else None,
        "fade_time": _MOMENT if n % 2 else None,
        "feedback": n % 3 - 1,
        "merged_into_fact_id": None,
        "versions": [["before", 0.5, "2026-01-01T00:00:00+00:00", 1]] if n % 2 else [],
        "scope_key": "1",
        "revision": n,
        "evidence_count": 1 + n,
        "embedding_model": "m",
        "embedding": vector(n),
    }


def support(n: int) -> Record:
    return {
        **owner(n % 6),
        "fact_id": identifier(n % 6),
        "interaction_id": identifier(100 + n),
        "time": _MOMENT + n,
        "recorded_time": _MOMENT + 2 * n,
    }


def merge_group(n: int) -> Record:
    return {
        **owner(n),
        "group_id": identifier(n),
        "fact_ids": [identifier(n + 20), identifier(n + 40)],
        "state": n % 3 + 1,
        "create_time": _MOMENT + n,
        "decide_time": _MOMENT if n % 3 else None,
        "survivor_id": identifier(n + 20) if n % 3 == 1 else None,
    }


def statement(n: int) -> Record:
    return {
        **owner(n % 6),
        "fact_id": identifier(n % 6),
        "statement_id": identifier(n),
        "time": _MOMENT - n,
        "text": f"said {n}",
        "category": 2,
        "confidence": 0.9,
        "importance": 0.1,
        "subject": "",
        "predicate": "",
        "object": "",
        "valid_from_time": _MOMENT if n % 2 else None,
        "valid_to_time": _MOMENT if n % 4 else None,
        "interaction_ids": [] if n % 3 else [identifier(n)],
        "is_correction": n % 5 == 0,
        "recorded_time": _MOMENT if n % 2 else None,
        "sentences": [n, n + 1] if n % 2 else [],
        "shares_sentence": n % 3 == 0,
    }


def note(n: int) -> Record:
    return {
        **owner(n),
        "note_id": identifier(n),
        "content": f"note {n}",
        "kind": 1,
        "importance": 0.25,
        "keywords": ["a", "b"] if n % 2 else [],
        "tags": [],
        "attachments": [["file:///a", "image/png", "a cat"]] if n % 2 else [],
        "metadata": {"from": "test"},
        "derived_from": [],
        "time": _MOMENT,
        "create_time": _MOMENT + n,
        "update_time": _MOMENT + 2 * n,
        "status": 1 + n % 2,
        "access_count": n,
        "last_access_time": _MOMENT if n % 2 else None,
        "scope_key": "1",
        "speaker": "Ana",
        "conversation_id": "c",
        "position": n,
        "spoken": "",
        "question_id": identifier(n) if n % 2 else None,
        "question_chars": n,
        "feedback": n % 3 - 1,
        "source_note_ids": [],
        "successor_id": None,
        "raised": n,
    }


def caption_vector(n: int) -> Record:
    return {**note_vector(n), "place": n % 3}


def note_version(n: int) -> Record:
    return {
        **owner(n),
        "note_id": identifier(n),
        "end_microseconds": _MOMENT + n,
        "status": 1 + n % 2,
        "said": {"content": f"note {n}"} if n % 2 else {},
        "was_wrong": n % 3 == 0,
        "derived_from": [identifier(n)] if n % 2 else [],
        "source_note_ids": [],
        "question_id": identifier(n) if n % 2 else None,
    }


def note_vector(n: int) -> Record:
    return {
        **owner(n),
        "note_id": identifier(n),
        "model": "m",
        "scope_key": "1",
        "is_active": n % 2 == 0,
        "embedding": vector(n),
    }


def link_end(n: int) -> Record:
    """The ends of links from the first of three notes of one user: 0 and 1 are one link, 2 and 3 the next one."""
    link, is_first = divmod(n, 2)
    near, far = (0, link + 1) if is_first == 0 else (link + 1, 0)
    return {
        **owner(0),
        "note_id": identifier(6 * near),
        "other_note_id": identifier(6 * far),
        "type": 1 + link % 5,
        "is_first": is_first == 0,
        "strength": 0.5,
        "origin": 1 + link % 3,
        "create_time": _MOMENT + link,
        "update_time": _MOMENT + 2 * link,
        "feedback": link % 3 - 1,
        "other_scope_key": "1",
        "is_hidden": False,
    }


def named(records: RecordStore, name: str) -> Kind:
    return next(kind for kind in records.kinds if kind.name == name)


@pytest.fixture
async def graph(neo4j_url: str) -> AsyncIterator[Graph]:
    migrations = [
        ("semantic", SEMANTIC_FOLDER),
        ("agentic", AGENTIC_FOLDER),
        (MAINTENANCE_COMPONENT, MAINTENANCE_FOLDER),
    ]
    async with fresh_graph(neo4j_url, migrations=migrations) as opened:
        yield opened


class TestGraphFacts(RecordStoreContract):
    """Facts: nodes with vectors, and relationships to nodes that may come later."""

    @pytest.fixture
    async def subject(self, graph: Graph) -> Subject:
        records = GraphRecords(graph, SEMANTIC_KINDS)
        return Subject(records, named(records, "semantic.facts"), fact)


class TestGraphStatements(RecordStoreContract):
    """Statements, which refer to facts."""

    @pytest.fixture
    async def subject(self, graph: Graph) -> Subject:
        records = GraphRecords(graph, SEMANTIC_KINDS)
        await records.write(named(records, "semantic.facts"), [fact(n) for n in range(12)])
        return Subject(records, named(records, "semantic.fact_statements"), statement)


class TestGraphSupports(RecordStoreContract):
    """Interactions that support facts in other words, which refer to facts."""

    @pytest.fixture
    async def subject(self, graph: Graph) -> Subject:
        records = GraphRecords(graph, SEMANTIC_KINDS)
        await records.write(named(records, "semantic.facts"), [fact(n) for n in range(12)])
        return Subject(records, named(records, "semantic.fact_supports"), support)


class TestGraphMergeGroups(RecordStoreContract):
    """Groups of similar facts, and what was decided about them."""

    @pytest.fixture
    async def subject(self, graph: Graph) -> Subject:
        records = GraphRecords(graph, SEMANTIC_KINDS)
        return Subject(records, named(records, "semantic.merge_groups"), merge_group)


class TestGraphNotes(RecordStoreContract):
    """Notes."""

    @pytest.fixture
    async def subject(self, graph: Graph) -> Subject:
        records = GraphRecords(graph, AGENTIC_KINDS)
        return Subject(records, named(records, "agentic.notes"), note)

    async def test_owners_know_how_many_there_are(self, graph: Graph, subject: Subject) -> None:
        await subject.store.write(subject.kind, [note(n) for n in range(9)])
        await subject.store.write(subject.kind, [note(n) for n in range(12)])

        rows = await graph.read("MATCH (o:NoteOwner) RETURN o.notes AS notes")
        assert [row["notes"] for row in rows] == [2] * 6


class TestGraphNoteVectors(RecordStoreContract):
    """Vectors of notes that are there."""

    @pytest.fixture
    async def subject(self, graph: Graph) -> Subject:
        records = GraphRecords(graph, AGENTIC_KINDS)
        await records.write(named(records, "agentic.notes"), [note(n) for n in range(30)])
        return Subject(records, named(records, "agentic.note_vectors"), note_vector)

    async def test_vectors_of_two_models_for_one_note_are_refused(self, subject: Subject) -> None:
        other = {**note_vector(1), "model": "another"}

        with pytest.raises(CopyError, match="two embedding models"):
            await subject.store.write(subject.kind, [note_vector(1), other])

        assert await subject.store.count(subject.kind) == 0


class TestGraphCaptions(RecordStoreContract):
    """Vectors of captions of notes that are there."""

    @pytest.fixture
    async def subject(self, graph: Graph) -> Subject:
        records = GraphRecords(graph, AGENTIC_KINDS)
        await records.write(named(records, "agentic.notes"), [note(n) for n in range(30)])
        return Subject(records, named(records, "agentic.caption_vectors"), caption_vector)


class TestGraphNoteVersions(RecordStoreContract):
    """What notes that are there said before."""

    @pytest.fixture
    async def subject(self, graph: Graph) -> Subject:
        records = GraphRecords(graph, AGENTIC_KINDS)
        await records.write(named(records, "agentic.notes"), [note(n) for n in range(30)])
        return Subject(records, named(records, "agentic.note_versions"), note_version)


class TestGraphLinks:
    """Links: one relationship, read as the rows of both of its ends."""

    async def test_both_ends_are_read_and_one_is_written(self, graph: Graph) -> None:
        records = GraphRecords(graph, AGENTIC_KINDS)
        await records.write(named(records, "agentic.notes"), [note(6 * n) for n in range(8)])
        kind = named(records, "agentic.link_ends")
        ends = [link_end(n) for n in range(14)]

        await records.write(kind, ends)
        await records.write(kind, ends)

        found: list[Record] = []
        while page := await records.read(
            kind, after=tuple(found[-1][name] for name in kind.key) if found else None, limit=3
        ):
            found += page
        assert await records.count(kind) == len(found) == 14
        assert sorted(found, key=str) == sorted(ends, key=str)
        [row] = await graph.read("MATCH (:Note)-[l:LINKED]->(:Note) RETURN count(l) AS links")
        assert row["links"] == 7


async def test_spec_4_3_counts_of_common_uses_are_copied(graph: Graph) -> None:
    records = GraphRecords(graph, AGENTIC_KINDS)
    await records.write(named(records, "agentic.notes"), [note(6 * n) for n in range(4)])
    kind = named(records, "agentic.note_pairs")
    pairs = [
        {
            **owner(0),
            "note_id": identifier(0),
            "other_note_id": identifier(6 * n),
            "use_count": n,
            "last_use_time": _MOMENT + n,
        }
        for n in (1, 2, 3)
    ]
    await records.write(kind, pairs)
    await records.write(kind, pairs)
    assert await records.read(kind, after=None, limit=9) == pairs


@pytest.mark.parametrize("described", ALL_KINDS, ids=lambda described: described.kind.name)
async def test_pages_are_read_through_an_index(graph: Graph, described: GraphKind) -> None:
    parameters: Mapping[str, Any] = {"limit": 5, **{f"k{number}": "x" for number in range(8)}}
    for query in key_queries(described):
        found = set(operators(await graph.explain(query, parameters)))

        assert found & {"NodeIndexScan", "NodeIndexSeek", "NodeUniqueIndexSeek"}
        assert not found & {"AllNodesScan", "NodeByLabelScan", "Sort", "Top"}


async def test_connected_services_are_seen_and_other_copies_are_not(neo4j_url: str, graph: Graph) -> None:
    async with open_graph(Neo4jServer(url=neo4j_url), user_agent=COPY_AGENT) as copying:
        await graph.read("RETURN 1 AS one")

        assert "connections to Neo4j" in (await clients_connected(copying))[0]


async def test_tables_and_graph_hold_the_same_kinds_with_the_same_fields(
    postgres_server: EmbeddedPostgres,
) -> None:
    tables = [("semantic", SEMANTIC_TABLES), ("agentic", AGENTIC_TABLES), MAINTENANCE]
    async with (
        fresh_postgres(postgres_server, migrations=tables) as urls,
        open_administration([urls.superuser], place="test") as connection,
    ):
        of_maintenance = (await open_maintenance_records(connection, None))[1:]
        stores = [
            *await open_semantic_records(connection, None),
            *await open_agentic_records(connection, None),
            *of_maintenance,
        ]
        in_tables = {kind.name: kind for store in stores for kind in store.kinds}

    in_graph = {described.kind.name: described.kind for described in ALL_KINDS}
    assert {name: kind.fields for name, kind in in_graph.items()} == {
        name: kind.fields for name, kind in in_tables.items()
    }
    # What is exported of a user is in one order, whatever the engine.
    of_users = [name for name, kind in in_tables.items() if {"tenant_id", "user_id"} <= kind.fields]
    assert [name for name in in_graph if name in of_users and not name.startswith("maintenance")] == [
        name for name in of_users if not name.startswith("maintenance")
    ]

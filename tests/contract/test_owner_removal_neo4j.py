"""Erasures of users on Neo4j go on where they were interrupted, count everything, and leave others alone (SPEC 6.6)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, TypeVar

import pytest

from services.agentic.config import AgenticSettings
from services.agentic.removal import NoteRemoval
from services.agentic.stores.neo4j import Neo4jNoteStore
from services.common.errors import StoreUnavailable
from services.common.neo4j.graph import Graph, GraphTransaction
from services.common.owners import Owner, TenantId, UserId
from services.common.tier_embedder import TierEmbedder
from services.semantic.code.stores.neo4j import Neo4jCodeStore
from services.semantic.facts.stores.neo4j import Neo4jFactStore
from services.semantic.procedures.stores.neo4j import Neo4jProcedureStore
from tests.contract import code_store as code
from tests.contract.fact_drivers import semantic_graph
from tests.contract.fact_samples import EMBEDDER, enter, likes, said
from tests.contract.note_drivers import note_graph
from tests.contract.note_removal import fill as fill_notes
from tests.contract.note_samples import ANN as NOTES_ANN
from tests.contract.note_samples import BOB as NOTES_BOB
from tests.support.clock import FakeClock
from tests.support.neo4j import FailingGraph

_T = TypeVar("_T")

ANN = Owner(TenantId("acme"), UserId("ann"))
BEN = Owner(TenantId("acme"), UserId("ben"))
COUNT = 10
PAGE = 4
_LOCKS: Final = ("MnemeFactOwner", "MnemeProcedureOwner", "MnemeCodeOwner", "NoteOwner")


@pytest.fixture
async def graph(neo4j_url: str) -> AsyncIterator[Graph]:
    async with semantic_graph(neo4j_url) as found:
        yield found


async def count(graph: Graph, owner: Owner) -> dict[str, int]:
    """Nodes of a user by label, without locks."""
    rows = await graph.read(
        "MATCH (n {tenant_id: $tenant_id, user_id: $user_id}) WHERE NOT labels(n)[0] IN $locks "
        "RETURN labels(n)[0] AS label, count(*) AS n",
        {"tenant_id": owner.tenant_id, "user_id": owner.user_id, "locks": list(_LOCKS)},
    )
    return {row["label"]: row["n"] for row in rows}


async def fill_procedures(graph: Graph, owner: Owner) -> None:
    await graph.write(
        lambda transaction: transaction.run(
            """
            MERGE (:MnemeProcedureOwner {tenant_id: $tenant_id, user_id: $user_id})
            WITH * UNWIND range(1, $count) AS number
            CREATE (:MnemeProcedure {
                tenant_id: $tenant_id, user_id: $user_id, procedure_id: toString(number), identity: toString(number),
                create_time: datetime()
            })
            CREATE (:MnemeJudgedRecall {
                tenant_id: $tenant_id, user_id: $user_id, recall_id: toString(number), time: datetime()
            })
            """,
            {"tenant_id": owner.tenant_id, "user_id": owner.user_id, "count": COUNT},
        )
    )


async def test_spec_6_6_removal_of_facts_resumes_and_counts_those_of_the_interrupted_call(graph: Graph) -> None:
    for owner in (ANN, BEN):
        await enter(Neo4jFactStore(graph), owner, [said(likes(f"thing {number}")) for number in range(COUNT)])
    everything = await count(graph, ANN)
    assert everything == {"MnemeFact": COUNT, "MnemeStatement": COUNT}
    with pytest.raises(StoreUnavailable):
        await Neo4jFactStore(FailingGraph(graph, writes=2), removed_max=PAGE).remove_owner(ANN)
    assert await count(graph, ANN) == {"MnemeFact": COUNT - 2 * PAGE, "MnemeStatement": COUNT}
    store = Neo4jFactStore(graph, removed_max=PAGE)
    assert await store.remove_owner(ANN) == COUNT
    assert (await count(graph, ANN), await count(graph, BEN)) == ({}, everything)
    assert await store.remove_owner(ANN) == 0, "a repeat finds nothing"


async def test_spec_6_6_what_a_writer_stores_between_two_pages_goes_too(graph: Graph) -> None:
    store = Neo4jFactStore(graph)
    await enter(store, ANN, [said(likes(f"thing {number}")) for number in range(COUNT)])

    class Interleaved(Graph):
        """Somebody states a fact once the pages of facts are done."""

        def __init__(self) -> None:
            self.writes = 0

        async def write(self, work: Callable[[GraphTransaction], Awaitable[_T]]) -> _T:
            result = await graph.write(work)
            self.writes += 1
            if self.writes == 4:
                await enter(store, ANN, [said(likes("something late"))])
            return result

    assert await Neo4jFactStore(Interleaved(), removed_max=PAGE).remove_owner(ANN) == COUNT + 1
    assert await count(graph, ANN) == {}


async def test_spec_6_6_removal_of_procedures_resumes_and_counts_those_of_the_interrupted_call(graph: Graph) -> None:
    for owner in (ANN, BEN):
        await fill_procedures(graph, owner)
    everything = await count(graph, BEN)
    with pytest.raises(StoreUnavailable):
        await Neo4jProcedureStore(FailingGraph(graph, writes=1), removed_max=PAGE).remove_owner(ANN)
    assert await count(graph, ANN) == everything | {"MnemeProcedure": COUNT - PAGE}
    store = Neo4jProcedureStore(graph, removed_max=PAGE)
    revision, _ = await store.trusted(ANN, cached_revision=None, confidence_above=0.6, limit=9)
    assert await store.remove_owner(ANN) == COUNT
    assert (await count(graph, ANN), await count(graph, BEN)) == ({}, everything)
    assert (await store.trusted(ANN, cached_revision=revision, confidence_above=0.6, limit=9))[0] > revision


async def test_spec_6_6_removal_of_code_resumes_and_reads_no_repository_meanwhile(graph: Graph) -> None:
    store = Neo4jCodeStore(graph, removed_max=PAGE)
    for owner in (code.ADA, code.BEN):
        for repository_id in ("one", "other"):
            files = [code.packed(f"{number}.py") for number in range(COUNT)]
            await code.write(store, *files, owner=owner, repository_id=repository_id)
    with pytest.raises(StoreUnavailable):
        await Neo4jCodeStore(FailingGraph(graph, writes=1), removed_max=PAGE).remove_owner(code.ADA)
    assert await store.list_repositories(code.ADA, after=None, limit=9) == []
    assert await store.head(code.ADA, "one") is None
    assert await store.remove_owner(code.ADA) == 2
    assert await count(graph, code.ADA) == {}
    assert await count(graph, code.BEN) == {"MnemeCodeRepository": 2, "MnemeCodeFile": 2 * COUNT}


async def test_spec_6_6_turns_of_a_user_are_blocked_in_pages_before_notes_are_counted(
    neo4j_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.agentic.removal._BLOCKED_MAX", PAGE)
    async with note_graph(neo4j_url) as notes_graph:
        await fill_notes(Neo4jNoteStore(notes_graph), NOTES_ANN, NOTES_BOB)

        def removal(graph: Graph) -> NoteRemoval:
            clock = FakeClock()
            embedder = TierEmbedder(EMBEDDER)
            return NoteRemoval(Neo4jNoteStore(graph), embedder, clock=clock, settings=AgenticSettings())

        async def open_turns(owner: Owner) -> int:
            rows = await notes_graph.read(
                "MATCH (t:ProcessedTurn {user_id: $user_id}) WHERE t.question <> '' RETURN count(*) AS turns",
                {"user_id": owner.user_id},
            )
            return int(rows[0]["turns"])

        with pytest.raises(StoreUnavailable):
            await removal(FailingGraph(notes_graph, writes=2)).of_owner(NOTES_ANN, notes_max=4)
        assert (await open_turns(NOTES_ANN), (await count(notes_graph, NOTES_ANN))["Note"]) == (0, 6)
        steps = [await removal(notes_graph).of_owner(NOTES_ANN, notes_max=4) for _ in range(2)]
        assert [(step.removed.notes, step.has_more) for step in steps] == [(4, True), (2, False)]
        assert await open_turns(NOTES_BOB) == 6

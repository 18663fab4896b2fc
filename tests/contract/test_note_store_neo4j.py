"""The Neo4j note store fulfils the contract; and what is true of this driver alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.agentic.model import GenerationResult
from services.agentic.store import NoteStore, NoteWriter, ProcessedTurn
from services.agentic.stores import neo4j_cypher, neo4j_search, neo4j_upkeep, neo4j_versions
from services.agentic.stores.neo4j import Neo4jNoteStore
from services.agentic.stores.neo4j_sealing import DATA_KEYS
from services.common.errors import Conflict
from services.common.idempotency.model import IdempotencyKey, IdempotencyRecord
from services.common.neo4j.graph import Graph, Neo4jServer, open_graph, operators
from services.common.owners import Owner
from tests.contract.note_captions import NoteCaptionsContract
from tests.contract.note_drivers import neo4j_note_store, note_graph
from tests.contract.note_removal import NoteRemovalContract
from tests.contract.note_samples import ANN, BOB, NOW, interaction_id
from tests.contract.note_search import NoteSearchContract
from tests.contract.note_store import NoteStoreContract
from tests.contract.note_upkeep import NoteUpkeepContract
from tests.contract.note_use import NoteUseContract
from tests.contract.note_versions import NoteVersionsContract
from tests.support.encryption import GRAPH_ENCRYPTION, chosen_graph_keys

_QUERIES = {
    name: query
    for module in (neo4j_cypher, neo4j_search, neo4j_upkeep, neo4j_versions)
    for name, query in vars(module).items()
    if name[0] != "_" and str(query).startswith("CYPHER 25")
}
_CREATE_ONLY = {"ADD_PROCESSED"}
_FIND_BY_INDEX = {"NodeIndexSeek", "NodeUniqueIndexSeek", "NodeVectorIndexSearch", "MergeUniqueNode"}


class TestNeo4jNoteStore(
    NoteStoreContract,
    NoteSearchContract,
    NoteCaptionsContract,
    NoteRemovalContract,
    NoteUpkeepContract,
    NoteUseContract,
    NoteVersionsContract,
):
    @pytest.fixture(params=GRAPH_ENCRYPTION)
    def encryption(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    async def store(self, neo4j_url: str, encryption: str, tmp_path: Path) -> AsyncIterator[NoteStore]:
        keys = chosen_graph_keys(encryption, tmp_path, DATA_KEYS)
        async with neo4j_note_store(neo4j_url, keys=keys) as store:
            yield store

    @pytest.fixture
    async def replica(self, neo4j_url: str, encryption: str, tmp_path: Path) -> AsyncIterator[NoteStore]:
        async with open_graph(Neo4jServer(url=neo4j_url)) as graph:
            yield Neo4jNoteStore(graph, keys=chosen_graph_keys(encryption, tmp_path, DATA_KEYS))


@pytest.fixture
async def graph(neo4j_url: str) -> AsyncIterator[Graph]:
    async with note_graph(neo4j_url) as graph:
        yield graph


async def test_every_query_finds_its_nodes_by_index(graph: Graph) -> None:
    assert len(_QUERIES) >= 19
    for name, query in _QUERIES.items():
        plan = {operator.removesuffix("(Locking)") for operator in operators(await graph.explain(query))}
        assert not [operator for operator in plan if operator.endswith("Scan")], name
        assert name in _CREATE_ONLY or plan & _FIND_BY_INDEX, name


@pytest.mark.parametrize("name", ["LIST_NOTES", "OLDEST_CANDIDATE"])
async def test_pages_are_read_in_the_order_of_an_index(graph: Graph, name: str) -> None:
    plan = operators(await graph.explain(_QUERIES[name]))
    # By the numbers of nodes at the moment, which other tests change, some of the order may be left to a partial one.
    assert not {"Sort", "Top"} & set(plan)


async def test_spec_6_9_pages_of_maintenance_read_no_more_than_they_return(graph: Graph) -> None:
    for query in neo4j_upkeep.OVER_USERS:
        plan = operators(await graph.explain(query))
        users = plan[plan.index("Union") :]
        assert users[: users.index("NodeUniqueIndexSeek") + 1][-2:] == ["Limit", "NodeUniqueIndexSeek"]
        assert not [operator for operator in plan if operator.endswith("Scan")]
    assert "PartialTop" in operators(await graph.explain(neo4j_upkeep.ACTIVE_LINKS))
    assert "Top" not in operators(await graph.explain(neo4j_upkeep.NOTES_OF_OTHER_MODELS))


@pytest.mark.parametrize("name", sorted(_QUERIES))
def test_spec_7_1_every_node_of_a_query_is_of_one_tenant(name: str) -> None:
    query = _QUERIES[name]
    assert query.count("tenant_id: $tenant_id") + query.count("tenant_id = $tenant_id") == query.count(":Note") + (
        query.count(":ProcessedTurn")
    )


async def test_works_of_one_user_wait_for_each_other_across_processes(graph: Graph, neo4j_url: str) -> None:
    turn = ProcessedTurn(GenerationResult(interaction_id(1), ()), "c", 0, question="", speaker="Ann")

    async def take(writer: NoteWriter) -> bool:
        if await writer.processed([interaction_id(1)]):
            return False
        await writer.add_processed([turn])
        return True

    async with open_graph(Neo4jServer(url=neo4j_url)) as another_process:
        stores = [Neo4jNoteStore(graph), Neo4jNoteStore(another_process)] * 3
        taken = await asyncio.gather(*(store.write(ANN, take) for store in stores))
    assert sorted(taken) == [False] * 5 + [True]


async def test_work_that_met_a_deadlock_runs_again_from_its_beginning(graph: Graph) -> None:
    store = Neo4jNoteStore(graph)
    both_hold_one = asyncio.Barrier(2)
    runs: list[Owner] = []

    def record(owner: Owner, request_id: str) -> IdempotencyRecord:
        return IdempotencyRecord(IdempotencyKey("p", request_id, "d"), owner.user_id, "", owner.user_id, NOW)

    async def cross(owner: Owner, first: str, second: str) -> None:
        async def work(writer: NoteWriter) -> None:
            runs.append(owner)
            await writer.idempotency().add(record(owner, first), purge_before=NOW)
            if len(runs) <= 2:
                await both_hold_one.wait()
            await writer.idempotency().add(record(owner, second), purge_before=NOW)

        await store.write(owner, work)

    outcomes = await asyncio.gather(cross(ANN, "r1", "r2"), cross(BOB, "r2", "r1"), return_exceptions=True)
    assert len(runs) == 3, "one of them was chosen to give way, and began anew"
    # Then it found the other's records.
    assert [type(outcome) for outcome in outcomes if outcome is not None] == [Conflict]

    async def responses(writer: NoteWriter) -> set[str | None]:
        keys = [IdempotencyKey("p", name, "d") for name in ("r1", "r2")]
        return {found.response for key in keys if (found := await writer.idempotency().find(key))}

    assert len(await store.write(ANN, responses)) == 1, "nothing of the one that gave way is left"

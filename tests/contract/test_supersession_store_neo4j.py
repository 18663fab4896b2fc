"""The Neo4j store of supersessions fulfils the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import LiteralString

import pytest

from services.common.encryption.neo4j import GraphDataKeys
from services.common.errors import StoreUnavailable
from services.common.neo4j.graph import Graph
from services.semantic.stores.neo4j_sealing import DATA_KEYS
from services.semantic.supersession.store import SupersessionStore
from services.semantic.supersession.stores.neo4j import Neo4jSupersessionStore
from services.semantic.supersession.stores.neo4j_queries import ENDED, REMOVE, RESTS
from services.semantic.supersession.stores.neo4j_removal import remove_owner
from tests.contract.fact_drivers import semantic_graph
from tests.contract.supersession_removal import PAGE, TURNS, SupersessionRemovalContract, fill
from tests.contract.supersession_samples import ADA, BEN
from tests.contract.supersession_store import SupersessionStoreContract
from tests.support.encryption import GRAPH_ENCRYPTION, chosen_graph_keys
from tests.support.neo4j import FailingGraph


@pytest.fixture(params=GRAPH_ENCRYPTION)
def keys(request: pytest.FixtureRequest, tmp_path: Path) -> GraphDataKeys:
    return chosen_graph_keys(request.param, tmp_path, DATA_KEYS)


@pytest.fixture
async def graph(neo4j_url: str) -> AsyncIterator[Graph]:
    async with semantic_graph(neo4j_url) as found:
        yield found


class TestNeo4jSupersessionStore(SupersessionStoreContract):
    @pytest.fixture
    def store(self, graph: Graph, keys: GraphDataKeys) -> SupersessionStore:
        return Neo4jSupersessionStore(graph, keys=keys)


class TestNeo4jSupersessionRemoval(SupersessionRemovalContract):
    @pytest.fixture
    def store(self, graph: Graph, keys: GraphDataKeys) -> SupersessionStore:
        return Neo4jSupersessionStore(graph, keys=keys, removed_max=PAGE)


async def _count(graph: Graph, user_id: str) -> dict[str, int]:
    """Nodes of a user by label, without the one that is locked."""
    rows = await graph.read(
        "MATCH (n {user_id: $user_id}) WHERE NOT n:MnemeSupersessionOwner RETURN labels(n)[0] AS label, count(*) AS n",
        {"user_id": user_id},
    )
    return {row["label"]: row["n"] for row in rows}


async def test_spec_6_6_removal_of_an_owner_resumes_where_it_was_interrupted(graph: Graph) -> None:
    store = Neo4jSupersessionStore(graph)
    for owner in (ADA, BEN):
        await fill(store, owner)
    everything = await _count(graph, ADA.user_id)
    keys = TURNS + TURNS // 2
    assert everything == {"MnemeAssertion": TURNS, "MnemeAssertionKey": keys, "MnemeSupersession": TURNS // 2}
    with pytest.raises(StoreUnavailable):
        await remove_owner(FailingGraph(graph, writes=2), ADA, limit=PAGE)
    assert await _count(graph, ADA.user_id) == everything | {"MnemeAssertion": TURNS - 2 * PAGE}
    assert await remove_owner(graph, ADA, limit=PAGE) == TURNS // 2
    assert await _count(graph, ADA.user_id) == {}
    assert await _count(graph, BEN.user_id) == everything


@pytest.mark.parametrize("query", [ENDED, REMOVE, RESTS])
async def test_spec_6_6_pairs_are_found_by_their_statements_and_not_among_all_of_a_user(
    graph: Graph, query: LiteralString
) -> None:
    plan = str(await graph.explain(query))
    assert "MnemeSupersession(tenant_id, user_id, " in plan
    assert "MnemeSupersession(tenant_id, user_id, create_time)" not in plan

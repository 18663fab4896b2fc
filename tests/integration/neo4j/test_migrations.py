"""Migrations of a graph that another component changes at the same time."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.neo4j.graph import Graph
from services.common.neo4j.migrations import migrate_graph
from tests.support.neo4j import fresh_graph

pytestmark = pytest.mark.ci("proves what a server of Neo4j does with indexes", needs="neo4j")

_CONSTRAINTS = 40


@pytest.fixture
async def graph(neo4j_url: str) -> AsyncIterator[Graph]:
    async with fresh_graph(neo4j_url) as graph:
        yield graph
        await graph.change_schema("DROP INDEX tests_ours IF EXISTS")
        for number in range(_CONSTRAINTS):
            await graph.change_schema(f"DROP INDEX tests_shared_{number} IF EXISTS")
            # The name is made of a literal and a number.
            await graph.change_schema(f"DROP CONSTRAINT tests_theirs_{number} IF EXISTS")
        await graph.change_schema("MATCH (m:MnemeMigration) WHERE m.component STARTS WITH 'tests_' DELETE m")


async def test_spec_8_5_two_components_that_make_their_indexes_at_once_do_not_wait_for_each_other(
    graph: Graph, tmp_path: Path
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
    ours.joinpath("0001_index.cypher").write_text(
        "CREATE INDEX tests_ours IF NOT EXISTS FOR (n:TestsOurs) ON (n.key);\n", "utf-8"
    )
    theirs.joinpath("0001_constraints.cypher").write_text(
        "".join(
            f"CREATE CONSTRAINT tests_theirs_{number} IF NOT EXISTS "
            f"FOR (n:TestsTheirs{number}) REQUIRE (n.first, n.second) IS UNIQUE;\n"
            for number in range(_CONSTRAINTS)
        ),
        "utf-8",
    )
    # Neo4j's own db.awaitIndexes, called while a constraint is being made, keeps it from its end, and waits for it.
    async with asyncio.timeout(60):
        long = asyncio.create_task(migrate_graph(graph, component="tests_theirs", folder=theirs))
        number = 0
        while not long.done():
            assert await migrate_graph(graph, component=f"tests_ours_{number}", folder=ours) == [1]
            number += 1
        assert await long == [1]
    assert number > 1


async def test_spec_8_5_two_components_make_the_same_indexes_at_once(graph: Graph, tmp_path: Path) -> None:
    tmp_path.joinpath("0001_indexes.cypher").write_text(
        "".join(
            f"CREATE INDEX tests_shared_{number} IF NOT EXISTS FOR (n:TestsShared) ON (n.key{number});\n"
            for number in range(_CONSTRAINTS)
        ),
        "utf-8",
    )
    components = [f"tests_{letter}" for letter in "abcd"]
    async with asyncio.timeout(60):
        applied = await asyncio.gather(
            *(migrate_graph(graph, component=component, folder=tmp_path) for component in components)
        )
    assert applied == [[1]] * len(components)

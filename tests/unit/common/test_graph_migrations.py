"""Indexes of a graph that do not get ready."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from services.common.neo4j.graph import Graph
from services.common.neo4j.migrations import MigrationError, migrate_graph


class GraphWithoutIndexes:
    """Applies everything; its one index stays in the given state."""

    def __init__(self, state: str) -> None:
        self.state = state
        self.names: list[str] = []

    async def change_schema(self, statement: str, parameters: Mapping[str, Any] | None = None) -> None: ...

    async def write(self, work: object) -> None: ...

    async def read(self, query: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        if "MnemeMigration" in query:
            return []
        self.names = parameters["names"]
        return [{"name": "notes_by_time", "state": self.state, "failureMessage": "no space left on device"}]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("POPULATING", r"indexes of notes are not ready after 0 s \(notes_by_time\)"),
        ("FAILED", "could not make the index notes_by_time: no space left on device"),
    ],
)
async def test_the_error_names_the_index_that_is_not_ready(tmp_path: Path, state: str, message: str) -> None:
    tmp_path.joinpath("0001_notes.cypher").write_text(
        "CREATE INDEX notes_by_time IF NOT EXISTS FOR (n:Note) ON (n.time);\n"
        "CYPHER 25 CREATE VECTOR INDEX notes_vector IF NOT EXISTS FOR (n:Note) ON n.vector;\n"
        "CREATE CONSTRAINT note_key IF NOT EXISTS FOR (n:Note) REQUIRE n.id IS UNIQUE;\n",
        "utf-8",
    )
    graph = GraphWithoutIndexes(state)
    with pytest.raises(MigrationError, match=message):
        await migrate_graph(cast("Graph", graph), component="notes", folder=tmp_path, await_indexes_seconds=0.0)
    # Only the component's own indexes, those of its constraints included, are waited for.
    assert graph.names == ["note_key", "notes_by_time", "notes_vector"]

"""The note store on Neo4j."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from neo4j.vector import Vector as Neo4jVector

from services.agentic.model import (
    GenerationResult,
    InteractionId,
    Note,
    NoteId,
    NoteKind,
    Owner,
    ScoredNote,
    WrittenNote,
    whole_microseconds,
)
from services.agentic.store import NotePosition, NoteSearch, NoteWriter, TurnKey
from services.agentic.stores import neo4j_cypher as cypher
from services.agentic.stores.neo4j_rows import link_from_fields, list_key, note_from_values, scored_from_fields
from services.agentic.stores.neo4j_writer import Neo4jNoteWriter, places_to_fields, results_from_records
from services.common.errors import NotFound
from services.common.neo4j.graph import Graph, GraphTransaction, Record

GRAPH_MIGRATIONS_FOLDER: Final = Path(__file__).parent / "graph_migrations"
COMPONENT: Final = "agentic"

_T = TypeVar("_T")


class Neo4jNoteStore:
    """A `NoteStore`. Searches are filtered inside the vector index, to the notes that the reader may see."""

    def __init__(self, graph: Graph, *, search_candidates: int = 1_000) -> None:
        """Use a graph whose migrations have run; its owner closes it.

        Args:
            graph: The database.
            search_candidates: Notes that a search takes from the vector index, at least. The index is approximate, and
                asked for so many more than are wanted it missed none of the best 25 of 10,000. A reader who sees no
                more notes than this gets an exact answer. It costs 3 ms more than 100 with 10,000 notes, and little
                with 1,000.
        """
        self._graph = graph
        self._search_candidates = search_candidates

    async def write(self, owner: Owner, work: Callable[[NoteWriter], Awaitable[_T]]) -> _T:
        """Runs work in a managed transaction that holds the write lock on the user's node."""

        async def locked(transaction: GraphTransaction) -> _T:
            [record] = await transaction.run(cypher.LOCK_USER, _parameters(owner))
            return await work(Neo4jNoteWriter(transaction, owner, notes_count=record["notes"]))

        return await self._graph.write(locked)

    async def taken(
        self, owner: Owner, interaction_ids: Sequence[InteractionId]
    ) -> Mapping[InteractionId, GenerationResult]:
        """Results of those of the interactions that were taken before."""
        records = await self._read(cypher.TAKEN, owner, interaction_ids=list(interaction_ids))
        return results_from_records(records)

    async def questions(self, owner: Owner, places: Sequence[TurnKey]) -> Mapping[TurnKey, tuple[str, str]]:
        """Speaker and question of those of the places where something was asked."""
        records = await self._read(cypher.QUESTIONS, owner, places=places_to_fields(places))
        return {TurnKey(r["conversation_id"], r["position"]): (r["speaker"], r["question"]) for r in records}

    async def get(self, owner: Owner, note_id: NoteId, *, links_max: int) -> WrittenNote:
        """A note with its strongest links."""
        records = await self._read(cypher.GET_NOTE, owner, note_id=note_id, links_max=links_max)
        if not records:
            raise NotFound("note", note_id)
        [record] = records
        return WrittenNote(note_from_values(record["note"]), tuple(map(link_from_fields, record["links"])))

    async def list_notes(
        self, owner: Owner, *, kind: NoteKind | None, after: NotePosition | None, limit: int
    ) -> list[Note]:
        """A page of notes, newest first, ties by id."""
        begin = "" if after is None else list_key(after.create_time, after.note_id)
        if kind is None:
            [record] = await self._read(cypher.LIST_NOTES, owner, after=begin, limit=limit)
        else:
            [record] = await self._read(cypher.LIST_NOTES_OF_KIND, owner, kind=int(kind), after=begin, limit=limit)
        return [note_from_values(values) for values in record["notes"]]

    async def search(self, owner: Owner, search: NoteSearch) -> list[ScoredNote]:
        """Vector search and walk in one query."""
        walk = search.walk
        near_max = max(search.limit, walk.seeds_max if search.hops >= 1 else 0)
        [record] = await self._read(
            cypher.SEARCH,
            owner,
            # As bytes: a list of numbers takes the client longer to write than the index to search.
            vector=Neo4jVector.from_numpy(search.vector),
            model=search.model,
            scope_keys=list(search.reader.visible_keys()),
            candidates=max(self._search_candidates, near_max),
            near_max=near_max,
            seeds_max=walk.seeds_max if search.hops >= 1 else 0,
            fanout_max=walk.fanout_max,
            frontier_max=walk.frontier_max if search.hops >= 2 else 0,
            damping=walk.damping,
            limit=search.limit,
        )
        return [scored_from_fields(hit) for hit in record["hits"]]

    async def record_access(self, owner: Owner, counts: Mapping[NoteId, int], *, time: datetime) -> None:
        """Add to the access counts, under the user's lock: updates in different order could deadlock."""
        rows = [{"note_id": note_id, "count": count} for note_id, count in counts.items()]

        async def count(transaction: GraphTransaction) -> None:
            await transaction.run(cypher.LOCK_USER, _parameters(owner))
            await transaction.run(cypher.RECORD_ACCESS, _parameters(owner, counts=rows, time=whole_microseconds(time)))

        await self._graph.write(count)

    async def _read(self, query: str, owner: Owner, **parameters: Any) -> list[Record]:
        return await self._graph.read(query, _parameters(owner, **parameters))


def _parameters(owner: Owner, **others: Any) -> dict[str, Any]:
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id, **others}

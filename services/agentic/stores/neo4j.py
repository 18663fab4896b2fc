"""The note store on Neo4j."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from neo4j.vector import Vector as Neo4jVector

from services.agentic.model import (
    GenerationResult,
    Link,
    LinkType,
    Note,
    NoteId,
    NoteStatus,
    ScoredNote,
    WrittenNote,
    whole_microseconds,
)
from services.agentic.store import (
    VERSIONS_MAX,
    LinkPosition,
    NoteFilter,
    NotePosition,
    NoteSearch,
    NoteWriter,
    StoredQuestion,
    TurnKey,
)
from services.agentic.stores import neo4j_cypher as cypher
from services.agentic.stores.neo4j_rows import (
    link_from_fields,
    list_key,
    note_from_values,
    notes_from_values,
    scored_from_fields,
)
from services.agentic.stores.neo4j_sealing import PROCESSED
from services.agentic.stores.neo4j_search import SEARCH
from services.agentic.stores.neo4j_upkeep import Neo4jUpkeepReads
from services.agentic.stores.neo4j_versions import VERSIONS_OF, version_from_fields
from services.agentic.stores.neo4j_writer import Neo4jNoteWriter, places_to_fields, results_from_records
from services.agentic.versions import NoteHistory, histories
from services.common.encryption.cipher import PLAIN, Cipher
from services.common.encryption.neo4j import NO_GRAPH_DATA_KEYS, GraphDataKeys, graph_cipher, opened_in_graph
from services.common.errors import NotFound
from services.common.maintenance.neo4j import check_graph_fence
from services.common.neo4j.graph import Graph, GraphTransaction, Record
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.scope import Reader, keys_seen

GRAPH_MIGRATIONS_FOLDER: Final = Path(__file__).parent / "graph_migrations"
COMPONENT: Final = "agentic"

_T = TypeVar("_T")


class Neo4jNoteStore(Neo4jUpkeepReads):
    """A `NoteStore`. Searches are filtered inside the vector index, to the notes that the reader may see."""

    def __init__(
        self,
        graph: Graph,
        *,
        search_candidates: int = 1_000,
        keys: GraphDataKeys = NO_GRAPH_DATA_KEYS,
        versions_max: int = VERSIONS_MAX,
    ) -> None:
        """Use a graph whose migrations have run; its owner closes it.

        Args:
            graph: The database.
            search_candidates: Notes that a search takes from the vector index, at least. The index is approximate, and
                asked for many more than are wanted it misses hardly any of the best. A reader who sees no more notes
                than this gets an exact result.
            keys: Encrypt what notes say.
            versions_max: Versions that are stored of a note.
        """
        self._versions_max = versions_max
        self._graph = graph
        self._keys = keys
        self._search_candidates = search_candidates

    async def write(self, owner: Owner, work: Callable[[NoteWriter], Awaitable[_T]]) -> _T:
        """Runs work in a managed transaction that holds the write lock on the user's node."""

        async def locked(transaction: GraphTransaction) -> _T:
            [record] = await transaction.run(cypher.LOCK_USER, _parameters(owner))
            await check_graph_fence(transaction)
            writer = Neo4jNoteWriter(
                transaction, owner, notes_count=record["notes"], keys=self._keys, versions_max=self._versions_max
            )
            return await work(writer)

        return await self._graph.write(locked)

    async def processed(
        self, owner: Owner, interaction_ids: Sequence[InteractionId]
    ) -> Mapping[InteractionId, GenerationResult]:
        """Results of those of the interactions that were processed before."""
        records = await self._read(cypher.PROCESSED, owner, interaction_ids=list(interaction_ids))
        return results_from_records(records)

    async def questions(self, owner: Owner, places: Sequence[TurnKey]) -> Mapping[TurnKey, StoredQuestion]:
        """The questions of those of the places where something was asked."""
        found = await self._read(cypher.QUESTIONS, owner, places=places_to_fields(places))
        records = await opened_in_graph(self._keys, self._graph.read, owner, PROCESSED, found)
        return {
            TurnKey(r["conversation_id"], r["position"]): StoredQuestion(
                r["interaction_id"], r["speaker"], r["question"]
            )
            for r in records
        }

    async def get(self, owner: Owner, note_id: NoteId, *, links_max: int, reader: Reader | None = None) -> WrittenNote:
        """A note with its strongest links."""
        return await self._get(owner, note_id, links_max=links_max, reader=reader)

    async def histories(self, owner: Owner, note_ids: Sequence[NoteId]) -> Mapping[NoteId, NoteHistory]:
        """Two queries, by the keys of the nodes."""
        [record] = await self._read(cypher.GET_NOTES, owner, note_ids=list(note_ids))
        found = await self._read(VERSIONS_OF, owner, note_ids=list(note_ids))
        cipher = await self._cipher(owner)
        notes = await notes_from_values(record["notes"], cipher)
        versions = [version_from_fields(each["version"], cipher) for each in found]
        return histories({note.note_id: note for note in notes}, versions)

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """One query, by an index."""
        found = await self._graph.read(cypher.USERS, {"tenant_id": tenant_id, "after": after, "limit": limit})
        return [UserId(row["user_id"]) for row in found]

    async def list_notes(
        self, owner: Owner, which: NoteFilter, *, after: NotePosition | None, limit: int
    ) -> list[Note]:
        """A page of notes, newest first, ties by id."""
        cipher = await self._cipher(owner)
        [record] = await self._read(
            cypher.LIST_NOTES,
            owner,
            after="" if after is None else list_key(after.create_time, after.note_id),
            status=int(which.status),
            kind=None if which.kind is None else int(which.kind),
            # As it is stored now, and as it was before encryption was switched on.
            tags=[which.tag, cipher.seal_name("tags", which.tag)] if which.tag else None,
            start_time=None if which.start_time is None else whole_microseconds(which.start_time),
            end_time=None if which.end_time is None else whole_microseconds(which.end_time),
            scope_keys=keys_seen(which.reader),
            limit=limit,
        )
        return await notes_from_values(record["notes"], cipher)

    async def list_links(
        self,
        owner: Owner,
        note_id: NoteId,
        *,
        link_type: LinkType | None,
        after: LinkPosition | None,
        limit: int,
        reader: Reader | None = None,
    ) -> list[Link]:
        """A page of a note's links, strongest first."""
        written = await self._get(owner, note_id, links_max=limit, reader=reader, link_type=link_type, after=after)
        return list(written.links)

    async def search(self, owner: Owner, search: NoteSearch) -> list[ScoredNote]:
        """Vector search and walk in one query."""
        walk = search.walk
        hops = 0 if search.is_archived else search.hops
        seeds_max = walk.seeds_max if hops >= 1 else 0
        near_max = max(search.limit, seeds_max)
        [record] = await self._read(
            SEARCH,
            owner,
            # As bytes: a list of numbers takes the client longer to write than the index to search.
            vector=Neo4jVector.from_numpy(search.vector),
            model=search.model,
            scope_keys=list(search.reader.visible_keys()),
            candidates=max(self._search_candidates, near_max),
            near_max=near_max,
            status=int(NoteStatus.ARCHIVED if search.is_archived else NoteStatus.ACTIVE),
            seeds_max=seeds_max,
            fanout_max=walk.fanout_max,
            frontier_max=walk.frontier_max if hops >= 2 else 0,
            damping=walk.damping,
            limit=search.limit,
        )
        hits: list[Mapping[str, Any]] = record["hits"]
        cipher = await self._cipher(owner) if hits else PLAIN
        return [scored_from_fields(hit, cipher) for hit in hits]

    async def record_access(self, owner: Owner, counts: Mapping[NoteId, int], *, time: datetime) -> None:
        """Add to the access counts, under the user's lock: updates in different order could deadlock."""
        rows = [{"note_id": note_id, "count": count} for note_id, count in counts.items()]

        async def count(transaction: GraphTransaction) -> None:
            await transaction.run(cypher.LOCK_USER, _parameters(owner))
            await transaction.run(cypher.RECORD_ACCESS, _parameters(owner, counts=rows, time=whole_microseconds(time)))

        await self._graph.write(count)

    async def _get(
        self,
        owner: Owner,
        note_id: NoteId,
        *,
        links_max: int,
        reader: Reader | None,
        link_type: LinkType | None = None,
        after: LinkPosition | None = None,
    ) -> WrittenNote:
        records = await self._read(
            cypher.GET_NOTE,
            owner,
            note_id=note_id,
            links_max=links_max,
            scope_keys=keys_seen(reader),
            link_type=None if link_type is None else int(link_type),
            begin_strength=None if after is None else after.strength,
            begin_from="" if after is None else after.key.from_note_id,
            begin_to="" if after is None else after.key.to_note_id,
            begin_type=0 if after is None else int(after.key.type),
        )
        if not records:
            raise NotFound("note", note_id)
        [record] = records
        note = note_from_values(record["note"], await self._cipher(owner))
        return WrittenNote(note, tuple(map(link_from_fields, record["links"])))

    async def _cipher(self, owner: Owner) -> Cipher:
        return await graph_cipher(self._keys, self._graph.read, owner)

    async def _read(self, query: str, owner: Owner, **parameters: Any) -> list[Record]:
        return await self._graph.read(query, _parameters(owner, **parameters))


def _parameters(owner: Owner, **others: Any) -> dict[str, Any]:
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id, **others}

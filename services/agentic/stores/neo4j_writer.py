"""Writes of the Neo4j note store: one transaction under the user's lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import numpy as np
from neo4j.vector import Vector as Neo4jVector

from services.agentic.model import (
    CaptionVector,
    GenerationResult,
    Link,
    LinkKey,
    Note,
    NoteId,
    NoteStatus,
    whole_microseconds,
)
from services.agentic.store import VERSIONS_MAX, Neighbour, NeighbourQuery, ProcessedTurn, RemovedCounts, TurnKey
from services.agentic.stores import neo4j_cypher as cypher
from services.agentic.stores.neo4j_rows import (
    caption_key,
    link_from_fields,
    link_to_fields,
    neighbour_from_fields,
    note_to_fields,
    notes_from_values,
)
from services.agentic.stores.neo4j_sealing import NOTES, PROCESSED
from services.agentic.stores.neo4j_upkeep import Neo4jUpkeepWrites
from services.agentic.stores.neo4j_versions import Neo4jVersionWrites
from services.agentic.versions import Earlier
from services.common.embedding.vectors import Matrix
from services.common.encryption.neo4j import GraphDataKeys, GraphSealing
from services.common.errors import NotFound
from services.common.idempotency.model import IdempotencyRecords
from services.common.idempotency.neo4j import Neo4jIdempotencyRecords
from services.common.neo4j.graph import GraphTransaction, Record
from services.common.owners import InteractionId, Owner, UserId
from services.common.scope import Scope

_LINKING_CANDIDATES: Final = 200
"""Notes fetched from the vector index for a new one, at least: the best of them, found for sure, become its links."""


@dataclass(frozen=True, slots=True)
class _Added:
    """Notes that this transaction wrote: the vector index does not show them before it ends."""

    notes: Sequence[Note]
    vectors: Matrix
    model: str


class Neo4jNoteWriter(Neo4jVersionWrites, Neo4jUpkeepWrites):
    """A `NoteWriter` in an open transaction."""

    def __init__(
        self,
        transaction: GraphTransaction,
        owner: Owner,
        *,
        notes_count: int,
        keys: GraphDataKeys,
        versions_max: int = VERSIONS_MAX,
    ) -> None:
        """Write for `owner`, who has `notes_count` notes and whose lock the transaction holds."""
        self._versions_max = versions_max
        self._transaction = transaction
        self._sealing = GraphSealing(keys, transaction, owner)
        self._owner = {"tenant_id": owner.tenant_id, "user_id": owner.user_id}
        self._notes_count = notes_count
        self._added: list[_Added] = []

    def idempotency(self) -> IdempotencyRecords:
        """The tenant's idempotency records."""
        return Neo4jIdempotencyRecords(
            self._transaction, self._owner["tenant_id"], cypher.IDEMPOTENCY, sealing=self._sealing.cipher
        )

    async def processed(self, interaction_ids: Sequence[InteractionId]) -> Mapping[InteractionId, GenerationResult]:
        """Results of those of the interactions that were processed before."""
        return results_from_records(await self._run(cypher.PROCESSED, interaction_ids=list(interaction_ids)))

    async def add_processed(self, turns: Sequence[ProcessedTurn]) -> None:
        """Record interactions as processed."""
        cipher = await self._sealing.cipher(is_new=True)
        rows = [
            PROCESSED.seal(
                cipher,
                {
                    "interaction_id": turn.result.interaction_id,
                    "note_ids": list(turn.result.note_ids),
                    "conversation_id": turn.conversation_id,
                    "position": turn.position,
                    "speaker": turn.speaker,
                    "question": turn.question,
                },
            )
            for turn in turns
        ]
        await self._run(cypher.ADD_PROCESSED, turns=rows)

    async def block(self, interaction_ids: Sequence[InteractionId]) -> None:
        """Leave of interactions nothing but that they are processed."""
        await self._run(cypher.BLOCK, interaction_ids=list(interaction_ids))

    async def get_notes(self, note_ids: Sequence[NoteId]) -> Mapping[NoteId, Note]:
        """Those of the notes that are there."""
        [record] = await self._run(cypher.GET_NOTES, note_ids=list(note_ids))
        return {note.note_id: note for note in await self._opened(record["notes"])}

    async def notes_of_sources(self, interaction_ids: Sequence[InteractionId]) -> list[Note]:
        """Notes that come from one of the interactions or answer its question."""
        [record] = await self._run(cypher.NOTES_OF_SOURCES, ids=list(interaction_ids))
        return await self._opened(record["notes"])

    async def neighbours(
        self, vectors: Matrix, scopes: Sequence[Scope], query: NeighbourQuery
    ) -> list[list[Neighbour]]:
        """For each vector its nearest stored notes: those of the index, and those written here."""
        oldest = await self._oldest_candidate(query.candidates_max)
        wanted = [
            {"number": number, "vector": Neo4jVector.from_numpy(vector), "scope_keys": list(scope.visible_keys())}
            for number, (vector, scope) in enumerate(zip(vectors, scopes, strict=True))
        ]
        [record] = await self._run(
            cypher.NEIGHBOURS,
            wanted=wanted,
            model=query.model,
            oldest=oldest,
            similarity_min=query.similarity_min,
            count_max=query.count_max,
            candidates=max(_LINKING_CANDIDATES, query.count_max),
        )
        near: list[list[Neighbour]] = [[] for _ in wanted]
        for fields in await self._sealing.opened(NOTES, record["neighbours"]):
            near[fields["number"]].append(neighbour_from_fields(fields))
        for added in self._added:
            if added.model == query.model:
                _join_added(near, added, vectors, scopes, query, oldest)
        return [sorted(found, key=lambda n: (-n.similarity, n.note_id))[: query.count_max] for found in near]

    async def preceding_notes(self, places: Sequence[TurnKey]) -> Mapping[TurnKey, tuple[NoteId, TurnKey, Scope]]:
        """For each place the nearest earlier note of its conversation."""
        records = await self._run(cypher.PRECEDING_NOTES, places=places_to_fields(places))
        return {
            TurnKey(record["conversation_id"], record["position"]): (
                NoteId(record["note_id"]),
                TurnKey(record["conversation_id"], record["note_position"]),
                Scope.from_key(record["scope_key"]),
            )
            for record in records
        }

    async def add_notes(self, notes: Sequence[Note], vectors: Matrix, *, model: str) -> None:
        """Store new notes with their vectors."""
        cipher = await self._sealing.cipher(is_new=True)
        rows = [
            {"fields": note_to_fields(note, cipher), "vector": Neo4jVector.from_numpy(vector)}
            for note, vector in zip(notes, vectors, strict=True)
        ]
        await self._run(cypher.ADD_NOTES, notes=rows, model=model)
        self._added.append(_Added(notes, vectors, model))
        self._notes_count += len(notes)

    async def update_notes(self, notes: Sequence[Note], *, earlier: Earlier = Earlier.KEPT) -> None:
        """Set the fields of stored notes."""
        cipher = await self._sealing.cipher(is_new=True)
        if earlier is not Earlier.ERASED:
            before = await self.get_notes([note.note_id for note in notes])
            await self._end_texts(before, notes, earlier, cipher)
        await self._run(cypher.UPDATE_NOTES, notes=[note_to_fields(note, cipher) for note in notes])

    async def replace_vectors(
        self, note_ids: Sequence[NoteId], vectors: Matrix, *, model: str, beside: str = ""
    ) -> None:
        """Give stored notes other vectors: a note has one."""
        del beside
        rows = [
            {"note_id": note_id, "vector": Neo4jVector.from_numpy(vector)}
            for note_id, vector in zip(note_ids, vectors, strict=True)
        ]
        await self._run(cypher.REPLACE_VECTORS, vectors=rows, model=model)

    async def put_captions(
        self, note_ids: Sequence[NoteId], captions: Sequence[CaptionVector], *, model: str, beside: str = ""
    ) -> None:
        """Give stored notes other vectors of captions."""
        del beside
        await self._run(cypher.DELETE_CAPTIONS, note_ids=list(note_ids))
        rows = [
            {
                "note_id": each.note_id,
                "caption_key": caption_key(each.note_id, each.place),
                "place": each.place,
                "vector": Neo4jVector.from_numpy(each.vector),
            }
            for each in captions
        ]
        await self._run(cypher.ADD_CAPTIONS, captions=rows, model=model)

    async def set_status(
        self, note_ids: Sequence[NoteId], status: NoteStatus, *, update_time: datetime
    ) -> Mapping[NoteId, Note]:
        """Archive or restore notes."""
        await self._end_statuses(note_ids, status, update_time)
        await self._run(
            cypher.SET_STATUS,
            note_ids=list(note_ids),
            status=int(status),
            update_time=whole_microseconds(update_time),
        )
        return await self.get_notes(note_ids)

    async def delete_notes(self, note_ids: Sequence[NoteId]) -> RemovedCounts:
        """Delete notes with their vectors and links."""
        if not note_ids:
            return RemovedCounts(notes=0, links=0)
        await self.idempotency().erase(UserId(self._owner["user_id"]), note_ids)
        await self._erase_versions_made_from(note_ids)
        [record] = await self._run(cypher.DELETE_NOTES, note_ids=list(note_ids))
        self._notes_count -= record["notes"]
        return RemovedCounts(notes=record["notes"], links=record["links"])

    async def delete_some(self, limit: int) -> RemovedCounts:
        """Delete notes with their links."""
        [record] = await self._run(cypher.NOTE_IDS, limit=limit)
        return await self.delete_notes(record["note_ids"])

    async def block_some(self, limit: int) -> int:
        """Block processed interactions, a page of them."""
        [record] = await self._run(cypher.BLOCK_ALL, limit=limit)
        return int(record["blocked"])

    async def delete_all(self) -> RemovedCounts:
        """Delete all notes, and block all processed interactions."""
        [record] = await self._run(cypher.ALL_NOTE_IDS)
        removed = await self.delete_notes(record["note_ids"])
        await self._run(cypher.BLOCK_ALL, limit=cypher.NO_LIMIT)
        return replace(removed, data_keys=await self._sealing.destroy())

    async def put_links(self, links: Sequence[Link]) -> list[Link]:
        """Make links, or set strength and origin of those that are there."""
        if not links:
            return []
        [record] = await self._run(cypher.PUT_LINKS, links=[link_to_fields(link) for link in links])
        stored = {link.key: link for link in map(link_from_fields, record["links"])}
        for link in links:
            if link.key not in stored:
                await self._raise_missing_end(link.key)
        return [stored[link.key] for link in links]

    async def get_link(self, key: LinkKey) -> Link | None:
        """A link by its key."""
        records = await self._run(cypher.GET_LINK, **_key_fields(key))
        return link_from_fields(records[0]["link"]) if records else None

    async def delete_link(self, key: LinkKey) -> bool:
        """Remove a link; whether it was there."""
        [record] = await self._run(cypher.DELETE_LINK, **_key_fields(key))
        return bool(record["removed"])

    async def delete_similarity_links(self, note_ids: Sequence[NoteId]) -> None:
        """Remove the links of origin SIMILARITY of notes."""
        await self._run(cypher.DELETE_SIMILARITY_LINKS, note_ids=list(note_ids))

    async def _oldest_candidate(self, candidates_max: int) -> str:
        """Id of the oldest note that is looked at; empty where all are."""
        if self._notes_count <= candidates_max:
            return ""
        records = await self._run(cypher.OLDEST_CANDIDATE, newer=candidates_max - 1)
        return str(records[0]["note_id"]) if records else ""

    async def _raise_missing_end(self, key: LinkKey) -> None:
        ends = (key.from_note_id, key.to_note_id)
        there = await self.get_notes(ends)
        raise NotFound("note", next(end for end in ends if end not in there))

    async def _opened(self, found: Sequence[Sequence[Any]]) -> list[Note]:
        return await notes_from_values(found, await self._sealing.cipher(is_new=False)) if found else []

    async def _run(self, query: str, **parameters: Any) -> list[Record]:
        return await self._transaction.run(query, {**self._owner, **parameters})


def _key_fields(key: LinkKey) -> dict[str, Any]:
    return {"from_note_id": key.from_note_id, "to_note_id": key.to_note_id, "type": int(key.type)}


def places_to_fields(places: Sequence[TurnKey]) -> list[dict[str, Any]]:
    """Places in conversations, as parameters."""
    return [{"conversation_id": place.conversation_id, "position": place.position} for place in places]


def results_from_records(records: Sequence[Record]) -> dict[InteractionId, GenerationResult]:
    """What became of interactions, from the columns of `PROCESSED`."""
    results = (
        GenerationResult(InteractionId(r["interaction_id"]), tuple(NoteId(i) for i in r["note_ids"])) for r in records
    )
    return {result.interaction_id: result for result in results}


def _join_added(
    near: list[list[Neighbour]],
    added: _Added,
    vectors: Matrix,
    scopes: Sequence[Scope],
    query: NeighbourQuery,
    oldest: str,
) -> None:
    similarities = vectors @ added.vectors.T
    for row, column in np.argwhere(similarities >= query.similarity_min):
        note = added.notes[column]
        if note.note_id >= oldest and scopes[row].sees(note.scope):
            similarity = float(similarities[row, column])
            near[row].append(Neighbour(note.note_id, note.kind, note.content, note.speaker, similarity))

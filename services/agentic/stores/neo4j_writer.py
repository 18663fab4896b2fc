"""Writes of the Neo4j note store: one transaction under the user's lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
from neo4j.vector import Vector as Neo4jVector

from services.agentic.model import (
    GenerationResult,
    InteractionId,
    Link,
    LinkKey,
    Note,
    NoteId,
    Owner,
    from_microseconds,
    whole_microseconds,
)
from services.agentic.store import Neighbour, NeighbourQuery, Receipt, TakenTurn, TurnKey
from services.agentic.stores import neo4j_cypher as cypher
from services.agentic.stores.neo4j_rows import link_from_fields, link_to_fields, neighbour_from_fields, note_to_fields
from services.common.embedding.vectors import Matrix
from services.common.errors import NotFound
from services.common.neo4j.graph import GraphTransaction, Record
from services.common.scope import Scope

_LINKING_CANDIDATES: Final = 200
"""Notes fetched from the vector index for a new one, at least: the best of them, found for sure, become its links."""


@dataclass(frozen=True, slots=True)
class _Added:
    """Notes that this transaction wrote: the vector index does not show them before it ends."""

    notes: Sequence[Note]
    vectors: Matrix
    model: str


class Neo4jNoteWriter:
    """A `NoteWriter` in an open transaction."""

    def __init__(self, transaction: GraphTransaction, owner: Owner, *, notes_count: int) -> None:
        """Write for `owner`, who has `notes_count` notes and whose lock the transaction holds."""
        self._transaction = transaction
        self._owner = {"tenant_id": owner.tenant_id, "user_id": owner.user_id}
        self._notes_count = notes_count
        self._added: list[_Added] = []

    async def receipt(self, principal_id: str, request_id: str) -> Receipt | None:
        """The answer given before, or None."""
        records = await self._run(cypher.RECEIPT, principal_id=principal_id, request_id=request_id)
        for record in records:
            create_time = from_microseconds(record["create_time"])
            return Receipt(principal_id, request_id, record["fingerprint"], record["answer"], create_time)
        return None

    async def add_receipt(self, receipt: Receipt, *, forget_before: datetime) -> None:
        """Keep an answer, and drop some of this user's that are too old."""
        await self._run(cypher.FORGET_RECEIPTS, forget_before=whole_microseconds(forget_before))
        await self._run(
            cypher.ADD_RECEIPT,
            principal_id=receipt.principal_id,
            request_id=receipt.request_id,
            fingerprint=receipt.fingerprint,
            answer=receipt.answer,
            create_time=whole_microseconds(receipt.create_time),
        )

    async def taken(self, interaction_ids: Sequence[InteractionId]) -> Mapping[InteractionId, GenerationResult]:
        """Results of those of the interactions that were taken before."""
        return results_from_records(await self._run(cypher.TAKEN, interaction_ids=list(interaction_ids)))

    async def add_taken(self, turns: Sequence[TakenTurn]) -> None:
        """Mark interactions as taken."""
        rows = [
            {
                "interaction_id": turn.result.interaction_id,
                "note_ids": list(turn.result.note_ids),
                "conversation_id": turn.conversation_id,
                "position": turn.position,
                "speaker": turn.speaker,
                "question": turn.question,
            }
            for turn in turns
        ]
        await self._run(cypher.ADD_TAKEN, turns=rows)

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
        for fields in record["neighbours"]:
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
        rows = [
            {"fields": note_to_fields(note), "vector": Neo4jVector.from_numpy(vector)}
            for note, vector in zip(notes, vectors, strict=True)
        ]
        await self._run(cypher.ADD_NOTES, notes=rows, model=model)
        self._added.append(_Added(notes, vectors, model))
        self._notes_count += len(notes)

    async def put_links(self, links: Sequence[Link]) -> list[Link]:
        """Make links, or set the strength of those that are there."""
        if not links:
            return []
        [record] = await self._run(cypher.PUT_LINKS, links=[link_to_fields(link) for link in links])
        stored = {link.key: link for link in map(link_from_fields, record["links"])}
        for link in links:
            if link.key not in stored:
                await self._raise_missing_end(link.key)
        return [stored[link.key] for link in links]

    async def delete_link(self, key: LinkKey) -> bool:
        """Remove a link; whether it was there."""
        [record] = await self._run(
            cypher.DELETE_LINK, from_note_id=key.from_note_id, to_note_id=key.to_note_id, type=int(key.type)
        )
        return bool(record["removed"])

    async def _oldest_candidate(self, candidates_max: int) -> str:
        """Id of the oldest note that is looked at; empty where all are."""
        if self._notes_count <= candidates_max:
            return ""
        records = await self._run(cypher.OLDEST_CANDIDATE, newer=candidates_max - 1)
        return str(records[0]["note_id"]) if records else ""

    async def _raise_missing_end(self, key: LinkKey) -> None:
        ends = (key.from_note_id, key.to_note_id)
        there = {record["note_id"] for record in await self._run(cypher.EXISTING_NOTES, note_ids=list(ends))}
        raise NotFound("note", next(end for end in ends if end not in there))

    async def _run(self, query: str, **parameters: Any) -> list[Record]:
        return await self._transaction.run(query, {**self._owner, **parameters})


def places_to_fields(places: Sequence[TurnKey]) -> list[dict[str, Any]]:
    """Places in conversations, as parameters."""
    return [{"conversation_id": place.conversation_id, "position": place.position} for place in places]


def results_from_records(records: Sequence[Record]) -> dict[InteractionId, GenerationResult]:
    """What became of interactions, from the columns of `TAKEN`."""
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

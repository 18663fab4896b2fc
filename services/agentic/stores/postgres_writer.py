"""Writes of the PostgreSQL note store: one transaction under the user's lock."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from services.agentic.model import CaptionVector, GenerationResult, Link, LinkKey, Note, NoteId, NoteStatus
from services.agentic.store import VERSIONS_MAX, Neighbour, NeighbourQuery, ProcessedTurn, RemovedCounts, TurnKey
from services.agentic.stores import postgres_write_sql as sql
from services.agentic.stores.neighbours import Nearest, nearest
from services.agentic.stores.postgres_rows import link_from_row, neighbour_from_row, note_from_row, note_values
from services.agentic.stores.postgres_sealing import NOTES
from services.agentic.stores.postgres_sealing import PROCESSED as PROCESSED_TABLE
from services.agentic.stores.postgres_sql import PROCESSED, SCHEMA
from services.agentic.stores.postgres_upkeep import PostgresUpkeepWrites
from services.agentic.stores.postgres_versions import PostgresVersionWrites
from services.agentic.versions import Earlier
from services.common.embedding.vectors import Matrix, Vector
from services.common.encryption.postgres import DataKeys
from services.common.encryption.sealing import OwnerSealing
from services.common.errors import NotFound
from services.common.idempotency.model import IdempotencyRecords
from services.common.idempotency.postgres import PostgresIdempotencyRecords
from services.common.owners import InteractionId, Owner
from services.common.postgres.pool import decode_vectors
from services.common.postgres.types import Connection, Record
from services.common.scope import Scope

_VECTORS_ONE_BY_ONE_MAX: Final = 8
"""Up to here a search for each is faster than fetching all."""


class PostgresNoteWriter(PostgresVersionWrites, PostgresUpkeepWrites):
    """A `NoteWriter` in an open transaction."""

    def __init__(self, connection: Connection, owner: Owner, keys: DataKeys, versions_max: int = VERSIONS_MAX) -> None:
        """Write for `owner` through a connection bound to its tenant."""
        self._versions_max = versions_max
        self._connection = connection
        self._owner = owner
        self._tenant_id = owner.tenant_id
        self._user_id = owner.user_id
        self._sealing = OwnerSealing(keys, connection, owner)

    def idempotency(self) -> IdempotencyRecords:
        """The tenant's idempotency records."""
        return PostgresIdempotencyRecords(
            self._connection, self._tenant_id, schema=SCHEMA, sealing=self._sealing.cipher
        )

    async def processed(self, interaction_ids: Sequence[InteractionId]) -> Mapping[InteractionId, GenerationResult]:
        """Results of those of the interactions that were processed before."""
        rows = await self._fetch(PROCESSED, _uuids(interaction_ids))
        results = (
            GenerationResult(InteractionId(str(row["interaction_id"])), tuple(NoteId(str(i)) for i in row["note_ids"]))
            for row in rows
        )
        return {result.interaction_id: result for result in results}

    async def add_processed(self, turns: Sequence[ProcessedTurn]) -> None:
        """Record interactions as processed."""
        cipher = await self._sealing.cipher(is_new=True)
        await self._connection.executemany(
            sql.ADD_PROCESSED,
            [
                (
                    self._tenant_id,
                    self._user_id,
                    uuid.UUID(turn.result.interaction_id),
                    turn.conversation_id,
                    turn.position,
                    [uuid.UUID(i) for i in turn.result.note_ids],
                    cipher.seal_name("speaker", turn.speaker),
                    cipher.seal(turn.result.interaction_id, PROCESSED_TABLE.field("question"), turn.question),
                )
                for turn in turns
            ],
        )

    async def block(self, interaction_ids: Sequence[InteractionId]) -> None:
        """Leave of interactions nothing but that they are processed."""
        await self._fetch(sql.BLOCK, _uuids(interaction_ids))

    async def neighbours(
        self, vectors: Matrix, scopes: Sequence[Scope], query: NeighbourQuery
    ) -> list[list[Neighbour]]:
        """For each vector its nearest stored notes."""
        if len(vectors) <= _VECTORS_ONE_BY_ONE_MAX:
            chosen = [
                await self._nearest_to_one(vector, scope, query) for vector, scope in zip(vectors, scopes, strict=True)
            ]
        else:
            chosen = await self._nearest_to_many(vectors, scopes, query)
        wanted = {note_id for near in chosen for note_id, _ in near}
        if not wanted:
            return [[] for _ in chosen]
        details = await self._connection.fetch(sql.NOTES_FOR_LINKING, self._tenant_id, self._user_id, list(wanted))
        by_id = {detail["note_id"]: detail for detail in await self._sealing.opened(NOTES, details)}
        return [[neighbour_from_row(by_id[i], similarity) for i, similarity in near] for near in chosen]

    async def _nearest_to_one(self, vector: Vector, scope: Scope, query: NeighbourQuery) -> Nearest:
        rows = await self._connection.fetch(
            sql.NEAREST,
            self._tenant_id,
            self._user_id,
            query.model,
            query.candidates_max,
            list(scope.visible_keys()),
            vector,
            query.similarity_min,
            query.count_max,
        )
        return [(row["note_id"], row["similarity"]) for row in rows]

    async def _nearest_to_many(self, vectors: Matrix, scopes: Sequence[Scope], query: NeighbourQuery) -> list[Nearest]:
        """Fetch the user's vectors once and compare them here: one pass over them for the whole batch."""
        row = await self._connection.fetchrow(
            sql.ALL_VECTORS, self._tenant_id, self._user_id, query.model, query.candidates_max
        )
        if row is None or row["note_ids"] is None:
            return [[] for _ in scopes]

        def compare() -> list[Nearest]:
            stored = decode_vectors(row["vectors"], count=len(row["note_ids"]))
            return nearest(vectors @ stored.T, row["note_ids"], row["scope_keys"], scopes, query)

        # On a thread: with many notes it takes longer than other calls should wait.
        return await asyncio.to_thread(compare)

    async def preceding_notes(self, places: Sequence[TurnKey]) -> Mapping[TurnKey, tuple[NoteId, TurnKey, Scope]]:
        """For each place the nearest earlier note of its conversation."""
        rows = await self._connection.fetch(
            sql.PRECEDING_NOTES,
            self._tenant_id,
            self._user_id,
            [place.conversation_id for place in places],
            [place.position for place in places],
        )
        return {
            TurnKey(row["conversation_id"], row["position"]): (
                NoteId(str(row["note_id"])),
                TurnKey(row["conversation_id"], row["note_position"]),
                Scope.from_key(row["scope_key"]),
            )
            for row in rows
        }

    async def get_notes(self, note_ids: Sequence[NoteId]) -> Mapping[NoteId, Note]:
        """Those of the notes that are there."""
        rows = await self._fetch(sql.GET_NOTES, _uuids(note_ids))
        return {note.note_id: note for note in map(note_from_row, await self._sealing.opened(NOTES, rows))}

    async def notes_of_sources(self, interaction_ids: Sequence[InteractionId]) -> list[Note]:
        """Notes that come from one of the interactions or answer its question."""
        rows = await self._fetch(sql.NOTES_OF_SOURCES, _uuids(interaction_ids))
        return [note_from_row(row) for row in await self._sealing.opened(NOTES, rows)]

    async def add_notes(self, notes: Sequence[Note], vectors: Matrix, *, model: str) -> None:
        """Store new notes with their vectors."""
        cipher = await self._sealing.cipher(is_new=True)
        await self._connection.executemany(
            sql.ADD_NOTE,
            [(*note_values(self._owner, note, cipher), note.create_time, note.scope.key) for note in notes],
        )
        await self._connection.executemany(
            sql.ADD_VECTOR,
            [
                (self._tenant_id, self._user_id, model, uuid.UUID(note.note_id), note.scope.key, vector)
                for note, vector in zip(notes, vectors, strict=True)
            ],
        )

    async def update_notes(self, notes: Sequence[Note], *, earlier: Earlier = Earlier.KEPT) -> None:
        """Set the fields of stored notes."""
        cipher = await self._sealing.cipher(is_new=True)
        if earlier is not Earlier.ERASED:
            before = await self.get_notes([note.note_id for note in notes])
            await self._end_texts(before, notes, earlier, cipher)
        values = [note_values(self._owner, note, cipher) for note in notes]
        await self._connection.executemany(sql.UPDATE_NOTE, values)

    async def replace_vectors(
        self, note_ids: Sequence[NoteId], vectors: Matrix, *, model: str, beside: str = ""
    ) -> None:
        """Give stored notes other vectors."""
        ids = _uuids(note_ids)
        await self._fetch(sql.DELETE_OTHER_VECTORS, ids, [model, beside])
        rows = [
            (self._tenant_id, self._user_id, model, note_id, vector)
            for note_id, vector in zip(ids, vectors, strict=True)
        ]
        await self._connection.executemany(sql.PUT_VECTOR, rows)

    async def put_captions(
        self, note_ids: Sequence[NoteId], captions: Sequence[CaptionVector], *, model: str, beside: str = ""
    ) -> None:
        """Give stored notes other vectors of captions."""
        await self._fetch(sql.DELETE_CAPTIONS, _uuids(note_ids), beside)
        rows = [
            (self._tenant_id, self._user_id, model, uuid.UUID(each.note_id), each.place, each.vector)
            for each in captions
        ]
        await self._connection.executemany(sql.ADD_CAPTION, rows)

    async def set_status(
        self, note_ids: Sequence[NoteId], status: NoteStatus, *, update_time: datetime
    ) -> Mapping[NoteId, Note]:
        """Archive or restore notes: one statement each for versions, notes, vectors, captions and links."""
        ids = _uuids(note_ids)
        await self._end_statuses(ids, status, update_time)
        await self._fetch(sql.SET_STATUS, ids, int(status), update_time)
        await self._fetch(sql.SET_VECTORS_ACTIVE, ids, status is NoteStatus.ACTIVE)
        await self._fetch(sql.SET_CAPTIONS_ACTIVE, ids, status is NoteStatus.ACTIVE)
        await self._fetch(sql.SET_LINKS_HIDDEN, ids)
        return await self.get_notes(note_ids)

    async def delete_notes(self, note_ids: Sequence[NoteId]) -> RemovedCounts:
        """Delete notes with their vectors and links."""
        if not note_ids:
            return RemovedCounts(notes=0, links=0)
        await self.idempotency().erase(self._user_id, note_ids)
        await self._erase_versions_made_from(_uuids(note_ids))
        return await self._delete(_uuids(note_ids))

    async def delete_some(self, limit: int) -> RemovedCounts:
        """Delete notes with their own ends of links: the others go with their notes."""
        ids = [row["note_id"] for row in await self._fetch(sql.NOTE_IDS, limit)]
        [[links]] = await self._fetch(sql.DELETE_ENDS_OF, ids)
        await self._fetch(sql.DELETE_VECTORS_OF, ids)
        [[notes]] = await self._fetch(sql.DELETE_NOTES_ALONE, ids)
        return RemovedCounts(notes=notes, links=links)

    async def block_some(self, limit: int) -> int:  # noqa: ARG002 - the interface
        """Leave it to `delete_all`: one statement blocks them all."""
        return 0

    async def delete_all(self) -> RemovedCounts:
        """Delete all notes, and block all processed interactions."""
        rows = await self._fetch(sql.ALL_NOTE_IDS)
        removed = await self._delete([row["note_id"] for row in rows])
        await self._fetch(sql.BLOCK_ALL)
        return replace(removed, data_keys=await self._sealing.destroy())

    async def _delete(self, ids: Sequence[uuid.UUID]) -> RemovedCounts:
        [[links]] = await self._fetch(sql.DELETE_LINKS_OF, ids)
        # Before the notes, so that a single statement deletes them and raises the epoch once.
        await self._fetch(sql.DELETE_VECTORS_OF, ids)
        [[notes]] = await self._fetch(sql.DELETE_NOTES, ids)
        return RemovedCounts(notes=notes, links=links)

    async def put_links(self, links: Sequence[Link]) -> list[Link]:
        """Make links, or set strength and origin of those that are there."""
        if not links:
            return []
        rows = await self._fetch(
            sql.PUT_LINKS,
            _uuids(link.key.from_note_id for link in links),
            _uuids(link.key.to_note_id for link in links),
            [int(link.key.type) for link in links],
            [link.strength for link in links],
            [int(link.origin) for link in links],
            [link.create_time for link in links],
            [link.update_time for link in links],
            [link.feedback for link in links],
        )
        stored = {link.key: link for link in map(link_from_row, rows)}
        for link in links:
            if link.key not in stored:
                await self._raise_missing_end(link.key)
        return [stored[link.key] for link in links]

    async def get_link(self, key: LinkKey) -> Link | None:
        """A link by its key."""
        rows = await self._fetch(sql.GET_LINK, *_link_values(key))
        return link_from_row(rows[0]) if rows else None

    async def delete_link(self, key: LinkKey) -> bool:
        """Remove a link; whether it was there."""
        status = await self._connection.execute(sql.DELETE_LINK, self._tenant_id, self._user_id, *_link_values(key))
        return status == "DELETE 2"

    async def delete_similarity_links(self, note_ids: Sequence[NoteId]) -> None:
        """Remove the links of origin SIMILARITY of notes."""
        await self._fetch(sql.DELETE_SIMILARITY_LINKS, _uuids(note_ids))

    async def _raise_missing_end(self, key: LinkKey) -> None:
        ends = (key.from_note_id, key.to_note_id)
        there = await self.get_notes(ends)
        raise NotFound("note", next(end for end in ends if end not in there))

    async def _fetch(self, statement: str, *arguments: object) -> list[Record]:
        return await self._connection.fetch(statement, self._tenant_id, self._user_id, *arguments)


def _uuids(ids: Iterable[str]) -> list[uuid.UUID]:
    return [uuid.UUID(i) for i in ids]


def _link_values(key: LinkKey) -> tuple[uuid.UUID, uuid.UUID, int]:
    return uuid.UUID(key.from_note_id), uuid.UUID(key.to_note_id), int(key.type)

"""The note store on PostgreSQL with pgvector."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from services.agentic.config import AgenticSettings
from services.agentic.model import GenerationResult, Link, LinkType, Note, NoteId, NoteStatus, ScoredNote, WrittenNote
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
from services.agentic.stores import postgres_sql as sql
from services.agentic.stores.postgres_rows import link_from_row, nearest_from_rows, note_from_row, scored_from_row
from services.agentic.stores.postgres_sealing import NOTES, PROCESSED, open_notes
from services.agentic.stores.postgres_upkeep import PostgresUpkeepReads
from services.agentic.stores.postgres_versions import versions_of
from services.agentic.stores.postgres_write_sql import GET_NOTES
from services.agentic.stores.postgres_writer import PostgresNoteWriter
from services.agentic.versions import NoteHistory, histories
from services.common.cache import OwnerCache
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.sealing import reading_cipher
from services.common.errors import NotFound
from services.common.maintenance.fence import check_fence
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.postgres.cached_vectors import (
    Nearest,
    NearestQuery,
    StoreWithCachedVectors,
    VectorOwner,
    VectorSource,
)
from services.common.postgres.tenancy import fetch_as_tenant, tenant_transaction
from services.common.postgres.types import Connection, Pool, Record, array_of_ids
from services.common.postgres.users import users_statement
from services.common.scope import Reader, Scope, is_seen, keys_seen

_T = TypeVar("_T")

MIGRATIONS_FOLDER: Final = Path(__file__).parent / "migrations"
SCHEMA: Final = sql.SCHEMA
_VECTORS: Final = VectorSource("notes", sql.NEW_VECTORS_AS_TENANT, sql.COUNT_VECTORS_AS_TENANT)

_USERS: Final = users_statement("agentic.notes")


class PostgresNoteStore(PostgresUpkeepReads, StoreWithCachedVectors):
    """A `NoteStore`. Searches are exact: they compare all vectors of the user and of nobody else."""

    def __init__(
        self,
        pool: Pool,
        *,
        cache: OwnerCache | None = None,
        cached_min: int | None = None,
        keys: DataKeys = NO_DATA_KEYS,
        versions_max: int = VERSIONS_MAX,
    ) -> None:
        """Use a pool of `create_pool`, of a role bound by row-level security; its owner closes it after `aclose`.

        Args:
            pool: Where the notes are.
            cache: The process's; None: one of its own.
            cached_min: Notes of a user from which on vectors are cached; None: the default.
            keys: Encrypt what notes say.
            versions_max: Versions that are stored of a note.
        """
        self._keys = keys
        self._versions_max = versions_max
        super().__init__(
            pool, _VECTORS, cache or OwnerCache(), vectors_min=cached_min or AgenticSettings().cached_notes_min
        )

    async def write(self, owner: Owner, work: Callable[[NoteWriter], Awaitable[_T]]) -> _T:
        """Runs work, once, in a transaction under the user's advisory lock, which ends with it."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(sql.LOCK_USER, owner.tenant_id, owner.user_id)
            await check_fence(connection)
            return await work(PostgresNoteWriter(connection, owner, self._keys, self._versions_max))

    async def processed(
        self, owner: Owner, interaction_ids: Sequence[InteractionId]
    ) -> Mapping[InteractionId, GenerationResult]:
        """Results of those of the interactions that were processed before."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            return await PostgresNoteWriter(connection, owner, self._keys).processed(interaction_ids)

    async def questions(self, owner: Owner, places: Sequence[TurnKey]) -> Mapping[TurnKey, StoredQuestion]:
        """The questions of those of the places where something was asked."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            found = await connection.fetch(
                sql.QUESTIONS,
                owner.tenant_id,
                owner.user_id,
                [place.conversation_id for place in places],
                [place.position for place in places],
            )
            cipher = await reading_cipher(self._keys, connection, owner)
            rows = [PROCESSED.open(cipher, row) for row in found]
        return {
            TurnKey(r["conversation_id"], r["position"]): StoredQuestion(
                InteractionId(str(r["interaction_id"])), r["speaker"], r["question"]
            )
            for r in rows
        }

    async def get(self, owner: Owner, note_id: NoteId, *, links_max: int, reader: Reader | None = None) -> WrittenNote:
        """A note with its strongest links."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            row = await _row(connection, owner, note_id, reader)
            links = await _links(connection, owner, note_id, limit=links_max, reader=reader)
            cipher = await reading_cipher(self._keys, connection, owner)
        return WrittenNote(note_from_row(NOTES.open(cipher, row)), tuple(links))

    async def histories(self, owner: Owner, note_ids: Sequence[NoteId]) -> Mapping[NoteId, NoteHistory]:
        """Two statements, by the keys of the tables."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            ids = [uuid.UUID(note_id) for note_id in note_ids]
            rows = await connection.fetch(GET_NOTES, owner.tenant_id, owner.user_id, ids)
            cipher = await reading_cipher(self._keys, connection, owner)
            versions = await versions_of(connection, owner, cipher, note_ids)
        notes = map(note_from_row, open_notes(cipher, rows))
        return histories({note.note_id: note for note in notes}, versions)

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """One statement, by the key of the table."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return [UserId(row[0]) for row in await connection.fetch(_USERS, tenant_id, after, limit)]

    async def list_notes(
        self, owner: Owner, which: NoteFilter, *, after: NotePosition | None, limit: int
    ) -> list[Note]:
        """A page of notes, newest first, ties by id."""
        kind = None if which.kind is None else int(which.kind)
        seen = keys_seen(which.reader)
        arguments: list[Any] = [int(which.status), kind, None, which.start_time, which.end_time, limit, seen]
        statement = sql.LIST_NOTES
        if after is not None:
            statement = sql.LIST_NOTES_AFTER
            arguments += [after.create_time, uuid.UUID(after.note_id)]
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            cipher = await reading_cipher(self._keys, connection, owner)
            if which.tag:
                # As it is stored now, and as it was before encryption was switched on.
                arguments[2] = list({which.tag, cipher.seal_name("tags", which.tag)})
            rows = await connection.fetch(statement, owner.tenant_id, owner.user_id, *arguments)
        return [note_from_row(row) for row in open_notes(cipher, rows)]

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
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await _row(connection, owner, note_id, reader)
            return await _links(
                connection, owner, note_id, link_type=link_type, after=after, limit=limit, reader=reader
            )

    async def search(self, owner: Owner, search: NoteSearch) -> list[ScoredNote]:
        """Vector search and walk in one statement.

        Where the user's vectors are cached it is the captions and the walk alone, or, where there are no captions and
        no link can add a hit, the notes alone.
        """
        walk = search.walk
        scope_keys = list(search.reader.visible_keys())
        hops = 0 if search.is_archived else search.hops
        seeds = walk.seeds_max if hops >= 1 else 0
        key = (owner.tenant_id, owner.user_id)
        frontier = walk.frontier_max if hops >= 2 else 0
        asked = (search.model, scope_keys, search.vector, search.limit, seeds, walk.damping, walk.fanout_max, frontier)

        async def scored(rows: Sequence[Record]) -> list[ScoredNote]:
            cipher = await reading_cipher(self._keys, self._pool, owner)
            return [scored_from_row(owner, row) for row in open_notes(cipher, rows)]

        if search.is_archived:
            hits = await scored(await self._rows(sql.SEARCH_ARCHIVED_AS_TENANT, *key, *asked))
            return [replace(hit, note=replace(hit.note, status=NoteStatus.ARCHIVED)) for hit in hits]

        async def read(near: Nearest) -> list[ScoredNote] | None:
            ids = list(map(str, near.ids))
            if not _links_matter(near.scores, search):
                hits = ids[: search.limit]
                rows = await self._rows(
                    sql.NOTES_AS_TENANT, *key, search.model, array_of_ids(hits), near.revision, near.epoch
                )
                if not rows or rows[0]["is_stale"]:
                    return None
                if not rows[0]["has_captions"]:
                    cipher = await reading_cipher(self._keys, self._pool, owner)
                    return nearest_from_rows(owner, open_notes(cipher, rows), hits, near.scores)
            given = (array_of_ids(ids), near.scores, near.revision, near.epoch)
            rows = await self._rows(sql.SEARCH_FROM_AS_TENANT, *key, *asked, *given)
            return None if not rows or rows[0]["is_stale"] else await scored(rows)

        found = await self._vectors.search(
            VectorOwner(*key, search.model), NearestQuery(search.vector, scope_keys, max(search.limit, seeds)), read
        )
        if found is None:
            rows = await self._rows(sql.SEARCH_AS_TENANT, *key, *asked)
            found = await scored(rows)
        return found

    async def record_access(self, owner: Owner, counts: Mapping[NoteId, int], *, time: datetime) -> None:
        """Add to the access counts, under the user's lock: updates in different order could deadlock."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(sql.LOCK_USER, owner.tenant_id, owner.user_id)
            await connection.execute(
                sql.RECORD_ACCESS,
                owner.tenant_id,
                owner.user_id,
                [uuid.UUID(note_id) for note_id in counts],
                list(counts.values()),
                time,
            )

    async def _rows(self, statement: str, *arguments: object) -> list[Record]:
        return await fetch_as_tenant(self._pool, statement, *arguments)


def _links_matter(scores: Sequence[float], search: NoteSearch) -> bool:
    """Whether a link of strength 1 from the best of the nearest notes could lead to a hit.

    Args:
        scores: Cosines of the nearest notes, best first: of all there are, or of at least as many as hits are wanted.
        search: What they were found for.
    """
    if search.hops < 1 or scores[0] <= 0:
        return False
    return len(scores) < search.limit or scores[0] * search.walk.damping >= scores[search.limit - 1]


async def _row(connection: Connection, owner: Owner, note_id: NoteId, reader: Reader | None) -> Record:
    """The row of a note.

    Raises:
        NotFound: There is none that the reader sees.
    """
    row = await connection.fetchrow(sql.GET_NOTE, owner.tenant_id, owner.user_id, uuid.UUID(note_id))
    if row is None or not is_seen(Scope.from_key(row["scope_key"]), reader):
        raise NotFound("note", note_id)
    return row


async def _links(
    connection: Connection,
    owner: Owner,
    note_id: NoteId,
    *,
    link_type: LinkType | None = None,
    after: LinkPosition | None = None,
    limit: int,
    reader: Reader | None,
) -> list[Link]:
    begin: tuple[object, ...] = (None, None, None, None)
    if after is not None:
        key = after.key
        begin = (after.strength, uuid.UUID(key.from_note_id), uuid.UUID(key.to_note_id), int(key.type))
    rows = await connection.fetch(
        sql.LIST_LINKS,
        owner.tenant_id,
        owner.user_id,
        uuid.UUID(note_id),
        None if link_type is None else int(link_type),
        limit,
        *begin,
        keys_seen(reader),
    )
    return [link_from_row(row) for row in rows]

"""The note store on PostgreSQL with pgvector."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from services.agentic.config import AgenticSettings
from services.agentic.model import (
    GenerationResult,
    InteractionId,
    Note,
    NoteId,
    NoteKind,
    Owner,
    ScoredNote,
    WrittenNote,
)
from services.agentic.store import NotePosition, NoteSearch, NoteWriter, TurnKey
from services.agentic.stores import postgres_sql as sql
from services.agentic.stores.postgres_rows import link_from_row, nearest_from_rows, note_from_row, scored_from_row
from services.agentic.stores.postgres_writer import PostgresNoteWriter
from services.common.cache import OwnerCache
from services.common.errors import NotFound
from services.common.postgres.cached_vectors import (
    Nearest,
    NearestQuery,
    StoreWithCachedVectors,
    VectorOwner,
    VectorSource,
)
from services.common.postgres.tenancy import fetch_as_tenant, tenant_transaction
from services.common.postgres.types import Pool, Record, array_of_ids

_T = TypeVar("_T")

MIGRATIONS_FOLDER: Final = Path(__file__).parent / "migrations"
SCHEMA: Final = "agentic"
_VECTORS: Final = VectorSource("notes", sql.NEW_VECTORS_AS_TENANT, sql.COUNT_VECTORS_AS_TENANT)


class PostgresNoteStore(StoreWithCachedVectors):
    """A `NoteStore`. Searches are exact: they compare all vectors of the user and of nobody else."""

    def __init__(self, pool: Pool, *, cache: OwnerCache | None = None, cached_min: int | None = None) -> None:
        """Use a pool of `create_pool`, of a role bound by row-level security; its owner closes it after `aclose`.

        Args:
            pool: Where the notes are.
            cache: The process's; None: one of its own.
            cached_min: Notes of a user from which on vectors are cached; None: the default.
        """
        super().__init__(
            pool, _VECTORS, cache or OwnerCache(), vectors_min=cached_min or AgenticSettings().cached_notes_min
        )

    async def write(self, owner: Owner, work: Callable[[NoteWriter], Awaitable[_T]]) -> _T:
        """Runs work, once, in a transaction under the user's advisory lock, which ends with it."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(sql.LOCK_USER, owner.tenant_id, owner.user_id)
            return await work(PostgresNoteWriter(connection, owner))

    async def taken(
        self, owner: Owner, interaction_ids: Sequence[InteractionId]
    ) -> Mapping[InteractionId, GenerationResult]:
        """Results of those of the interactions that were taken before."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            return await PostgresNoteWriter(connection, owner).taken(interaction_ids)

    async def questions(self, owner: Owner, places: Sequence[TurnKey]) -> Mapping[TurnKey, tuple[str, str]]:
        """Speaker and question of those of the places where something was asked."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            rows = await connection.fetch(
                sql.QUESTIONS,
                owner.tenant_id,
                owner.user_id,
                [place.conversation_id for place in places],
                [place.position for place in places],
            )
        return {TurnKey(r["conversation_id"], r["position"]): (r["speaker"], r["question"]) for r in rows}

    async def get(self, owner: Owner, note_id: NoteId, *, links_max: int) -> WrittenNote:
        """A note with its strongest links."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            row = await connection.fetchrow(sql.GET_NOTE, owner.tenant_id, owner.user_id, uuid.UUID(note_id))
            if row is None:
                raise NotFound("note", note_id)
            links = await connection.fetch(
                sql.LINKS_OF_NOTE, owner.tenant_id, owner.user_id, uuid.UUID(note_id), links_max
            )
        return WrittenNote(note_from_row(row), tuple(link_from_row(link) for link in links))

    async def list_notes(
        self, owner: Owner, *, kind: NoteKind | None, after: NotePosition | None, limit: int
    ) -> list[Note]:
        """A page of notes, newest first, ties by id."""
        arguments: list[Any] = [owner.tenant_id, owner.user_id, None if kind is None else int(kind), limit]
        statement = sql.LIST_NOTES
        if after is not None:
            statement = sql.LIST_NOTES_AFTER
            arguments += [after.create_time, uuid.UUID(after.note_id)]
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            rows = await connection.fetch(statement, *arguments)
        return [note_from_row(row) for row in rows]

    async def search(self, owner: Owner, search: NoteSearch) -> list[ScoredNote]:
        """Vector search and walk in one statement.

        Where the user's vectors are cached it is the walk alone, or, where no link can matter, the notes alone.
        """
        walk = search.walk
        scope_keys = list(search.reader.visible_keys())
        seeds = walk.seeds_max if search.hops >= 1 else 0
        key = (owner.tenant_id, owner.user_id)
        frontier = walk.frontier_max if search.hops >= 2 else 0
        asked = (search.model, scope_keys, search.vector, search.limit, seeds, walk.damping, walk.fanout_max, frontier)

        async def read(near: Nearest) -> list[ScoredNote] | None:
            ids = list(map(str, near.ids))
            if _links_matter(near.scores, search):
                given = (array_of_ids(ids), near.scores, near.revision, near.epoch)
                rows = await self._rows(sql.SEARCH_FROM_AS_TENANT, *key, *asked, *given)
                return None if not rows or rows[0]["is_stale"] else [scored_from_row(owner, row) for row in rows]
            del ids[search.limit :]
            rows = await self._rows(
                sql.NOTES_AS_TENANT, *key, search.model, array_of_ids(ids), near.revision, near.epoch
            )
            return None if not rows or rows[0]["is_stale"] else nearest_from_rows(owner, rows, ids, near.scores)

        found = await self._vectors.search(
            VectorOwner(*key, search.model), NearestQuery(search.vector, scope_keys, max(search.limit, seeds)), read
        )
        if found is None:
            rows = await self._rows(sql.SEARCH_AS_TENANT, *key, *asked)
            found = [scored_from_row(owner, row) for row in rows]
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

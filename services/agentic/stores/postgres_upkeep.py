"""What maintenance reads and writes of the PostgreSQL note store."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from services.agentic.model import Link, LinkKey, NoteId
from services.agentic.stores.postgres_rows import link_from_row, note_from_row
from services.agentic.stores.postgres_sealing import open_notes
from services.agentic.stores.postgres_sql import LINK_COLUMNS, NOTE_COLUMNS
from services.agentic.upkeep_store import NotePair, PairUse, StoredNote
from services.common.embedding.vectors import Vector
from services.common.encryption.postgres import DataKeys
from services.common.encryption.sealing import reading_cipher
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.pool import decode_vector, translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool, Record

#: One look-up in the index for each owner, however many notes they have.
_OWNERS: Final = """
WITH RECURSIVE owners AS (
    (SELECT tenant_id, user_id FROM agentic.notes WHERE (tenant_id, user_id) > ($1, $2)
     ORDER BY tenant_id, user_id LIMIT 1)
    UNION ALL
    SELECT next.tenant_id, next.user_id FROM owners o CROSS JOIN LATERAL (
        SELECT tenant_id, user_id FROM agentic.notes WHERE (tenant_id, user_id) > (o.tenant_id, o.user_id)
        ORDER BY tenant_id, user_id LIMIT 1
    ) next
)
SELECT tenant_id, user_id FROM owners LIMIT $3
"""
_STAMP: Final = """
SELECT concat_ws(' ', count(*), max(update_time), sum(access_count)) FROM agentic.notes
WHERE tenant_id = $1 AND user_id = $2 AND status = 1
"""
_ACTIVE_NOTES: Final = f"""
SELECT {NOTE_COLUMNS}, vector_send(v.embedding) AS embedding
FROM (
    SELECT * FROM agentic.notes
    WHERE tenant_id = $1 AND user_id = $2 AND status = 1 AND ($3::uuid IS NULL OR note_id > $3)
    ORDER BY note_id LIMIT $4
) n LEFT JOIN agentic.note_vectors v ON v.tenant_id = $1 AND v.user_id = $2 AND v.model = $5 AND v.note_id = n.note_id
ORDER BY n.note_id
"""  # noqa: S608 - no input in it


def _of_model(model: str) -> str:
    """Whether the note of a vector `v` has one of a model too: looked up by the primary key."""
    return f"""EXISTS (
    SELECT FROM agentic.note_vectors AS own
    WHERE own.tenant_id = v.tenant_id AND own.user_id = v.user_id AND own.model = {model} AND own.note_id = v.note_id
)"""


#: By the primary key alone.
_OTHER_OWNERS: Final = f"""
SELECT DISTINCT tenant_id, user_id FROM agentic.note_vectors AS v
WHERE (tenant_id, user_id) > ($1, $2) AND model <> $3 AND NOT {_of_model("$3")}
ORDER BY tenant_id, user_id LIMIT $4
"""  # noqa: S608 - no input in it
_COUNT_OTHERS: Final = f"""
SELECT count(*) FROM (
    SELECT DISTINCT tenant_id, user_id, note_id FROM agentic.note_vectors AS v
    WHERE model <> $1 AND NOT {_of_model("$1")} LIMIT $2
) AS lacking
"""  # noqa: S608 - no input in it
_TWO_OWNERS: Final = f"""
SELECT DISTINCT tenant_id, user_id FROM agentic.note_vectors AS v
WHERE (tenant_id, user_id) > ($1, $2) AND model <> $3 AND {_of_model("$3")}
ORDER BY tenant_id, user_id LIMIT $4
"""  # noqa: S608 - no input in it
_HAS_OTHERS: Final = f"""
SELECT EXISTS (
    SELECT FROM agentic.note_vectors AS v
    WHERE tenant_id = $1 AND user_id = $2 AND (model < $3 OR model > $3) AND is_active AND NOT {_of_model("$3")}
)
"""  # noqa: S608 - no input in it
_OTHERS: Final = f"""
SELECT DISTINCT note_id FROM agentic.note_vectors AS v
WHERE tenant_id = $1 AND user_id = $2 AND model <> $3 AND ($4::uuid IS NULL OR note_id < $4)
    AND NOT {_of_model("$3")}
ORDER BY note_id DESC LIMIT $5
"""  # noqa: S608 - no input in it
#: Captions first: which of them may go follows from the vectors of their notes.
_DROP_CAPTIONS: Final = f"""
DELETE FROM agentic.caption_vectors AS v
WHERE tenant_id = $1 AND user_id = $2 AND model <> $3 AND {_of_model("$3")}
"""  # noqa: S608 - no input in it
_DROP_VECTORS: Final = f"""
WITH gone AS (
    DELETE FROM agentic.note_vectors AS v
    WHERE tenant_id = $1 AND user_id = $2 AND model <> $3 AND {_of_model("$3")}
    RETURNING note_id
)
SELECT count(DISTINCT note_id) FROM gone
"""  # noqa: S608 - no input in it
_ACTIVE_LINKS: Final = f"""
SELECT {LINK_COLUMNS} FROM agentic.link_ends
WHERE tenant_id = $1 AND user_id = $2 AND is_first AND NOT is_hidden
    AND ($3::uuid IS NULL OR (note_id, other_note_id, type) > ($3::uuid, $4::uuid, $5::smallint))
ORDER BY note_id, other_note_id, type LIMIT $6
"""  # noqa: S608 - no input in it
_LINKS_AMONG: Final = f"""
SELECT {LINK_COLUMNS} FROM agentic.link_ends
WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3) AND other_note_id = ANY ($3) AND is_first
ORDER BY note_id, other_note_id, type
"""  # noqa: S608 - no input in it
#: Pairs whose notes are both there; the notes are looked up by their keys.
_COUNT_PAIRS: Final = """
INSERT INTO agentic.note_pairs AS p (tenant_id, user_id, note_id, other_note_id, use_count, last_use_time)
SELECT $1, $2, given.note_id, given.other_note_id, given.use_count, given.last_use_time
FROM unnest($3::uuid[], $4::uuid[], $5::integer[], $6::timestamptz[])
    AS given (note_id, other_note_id, use_count, last_use_time)
WHERE (SELECT count(*) FROM agentic.notes n WHERE n.tenant_id = $1 AND n.user_id = $2
    AND n.note_id IN (given.note_id, given.other_note_id)) = 2
ON CONFLICT (tenant_id, user_id, note_id, other_note_id) DO UPDATE
SET use_count = p.use_count + excluded.use_count, last_use_time = greatest(p.last_use_time, excluded.last_use_time)
RETURNING note_id, other_note_id, use_count
"""
_FORGET_PAIRS: Final = """
DELETE FROM agentic.note_pairs p USING unnest($3::uuid[], $4::uuid[]) AS given (note_id, other_note_id)
WHERE p.tenant_id = $1 AND p.user_id = $2 AND p.note_id = given.note_id AND p.other_note_id = given.other_note_id
"""
_FORGET_IDLE_PAIRS: Final = """
DELETE FROM agentic.note_pairs WHERE tenant_id = $1 AND user_id = $2 AND last_use_time < $3
"""
_SET_SUCCESSORS: Final = """
UPDATE agentic.notes n SET successor_id = given.successor_id
FROM unnest($3::uuid[], $4::uuid[]) AS given (note_id, successor_id)
WHERE n.tenant_id = $1 AND n.user_id = $2 AND n.note_id = given.note_id
"""
_VECTORS_OF: Final = """
SELECT note_id, vector_send(embedding) AS embedding FROM agentic.note_vectors
WHERE tenant_id = $1 AND user_id = $2 AND model = $3 AND note_id = ANY ($4)
"""
_MADE_FROM: Final = """
SELECT note_id FROM agentic.notes
WHERE tenant_id = $1 AND user_id = $2 AND source_note_ids <> '{}' AND source_note_ids && $3 ORDER BY note_id
"""
_REPLACED_BY: Final = """
SELECT note_id FROM agentic.notes WHERE tenant_id = $1 AND user_id = $2 AND successor_id = ANY ($3) ORDER BY note_id
"""


class PostgresUpkeepReads:
    """Implements `UpkeepReads`."""

    keeps_two_models = True

    _pool: Pool
    _keys: DataKeys

    async def note_owners(self, *, after: Owner | None, limit: int) -> list[Owner]:
        """See `UpkeepReads.note_owners`."""
        return await self._listed(_OWNERS, after, limit)

    async def owners_of_other_models(self, model: str, *, after: Owner | None, limit: int) -> list[Owner]:
        """See `UpkeepReads.owners_of_other_models`."""
        return await self._listed(_OTHER_OWNERS, after, model, limit)

    async def owners_of_two_models(self, model: str, *, after: Owner | None, limit: int) -> list[Owner]:
        """See `UpkeepReads.owners_of_two_models`."""
        return await self._listed(_TWO_OWNERS, after, model, limit)

    async def count_of_other_models(self, model: str, *, limit: int) -> int:
        """See `UpkeepReads.count_of_other_models`."""
        [row] = await self._of_all(_COUNT_OTHERS, model, limit)
        return int(row["count"])

    async def has_active_of_other_models(self, owner: Owner, model: str) -> bool:
        """See `UpkeepReads.has_active_of_other_models`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            return bool(await connection.fetchval(_HAS_OTHERS, owner.tenant_id, owner.user_id, model))

    async def notes_of_other_models(self, owner: Owner, model: str, *, before: NoteId, limit: int) -> list[NoteId]:
        """See `UpkeepReads.notes_of_other_models`."""
        end = uuid.UUID(before) if before else None
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            rows = await connection.fetch(_OTHERS, owner.tenant_id, owner.user_id, model, end, limit)
        return [NoteId(str(row["note_id"])) for row in rows]

    async def notes_stamp(self, owner: Owner) -> str:
        """See `UpkeepReads.notes_stamp`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            return str(await connection.fetchval(_STAMP, owner.tenant_id, owner.user_id))

    async def active_notes(self, owner: Owner, *, after: NoteId, limit: int, model: str) -> list[StoredNote]:
        """See `UpkeepReads.active_notes`."""
        begin = uuid.UUID(after) if after else None
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            found = await connection.fetch(_ACTIVE_NOTES, owner.tenant_id, owner.user_id, begin, limit, model)
            rows = open_notes(await reading_cipher(self._keys, connection, owner), found)
        return [
            StoredNote(note_from_row(row), None if row["embedding"] is None else decode_vector(row["embedding"]))
            for row in rows
        ]

    async def active_links(self, owner: Owner, *, after: LinkKey | None, limit: int) -> list[Link]:
        """See `UpkeepReads.active_links`."""
        begin: tuple[object, ...] = (None, None, None)
        if after is not None:
            begin = (uuid.UUID(after.from_note_id), uuid.UUID(after.to_note_id), int(after.type))
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            rows = await connection.fetch(_ACTIVE_LINKS, owner.tenant_id, owner.user_id, *begin, limit)
        return [link_from_row(row) for row in rows]

    async def _listed(self, statement: str, after: Owner | None, *arguments: object) -> list[Owner]:
        place = ("", "") if after is None else (after.tenant_id, after.user_id)
        rows = await self._of_all(statement, *place, *arguments)
        return [Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])) for row in rows]

    async def _of_all(self, statement: str, *arguments: object) -> list[Record]:
        """Reads notes and vectors of all tenants."""
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.note_owners', 'on', true)")
                return list(await connection.fetch(statement, *arguments))


class PostgresUpkeepWrites:
    """Implements `UpkeepWrites` in an open transaction."""

    _connection: Connection
    _tenant_id: TenantId
    _user_id: UserId

    async def drop_vectors_of_other_models(self, model: str) -> int:
        """See `UpkeepWrites.drop_vectors_of_other_models`."""
        await self._fetch(_DROP_CAPTIONS, model)
        [row] = await self._fetch(_DROP_VECTORS, model)
        return int(row["count"])

    async def vectors_of(self, note_ids: Sequence[NoteId], *, model: str) -> Mapping[NoteId, Vector]:
        """See `UpkeepWrites.vectors_of`."""
        rows = await self._fetch(_VECTORS_OF, model, _uuids(note_ids))
        return {NoteId(str(row["note_id"])): decode_vector(row["embedding"]) for row in rows}

    async def links_among(self, note_ids: Sequence[NoteId]) -> list[Link]:
        """See `UpkeepWrites.links_among`."""
        return [link_from_row(row) for row in await self._fetch(_LINKS_AMONG, _uuids(note_ids))]

    async def count_pairs(self, pairs: Sequence[PairUse]) -> Mapping[NotePair, int]:
        """See `UpkeepWrites.count_pairs`."""
        rows = await self._fetch(
            _COUNT_PAIRS,
            _uuids(use.pair[0] for use in pairs),
            _uuids(use.pair[1] for use in pairs),
            [use.count for use in pairs],
            [use.time for use in pairs],
        )
        return {(NoteId(str(r["note_id"])), NoteId(str(r["other_note_id"]))): r["use_count"] for r in rows}

    async def forget_pairs(self, pairs: Sequence[NotePair]) -> None:
        """See `UpkeepWrites.forget_pairs`."""
        await self._fetch(_FORGET_PAIRS, _uuids(one for one, _ in pairs), _uuids(other for _, other in pairs))

    async def forget_idle_pairs(self, before: datetime) -> None:
        """See `UpkeepWrites.forget_idle_pairs`."""
        await self._fetch(_FORGET_IDLE_PAIRS, before)

    async def set_successors(self, successors: Mapping[NoteId, NoteId | None]) -> None:
        """See `UpkeepWrites.set_successors`."""
        ids = [uuid.UUID(note_id) if note_id else None for note_id in successors.values()]
        await self._fetch(_SET_SUCCESSORS, _uuids(successors), ids)

    async def made_from(self, note_ids: Sequence[NoteId]) -> list[NoteId]:
        """See `UpkeepWrites.made_from`."""
        return [NoteId(str(row["note_id"])) for row in await self._fetch(_MADE_FROM, _uuids(note_ids))]

    async def replaced_by(self, note_ids: Sequence[NoteId]) -> list[NoteId]:
        """See `UpkeepWrites.replaced_by`."""
        return [NoteId(str(row["note_id"])) for row in await self._fetch(_REPLACED_BY, _uuids(note_ids))]

    async def _fetch(self, statement: str, *arguments: object) -> list[Record]:
        return await self._connection.fetch(statement, self._tenant_id, self._user_id, *arguments)


def _uuids(ids: Iterable[str]) -> list[uuid.UUID]:
    return [uuid.UUID(i) for i in ids]

"""What notes were before they changed, in PostgreSQL."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from services.agentic.model import Note, NoteId, NoteStatus, whole_microseconds
from services.agentic.stores.postgres_sealing import VERSIONS
from services.agentic.versions import Earlier, NoteVersion, ended_versions, version_from_row, version_row
from services.common.encryption.cipher import Cipher
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.postgres.types import Connection, Record

#: Of two changes at one instant the first one says what was before; what it left open the second one says.
_ADD: Final = """
INSERT INTO agentic.note_versions AS v (
    tenant_id, user_id, note_id, end_microseconds, status, was_wrong, said, derived_from, source_note_ids, question_id
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (tenant_id, user_id, note_id, end_microseconds) DO UPDATE
SET said = excluded.said, was_wrong = excluded.was_wrong, derived_from = excluded.derived_from,
    source_note_ids = excluded.source_note_ids, question_id = excluded.question_id
WHERE v.said = '{}'
"""
#: Before the status is set.
_END_STATUSES: Final = """
INSERT INTO agentic.note_versions (
    tenant_id, user_id, note_id, end_microseconds, status, said, was_wrong, derived_from, source_note_ids
)
SELECT $1, $2, note_id, $5, status, '{}', false, '{}', '{}' FROM agentic.notes
WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3) AND status <> $4
ON CONFLICT (tenant_id, user_id, note_id, end_microseconds) DO NOTHING
"""
#: Reads all versions of the user, as the look-up of notes by their sources reads all notes.
_ERASE: Final = """
UPDATE agentic.note_versions
SET said = '{}', derived_from = '{}', source_note_ids = '{}', question_id = NULL
WHERE tenant_id = $1 AND user_id = $2
    AND (derived_from && $3::uuid[] OR question_id = ANY ($3::uuid[]) OR source_note_ids && $4::uuid[])
"""
_TRIM: Final = """
DELETE FROM agentic.note_versions v
USING (
    SELECT note_id, end_microseconds, row_number() OVER (PARTITION BY note_id ORDER BY end_microseconds DESC) AS place
    FROM agentic.note_versions
    WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3)
) known
WHERE v.tenant_id = $1 AND v.user_id = $2 AND v.note_id = known.note_id
    AND v.end_microseconds = known.end_microseconds AND known.place > $4
"""
_OF_NOTES: Final = """
SELECT note_id, end_microseconds, status, said, was_wrong, derived_from, source_note_ids, question_id
FROM agentic.note_versions
WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3)
"""


async def versions_of(
    connection: Connection, owner: Owner, cipher: Cipher, note_ids: Sequence[NoteId]
) -> list[NoteVersion]:
    """The versions of notes, in no order."""
    rows = await connection.fetch(_OF_NOTES, owner.tenant_id, owner.user_id, _uuids(note_ids))
    return [version_from_row(VERSIONS.open(cipher, row)) for row in rows]


class PostgresVersionWrites:
    """Writes versions in an open transaction."""

    _connection: Connection
    _tenant_id: TenantId
    _user_id: UserId
    _versions_max: int

    async def erase_versions(self, interaction_ids: Sequence[InteractionId]) -> None:
        """See `NoteWriter.erase_versions`."""
        await self._fetch(_ERASE, _uuids(interaction_ids), [])

    async def _erase_versions_made_from(self, note_ids: Sequence[uuid.UUID]) -> None:
        await self._fetch(_ERASE, [], note_ids)

    async def _end_texts(
        self, before: Mapping[NoteId, Note], notes: Sequence[Note], earlier: Earlier, cipher: Cipher
    ) -> None:
        """Store what notes said before an update."""
        ended = ended_versions(before, notes, was_wrong=earlier is Earlier.WRONG)
        if ended:
            rows = [VERSIONS.seal(cipher, version_row(version)) for version in ended]
            await self._connection.executemany(_ADD, [self._values(row) for row in rows])
            await self._fetch(_TRIM, _uuids(version.note_id for version in ended), self._versions_max)

    async def _end_statuses(self, ids: Sequence[uuid.UUID], status: NoteStatus, time: datetime) -> None:
        """Store which status notes have, before it is set."""
        await self._fetch(_END_STATUSES, ids, int(status), whole_microseconds(time))
        await self._fetch(_TRIM, ids, self._versions_max)

    def _values(self, row: Mapping[str, object]) -> tuple[object, ...]:
        names = ("note_id", "end_microseconds", "status", "was_wrong", "said", "derived_from", "source_note_ids")
        return (self._tenant_id, self._user_id, *(row[name] for name in names), row["question_id"])

    async def _fetch(self, statement: str, *arguments: object) -> list[Record]:
        return await self._connection.fetch(statement, self._tenant_id, self._user_id, *arguments)


def _uuids(ids: Iterable[str]) -> list[uuid.UUID]:
    return [uuid.UUID(i) for i in ids]

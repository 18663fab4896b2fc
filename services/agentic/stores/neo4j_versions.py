"""What notes were before they changed, in Neo4j."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from services.agentic.model import Note, NoteId, NoteStatus, whole_microseconds
from services.agentic.stores.neo4j_sealing import VERSIONS
from services.agentic.versions import Earlier, NoteVersion, ended_versions, version_from_row, version_row
from services.common.encryption.cipher import Cipher
from services.common.neo4j.graph import GraphTransaction
from services.common.owners import InteractionId

#: The index of versions has four properties, and a query uses it where it names all of them.
#:
#: Of two changes at one instant the first one says what was before; what it left open the second one says.
ADD_VERSIONS: Final = """CYPHER 25
UNWIND $versions AS given
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: given.note_id})
MERGE (v:NoteVersion {
    tenant_id: $tenant_id, user_id: $user_id, note_id: given.note_id, end_microseconds: given.end_microseconds
})
ON CREATE SET v.status = given.status, v.said = '{}'
MERGE (n)-[:WAS]->(v)
WITH v, given
WHERE v.said = '{}'
SET v.said = given.said, v.was_wrong = given.was_wrong, v.derived_from = given.derived_from,
    v.source_note_ids = given.source_note_ids, v.question_id = given.question_id
"""

#: Before the status is set.
END_STATUSES: Final = """CYPHER 25
UNWIND $note_ids AS note_id
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: note_id})
WHERE n.status <> $status
MERGE (v:NoteVersion {
    tenant_id: $tenant_id, user_id: $user_id, note_id: note_id, end_microseconds: $end_microseconds
})
ON CREATE SET v.status = n.status, v.said = '{}', v.was_wrong = false, v.derived_from = [], v.source_note_ids = []
MERGE (n)-[:WAS]->(v)
"""

#: Reads all versions of the user, as the look-up of notes by their sources reads all notes.
ERASE_VERSIONS: Final = """CYPHER 25
MATCH (v:NoteVersion {tenant_id: $tenant_id, user_id: $user_id})
WHERE v.note_id >= '' AND v.end_microseconds IS NOT NULL AND (v.question_id IN $interaction_ids
    OR any(source IN v.derived_from WHERE source IN $interaction_ids)
    OR any(source IN v.source_note_ids WHERE source IN $note_ids))
SET v.said = '{}', v.derived_from = [], v.source_note_ids = [], v.question_id = null
"""

TRIM_VERSIONS: Final = """CYPHER 25
UNWIND $note_ids AS note_id
MATCH (v:NoteVersion {tenant_id: $tenant_id, user_id: $user_id, note_id: note_id})
WHERE v.end_microseconds IS NOT NULL
WITH note_id, v ORDER BY v.end_microseconds DESC
WITH note_id, collect(v)[$versions_max..] AS oldest
UNWIND oldest AS v
DETACH DELETE v
"""

VERSIONS_OF: Final = """CYPHER 25
UNWIND $note_ids AS note_id
MATCH (v:NoteVersion {tenant_id: $tenant_id, user_id: $user_id, note_id: note_id})
WHERE v.end_microseconds IS NOT NULL
RETURN v {.note_id, .end_microseconds, .status, .said, .was_wrong, .derived_from, .source_note_ids, .question_id}
    AS version
"""


def version_from_fields(fields: Mapping[str, Any], cipher: Cipher) -> NoteVersion:
    """A version from the properties of its node.

    Raises:
        DecryptionError: See `Cipher.open`.
    """
    opened = VERSIONS.open(cipher, fields)
    return version_from_row({**dict(opened), "said": json.loads(opened["said"])})


class Neo4jVersionWrites:
    """Writes versions in an open transaction."""

    _transaction: GraphTransaction
    _owner: dict[str, Any]
    _versions_max: int

    async def erase_versions(self, interaction_ids: Sequence[InteractionId]) -> None:
        """See `NoteWriter.erase_versions`."""
        await self._erase(interaction_ids=list(interaction_ids), note_ids=[])

    async def _erase_versions_made_from(self, note_ids: Sequence[NoteId]) -> None:
        await self._erase(interaction_ids=[], note_ids=list(note_ids))

    async def _end_texts(
        self, before: Mapping[NoteId, Note], notes: Sequence[Note], earlier: Earlier, cipher: Cipher
    ) -> None:
        """Store what notes said before an update."""
        ended = ended_versions(before, notes, was_wrong=earlier is Earlier.WRONG)
        if not ended:
            return
        rows = [VERSIONS.seal(cipher, {**row, "said": json.dumps(row["said"])}) for row in map(version_row, ended)]
        await self._transaction.run(ADD_VERSIONS, {**self._owner, "versions": rows})
        await self._trim([version.note_id for version in ended])

    async def _end_statuses(self, note_ids: Sequence[NoteId], status: NoteStatus, time: datetime) -> None:
        """Store which status notes have, before it is set."""
        parameters = {
            "note_ids": list(note_ids),
            "status": int(status),
            "end_microseconds": whole_microseconds(time),
        }
        await self._transaction.run(END_STATUSES, {**self._owner, **parameters})
        await self._trim(note_ids)

    async def _trim(self, note_ids: Sequence[NoteId]) -> None:
        """Delete the oldest versions of notes, beyond as many as are stored."""
        parameters = {"note_ids": list(note_ids), "versions_max": self._versions_max}
        await self._transaction.run(TRIM_VERSIONS, {**self._owner, **parameters})

    async def _erase(self, **parameters: Any) -> None:
        await self._transaction.run(ERASE_VERSIONS, {**self._owner, **parameters})

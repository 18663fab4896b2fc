"""What maintenance reads and writes of the Neo4j note store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, LiteralString

import numpy as np

from services.agentic.model import Link, LinkKey, NoteId, whole_microseconds
from services.agentic.stores.neo4j_cypher import NOTE_PROPERTIES
from services.agentic.stores.neo4j_rows import link_from_fields, notes_from_values
from services.agentic.upkeep_store import NotePair, PairUse, StoredNote
from services.common.copying.neo4j import four_byte
from services.common.embedding.vectors import Vector
from services.common.encryption.neo4j import GraphDataKeys, graph_cipher
from services.common.neo4j.graph import Graph, GraphTransaction
from services.common.neo4j.owners import BEHIND_ALL_IDS, page_of_owners
from services.common.owners import Owner, TenantId, UserId

_NOTE: Final[LiteralString] = "[" + ", ".join(f"n.{name}" for name in NOTE_PROPERTIES) + "]"

#: Of all tenants: background work alone asks for it.
_OWNERS: Final[LiteralString] = f"""CYPHER 25
{page_of_owners("NoteOwner")}
RETURN tenant_id, user_id ORDER BY tenant_id, user_id
"""
_STAMP: Final = """CYPHER 25
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id})
WHERE n.note_id >= '' AND n.status = 1
RETURN count(*) AS notes, max(n.update_time) AS time, sum(n.access_count) AS accesses
"""
_ACTIVE_NOTES: Final[LiteralString] = f"""CYPHER 25
MATCH (n:Note {{tenant_id: $tenant_id, user_id: $user_id}})
WHERE n.note_id > $after AND n.status = 1
WITH n ORDER BY n.tenant_id, n.user_id, n.note_id LIMIT $limit
RETURN {_NOTE} AS note, CASE WHEN n.model = $model THEN {four_byte("n.embedding")} ELSE null END AS vector
"""
#: A page of users, each with whether there is a note of another model.
_OTHER_OWNERS: Final[LiteralString] = f"""CYPHER 25
{page_of_owners("NoteOwner")}
CALL (tenant_id, user_id) {{
    MATCH (n:Note {{tenant_id: tenant_id, user_id: user_id}})
    WHERE n.note_id >= '' AND n.model <> $model
    WITH n LIMIT 1
    RETURN count(n) AS count
}}
RETURN tenant_id, user_id, count ORDER BY tenant_id, user_id
"""
OVER_USERS: Final[tuple[LiteralString, ...]] = (_OWNERS, _OTHER_OWNERS)
"""For the test that reads their plans."""

_COUNT_OTHERS: Final = """CYPHER 25
MATCH (n:Note) WHERE n.note_id >= '' AND n.model <> $model
WITH n LIMIT $limit
RETURN count(n) AS count
"""
_HAS_OTHERS: Final = """CYPHER 25
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id})
WHERE n.note_id >= '' AND n.model <> $model AND n.status = 1
WITH n LIMIT 1
RETURN count(n) AS count
"""
NOTES_OF_OTHER_MODELS: Final = """CYPHER 25
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id})
WHERE n.note_id < $before AND n.model <> $model
WITH n ORDER BY n.tenant_id DESC, n.user_id DESC, n.note_id DESC LIMIT $limit
RETURN n.note_id AS note_id ORDER BY note_id DESC
"""
ACTIVE_LINKS: Final = """CYPHER 25
MATCH (a:Note {tenant_id: $tenant_id, user_id: $user_id})
WHERE a.note_id >= $from_note_id AND a.status = 1
MATCH (a)-[l:LINKED]->(b:Note {tenant_id: $tenant_id, user_id: $user_id})
WHERE b.status = 1 AND (a.note_id > $from_note_id OR b.note_id > $to_note_id
    OR (b.note_id = $to_note_id AND l.type > $type))
WITH l, a, a.note_id AS from_note_id, b.note_id AS to_note_id
ORDER BY a.tenant_id, a.user_id, a.note_id, to_note_id, l.type LIMIT $limit
RETURN l {from_note_id: from_note_id, to_note_id: to_note_id, .type, .strength, .origin, .create_time, .update_time,
    .feedback} AS link
"""
LINKS_AMONG: Final = """CYPHER 25
UNWIND $note_ids AS note_id
MATCH (a:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: note_id})
MATCH (a)-[l:LINKED]->(b:Note {tenant_id: $tenant_id, user_id: $user_id})
WHERE b.note_id IN $note_ids
WITH l, a.note_id AS from_note_id, b.note_id AS to_note_id
ORDER BY from_note_id, to_note_id, l.type
RETURN collect(l {from_note_id: from_note_id, to_note_id: to_note_id, .type, .strength, .origin, .create_time,
    .update_time, .feedback}) AS links
"""
COUNT_PAIRS: Final = """CYPHER 25
UNWIND $pairs AS pair
MATCH (a:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: pair.note_id})
MATCH (b:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: pair.other_note_id})
MERGE (a)-[u:USED_WITH]->(b)
ON CREATE SET u.use_count = 0, u.last_use_time = pair.time
SET u.use_count = u.use_count + pair.count,
    u.last_use_time = CASE WHEN u.last_use_time > pair.time THEN u.last_use_time ELSE pair.time END
RETURN collect([pair.note_id, pair.other_note_id, u.use_count]) AS counts
"""
FORGET_PAIRS: Final = """CYPHER 25
UNWIND $pairs AS pair
MATCH (a:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: pair[0]})
MATCH (b:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: pair[1]})
MATCH (a)-[u:USED_WITH]->(b)
DELETE u
"""
#: Reads all of the user's notes: the job that asks for it has read them.
FORGET_IDLE_PAIRS: Final = """CYPHER 25
MATCH (a:Note {tenant_id: $tenant_id, user_id: $user_id})
WHERE a.note_id >= ''
MATCH (a)-[u:USED_WITH]->()
WHERE u.last_use_time < $before
DELETE u
"""
_SET_SUCCESSORS: Final = """CYPHER 25
UNWIND $successors AS given
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: given[0]})
SET n.successor_id = given[1]
"""
#: Reads all of the user's notes, as the look-up of sources does: an index would cost each write.
_VECTORS_OF: Final[LiteralString] = f"""CYPHER 25
UNWIND $note_ids AS note_id
MATCH (n:Note {{tenant_id: $tenant_id, user_id: $user_id, note_id: note_id}})
WHERE n.model = $model
RETURN n.note_id AS note_id, {four_byte("n.embedding")} AS vector
"""
_MADE_FROM: Final = """CYPHER 25
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id})
WHERE n.note_id >= '' AND any(source IN n.source_note_ids WHERE source IN $note_ids)
RETURN n.note_id AS note_id ORDER BY note_id
"""
_REPLACED_BY: Final = """CYPHER 25
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id})
WHERE n.note_id >= '' AND n.successor_id IN $note_ids
RETURN n.note_id AS note_id ORDER BY note_id
"""


class Neo4jUpkeepReads:
    """Implements `UpkeepReads`."""

    keeps_two_models = False  # a note has one vector, in one vector index

    _graph: Graph
    _keys: GraphDataKeys

    async def note_owners(self, *, after: Owner | None, limit: int) -> list[Owner]:
        """See `UpkeepReads.note_owners`."""
        place = ("", "") if after is None else (after.tenant_id, after.user_id)
        rows = await self._graph.read(_OWNERS, {"tenant_id": place[0], "user_id": place[1], "limit": limit})
        return [Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])) for row in rows]

    async def notes_stamp(self, owner: Owner) -> str:
        """See `UpkeepReads.notes_stamp`."""
        [row] = await self._graph.read(_STAMP, _owned(owner))
        return f"{row['notes']} {row['time']} {row['accesses']}"

    async def active_notes(self, owner: Owner, *, after: NoteId, limit: int, model: str) -> list[StoredNote]:
        """See `UpkeepReads.active_notes`."""
        parameters = {"after": after, "limit": limit, "model": model}
        rows = await self._graph.read(_ACTIVE_NOTES, _owned(owner) | parameters)
        cipher = await graph_cipher(self._keys, self._graph.read, owner)
        notes = await notes_from_values([row["note"] for row in rows], cipher)
        vectors = [row["vector"] for row in rows]
        return [
            StoredNote(note, None if vector is None else np.asarray(vector.to_numpy(), dtype=np.float32))
            for note, vector in zip(notes, vectors, strict=True)
        ]

    async def active_links(self, owner: Owner, *, after: LinkKey | None, limit: int) -> list[Link]:
        """See `UpkeepReads.active_links`."""
        begin = ("", "", 0) if after is None else (after.from_note_id, after.to_note_id, int(after.type))
        parameters = {"from_note_id": begin[0], "to_note_id": begin[1], "type": begin[2], "limit": limit}
        rows = await self._graph.read(ACTIVE_LINKS, _owned(owner) | parameters)
        return [link_from_fields(row["link"]) for row in rows]

    async def owners_of_other_models(self, model: str, *, after: Owner | None, limit: int) -> list[Owner]:
        """See `UpkeepReads.owners_of_other_models`."""
        place = ("", "") if after is None else (after.tenant_id, after.user_id)
        # A page of users may have no such notes at all: the next one is read then.
        while True:
            parameters = {"tenant_id": place[0], "user_id": place[1], "model": model, "limit": limit}
            rows = await self._graph.read(_OTHER_OWNERS, parameters)
            found = [Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])) for row in rows if row["count"]]
            if found or len(rows) < limit:
                return found
            place = (rows[-1]["tenant_id"], rows[-1]["user_id"])

    async def owners_of_two_models(self, model: str, *, after: Owner | None, limit: int) -> list[Owner]:
        """See `UpkeepReads.owners_of_two_models`: there are none."""
        del model, after, limit
        return []

    async def count_of_other_models(self, model: str, *, limit: int) -> int:
        """See `UpkeepReads.count_of_other_models`."""
        [row] = await self._graph.read(_COUNT_OTHERS, {"model": model, "limit": limit})
        return int(row["count"])

    async def has_active_of_other_models(self, owner: Owner, model: str) -> bool:
        """See `UpkeepReads.has_active_of_other_models`."""
        [row] = await self._graph.read(_HAS_OTHERS, {**_owned(owner), "model": model})
        return bool(row["count"])

    async def notes_of_other_models(self, owner: Owner, model: str, *, before: NoteId, limit: int) -> list[NoteId]:
        """See `UpkeepReads.notes_of_other_models`."""
        parameters = {"model": model, "before": before or BEHIND_ALL_IDS, "limit": limit}
        rows = await self._graph.read(NOTES_OF_OTHER_MODELS, _owned(owner) | parameters)
        return [NoteId(row["note_id"]) for row in rows]


class Neo4jUpkeepWrites:
    """Implements `UpkeepWrites` in an open transaction."""

    _transaction: GraphTransaction
    _owner: dict[str, Any]

    async def drop_vectors_of_other_models(self, model: str) -> int:
        """See `UpkeepWrites.drop_vectors_of_other_models`: there are none."""
        del model
        return 0

    async def links_among(self, note_ids: Sequence[NoteId]) -> list[Link]:
        """See `UpkeepWrites.links_among`."""
        [row] = await self._transaction.run(LINKS_AMONG, {**self._owner, "note_ids": list(note_ids)})
        return [link_from_fields(link) for link in row["links"]]

    async def count_pairs(self, pairs: Sequence[PairUse]) -> Mapping[NotePair, int]:
        """See `UpkeepWrites.count_pairs`."""
        rows = [
            {
                "note_id": use.pair[0],
                "other_note_id": use.pair[1],
                "count": use.count,
                "time": whole_microseconds(use.time),
            }
            for use in pairs
        ]
        [row] = await self._transaction.run(COUNT_PAIRS, {**self._owner, "pairs": rows})
        return {(NoteId(one), NoteId(other)): count for one, other, count in row["counts"]}

    async def forget_pairs(self, pairs: Sequence[NotePair]) -> None:
        """See `UpkeepWrites.forget_pairs`."""
        await self._transaction.run(FORGET_PAIRS, {**self._owner, "pairs": [list(pair) for pair in pairs]})

    async def forget_idle_pairs(self, before: datetime) -> None:
        """See `UpkeepWrites.forget_idle_pairs`."""
        await self._transaction.run(FORGET_IDLE_PAIRS, {**self._owner, "before": whole_microseconds(before)})

    async def set_successors(self, successors: Mapping[NoteId, NoteId | None]) -> None:
        """See `UpkeepWrites.set_successors`."""
        given = [list(each) for each in successors.items()]
        await self._transaction.run(_SET_SUCCESSORS, {**self._owner, "successors": given})

    async def vectors_of(self, note_ids: Sequence[NoteId], *, model: str) -> Mapping[NoteId, Vector]:
        """See `UpkeepWrites.vectors_of`."""
        asked = {**self._owner, "note_ids": list(note_ids), "model": model}
        rows = await self._transaction.run(_VECTORS_OF, asked)
        return {NoteId(row["note_id"]): np.asarray(row["vector"].to_numpy(), dtype=np.float32) for row in rows}

    async def made_from(self, note_ids: Sequence[NoteId]) -> list[NoteId]:
        """See `UpkeepWrites.made_from`."""
        return await self._ids(_MADE_FROM, note_ids)

    async def replaced_by(self, note_ids: Sequence[NoteId]) -> list[NoteId]:
        """See `UpkeepWrites.replaced_by`."""
        return await self._ids(_REPLACED_BY, note_ids)

    async def _ids(self, query: LiteralString, note_ids: Sequence[NoteId]) -> list[NoteId]:
        rows = await self._transaction.run(query, {**self._owner, "note_ids": list(note_ids)})
        return [NoteId(row["note_id"]) for row in rows]


def _owned(owner: Owner) -> dict[str, Any]:
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id}

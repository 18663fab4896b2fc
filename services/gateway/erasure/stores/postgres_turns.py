"""Turns of the log by their words, and those beside them, in PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, Final
from uuid import UUID

from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.rows import opened_rows
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.common.scope import Scope
from services.common.turns import MessageRole
from services.gateway.erasure.accents import spellings
from services.gateway.erasure.followups import Line
from services.gateway.erasure.model import Planned
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.stores import rows

TURNS: Final = """
    SELECT i.tenant_id, i.user_id, i.interaction_id, i.conversation_id, i.content, i.said_time
    FROM gateway.interactions AS i WHERE i.tenant_id = $1
"""
_SEEN: Final = "AND i.user_id = $2 AND ($3::text[] IS NULL OR i.scope_key = ANY($3))"
_AROUND: Final = """
    SELECT DISTINCT i.tenant_id, i.user_id, i.interaction_id, i.conversation_id, i.position, i.role, i.speaker,
        i.content, i.said_time
    FROM gateway.interactions AS t
    JOIN gateway.interactions AS i
        ON i.tenant_id = t.tenant_id AND i.user_id = t.user_id AND i.conversation_id = t.conversation_id
        AND i.position BETWEEN t.position - $4::bigint AND t.position + $5::bigint
    WHERE t.tenant_id = $1 AND t.user_id = $2 AND t.interaction_id = ANY($3::uuid[])
        AND ($7::text[] IS NULL OR i.scope_key = ANY($7))
    ORDER BY i.conversation_id, i.position LIMIT $6
"""
_TURNS_AT_ONCE: Final = 500
"""Encrypted turns that are read and decrypted together."""


class PostgresLoggedTurns:
    """Implements `LoggedTurns`."""

    def __init__(self, pool: Pool, *, keys: DataKeys = NO_DATA_KEYS) -> None:
        """Uses the journal's pool, schema and data keys."""
        self._pool = pool
        self._keys = keys

    async def turns_with(
        self, tenant_id: str, user_id: str, beginnings: Collection[str], *, reader: Scope | None = None, limit: int
    ) -> Sequence[Planned]:
        """See `LoggedTurns.turns_with`. Reads all of the user's turns."""
        if not beginnings:
            return ()
        words = "|".join(spellings(beginning) for beginning in sorted(beginnings))
        pattern = rf"\m({words})"
        async with tenant_transaction(self._pool, tenant_id) as connection:
            if self._keys.is_on:
                wanted = re.compile(rf"(?<!\w)(?:{words})", re.IGNORECASE)
                return await self._opened_turns_with(connection, tenant_id, user_id, reader, wanted, limit)
            found = await connection.fetch(
                f"{TURNS} {_SEEN} AND i.content ~* $4 ORDER BY i.said_time DESC, i.interaction_id LIMIT $5",
                tenant_id,
                user_id,
                _places(reader),
                pattern,
                limit,
            )
            # What was encrypted before encryption was switched off is refused.
            opened = await opened_rows(self._keys, connection, rows.INTERACTIONS, found)
        return [planned_row(row) for row in opened]

    async def turns_around(
        self,
        tenant_id: str,
        user_id: str,
        turn_ids: Collection[str],
        *,
        before: int,
        behind: int,
        reader: Scope | None = None,
        limit: int,
    ) -> Sequence[tuple[Planned, Line]]:
        """See `LoggedTurns.turns_around`."""
        if not turn_ids:
            return ()
        async with tenant_transaction(self._pool, tenant_id) as connection:
            ids = [UUID(turn_id) for turn_id in turn_ids]
            found = await connection.fetch(_AROUND, tenant_id, user_id, ids, before, behind, limit, _places(reader))
            opened = await opened_rows(self._keys, connection, rows.INTERACTIONS, found)
        return [(planned_row(row), _line(row)) for row in opened]

    async def _opened_turns_with(
        self,
        connection: Connection,
        tenant_id: str,
        user_id: str,
        reader: Scope | None,
        wanted: re.Pattern[str],
        limit: int,
    ) -> Sequence[Planned]:
        """The same where the database cannot read the turns: they are decrypted by pages and searched here."""
        turns: list[Planned] = []
        statement = f"{TURNS} {_SEEN} ORDER BY i.said_time DESC, i.interaction_id"
        cursor = await connection.cursor(statement, tenant_id, user_id, _places(reader))
        while len(turns) < limit and (found := await cursor.fetch(_TURNS_AT_ONCE)):
            opened = await opened_rows(self._keys, connection, rows.INTERACTIONS, found)
            turns += [planned_row(row) for row in opened if wanted.search(row["content"])]
        return turns[:limit]


def _places(reader: Scope | None) -> list[str] | None:
    return None if reader is None else list(reader.visible_keys())


def planned_row(row: Any) -> Planned:
    """Returns a turn from a row of the log."""
    return Planned(MemoryKind.EPISODE, str(row["interaction_id"]), row["content"], row["said_time"])


def _line(row: Any) -> Line:
    return Line(
        turn_id=str(row["interaction_id"]),
        conversation_id=row["conversation_id"],
        position=row["position"],
        speaker=row["speaker"],
        text=row["content"],
        is_assistant=row["role"] != MessageRole.USER,
    )

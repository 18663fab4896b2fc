"""Where sessions begin and end, in PostgreSQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from services.common.clock import Clock
from services.common.errors import MnemeError
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.gateway.journal.ending import EndCommand, SessionRecord
from services.gateway.journal.model import Appended, Caller, RememberCommand, SessionEvent, SubjectKind, Tier
from services.gateway.journal.stores import rows

_METHOD: Final = "EndSession"

_DROP_DELIVERIES: Final = """
    DELETE FROM gateway.deliveries WHERE tenant_id = $1 AND tier = $4 AND kind = 1 AND given_up_time IS NULL
    AND sequence IN (
        SELECT i.sequence FROM gateway.conversations c
        JOIN gateway.interactions i ON i.tenant_id = c.tenant_id AND i.user_id = c.user_id
            AND i.conversation_id = c.conversation_id AND i.position >= c.session_start
        WHERE c.tenant_id = $1 AND c.user_id = $2 AND c.conversation_id = $3)
"""


class PostgresSessions(ABC):
    """The part of the journal that implements `SessionLog`."""

    _pool: Pool
    _clock: Clock

    @abstractmethod
    async def _append_one(
        self, connection: Connection, caller: Caller, command: RememberCommand, session_delay: timedelta
    ) -> Appended | MnemeError:
        """Appends within the connection's transaction."""

    async def session_start(self, tenant_id: str, user_id: str, conversation_id: str) -> int:
        """See `SessionLog.session_start`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetchval(
                "SELECT session_start FROM gateway.conversations"
                " WHERE tenant_id = $1 AND user_id = $2 AND conversation_id = $3",
                tenant_id,
                user_id,
                conversation_id,
            )
        return int(found or 0)

    async def session_record(self, tenant_id: str, user_id: str, conversation_id: str) -> SessionRecord | None:
        """See `SessionLog.session_record`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetchrow(
                "SELECT session_window, session_ttl, session_active FROM gateway.conversations"
                " WHERE tenant_id = $1 AND user_id = $2 AND conversation_id = $3 AND session_window IS NOT NULL",
                tenant_id,
                user_id,
                conversation_id,
            )
        return SessionRecord(*found) if found is not None else None

    async def put_session_record(
        self, tenant_id: str, user_id: str, conversation_id: str, record: SessionRecord
    ) -> None:
        """See `SessionLog.put_session_record`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            await connection.execute(
                "INSERT INTO gateway.conversations (tenant_id, user_id, conversation_id, next_position,"
                " interaction_count, session_window, session_ttl, session_active, create_time, update_time)"
                " VALUES ($1, $2, $3, 0, 0, $4, $5, $6, $7, $7)"
                " ON CONFLICT (tenant_id, user_id, conversation_id) DO UPDATE SET"
                " session_window = excluded.session_window, session_ttl = excluded.session_ttl,"
                " session_active = excluded.session_active",
                tenant_id,
                user_id,
                conversation_id,
                record.window_turns,
                record.ttl,
                record.active_time,
                self._clock.now(),
            )

    async def archive(self, caller: Caller, commands: Sequence[RememberCommand]) -> int:
        """See `SessionLog.archive`."""
        ids = [UUID(text) for command in commands for text in command.interaction_ids]
        archived = 0
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            known = set(await rows.known_ids(connection, caller.tenant_id, ids))
            for command in commands:
                new = [(i, t) for i, t in zip(command.interaction_ids, command.turns, strict=True) if i not in known]
                if not new:
                    continue
                known.update(interaction_id for interaction_id, _ in new)
                chosen = replace(
                    command, interaction_ids=tuple(i for i, _ in new), turns=tuple(turn for _, turn in new)
                )
                outcome = await self._append_one(connection, caller, chosen, timedelta())
                if isinstance(outcome, MnemeError):
                    raise outcome
                await connection.execute(
                    "DELETE FROM gateway.deliveries WHERE tenant_id = $1 AND tier = $2 AND sequence BETWEEN $3 AND $4",
                    caller.tenant_id,
                    int(Tier.SESSION),
                    outcome.span.first,
                    outcome.span.last,
                )
                archived += len(new)
        return archived

    async def set_aside(self, event: SessionEvent, *, attempts: int, reason: str, detail: str) -> None:
        """See `SessionLog.set_aside`. Its sequence is 0: no consistency token names it."""
        async with tenant_transaction(self._pool, event.tenant_id) as connection:
            await connection.execute(
                "INSERT INTO gateway.deliveries (tenant_id, tier, kind, subject_id, sequence, user_id, attempts,"
                " next_attempt_time, last_reason, last_detail, given_up_time, create_time, payload)"
                " VALUES ($1, $2, $3, $4, 0, $5, $6, $9, $7, $8, $9, $9, $10)",
                event.tenant_id,
                int(Tier.SESSION),
                int(SubjectKind.SESSION_EVENT),
                UUID(event.event_id),
                event.user_id,
                attempts,
                reason,
                detail,
                self._clock.now(),
                event.payload,
            )

    async def end_session(self, caller: Caller, command: EndCommand) -> None:
        """See `SessionLog.end_session`. Waits for a worker that delivers such a turn just now."""
        session = (caller.tenant_id, command.user_id, command.conversation_id)
        digest = "\0".join(session).encode()
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            earlier = await connection.fetchval(
                "SELECT gateway.claim_request($1, $2, $3, $4, $5, $6, $7)",
                caller.tenant_id,
                caller.principal_id,
                _METHOD,
                command.request_id,
                command.user_id,
                digest,
                self._clock.now(),
            )
            if earlier is not None:
                rows.checked(earlier)
                return
            # First, so that the wait for a worker does not hold up writers of the conversation.
            await connection.execute(_DROP_DELIVERIES, *session, int(Tier.SESSION))
            await connection.execute(
                "UPDATE gateway.conversations SET session_start = next_position,"
                " session_window = NULL, session_ttl = NULL, session_active = NULL"
                " WHERE tenant_id = $1 AND user_id = $2 AND conversation_id = $3",
                *session,
            )
            await connection.execute(
                "UPDATE gateway.requests SET answer = '{}'::jsonb"
                " WHERE tenant_id = $1 AND principal_id = $2 AND method = $3 AND request_id = $4",
                caller.tenant_id,
                caller.principal_id,
                _METHOD,
                command.request_id,
            )

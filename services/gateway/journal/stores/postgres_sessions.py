"""Where sessions begin and end, in PostgreSQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from services.common.clock import Clock
from services.common.errors import MnemeError
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.gateway.journal.ending import EndCommand, Ended
from services.gateway.journal.model import Appended, Caller, RememberCommand, Tier
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

    async def earlier_end(self, caller: Caller, command: EndCommand) -> Ended | None:
        """See `SessionLog.earlier_end`."""
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            found = await connection.fetchrow(
                "SELECT request_hash, answer FROM gateway.requests"
                " WHERE tenant_id = $1 AND principal_id = $2 AND method = $3 AND request_id = $4",
                caller.tenant_id,
                caller.principal_id,
                _METHOD,
                command.request_id,
            )
        if found is None:
            return None
        return _ended({"reused": True} if found["request_hash"] != command.digest else found["answer"])

    async def end_session(self, caller: Caller, command: EndCommand, archive: Sequence[RememberCommand]) -> Ended:
        """See `SessionLog.end_session`. Waits for a worker that delivers such a turn just now."""
        now = self._clock.now()
        session = (caller.tenant_id, command.user_id, command.conversation_id)
        request = (caller.tenant_id, caller.principal_id, _METHOD, command.request_id)
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            if command.request_id:
                earlier = await connection.fetchval(
                    "SELECT gateway.claim_request($1, $2, $3, $4, $5, $6, $7)",
                    *request,
                    command.user_id,
                    command.digest,
                    now,
                )
                if earlier is not None:
                    return _ended(earlier)
            # First, so that the wait for a worker does not hold up writers of the conversation.
            await connection.execute(_DROP_DELIVERIES, *session, int(Tier.SESSION))
            for turns in archive:
                outcome = await self._append_one(connection, caller, turns, timedelta())
                if isinstance(outcome, MnemeError):
                    raise outcome
            if archive:
                await connection.execute(_DROP_DELIVERIES, *session, int(Tier.SESSION))
            await connection.execute(
                "UPDATE gateway.conversations SET session_start = next_position"
                " WHERE tenant_id = $1 AND user_id = $2 AND conversation_id = $3",
                *session,
            )
            archived = sum(len(turns.turns) for turns in archive)
            if command.request_id:
                await connection.execute(
                    "UPDATE gateway.requests SET answer = $5"
                    " WHERE tenant_id = $1 AND principal_id = $2 AND method = $3 AND request_id = $4",
                    *request,
                    {"archived": archived, "ended": rows.to_micros(now)},
                )
        return Ended(archived, now, replayed=False)


def _ended(answer: dict[str, Any]) -> Ended:
    rows.checked(answer)
    return Ended(answer["archived"], rows.from_micros(answer["ended"]), replayed=True)

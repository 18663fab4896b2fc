"""Where sessions begin and end, in PostgreSQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from services.common.clock import Clock
from services.common.encryption.cipher import Cipher
from services.common.encryption.postgres import DataKeys
from services.common.encryption.rows import opened_rows
from services.common.errors import MnemeError
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.gateway.journal.ending import EndCommand, SessionBeginning, SessionRecord, SessionRequest
from services.gateway.journal.model import (
    ITEM_KEY,
    Appended,
    Caller,
    Interaction,
    RememberCommand,
    SessionEvent,
    SubjectKind,
    Tier,
)
from services.gateway.journal.stores import rows

_METHOD: Final = "EndSession"
_APPEND_FIELD: Final = "requests.append"

_RESPONSE_FIELD: Final = "requests.session"

_FIRST_RESPONSE: Final = """
    SELECT request_hash, response FROM gateway.requests
    WHERE tenant_id = $1 AND principal_id = $2 AND method = $3 AND request_id = $4
"""
_PUT_RESPONSE: Final = """
    INSERT INTO gateway.requests
        (tenant_id, principal_id, method, request_id, user_id, request_hash, response, create_time)
    VALUES ($1, $2, $3, $4, $5, $6, jsonb_build_object('session', $7::text), $8)
    ON CONFLICT DO NOTHING
"""
_OF_REQUEST: Final = """
    FROM gateway.requests
    WHERE tenant_id = $1 AND principal_id = $2 AND method = 'Remember' AND request_id = $3
"""
_PUT_APPEND: Final = """
    UPDATE gateway.requests SET response = response || jsonb_build_object('append', $4::text)
    WHERE tenant_id = $1 AND principal_id = $2 AND method = 'Remember' AND request_id = $3
"""

_BEGINNING: Final = """
    SELECT c.session_start, (
        SELECT i.create_time FROM gateway.interactions i
        WHERE i.tenant_id = c.tenant_id AND i.user_id = c.user_id AND i.conversation_id = c.conversation_id
            AND i.position >= c.session_start
        ORDER BY i.position LIMIT 1
    ) FROM gateway.conversations c WHERE c.tenant_id = $1 AND c.user_id = $2 AND c.conversation_id = $3
"""
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
    _keys: DataKeys

    @abstractmethod
    async def _append_one(
        self,
        connection: Connection,
        caller: Caller,
        command: RememberCommand,
        session_delay: timedelta,
        cipher: Cipher,
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

    async def session_beginning(self, tenant_id: str, user_id: str, conversation_id: str) -> SessionBeginning:
        """See `SessionLog.session_beginning`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetchrow(_BEGINNING, tenant_id, user_id, conversation_id)
        return SessionBeginning(*found) if found is not None else SessionBeginning(0, None)

    async def first_append(self, caller: Caller, command: RememberCommand) -> bytes | None:
        """See `SessionLog.first_append`."""
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            found = await connection.fetchval(
                f"SELECT response->>'append' {_OF_REQUEST} AND request_hash = $4",
                caller.tenant_id,
                caller.principal_id,
                command.request_id,
                command.digest,
            )
            if found is None:
                return None
            ciphers = await self._keys.for_reading(connection, [(caller.tenant_id, command.user_id)])
        opened = ciphers.of(caller.tenant_id, command.user_id).open(command.request_id, _APPEND_FIELD, found)
        return bytes.fromhex(opened)

    async def put_append(self, caller: Caller, command: RememberCommand, response: bytes) -> None:
        """See `SessionLog.put_append`."""
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            ciphers = await self._keys.for_writing(connection, caller.tenant_id, [command.user_id])
            cipher = ciphers.of(caller.tenant_id, command.user_id)
            sealed = cipher.seal(command.request_id, _APPEND_FIELD, response.hex())
            await connection.execute(_PUT_APPEND, caller.tenant_id, caller.principal_id, command.request_id, sealed)

    async def first_response(self, caller: Caller, request: SessionRequest) -> bytes | None:
        """See `SessionLog.first_response`."""
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            found = await connection.fetchrow(
                _FIRST_RESPONSE, caller.tenant_id, caller.principal_id, request.method, request.request_id
            )
            if found is None:
                return None
            sealed = rows.checked(found["response"] if found["request_hash"] == request.digest else {"reused": True})
            ciphers = await self._keys.for_reading(connection, [(caller.tenant_id, request.user_id)])
        cipher = ciphers.of(caller.tenant_id, request.user_id)
        return bytes.fromhex(cipher.open(request.request_id, _RESPONSE_FIELD, sealed["session"]))

    async def put_response(self, caller: Caller, request: SessionRequest, response: bytes) -> None:
        """See `SessionLog.put_response`."""
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            ciphers = await self._keys.for_writing(connection, caller.tenant_id, [request.user_id])
            cipher = ciphers.of(caller.tenant_id, request.user_id)
            await connection.execute(
                _PUT_RESPONSE,
                caller.tenant_id,
                caller.principal_id,
                request.method,
                request.request_id,
                request.user_id,
                request.digest,
                cipher.seal(request.request_id, _RESPONSE_FIELD, response.hex()),
                self._clock.now(),
            )

    async def session_record(self, tenant_id: str, user_id: str, conversation_id: str) -> SessionRecord | None:
        """See `SessionLog.session_record`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetchrow(
                "SELECT session_window, session_ttl, session_active, session_created FROM gateway.conversations"
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
                " interaction_count, session_window, session_ttl, session_active, create_time, update_time,"
                " session_created)"
                " VALUES ($1, $2, $3, 0, 0, $4, $5, $6, $7, $7, $8)"
                " ON CONFLICT (tenant_id, user_id, conversation_id) DO UPDATE SET"
                " session_window = excluded.session_window, session_ttl = excluded.session_ttl,"
                " session_active = excluded.session_active,"
                " session_created = coalesce(excluded.session_created, conversations.session_created)",
                tenant_id,
                user_id,
                conversation_id,
                record.window_turns,
                record.ttl,
                record.active_time,
                self._clock.now(),
                record.create_time,
            )

    async def archive(self, caller: Caller, commands: Sequence[RememberCommand]) -> int:
        """See `SessionLog.archive`."""
        ids = [UUID(text) for command in commands for text in command.interaction_ids]
        archived = 0
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            ciphers = await self._keys.for_writing(connection, caller.tenant_id, {c.user_id for c in commands})
            known = set(await rows.known_ids(connection, caller.tenant_id, ids))
            for command in commands:
                new = [(i, t) for i, t in zip(command.interaction_ids, command.turns, strict=True) if i not in known]
                if not new:
                    continue
                known.update(interaction_id for interaction_id, _ in new)
                chosen = replace(
                    command, interaction_ids=tuple(i for i, _ in new), turns=tuple(turn for _, turn in new)
                )
                cipher = ciphers.of(caller.tenant_id, chosen.user_id)
                outcome = await self._append_one(connection, caller, chosen, timedelta(), cipher)
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

    async def context_items(
        self, tenant_id: str, user_id: str, conversation_id: str, item_ids: Sequence[str]
    ) -> dict[str, Interaction]:
        """See `JournalReader.context_items`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetch(
                f"SELECT {rows.INTERACTION_COLUMNS} FROM gateway.interactions i WHERE i.tenant_id = $1"  # noqa: S608
                " AND i.user_id = $2 AND i.conversation_id = $3"
                " AND (i.extra->'metadata'->>$4 = ANY($5) OR i.extra ? 'sealed')"
                " ORDER BY i.position",
                tenant_id,
                user_id,
                conversation_id,
                ITEM_KEY,
                list(item_ids),
            )
            opened = await opened_rows(self._keys, connection, rows.INTERACTIONS, found)
        wanted = frozenset(item_ids)
        items = (
            (interaction.turn.metadata.get(ITEM_KEY), interaction) for interaction in map(rows.interaction, opened)
        )
        return {item_id: interaction for item_id, interaction in items if item_id in wanted}

    async def set_aside(self, event: SessionEvent, *, attempts: int, reason: str, detail: str) -> None:
        """See `SessionLog.set_aside`. Its sequence is 0: no consistency token names it."""
        async with tenant_transaction(self._pool, event.tenant_id) as connection:
            ciphers = await self._keys.for_writing(connection, event.tenant_id, [event.user_id])
            values = {"subject_id": UUID(event.event_id), "payload": event.payload}
            sealed = rows.DELIVERIES.seal(ciphers.of(event.tenant_id, event.user_id), values)
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
                sealed["payload"],
            )

    async def end_session(self, caller: Caller, command: EndCommand) -> None:
        """See `SessionLog.end_session`. Waits for a worker that delivers such a turn just now."""
        session = (caller.tenant_id, command.user_id, command.conversation_id)
        digest = "\0".join(session).encode()
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            earlier = await connection.fetchval(
                "SELECT gateway.claim_request($1, $2, $3, $4, $5, $6, $7, $8)",
                caller.tenant_id,
                caller.principal_id,
                _METHOD,
                command.request_id,
                command.user_id,
                digest,
                self._clock.now(),
                {"conversation": command.conversation_id},
            )
            if earlier is not None:
                rows.checked(earlier)
                return
            # First, so that the wait for a worker does not hold up writers of the conversation.
            await connection.execute(_DROP_DELIVERIES, *session, int(Tier.SESSION))
            await connection.execute(
                "UPDATE gateway.conversations SET session_start = next_position,"
                " session_window = NULL, session_ttl = NULL, session_active = NULL, session_created = NULL"
                " WHERE tenant_id = $1 AND user_id = $2 AND conversation_id = $3",
                *session,
            )
            await connection.execute(
                "UPDATE gateway.requests SET response = '{}'::jsonb"
                " WHERE tenant_id = $1 AND principal_id = $2 AND method = $3 AND request_id = $4",
                caller.tenant_id,
                caller.principal_id,
                _METHOD,
                command.request_id,
            )

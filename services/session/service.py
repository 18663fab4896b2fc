"""Use cases of the session tier."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from services.common.clock import Clock
from services.common.errors import NotFound
from services.common.ids import IdSource
from services.common.owners import InteractionId, Owner, TenantId
from services.common.scope import Scope
from services.common.tokens import TokenCounter
from services.session.config import SessionSettings
from services.session.context_window.service import ContextWindowService
from services.session.lifetimes import LifetimeReports
from services.session.model import (
    AppendCommand,
    Appended,
    ConversationId,
    CreateCommand,
    DeleteCommand,
    ExtendCommand,
    ListCommand,
    LogEvent,
    NewTurn,
    Report,
    SaidTurn,
    Session,
    SessionCursor,
    SessionKey,
    SessionPage,
    SessionSpec,
    turn_size_bytes,
)
from services.session.store import SessionStore, StoreResponse

_EVENT_BYTES: Final = 512
"""About what an event without a turn takes."""


class SessionService:
    """Serves the last turns of running conversations.

    Commands are checked before they come here. All use cases raise `StoreUnavailable`, and those with a
    request id `InvalidArgument` (REQUEST_ID_REUSED), as the store does.
    """

    def __init__(
        self,
        store: SessionStore,
        tokens: TokenCounter,
        *,
        clock: Clock,
        ids: IdSource,
        settings: SessionSettings,
        windows: ContextWindowService,
    ) -> None:
        """Stores them in `store`, with their lengths as `tokens` counts them.

        The context window of a session is removed from `windows` with it.
        """
        self._windows = windows
        self._store = store
        self._tokens = tokens
        self._clock = clock
        self._ids = ids
        self._defaults = settings.defaults
        self._limits = settings.limits
        self.lifetimes: Final = LifetimeReports(store, clock, settings.lifetimes)

    async def create(self, command: CreateCommand) -> StoreResponse[Session]:
        """Open an empty session.

        Raises:
            AlreadyExists: There is a live one of this id.
        """
        key = SessionKey(command.owner, command.conversation_id or ConversationId(self._ids.new_id()))
        spec = SessionSpec(command.window_turns or self._defaults.window_turns, command.ttl or self._defaults.ttl)
        return await self._store.create(
            key, spec, now=self._clock.now(), idempotency_key=command.idempotency_key, report=Report.BOUNDED
        )

    async def get(self, key: SessionKey) -> StoreResponse[Session]:
        """Read a session, which resets its time to live.

        Raises:
            NotFound: There is no live one.
        """
        response = await self._store.get(key, now=self._clock.now())
        self.lifetimes.note_read(response.value)
        return replace(response, value=self._fitting(response.value))

    async def list_sessions(self, command: ListCommand) -> StoreResponse[SessionPage]:
        """List a user's live sessions without their turns, the last active first, ties by id."""
        response = await self._store.list_sessions(
            command.owner, limit=command.page_size + 1, after=command.after, now=self._clock.now()
        )
        sessions = tuple(response.value[: command.page_size])
        cursor = None
        if len(response.value) > command.page_size:
            cursor = SessionCursor(sessions[-1].last_active_time, sessions[-1].key.conversation_id)
        return StoreResponse(SessionPage(sessions, cursor), response.is_degraded)

    async def append(self, command: AppendCommand) -> StoreResponse[Appended]:
        """Add turns to a session, which is created where it is missing if the command asks for it.

        They are reported to the conversation log.

        Raises:
            NotFound: There is no live one, and it is not to be created.
            LimitExceeded: Too many turns of the user wait for the log.
        """
        return await self._append(command, Report.BOUNDED)

    async def ingest(self, command: AppendCommand) -> StoreResponse[Appended]:
        """Add turns of the conversation log to their session, which is created where it is missing."""
        return await self._append(command, Report.NO)

    async def log_events(self, owner: Owner | None, limit: int) -> Sequence[LogEvent]:
        """What the conversation log does not have yet, of one user or of all; not more than a message holds."""
        events = await self._store.log_events(owner, limit=limit, now=self._clock.now())
        bytes_left = self._limits.response_bytes_max
        for index, event in enumerate(events):
            bytes_left -= turn_size_bytes(event.content.turn) if isinstance(event.content, NewTurn) else _EVENT_BYTES
            if bytes_left < 0 and index:
                return events[:index]
        return events

    async def acknowledge(self, owner: Owner, event_ids: Sequence[str]) -> None:
        """Remove events that are in the conversation log."""
        await self._store.acknowledge(owner, event_ids, now=self._clock.now())

    async def remove(self, tenant_id: TenantId, owner: Owner | None, conversation_id: ConversationId | None) -> int:
        """Remove a session of a user, all that is the user's, or without a user all that is the tenant's.

        The conversation log gets no event of it.

        Returns:
            How many sessions were live.
        """
        now = self._clock.now()
        await self._windows.remove(tenant_id, owner, conversation_id)
        if owner is None:
            return await self._store.remove_tenant(tenant_id, now=now)
        if conversation_id is not None:
            try:
                await self._store.delete(SessionKey(owner, conversation_id), now=now)
            except NotFound:
                return 0
            return 1
        return await self._store.remove_owner(owner, now=now)

    async def remove_scope(self, owner: Owner, scope: Scope, *, with_nested: bool) -> int:
        """Remove items of a scope from the user's context windows; how many. Turns of sessions have no scope."""
        return await self._windows.remove_scope(owner, scope, with_nested=with_nested)

    async def _append(self, command: AppendCommand, report: Report) -> StoreResponse[Appended]:
        turns = await self._counted(command.turns)
        spec = command.spec or SessionSpec(self._defaults.window_turns, self._defaults.ttl)
        response = await self._store.append(
            command.key,
            turns,
            create=spec if command.create_if_missing else None,
            past=command.past,
            now=self._clock.now(),
            idempotency_key=command.idempotency_key,
            report=report,
        )
        self.lifetimes.note_write(command.key)
        appended = replace(response.value, session=self._fitting(response.value.session))
        return replace(response, value=appended)

    async def extend(self, command: ExtendCommand) -> StoreResponse[Session]:
        """Reset the time to live of a session, or set another one.

        Raises:
            NotFound: There is no live one.
        """
        response = await self._store.extend(
            command.key,
            ttl=command.ttl,
            now=self._clock.now(),
            idempotency_key=command.idempotency_key,
            report=Report.BOUNDED,
        )
        self.lifetimes.note_extended(command.key)
        return response

    async def delete(self, command: DeleteCommand) -> StoreResponse[Session]:
        """Remove a session and return what it held; its deletion is reported to the conversation log.

        Raises:
            NotFound: There is no live one.
        """
        response = await self._store.delete(
            command.key,
            now=self._clock.now(),
            idempotency_key=command.idempotency_key,
            report=Report.ALWAYS,
            discard=command.discard,
        )
        if not response.is_repeat:
            owner = command.key.owner
            await self._windows.remove(owner.tenant_id, owner, command.key.conversation_id)
        return replace(response, value=self._fitting(response.value))

    async def _counted(self, said: Sequence[SaidTurn]) -> list[NewTurn]:
        chars = sum(len(turn.turn.content) for turn in said)
        if chars > self._limits.count_inline_chars_max:
            counts = await asyncio.to_thread(self._token_counts, said)  # other calls must not wait for it
        else:
            counts = self._token_counts(said)
        return [
            NewTurn(
                interaction_id=turn.interaction_id or InteractionId(self._ids.new_id()),
                position=turn.position,
                turn=turn.turn,
                token_count=count,
                scope=turn.scope,
            )
            for turn, count in zip(said, counts, strict=True)
        ]

    def _token_counts(self, said: Sequence[SaidTurn]) -> list[int]:
        return [self._tokens.count_tokens(turn.turn.content) for turn in said]

    def _fitting(self, session: Session) -> Session:
        """The session with as many of its last turns as one message holds.

        A window may hold a thousand turns of many kilobytes; a response that no client accepts helps nobody.
        """
        bytes_left = self._limits.response_bytes_max
        for kept, turn in enumerate(reversed(session.turns)):
            bytes_left -= turn_size_bytes(turn.turn) + len(turn.interaction_id.encode()) + len(turn.scope.key.encode())
            if bytes_left < 0:
                return replace(session, turns=session.turns[-max(kept, 1) :])
        return session

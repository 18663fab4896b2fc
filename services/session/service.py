"""Use cases of the session tier."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from services.common.clock import Clock
from services.common.ids import IdSource
from services.common.tokens import TokenCounter
from services.session.config import SessionSettings
from services.session.model import (
    AppendCommand,
    Appended,
    CreateCommand,
    DeleteCommand,
    ExtendCommand,
    ListCommand,
    NewTurn,
    SaidTurn,
    Session,
    SessionCursor,
    SessionId,
    SessionKey,
    SessionPage,
    SessionSpec,
    TurnId,
    turn_size_bytes,
)
from services.session.store import Answer, SessionStore


class SessionService:
    """Keeps the last turns of running conversations.

    Commands are checked before they come here. All use cases raise `StoreUnavailable`, and those with a mark
    `InvalidArgument` (REQUEST_ID_REUSED), as the store does.
    """

    def __init__(
        self,
        store: SessionStore,
        tokens: TokenCounter,
        *,
        clock: Clock,
        ids: IdSource,
        settings: SessionSettings,
    ) -> None:
        """Keep them in `store`, with their lengths as `tokens` counts them."""
        self._store = store
        self._tokens = tokens
        self._clock = clock
        self._ids = ids
        self._defaults = settings.defaults
        self._limits = settings.limits

    async def create(self, command: CreateCommand) -> Answer[Session]:
        """Open an empty session.

        Raises:
            AlreadyExists: There is a live one of this id.
        """
        key = SessionKey(command.owner, command.session_id or SessionId(self._ids.new_id()))
        spec = SessionSpec(command.window_turns or self._defaults.window_turns, command.ttl or self._defaults.ttl)
        return await self._store.create(key, spec, now=self._clock.now(), mark=command.mark)

    async def get(self, key: SessionKey) -> Answer[Session]:
        """Read a session, which resets its time to live.

        Raises:
            NotFound: There is no live one.
        """
        answer = await self._store.get(key, now=self._clock.now())
        return replace(answer, value=self._fitting(answer.value))

    async def list_sessions(self, command: ListCommand) -> Answer[SessionPage]:
        """List a user's live sessions without their turns, the last active first, ties by id."""
        answer = await self._store.list_sessions(
            command.owner, limit=command.page_size + 1, after=command.after, now=self._clock.now()
        )
        sessions = tuple(answer.value[: command.page_size])
        cursor = None
        if len(answer.value) > command.page_size:
            cursor = SessionCursor(sessions[-1].last_active_time, sessions[-1].key.session_id)
        return Answer(SessionPage(sessions, cursor), answer.is_degraded)

    async def append(self, command: AppendCommand) -> Answer[Appended]:
        """Add turns to a session, making it where it is missing if the command says so.

        Raises:
            NotFound: There is no live one, and it is not to be made.
        """
        turns = await self._counted(command.turns)
        spec = SessionSpec(self._defaults.window_turns, self._defaults.ttl)
        answer = await self._store.append(
            command.key,
            turns,
            create=spec if command.create_if_missing else None,
            now=self._clock.now(),
            mark=command.mark,
        )
        appended = replace(answer.value, session=self._fitting(answer.value.session))
        return replace(answer, value=appended)

    async def extend(self, command: ExtendCommand) -> Answer[Session]:
        """Reset the time to live of a session, or set another one.

        Raises:
            NotFound: There is no live one.
        """
        return await self._store.extend(command.key, ttl=command.ttl, now=self._clock.now(), mark=command.mark)

    async def delete(self, command: DeleteCommand) -> Answer[Session]:
        """Remove a session and return what it held.

        Raises:
            NotFound: There is no live one.
        """
        answer = await self._store.delete(command.key, now=self._clock.now(), mark=command.mark)
        return replace(answer, value=self._fitting(answer.value))

    async def _counted(self, said: Sequence[SaidTurn]) -> list[NewTurn]:
        chars = sum(len(turn.turn.content) for turn in said)
        if chars > self._limits.count_inline_chars_max:
            counts = await asyncio.to_thread(self._token_counts, said)  # other calls must not wait for it
        else:
            counts = self._token_counts(said)
        return [
            NewTurn(
                turn_id=turn.turn_id or TurnId(self._ids.new_id()),
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

        A window may hold a thousand turns of many kilobytes; an answer that no client accepts helps nobody.
        """
        room_bytes = self._limits.answer_bytes_max
        for kept, turn in enumerate(reversed(session.turns)):
            room_bytes -= turn_size_bytes(turn.turn) + len(turn.turn_id.encode()) + len(turn.scope.key.encode())
            if room_bytes < 0:
                return replace(session, turns=session.turns[-max(kept, 1) :])
        return session

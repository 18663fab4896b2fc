"""Running conversations: the session tier's window, rebuilt from the conversation log where it was lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog

from mneme.session.v1 import session_pb2
from services.common.auth import Principal
from services.common.clock import Clock
from services.common.convert import scope_to_proto, turn_from_proto, turn_to_proto
from services.common.errors import MnemeError, NotFound
from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.turns import Turn
from services.gateway.journal.model import Appended, Caller, Interaction, RememberCommand
from services.gateway.journal.store import Journal
from services.gateway.upstream import Upstream

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """How the gateway uses the session tier."""

    ttl: timedelta = timedelta(seconds=3600)  # lifetime after the last write in which a lost session is rebuilt
    window_turns: int = 10  # turns that a rebuilt session begins with
    append_timeout_seconds: float = 0.25  # for the attempt before the acknowledgement; then its delivery does it


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A running session."""

    session: session_pb2.Session
    is_rebuilt: bool  # by this call, from the log
    is_degraded: bool  # the tier answered from its own memory


class SessionAccess:
    """Reads, feeds and ends sessions."""

    def __init__(self, upstream: Upstream, journal: Journal, *, clock: Clock, settings: SessionSettings) -> None:
        """Rebuilds from `journal`."""
        self._upstream = upstream
        self._journal = journal
        self._clock = clock
        self._settings = settings

    async def append(self, principal: Principal, command: RememberCommand, appended: Appended) -> bool:
        """Tries to put turns into their session at once.

        Returns whether the tier took them; if not, their delivery will see to it.
        """
        turns = [
            _session_turn(interaction_id, appended.first_position + offset, turn, command.scope)
            for offset, (interaction_id, turn) in enumerate(zip(appended.interaction_ids, command.turns, strict=True))
        ]
        try:
            await self.append_turns(
                principal,
                command.user_id,
                command.conversation_id,
                turns,
                timeout_seconds=self._settings.append_timeout_seconds,
            )
        except MnemeError as error:
            _log.info("session_append_left_to_delivery", reason=error.reason)
            return False
        return True

    async def append_turns(
        self,
        principal: Principal,
        user_id: str,
        conversation_id: str,
        turns: Sequence[session_pb2.SessionTurn],
        *,
        timeout_seconds: float,
    ) -> None:
        """Puts turns of the log into their session, which is made, with what came before, where it is missing.

        Raises:
            MnemeError: The tier did not take them.
        """
        response = await self._append(principal, user_id, conversation_id, turns, timeout_seconds)
        # Positions begin at 0: a new session that begins later has lost what came before.
        if response.created and turns[0].position > 0:
            lost = await self._logged_turns(principal, user_id, conversation_id)
            if lost:
                await self._append(principal, user_id, conversation_id, lost, timeout_seconds)

    async def find(
        self, principal: Principal, user_id: str, conversation_id: str, *, timeout_seconds: float
    ) -> FoundSession | None:
        """The running session, or None where there is none.

        Raises:
            MnemeError: The tier did not answer.
        """
        try:
            response = await self._upstream.session.get(
                principal,
                session_pb2.GetSessionRequest(user_id=user_id, session_id=conversation_id),
                timeout_seconds=timeout_seconds,
            )
        except NotFound:
            return await self._rebuild(principal, user_id, conversation_id, timeout_seconds)
        return FoundSession(response.session, is_rebuilt=False, is_degraded=response.degraded)

    async def get(
        self, principal: Principal, user_id: str, conversation_id: str, *, timeout_seconds: float
    ) -> FoundSession:
        """The running session.

        Raises:
            NotFound: There is none.
        """
        found = await self.find(principal, user_id, conversation_id, timeout_seconds=timeout_seconds)
        if found is None:
            raise NotFound("session", conversation_id)
        return found

    async def end(
        self,
        principal: Principal,
        caller: Caller,
        request: session_pb2.DeleteSessionRequest,
        *,
        discard: bool,
        timeout_seconds: float,
    ) -> int:
        """Ends a session; turns that are not in the log are archived to it first unless discarded.

        Returns how many turns were written to the log.

        Raises:
            NotFound: There is no such session, neither running nor in the log.
            MnemeError: The tier did not answer.
        """
        found = await self.find(principal, request.user_id, request.session_id, timeout_seconds=timeout_seconds)
        if found is None:
            # The tier answers a request that it has seen before as it did then: so does this call.
            ended = await self._upstream.session.delete(principal, request, timeout_seconds=timeout_seconds)
            return 0 if discard else await self._archive(caller, request, ended.session)
        archived = 0 if discard else await self._archive(caller, request, found.session)
        await self._journal.end_session(caller.tenant_id, request.user_id, request.session_id)
        try:
            await self._upstream.session.delete(principal, request, timeout_seconds=timeout_seconds)
        except NotFound:
            _log.debug("session_gone_before_deletion")
        return archived

    async def _archive(
        self, caller: Caller, request: session_pb2.DeleteSessionRequest, session: session_pb2.Session
    ) -> int:
        known = await self._journal.known_interactions(caller.tenant_id, [t.turn_id for t in session.turns])
        unlogged = [t for t in session.turns if t.turn_id not in known]
        if not unlogged:
            return 0
        now = self._clock.now()
        command = RememberCommand(
            user_id=request.user_id,
            conversation_id=request.session_id,
            # As many as a window holds, so that all of them are archived or none.
            turns=tuple(turn_from_proto(t.turn, now=now, field_path=f"turns[{i}]") for i, t in enumerate(unlogged)),
            # A repeat of the same EndSession must not archive the same turns again.
            request_id=f"end-session:{request.request_id}",
        )
        (outcome,) = await self._journal.append(caller, [command])
        if isinstance(outcome, MnemeError):
            raise outcome
        return len(unlogged)

    async def _rebuild(
        self, principal: Principal, user_id: str, conversation_id: str, timeout_seconds: float
    ) -> FoundSession | None:
        lost = await self._logged_turns(principal, user_id, conversation_id)
        if not lost:
            return None
        response = await self._append(principal, user_id, conversation_id, lost, timeout_seconds)
        return FoundSession(response.session, is_rebuilt=True, is_degraded=response.degraded)

    async def _logged_turns(
        self, principal: Principal, user_id: str, conversation_id: str
    ) -> list[session_pb2.SessionTurn]:
        """The window as the log has it; empty where the session's lifetime is over."""
        logged = await self._journal.session_interactions(
            principal.tenant_id, user_id, conversation_id, limit=self._settings.window_turns
        )
        if not logged or logged[-1].create_time + self._settings.ttl <= self._clock.now():
            return []
        return [session_turn(interaction) for interaction in logged]

    async def _append(
        self,
        principal: Principal,
        user_id: str,
        conversation_id: str,
        turns: Sequence[session_pb2.SessionTurn],
        timeout_seconds: float,
    ) -> session_pb2.AppendTurnsResponse:
        request = session_pb2.AppendTurnsRequest(
            user_id=user_id, session_id=conversation_id, turns=turns, create_if_missing=True
        )
        return await self._upstream.session.append(principal, request, timeout_seconds=timeout_seconds)


def session_turn(interaction: Interaction) -> session_pb2.SessionTurn:
    """An interaction of the log as a turn of a session."""
    return _session_turn(interaction.interaction_id, interaction.position, interaction.turn, interaction.scope)


def _session_turn(turn_id: str, position: int, turn: Turn, scope: Scope) -> session_pb2.SessionTurn:
    message = session_pb2.SessionTurn(turn_id=turn_id, position=position, turn=turn_to_proto(turn))
    if scope != GLOBAL_SCOPE:
        message.scope.CopyFrom(scope_to_proto(scope))
    return message

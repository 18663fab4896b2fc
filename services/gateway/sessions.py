"""Running conversations: the session tier's window, rebuilt from the conversation log where it was lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from itertools import groupby

import structlog

from mneme.session.v1 import session_pb2
from services.common.auth import Principal
from services.common.background import BackgroundWork
from services.common.clock import Clock
from services.common.convert import scope_from_proto, scope_to_proto, turn_from_proto, turn_to_proto
from services.common.errors import MnemeError, NotFound
from services.common.paging import ANSWER_BYTES_MAX, fitting
from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.settings_types import Count, Duration, Seconds
from services.common.turns import Turn
from services.gateway.journal.ending import EndCommand, Ended
from services.gateway.journal.model import Appended, Caller, Interaction, RememberCommand
from services.gateway.journal.store import Journal
from services.gateway.upstream import Upstream
from services.gateway.worker import worker_principal

_log = structlog.get_logger(__name__)

_PUT_BACK_ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """How the gateway uses the session tier."""

    ttl: Duration = timedelta(seconds=3600)  # lifetime after the last write in which a lost session is rebuilt
    window_turns: Count = 10  # turns that a rebuilt session begins with
    append_budget_seconds: Seconds = 0.02  # what the attempt to append may add to an acknowledgement
    append_timeout_seconds: Seconds = 1.0  # for the attempt itself, which goes on behind the acknowledgement
    appends_max: Count = 64  # attempts that may be under way; beyond it turns are left to their delivery


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A running session."""

    session: session_pb2.Session
    is_rebuilt: bool  # by this call, from the log
    is_degraded: bool  # the tier answered from its own memory


@dataclass(frozen=True, slots=True)
class _Place:
    """Which session is meant, on whose behalf, and how long a call of the tier may take."""

    principal: Principal
    user_id: str
    conversation_id: str
    timeout_seconds: float


class SessionAccess:
    """Reads, feeds and ends sessions."""

    def __init__(self, upstream: Upstream, journal: Journal, *, clock: Clock, settings: SessionSettings) -> None:
        """Rebuilds from `journal`."""
        self._upstream = upstream
        self._journal = journal
        self._clock = clock
        self._settings = settings
        self._appends = BackgroundWork[str]("session-append")

    async def append(
        self, principal: Principal, command: RememberCommand, appended: Appended, *, on_taken: Callable[[], None]
    ) -> None:
        """Tries to put turns into their session at once, and returns after `append_budget_seconds` at the latest.

        An attempt that takes longer goes on in the background; it calls `on_taken` once the tier has the turns. Where
        it fails their delivery appends them. A turn that both append is in the session once: it is known by its id.
        """
        if len(self._appends) >= self._settings.appends_max:
            return  # the tier is stalled
        key = appended.interaction_ids[0]
        taken = asyncio.Event()

        async def attempt() -> None:
            try:
                if await self._try_append(principal, command, appended):
                    on_taken()
            finally:
                taken.set()

        self._appends.begin(key, attempt)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.append_budget_seconds):
                await taken.wait()

    async def aclose(self) -> None:
        """Stop the attempts that are under way; their deliveries append the turns."""
        await self._appends.aclose()

    async def _try_append(self, principal: Principal, command: RememberCommand, appended: Appended) -> bool:
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
        place = _Place(principal, user_id, conversation_id, timeout_seconds)
        response = await self._append(place, turns)
        # Positions begin at 0: a new session that begins later has lost what came before.
        if response is None or (response.created and turns[0].position > 0):
            await self._put_back(place)

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
            # Rebuilding writes, which is the gateway's own doing: a reader may not.
            own = worker_principal(principal.tenant_id)
            rebuilt = await self._put_back(_Place(own, user_id, conversation_id, timeout_seconds))
            if rebuilt is None:
                return None
            return FoundSession(rebuilt.session, is_rebuilt=True, is_degraded=rebuilt.degraded)
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

    async def end(self, principal: Principal, caller: Caller, command: EndCommand, *, timeout_seconds: float) -> Ended:
        """Ends a session; turns that are not in the log are archived to it first unless discarded.

        Raises:
            NotFound: There is no such session, neither running nor in the log.
            InvalidArgument: The request id was used before with another request.
            MnemeError: The tier did not answer.
        """
        place = _Place(principal, command.user_id, command.conversation_id, timeout_seconds)
        ended = await self._journal.earlier_end(caller, command)
        running = await self._running(place)
        if ended is None:
            if running is None and not await self._logged_turns(place):
                raise NotFound("session", command.conversation_id)
            is_archived = running is not None and not command.discard
            archive = await self._unlogged(caller, command, running) if running and is_archived else ()
            ended = await self._journal.end_session(caller, command, archive)
        # The first use may have failed before it came to the tier; a session that began later is another one.
        if running is not None and (not ended.replayed or running.create_time.ToDatetime(UTC) <= ended.end_time):
            await self._delete(place)
        return ended

    async def _unlogged(
        self, caller: Caller, command: EndCommand, session: session_pb2.Session
    ) -> list[RememberCommand]:
        """Turns that only the session holds, as commands, one for each run of turns of the same scope."""
        known = await self._journal.known_interactions(caller.tenant_id, [t.turn_id for t in session.turns])
        now = self._clock.now()
        said = [
            (
                scope_from_proto(t.scope, present=t.HasField("scope"), field_path="scope"),
                turn_from_proto(t.turn, now=now, field_path="turn"),
            )
            for t in session.turns
            if t.turn_id not in known
        ]
        return [
            RememberCommand(command.user_id, command.conversation_id, tuple(turn for _, turn in run), scope)
            for scope, run in groupby(said, key=lambda one: one[0])
        ]

    async def _running(self, place: _Place) -> session_pb2.Session | None:
        request = session_pb2.GetSessionRequest(user_id=place.user_id, session_id=place.conversation_id)
        try:
            response = await self._upstream.session.get(place.principal, request, timeout_seconds=place.timeout_seconds)
        except NotFound:
            return None
        return response.session

    async def _delete(self, place: _Place) -> None:
        request = session_pb2.DeleteSessionRequest(user_id=place.user_id, session_id=place.conversation_id)
        try:
            await self._upstream.session.delete(place.principal, request, timeout_seconds=place.timeout_seconds)
        except NotFound:
            _log.debug("session_gone_before_deletion")

    async def _put_back(self, place: _Place) -> session_pb2.AppendTurnsResponse | None:
        """Makes a session of what the log has of it; None where there is nothing."""
        for _ in range(_PUT_BACK_ATTEMPTS):
            lost = await self._logged_turns(place)
            if not lost:
                return None
            response = await self._append(place, lost)
            if response is not None:
                return response
        return None  # ended as often as it was put back

    async def _logged_turns(self, place: _Place) -> list[session_pb2.SessionTurn]:
        """The window as the log has it, as far as a message holds it; empty where the session's lifetime is over."""
        logged = await self._journal.session_interactions(
            place.principal.tenant_id, place.user_id, place.conversation_id, limit=self._settings.window_turns
        )
        if not logged or logged[-1].create_time + self._settings.ttl <= self._clock.now():
            return []
        turns = [session_turn(interaction) for interaction in reversed(logged)]
        return turns[: fitting(turns, bytes_max=ANSWER_BYTES_MAX)][::-1]

    async def _append(
        self, place: _Place, turns: Sequence[session_pb2.SessionTurn]
    ) -> session_pb2.AppendTurnsResponse | None:
        """Appends turns of the log. None where their session has been ended meanwhile: then it is gone again."""
        request = session_pb2.AppendTurnsRequest(
            user_id=place.user_id, session_id=place.conversation_id, turns=turns, create_if_missing=True
        )
        response = await self._upstream.session.append(place.principal, request, timeout_seconds=place.timeout_seconds)
        window = response.session.turns
        is_late = bool(window) and window[-1].position > turns[-1].position
        # Turns that arrive in order, in a session that is there, cannot be of one that was ended.
        if not response.created and not is_late:
            return response
        start = await self._journal.session_start(place.principal.tenant_id, place.user_id, place.conversation_id)
        if turns[0].position >= start:
            return response
        await self._delete(place)
        return None


def session_turn(interaction: Interaction) -> session_pb2.SessionTurn:
    """An interaction of the log as a turn of a session."""
    return _session_turn(interaction.interaction_id, interaction.position, interaction.turn, interaction.scope)


def _session_turn(turn_id: str, position: int, turn: Turn, scope: Scope) -> session_pb2.SessionTurn:
    message = session_pb2.SessionTurn(turn_id=turn_id, position=position, turn=turn_to_proto(turn))
    if scope != GLOBAL_SCOPE:
        message.scope.CopyFrom(scope_to_proto(scope))
    return message

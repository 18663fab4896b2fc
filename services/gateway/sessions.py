"""Running conversations: the session tier's window, rebuilt from the conversation log where it was lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from mneme.session.internal.v1 import session_internal_pb2
from mneme.session.v1 import session_pb2
from services.common.auth import Principal
from services.common.background import BackgroundWork
from services.common.clock import Clock
from services.common.convert import scope_to_proto, timestamp, turn_to_proto
from services.common.errors import MnemeError, NotFound
from services.common.paging import RESPONSE_BYTES_MAX, fitting
from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.settings_types import Count, Seconds
from services.common.turns import Turn
from services.gateway.journal.ending import SessionRecord
from services.gateway.journal.model import Appended, Interaction, RememberCommand
from services.gateway.journal.store import Journal
from services.gateway.session_archive import SessionArchive, SessionDefaults
from services.gateway.upstream import Upstream
from services.gateway.worker import worker_principal

_log = structlog.get_logger(__name__)

_PUT_BACK_ATTEMPTS = 2
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """How the gateway uses the session tier."""

    append_budget_seconds: Seconds = 0.005  # what the attempt to append may add to an acknowledgement
    append_timeout_seconds: Seconds = 1.0  # for the attempt itself, which goes on after the acknowledgement
    archive_seconds: Seconds = 1.0  # between looks for turns that were put into sessions past the gateway
    appends_max: Count = 64  # attempts that may be under way; beyond it turns are left to their delivery


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A running session."""

    session: session_pb2.Session
    is_rebuilt: bool  # by this call, from the log
    is_degraded: bool  # the response came from the tier's own memory


@dataclass(frozen=True, slots=True)
class _Lost:
    """A session as the log has it."""

    turns: Sequence[session_pb2.SessionTurn]
    record: SessionRecord | None  # its own settings
    create_time: datetime | None
    earlier_turn_count: int  # turns of the session before these


@dataclass(frozen=True, slots=True)
class _Place:
    """Which session is meant, on whose behalf, and how long a call of the tier may take."""

    principal: Principal
    user_id: str
    conversation_id: str
    timeout_seconds: float


class SessionAccess:
    """Reads, feeds and rebuilds sessions."""

    def __init__(
        self, upstream: Upstream, journal: Journal, archive: SessionArchive, *, clock: Clock, settings: SessionSettings
    ) -> None:
        """Rebuilds from `journal`, after `archive` has written to it what the tier still has for it."""
        self._archive = archive
        self._upstream = upstream
        self._journal = journal
        self._clock = clock
        self._settings = settings
        self._appends = BackgroundWork[str]("session-append")
        self._under_way: dict[tuple[str, str, str], list[asyncio.Event]] = {}

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
        where = (principal.tenant_id, command.user_id, command.conversation_id)
        taken = asyncio.Event()
        self._under_way.setdefault(where, []).append(taken)

        async def attempt() -> None:
            try:
                if await self._try_append(principal, command, appended):
                    on_taken()
            finally:
                taken.set()
                self._under_way[where].remove(taken)
                if not self._under_way[where]:
                    del self._under_way[where]

        self._appends.begin(key, attempt)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.append_budget_seconds):
                await taken.wait()

    async def aclose(self) -> None:
        """Stop the attempts that are under way; their deliveries append the turns."""
        await self._appends.aclose()

    async def _try_append(self, principal: Principal, command: RememberCommand, appended: Appended) -> bool:
        turns = session_turns(command, appended)
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
    ) -> session_internal_pb2.IngestTurnsResponse | None:
        """Puts turns of the log into their session, which is rebuilt with what came before where it is missing.

        Returns:
            The session after the call; None where it has ended meanwhile.

        Raises:
            MnemeError: The tier did not take them.
        """
        place = _Place(principal, user_id, conversation_id, timeout_seconds)
        response = await self._append(place, turns)
        # Positions begin at 0: a new session that begins later has lost what came before. One that ends before the log
        # does has lost what came after: another call took back the session that had it.
        if response is None or (response.created and (turns[0].position > 0 or await self._has_later(place, turns))):
            try:
                response = await self._put_back(place) or response
            except MnemeError:
                # Without its past it must not stay: the next append would take it for whole.
                await self._delete(place)
                raise
        return response

    async def find(
        self, principal: Principal, user_id: str, conversation_id: str, *, timeout_seconds: float
    ) -> FoundSession | None:
        """The running session, or None where there is none. It has what this gateway has acknowledged.

        Raises:
            MnemeError: The tier did not respond.
        """
        await self._appended((principal.tenant_id, user_id, conversation_id))
        try:
            response = await self._upstream.session.get(
                principal,
                session_pb2.GetSessionRequest(user_id=user_id, conversation_id=conversation_id),
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

    async def expel(self, principal: Principal, user_id: str, conversation_id: str, *, timeout_seconds: float) -> None:
        """Takes turns of an ended session out of the tier, which late deliveries may have put there.

        Raises:
            MnemeError: The tier did not respond.
        """
        place = _Place(worker_principal(principal.tenant_id), user_id, conversation_id, timeout_seconds)
        request = session_pb2.GetSessionRequest(user_id=user_id, conversation_id=conversation_id)
        try:
            running = await self._upstream.session.get(place.principal, request, timeout_seconds=timeout_seconds)
        except NotFound:
            return
        start = await self._journal.session_start(principal.tenant_id, user_id, conversation_id)
        if any(turn.position < start for turn in running.session.turns):
            await self._delete(place)
            await self._put_back(place)

    async def _appended(self, where: tuple[str, str, str]) -> None:
        """Waits for appends that go on behind their acknowledgement."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.append_timeout_seconds):
                for taken in [*self._under_way.get(where, ())]:
                    await taken.wait()

    async def _delete(self, place: _Place) -> None:
        request = session_internal_pb2.RemoveSessionsRequest(
            user_id=place.user_id, conversation_id=place.conversation_id
        )
        await self._upstream.session.delete(place.principal, request, timeout_seconds=place.timeout_seconds)

    async def _put_back(self, place: _Place) -> session_internal_pb2.IngestTurnsResponse | None:
        """Rebuilds a session from the log, with its own settings; None where there is nothing or its time is over."""
        # What was put in past the gateway, and a deletion, may not be in the log yet.
        tenant_id, seconds = place.principal.tenant_id, place.timeout_seconds
        defaults = await self._archive.settle(tenant_id, place.user_id, timeout_seconds=seconds)
        for _ in range(_PUT_BACK_ATTEMPTS):
            lost = await self._logged(place, defaults)
            if lost is None:
                return None
            response = await self._append(place, lost.turns, lost)
            if response is not None and response.created and await self._has_later(place, lost.turns):
                # Logged while this call read the log, and appended to a session that was taken back meanwhile.
                lost = await self._logged(place, defaults)
                response = await self._append(place, lost.turns) if lost is not None else response
            if response is not None:
                return response
        return None  # ended as often as it was put back

    async def _has_later(self, place: _Place, turns: Sequence[session_pb2.SessionTurn]) -> bool:
        """Whether the log has turns of the session behind these."""
        where = (place.principal.tenant_id, place.user_id, place.conversation_id)
        newest = await self._journal.session_interactions(*where, limit=1)
        return bool(newest) and newest[-1].position > (turns[-1].position if turns else -1)

    async def _logged(self, place: _Place, defaults: SessionDefaults) -> _Lost | None:
        """The session as the log has it, as far as a message holds it; None where its lifetime is over."""
        where = (place.principal.tenant_id, place.user_id, place.conversation_id)
        record = await self._journal.session_record(*where)
        chosen = record or SessionRecord(defaults.window_turns, defaults.ttl, _LONG_AGO)
        logged = await self._journal.session_interactions(*where, limit=chosen.window_turns)
        active_time = max([chosen.active_time, *(said.create_time for said in logged[-1:])])
        if active_time + chosen.ttl <= self._clock.now():
            return None
        began = await self._journal.session_beginning(*where)
        turns = [session_turn(interaction) for interaction in reversed(logged)]
        held = turns[: fitting(turns, bytes_max=RESPONSE_BYTES_MAX)][::-1]
        # Every position was given to a turn once: those of erased turns count too.
        said_count = logged[-1].position + 1 - began.position if logged else 0
        return _Lost(held, record, chosen.create_time or began.time, max(0, said_count - len(held)))

    async def _append(
        self, place: _Place, turns: Sequence[session_pb2.SessionTurn], lost: _Lost | None = None
    ) -> session_internal_pb2.IngestTurnsResponse | None:
        """Appends turns of the log. None where their session has been ended meanwhile: then it is gone again."""
        request = session_internal_pb2.IngestTurnsRequest(
            user_id=place.user_id, conversation_id=place.conversation_id, turns=turns
        )
        record = lost.record if lost is not None else None
        if record is not None:
            request.window_turns = record.window_turns
            request.ttl.FromTimedelta(record.ttl)
        if lost is not None and lost.create_time is not None:
            request.create_time.CopyFrom(timestamp(lost.create_time))
            request.earlier_turn_count = lost.earlier_turn_count
        response = await self._upstream.session.append(place.principal, request, timeout_seconds=place.timeout_seconds)
        window = response.session.turns
        is_late = bool(window and turns) and window[-1].position > turns[-1].position
        # Turns that arrive in order, in a session that is there, cannot be of one that was ended.
        if not turns or (not response.created and not is_late):
            return response
        where = (place.principal.tenant_id, place.user_id, place.conversation_id)
        if turns[0].position < await self._journal.session_start(*where):
            await self._delete(place)
            return None
        if response.created and record is None and await self._journal.session_record(*where) is not None:
            await self._delete(place)  # created with the defaults, and it has settings of its own
            return None
        return response


def session_turns(command: RememberCommand, appended: Appended) -> list[session_pb2.SessionTurn]:
    """Turns that were appended to the log, as turns of a session."""
    return [
        _session_turn(interaction_id, appended.first_position + offset, turn, command.scope)
        for offset, (interaction_id, turn) in enumerate(zip(appended.interaction_ids, command.turns, strict=True))
    ]


def session_turn(interaction: Interaction) -> session_pb2.SessionTurn:
    """An interaction of the log as a turn of a session."""
    return _session_turn(interaction.interaction_id, interaction.position, interaction.turn, interaction.scope)


def _session_turn(interaction_id: str, position: int, turn: Turn, scope: Scope) -> session_pb2.SessionTurn:
    message = session_pb2.SessionTurn(interaction_id=interaction_id, position=position, turn=turn_to_proto(turn))
    if scope != GLOBAL_SCOPE:
        message.scope.CopyFrom(scope_to_proto(scope))
    return message

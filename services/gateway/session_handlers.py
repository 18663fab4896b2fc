"""Methods of the session tier's service that the gateway serves itself, because they need the log; see door.py."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import groupby
from typing import Final, TypeAlias, TypeVar

from mneme.session.v1 import session_pb2 as pb
from services.common.auth import Principal, current_principal
from services.common.convert import scope_from_proto, turn_from_proto
from services.common.errors import InvalidArgument, NotFound
from services.common.idempotency.requests import request_digest
from services.common.rpc.interceptors.base import Context
from services.common.scope import Scope
from services.common.turns import TURNS_APART, Turn
from services.common.validation import Violations
from services.gateway.door import Handler
from services.gateway.journal.ending import SessionRequest
from services.gateway.journal.model import RememberCommand
from services.gateway.servicer import Handlers, caller_of
from services.gateway.sessions import FoundSession

_SERVICE: Final = "mneme.session.v1.SessionService"


_Request: TypeAlias = pb.CreateSessionRequest | pb.ExtendSessionRequest | pb.DeleteSessionRequest
_Response = TypeVar("_Response", pb.CreateSessionResponse, pb.ExtendSessionResponse, pb.DeleteSessionResponse)


class SessionHandlers(Handlers):
    """Handlers of SessionService at the gateway."""

    def by_name(self) -> dict[str, Handler]:
        """The handlers by the full names of their methods."""
        return {
            f"{_SERVICE}.CreateSession": self.create_session,
            f"{_SERVICE}.GetSession": self.get_session,
            f"{_SERVICE}.AppendTurns": self.append_turns,
            f"{_SERVICE}.ExtendSession": self.extend_session,
            f"{_SERVICE}.DeleteSession": self.delete_session,
        }

    async def create_session(self, request: pb.CreateSessionRequest, _context: Context) -> pb.CreateSessionResponse:
        """A session that its store lost exists yet; the settings of a new one are in the log before the response."""
        self._use.reader.user(request.user_id, request_id=request.request_id)
        return await self._once(request, pb.CreateSessionResponse, partial(self._create, request))

    async def _create(self, request: pb.CreateSessionRequest) -> pb.CreateSessionResponse:
        principal = current_principal()
        if request.conversation_id:
            with contextlib.suppress(InvalidArgument):  # the tier names what else is wrong
                await self._use.sessions.find(
                    principal, request.user_id, request.conversation_id, timeout_seconds=self._seconds_left()
                )
        response = await self._use.upstream.session.create_session(
            principal, request, timeout_seconds=self._seconds_left()
        )
        await self._settle(principal, request.user_id)
        return response

    async def get_session(self, request: pb.GetSessionRequest, _context: Context) -> pb.GetSessionResponse:
        """A session that its store lost is rebuilt from the log."""
        self._use.reader.user(request.user_id, conversation_id=request.conversation_id)
        found = await self._found(request.user_id, request.conversation_id)
        return pb.GetSessionResponse(session=found.session, degraded=found.is_degraded, rebuilt=found.is_rebuilt)

    async def append_turns(self, request: pb.AppendTurnsRequest, _context: Context) -> pb.AppendTurnsResponse:
        """The turns are in the log, with their deliveries, before they are put into the session."""
        self._check(request)
        commands = self._commands(request)
        principal = current_principal()
        caller = caller_of(principal)
        stored = await self._use.journal.first_append(caller, commands[0])
        if stored is not None:
            return _of_request(request, pb.AppendTurnsResponse.FromString(stored))
        if not request.create_if_missing:
            await self._found(request.user_id, request.conversation_id)
        outcome = await self._use.remembering.remember_turns(caller, commands)
        if outcome is None:  # a repeat of a call that did not come to its response
            found = await self._found(request.user_id, request.conversation_id)
            return _without_turns(found.session, appended_count=len(request.turns), degraded=found.is_degraded)
        taken = await self._use.sessions.append_turns(
            principal, request.user_id, request.conversation_id, outcome, timeout_seconds=self._seconds_left()
        )
        if taken is None:
            raise NotFound("session", request.conversation_id)
        response = _without_turns(
            taken.session, appended_count=len(outcome), created=taken.created, degraded=taken.degraded
        )
        # What is stored must name nobody: it outlasts the erasure of the user.
        anonymous = pb.AppendTurnsResponse()
        anonymous.CopyFrom(response)
        anonymous.session.ClearField("user_id")
        anonymous.session.ClearField("conversation_id")
        await self._use.journal.put_append(caller, commands[0], anonymous.SerializeToString())
        return response

    async def extend_session(self, request: pb.ExtendSessionRequest, _context: Context) -> pb.ExtendSessionResponse:
        """A session that its store lost is rebuilt; the new time to live is in the log before the response."""
        self._check(request)
        return await self._once(request, pb.ExtendSessionResponse, partial(self._extend, request))

    async def _extend(self, request: pb.ExtendSessionRequest) -> pb.ExtendSessionResponse:
        principal = current_principal()
        await self._use.sessions.find(
            principal, request.user_id, request.conversation_id, timeout_seconds=self._seconds_left()
        )
        response = await self._use.upstream.session.extend_session(
            principal, request, timeout_seconds=self._seconds_left()
        )
        await self._settle(principal, request.user_id)
        return response

    async def delete_session(self, request: pb.DeleteSessionRequest, _context: Context) -> pb.DeleteSessionResponse:
        """What the session holds past the log, unless discarded, and its end are in the log before the response."""
        self._check(request)
        return await self._once(request, pb.DeleteSessionResponse, partial(self._delete, request))

    async def _delete(self, request: pb.DeleteSessionRequest) -> pb.DeleteSessionResponse:
        principal = current_principal()
        await self._use.sessions.find(
            principal, request.user_id, request.conversation_id, timeout_seconds=self._seconds_left()
        )
        async with self._use.archive.paused(principal.tenant_id, request.user_id):
            response = await self._use.upstream.session.delete_session(
                principal, request, timeout_seconds=self._seconds_left()
            )
        await self._settle(principal, request.user_id)
        await self._use.sessions.expel(
            principal, request.user_id, request.conversation_id, timeout_seconds=self._seconds_left()
        )
        return response

    async def _once(
        self, request: _Request, response_type: type[_Response], work: Callable[[], Awaitable[_Response]]
    ) -> _Response:
        """The response of `work`, or that of the first such request.

        The tier has records of its own, for calls at its port; without Redis they end with its process, and a late
        repeat of a deletion would end the conversation's next session.
        """
        caller, method = caller_of(current_principal()), request.DESCRIPTOR.name.removesuffix("Request")
        known = SessionRequest(request.user_id, method, request.request_id, request_digest(request))
        stored = await self._use.journal.first_response(caller, known)
        if stored is not None:
            first = response_type.FromString(stored)
            first.session.user_id = request.user_id
            first.session.conversation_id = request.conversation_id or first.session.conversation_id
            return first
        response = await work()
        anonymous = response_type.FromString(response.SerializeToString())
        anonymous.session.ClearField("user_id")
        if request.conversation_id:  # else it is the tier's, and says nothing of the user
            anonymous.session.ClearField("conversation_id")
        await self._use.journal.put_response(caller, known, anonymous.SerializeToString())
        return response

    async def _found(self, user_id: str, conversation_id: str) -> FoundSession:
        return await self._use.sessions.get(
            current_principal(), user_id, conversation_id, timeout_seconds=self._seconds_left()
        )

    async def _settle(self, principal: Principal, user_id: str) -> None:
        await self._use.archive.settle(principal.tenant_id, user_id, timeout_seconds=self._seconds_left())

    def _check(self, request: pb.AppendTurnsRequest | pb.ExtendSessionRequest | pb.DeleteSessionRequest) -> None:
        self._use.reader.user(request.user_id, conversation_id=request.conversation_id, request_id=request.request_id)

    def _commands(self, request: pb.AppendTurnsRequest) -> list[RememberCommand]:
        """The turns as commands, one for each run of turns of the same scope."""
        violations, said, now = Violations(), list[tuple[Scope, Turn]](), self._use.clock.now()
        limits = self._use.reader.limits
        if violations.count("turns", len(request.turns), count_min=1, count_max=limits.journal.turns_per_item_max):
            for index, message in enumerate(request.turns):
                path = f"turns[{index}]"
                if message.interaction_id:
                    violations.add(f"{path}.interaction_id", "is assigned by the conversation log: leave it empty")
                try:
                    present = message.HasField("scope")
                    scope = scope_from_proto(message.scope, present=present, field_path=f"{path}.scope")
                    said_time = now + index * TURNS_APART
                    turn = turn_from_proto(message.turn, now=said_time, field_path=f"{path}.turn", limits=limits.turn)
                except InvalidArgument as error:
                    violations.include(error)
                    continue
                said.append((scope, turn))
        violations.raise_if_any()
        digest = request_digest(request)
        runs = [list(group) for _, group in groupby(said, key=lambda one: one[0])]
        return [
            RememberCommand(
                request.user_id,
                request.conversation_id,
                tuple(turn for _, turn in run),
                run[0][0],
                request_id=f"AppendTurns {index} {request.request_id}",
                digest=digest,
            )
            for index, run in enumerate(runs)
        ]


def _without_turns(
    session: pb.Session, *, appended_count: int, created: bool = False, degraded: bool
) -> pb.AppendTurnsResponse:
    response = pb.AppendTurnsResponse(
        session=session, appended_count=appended_count, created=created, degraded=degraded
    )
    response.session.ClearField("turns")
    return response


def _of_request(request: pb.AppendTurnsRequest, response: pb.AppendTurnsResponse) -> pb.AppendTurnsResponse:
    """A stored response with the ids of its request."""
    response.session.user_id = request.user_id
    response.session.conversation_id = request.conversation_id
    return response

"""The gRPC edge of the session tier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import grpc

from mneme.session.v1 import session_pb2 as pb
from mneme.session.v1 import session_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.clock import Clock
from services.common.paging import PageTokens
from services.session import commands, convert
from services.session.config import SessionLimits
from services.session.service import SessionService

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["SessionService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "CreateSession": Role.WRITER,
    "GetSession": Role.READER,
    "ListSessions": Role.READER,
    "AppendTurns": Role.WRITER,
    "ExtendSession": Role.WRITER,
    "DeleteSession": Role.WRITER,
}
"""The role that each method needs, by its name."""


class SessionServicer(session_pb2_grpc.SessionServiceServicer):
    """Handlers of SessionService: in, work, out."""

    def __init__(self, sessions: SessionService, limits: SessionLimits, tokens: PageTokens, clock: Clock) -> None:
        """Serve `sessions`; requests are checked against `limits`."""
        self._sessions = sessions
        self._limits = limits
        self._tokens = tokens
        self._clock = clock

    async def CreateSession(self, request: pb.CreateSessionRequest, _context: Context) -> pb.CreateSessionResponse:
        """See session.proto."""
        command = commands.create_command(request, current_principal(), limits=self._limits)
        response = await self._sessions.create(command)
        session = convert.session_to_proto(response.value)
        return pb.CreateSessionResponse(session=session, degraded=response.is_degraded)

    async def GetSession(self, request: pb.GetSessionRequest, _context: Context) -> pb.GetSessionResponse:
        """See session.proto."""
        key = commands.session_key(request, current_principal(), limits=self._limits)
        response = await self._sessions.get(key)
        session = convert.session_to_proto(response.value)
        return pb.GetSessionResponse(session=session, degraded=response.is_degraded)

    async def ListSessions(self, request: pb.ListSessionsRequest, _context: Context) -> pb.ListSessionsResponse:
        """See session.proto."""
        principal = current_principal()
        command = commands.list_command(request, principal, limits=self._limits, tokens=self._tokens)
        response = await self._sessions.list_sessions(command)
        return convert.list_response(response, command.owner, self._tokens)

    async def AppendTurns(self, request: pb.AppendTurnsRequest, _context: Context) -> pb.AppendTurnsResponse:
        """See session.proto."""
        now = self._clock.now()
        command = commands.append_command(request, current_principal(), now=now, limits=self._limits)
        return convert.append_response(await self._sessions.append(command))

    async def ExtendSession(self, request: pb.ExtendSessionRequest, _context: Context) -> pb.ExtendSessionResponse:
        """See session.proto."""
        command = commands.extend_command(request, current_principal(), limits=self._limits)
        response = await self._sessions.extend(command)
        session = convert.session_to_proto(response.value)
        return pb.ExtendSessionResponse(session=session, degraded=response.is_degraded)

    async def DeleteSession(self, request: pb.DeleteSessionRequest, _context: Context) -> pb.DeleteSessionResponse:
        """See session.proto."""
        command = commands.delete_command(request, current_principal(), limits=self._limits)
        response = await self._sessions.delete(command)
        session = convert.session_to_proto(response.value)
        return pb.DeleteSessionResponse(session=session, degraded=response.is_degraded)

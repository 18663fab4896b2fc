"""The gRPC edge of what the gateway alone calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import grpc

from mneme.session.internal.v1 import session_internal_pb2 as pb
from mneme.session.internal.v1 import session_internal_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.clock import Clock
from services.common.owners import TenantId
from services.session import commands, convert
from services.session.config import SessionSettings
from services.session.service import SessionService

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["SessionInternalService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "IngestTurns": Role.SERVICE,
    "ListLogEvents": Role.SERVICE,
    "AcknowledgeLogEvents": Role.SERVICE,
    "RemoveSessions": Role.SERVICE,
}
"""The role that each method needs, by its name."""


class SessionInternalServicer(session_internal_pb2_grpc.SessionInternalServiceServicer):
    """Handlers of SessionInternalService."""

    def __init__(self, sessions: SessionService, settings: SessionSettings, clock: Clock) -> None:
        """Serve `sessions`; requests are checked against the limits of `settings`."""
        self._sessions = sessions
        self._limits = settings.limits
        self._defaults = settings.defaults
        self._clock = clock

    async def IngestTurns(self, request: pb.IngestTurnsRequest, _context: Context) -> pb.IngestTurnsResponse:
        """See session_internal.proto."""
        command = commands.ingest_command(
            request, current_principal(), now=self._clock.now(), limits=self._limits, defaults=self._defaults
        )
        return convert.ingest_response(await self._sessions.ingest(command))

    async def ListLogEvents(self, request: pb.ListLogEventsRequest, _context: Context) -> pb.ListLogEventsResponse:
        """See session_internal.proto."""
        owner = commands.events_owner(request.user_id, current_principal(), limits=self._limits)
        events = await self._sessions.log_events(owner, commands.events_limit(request))
        defaults = pb.SessionSettings(window_turns=self._defaults.window_turns)
        defaults.ttl.FromTimedelta(self._defaults.ttl)
        return pb.ListLogEventsResponse(events=map(convert.event_to_proto, events), defaults=defaults)

    async def AcknowledgeLogEvents(
        self, request: pb.AcknowledgeLogEventsRequest, _context: Context
    ) -> pb.AcknowledgeLogEventsResponse:
        """See session_internal.proto."""
        owner = commands.owner_of(request.user_id, current_principal(), limits=self._limits)
        await self._sessions.acknowledge(owner, commands.event_ids(request))
        return pb.AcknowledgeLogEventsResponse()

    async def RemoveSessions(self, request: pb.RemoveSessionsRequest, _context: Context) -> pb.RemoveSessionsResponse:
        """See session_internal.proto."""
        principal = current_principal()
        owner = commands.removed_owner(request, principal, limits=self._limits)
        conversation_id = commands.removed_conversation(request, limits=self._limits)
        if owner is not None and request.HasField("scope"):
            scope = commands.removed_scope(request)
            items = await self._sessions.remove_scope(owner, scope, with_nested=request.with_nested)
            return pb.RemoveSessionsResponse(removed_context_items=items)
        removed = await self._sessions.remove(TenantId(principal.tenant_id), owner, conversation_id)
        return pb.RemoveSessionsResponse(removed_sessions=removed)

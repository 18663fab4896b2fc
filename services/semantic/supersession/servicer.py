"""The gRPC edge of supersessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import grpc

from mneme.semantic.v1 import supersessions_pb2 as pb
from mneme.semantic.v1 import supersessions_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.idempotency.requests import idempotency_key
from services.common.paging import PageTokens
from services.semantic.config import FactLimits
from services.semantic.supersession import commands, convert
from services.semantic.supersession.service import SupersessionService

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["SupersessionService"].full_name

ROLES: Final[Mapping[str, Role]] = {"ListSupersessions": Role.READER, "ResolveSupersession": Role.WRITER}
"""The role that each method needs, by its name."""


class SupersessionServicer(supersessions_pb2_grpc.SupersessionServiceServicer):
    """Handlers of SupersessionService: in, work, out."""

    def __init__(self, supersessions: SupersessionService, limits: FactLimits, tokens: PageTokens) -> None:
        """Serve the use cases; requests are checked against `limits`."""
        self._supersessions = supersessions
        self._limits = limits
        self._tokens = tokens

    async def ListSupersessions(
        self, request: pb.ListSupersessionsRequest, _context: Context
    ) -> pb.ListSupersessionsResponse:
        """See supersessions.proto."""
        caller = current_principal()
        command = commands.list_command(request, caller, limits=self._limits, tokens=self._tokens)
        page, position = await self._supersessions.list_page(
            command.owner, state=command.state, after=command.after, page_size=command.page_size
        )
        return convert.list_response(page, position, request, caller, tokens=self._tokens)

    async def ResolveSupersession(
        self, request: pb.ResolveSupersessionRequest, _context: Context
    ) -> pb.ResolveSupersessionResponse:
        """See supersessions.proto."""
        caller = current_principal()
        owner, supersession_id, decision = commands.resolve_command(request, caller, limits=self._limits)
        key = idempotency_key(request, caller)
        resolved = await self._supersessions.resolve(owner, key, supersession_id, decision)
        return pb.ResolveSupersessionResponse(supersession=convert.supersession_to_proto(resolved))

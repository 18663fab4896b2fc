"""The gRPC edge of context windows: the public service, and what the gateway alone calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import grpc

from mneme.session.internal.v1 import context_internal_pb2 as internal_pb
from mneme.session.internal.v1 import context_internal_pb2_grpc
from mneme.session.v1 import context_window_pb2 as pb
from mneme.session.v1 import context_window_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.clock import Clock
from services.common.paging import PageTokens
from services.common.rpc.server import ServiceBinding
from services.session.context_window import commands, convert
from services.session.context_window.config import WindowLimits
from services.session.context_window.service import ContextWindowService

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["ContextWindowService"].full_name
INTERNAL_SERVICE_NAME: Final = internal_pb.DESCRIPTOR.services_by_name["ContextInternalService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "UpdateContextWindow": Role.WRITER,
    "GetContextWindow": Role.READER,
    "AddContextItems": Role.WRITER,
    "ListContextItems": Role.READER,
    "PruneContextWindow": Role.WRITER,
    "RestoreContextItems": Role.WRITER,
    "ListContextSnapshots": Role.READER,
    "DeleteContextWindow": Role.WRITER,
}
"""The role that each method needs, by its name."""

INTERNAL_ROLES: Final[Mapping[str, Role]] = {"PlanContext": Role.SERVICE, "CommitContext": Role.SERVICE}
"""The same for what the gateway calls."""


class ContextWindowServicer(context_window_pb2_grpc.ContextWindowServiceServicer):
    """Handlers of ContextWindowService: in, work, out."""

    def __init__(self, windows: ContextWindowService, limits: WindowLimits, tokens: PageTokens, clock: Clock) -> None:
        """Serve `windows`; requests are checked against `limits`."""
        self._windows = windows
        self._limits = limits
        self._tokens = tokens
        self._clock = clock

    async def UpdateContextWindow(
        self, request: pb.UpdateContextWindowRequest, _context: Context
    ) -> pb.UpdateContextWindowResponse:
        """See context_window.proto."""
        command = commands.update_command(request, current_principal(), limits=self._limits)
        response = await self._windows.update(command)
        window = convert.window_to_proto(response.value.head, self._windows.tokenizer)
        return pb.UpdateContextWindowResponse(window=window, degraded=response.is_degraded)

    async def GetContextWindow(
        self, request: pb.GetContextWindowRequest, _context: Context
    ) -> pb.GetContextWindowResponse:
        """See context_window.proto."""
        response = await self._windows.get(commands.window_key(request, current_principal(), limits=self._limits))
        window = convert.window_to_proto(response.value, self._windows.tokenizer)
        return pb.GetContextWindowResponse(window=window, degraded=response.is_degraded)

    async def AddContextItems(
        self, request: pb.AddContextItemsRequest, _context: Context
    ) -> pb.AddContextItemsResponse:
        """See context_window.proto."""
        principal = current_principal()
        command = commands.add_command(request, principal, now=self._clock.now(), limits=self._limits)
        response, item_ids = await self._windows.add(command)
        return convert.add_response(response, item_ids, self._windows.tokenizer)

    async def ListContextItems(
        self, request: pb.ListContextItemsRequest, _context: Context
    ) -> pb.ListContextItemsResponse:
        """See context_window.proto."""
        principal = current_principal()
        key, size, after = commands.page_of(request, principal, limits=self._limits, tokens=self._tokens)
        response = await self._windows.list_items(key, page_size=size, after=None if after is None else int(after))
        return convert.items_response(response, request, principal.tenant_id, self._tokens)

    async def PruneContextWindow(
        self, request: pb.PruneContextWindowRequest, _context: Context
    ) -> pb.PruneContextWindowResponse:
        """See context_window.proto."""
        command = commands.prune_command(request, current_principal(), limits=self._limits)
        plan = await self._windows.dry_run(command, is_dry_run=request.dry_run)
        return convert.dry_run_response(plan, self._windows.tokenizer)

    async def RestoreContextItems(
        self, request: pb.RestoreContextItemsRequest, _context: Context
    ) -> pb.RestoreContextItemsResponse:
        """See context_window.proto."""
        self._windows.refuse()
        return pb.RestoreContextItemsResponse()

    async def ListContextSnapshots(
        self, request: pb.ListContextSnapshotsRequest, _context: Context
    ) -> pb.ListContextSnapshotsResponse:
        """See context_window.proto."""
        principal = current_principal()
        key, size, after = commands.page_of(request, principal, limits=self._limits, tokens=self._tokens)
        response = await self._windows.list_snapshots(key, page_size=size, after=None if after is None else str(after))
        bytes_max = self._limits.response_bytes_max
        return convert.snapshots_response(response, request, principal.tenant_id, self._tokens, bytes_max=bytes_max)

    async def DeleteContextWindow(
        self, request: pb.DeleteContextWindowRequest, _context: Context
    ) -> pb.DeleteContextWindowResponse:
        """See context_window.proto."""
        key, idempotency_key = commands.delete_command(request, current_principal(), limits=self._limits)
        response = await self._windows.delete(key, idempotency_key=idempotency_key)
        window = convert.window_to_proto(response.value, self._windows.tokenizer)
        return pb.DeleteContextWindowResponse(window=window, degraded=response.is_degraded)


class ContextInternalServicer(context_internal_pb2_grpc.ContextInternalServiceServicer):
    """Handlers of ContextInternalService."""

    def __init__(self, windows: ContextWindowService, limits: WindowLimits, clock: Clock) -> None:
        """Serve `windows`; requests are checked against `limits`."""
        self._windows = windows
        self._limits = limits
        self._clock = clock

    async def PlanContext(
        self, request: internal_pb.PlanContextRequest, _context: Context
    ) -> internal_pb.PlanContextResponse:
        """See context_internal.proto."""
        command = commands.plan_command(request, current_principal(), limits=self._limits)
        return convert.plan_response(await self._windows.plan(command), self._windows.tokenizer)

    async def CommitContext(
        self, request: internal_pb.CommitContextRequest, _context: Context
    ) -> internal_pb.CommitContextResponse:
        """See context_internal.proto."""
        command = commands.commit_command(request, current_principal(), now=self._clock.now(), limits=self._limits)
        return convert.commit_response(await self._windows.commit(command), self._windows.tokenizer)


def bindings(
    windows: ContextWindowService, limits: WindowLimits, tokens: PageTokens, clock: Clock
) -> tuple[ServiceBinding, ...]:
    """What a server serves of context windows."""
    return (
        ServiceBinding(
            SERVICE_NAME,
            context_window_pb2_grpc.add_ContextWindowServiceServicer_to_server,
            ContextWindowServicer(windows, limits, tokens, clock),
            ROLES,
        ),
        ServiceBinding(
            INTERNAL_SERVICE_NAME,
            context_internal_pb2_grpc.add_ContextInternalServiceServicer_to_server,
            ContextInternalServicer(windows, limits, clock),
            INTERNAL_ROLES,
        ),
    )

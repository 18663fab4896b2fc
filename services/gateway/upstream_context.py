"""What the gateway calls for context windows: the windows themselves, the code graph, the tasks of agents."""

from __future__ import annotations

import grpc

from mneme.episodic.internal.v1 import activity_internal_pb2, activity_internal_pb2_grpc
from mneme.episodic.v1 import activity_pb2, activity_pb2_grpc
from mneme.semantic.v1 import code_pb2, code_pb2_grpc
from mneme.session.internal.v1 import context_internal_pb2 as pb
from mneme.session.internal.v1 import context_internal_pb2_grpc
from services.common.auth import Principal
from services.gateway.upstream_client import MetadataSource, TierClient


class ContextWindowClient(TierClient):
    """The context windows of the session tier."""

    def __init__(self, channel: grpc.aio.Channel, metadata: MetadataSource) -> None:
        """Calls over the channel."""
        super().__init__("session", metadata)
        self._stub = context_internal_pb2_grpc.ContextInternalServiceStub(channel)

    async def plan(
        self, principal: Principal, request: pb.PlanContextRequest, *, timeout_seconds: float
    ) -> pb.PlanContextResponse:
        """See ContextInternalService.PlanContext."""
        return await self._call(self._stub.PlanContext, request, principal, timeout_seconds)

    async def commit(
        self, principal: Principal, request: pb.CommitContextRequest, *, timeout_seconds: float
    ) -> pb.CommitContextResponse:
        """See ContextInternalService.CommitContext."""
        return await self._call(self._stub.CommitContext, request, principal, timeout_seconds)


class CodeClient(TierClient):
    """The code graph of the semantic tier."""

    def __init__(self, channel: grpc.aio.Channel, metadata: MetadataSource) -> None:
        """Calls over the channel."""
        super().__init__("semantic", metadata)
        self._stub = code_pb2_grpc.CodeServiceStub(channel)

    async def search(
        self, principal: Principal, request: code_pb2.SearchCodeRequest, *, timeout_seconds: float
    ) -> code_pb2.SearchCodeResponse:
        """See CodeService.SearchCode."""
        return await self._call(self._stub.SearchCode, request, principal, timeout_seconds)


class ActivityClient(TierClient):
    """The episodic tier's activity log."""

    def __init__(self, channel: grpc.aio.Channel, metadata: MetadataSource) -> None:
        """Calls over the channel."""
        super().__init__("episodic", metadata)
        self._stub = activity_pb2_grpc.ActivityServiceStub(channel)
        self._internal = activity_internal_pb2_grpc.ActivityInternalServiceStub(channel)

    async def search(
        self, principal: Principal, request: activity_pb2.SearchTasksRequest, *, timeout_seconds: float
    ) -> activity_pb2.SearchTasksResponse:
        """See ActivityService.SearchTasks."""
        return await self._call(self._stub.SearchTasks, request, principal, timeout_seconds)

    async def append(
        self, principal: Principal, request: activity_internal_pb2.AppendActivityRequest, *, timeout_seconds: float
    ) -> activity_internal_pb2.AppendActivityResponse:
        """See ActivityInternalService.AppendActivity."""
        return await self._call(self._internal.AppendActivity, request, principal, timeout_seconds)

"""What the gateway calls of the semantic tier for profiles."""

from __future__ import annotations

import grpc

from mneme.semantic.internal.v1 import semantic_pb2, semantic_pb2_grpc
from services.common.auth import Principal
from services.gateway.upstream_client import MetadataSource, TierClient


class ProfileClient(TierClient):
    """The profile of the semantic tier."""

    def __init__(self, channel: grpc.aio.Channel, metadata: MetadataSource) -> None:
        """Calls over the channel."""
        super().__init__("profile", metadata)
        self._internal = semantic_pb2_grpc.SemanticInternalServiceStub(channel)

    async def observe(
        self, principal: Principal, request: semantic_pb2.ObserveInteractionsRequest, *, timeout_seconds: float
    ) -> None:
        """See SemanticInternalService.ObserveInteractions."""
        await self._call(self._internal.ObserveInteractions, request, principal, timeout_seconds)

    async def judge(
        self, principal: Principal, request: semantic_pb2.JudgeInteractionsRequest, *, timeout_seconds: float
    ) -> None:
        """See SemanticInternalService.JudgeInteractions."""
        await self._call(self._internal.JudgeInteractions, request, principal, timeout_seconds)

    async def judge_recall(
        self, principal: Principal, request: semantic_pb2.JudgeRecallRequest, *, timeout_seconds: float
    ) -> None:
        """See SemanticInternalService.JudgeRecall."""
        await self._call(self._internal.JudgeRecall, request, principal, timeout_seconds)

    async def observe_procedures(
        self, principal: Principal, request: semantic_pb2.ObserveProceduresRequest, *, timeout_seconds: float
    ) -> semantic_pb2.ObserveProceduresResponse:
        """See SemanticInternalService.ObserveProcedures."""
        return await self._call(self._internal.ObserveProcedures, request, principal, timeout_seconds)

    async def for_reading(
        self, principal: Principal, request: semantic_pb2.GetReadingProfileRequest, *, timeout_seconds: float
    ) -> semantic_pb2.GetReadingProfileResponse:
        """See SemanticInternalService.GetReadingProfile."""
        return await self._call(self._internal.GetReadingProfile, request, principal, timeout_seconds)

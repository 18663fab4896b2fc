"""What the gateway calls of the semantic tier for procedures, beside what it reads with a profile."""

from __future__ import annotations

import grpc

from mneme.semantic.internal.v1 import semantic_pb2, semantic_pb2_grpc
from mneme.semantic.v1 import procedures_pb2 as pb
from mneme.semantic.v1 import procedures_pb2_grpc
from services.common.auth import Principal
from services.gateway.upstream_client import MetadataSource, TierClient


class ProcedureClient(TierClient):
    """The procedures of the semantic tier."""

    def __init__(self, channel: grpc.aio.Channel, metadata: MetadataSource) -> None:
        """Calls over the channel."""
        super().__init__("semantic", metadata)
        self._stub = procedures_pb2_grpc.ProcedureServiceStub(channel)
        self._internal = semantic_pb2_grpc.SemanticInternalServiceStub(channel)

    async def list_procedures(
        self, principal: Principal, request: pb.ListProceduresRequest, *, timeout_seconds: float
    ) -> pb.ListProceduresResponse:
        """See ProcedureService.ListProcedures."""
        return await self._call(self._stub.ListProcedures, request, principal, timeout_seconds)

    async def delete(self, principal: Principal, request: pb.DeleteProcedureRequest, *, timeout_seconds: float) -> None:
        """See ProcedureService.DeleteProcedure."""
        await self._call(self._stub.DeleteProcedure, request, principal, timeout_seconds)

    async def forget_queries(
        self, principal: Principal, request: semantic_pb2.ForgetQueriesRequest, *, timeout_seconds: float
    ) -> semantic_pb2.ForgetQueriesResponse:
        """See SemanticInternalService.ForgetQueries."""
        return await self._call(self._internal.ForgetQueries, request, principal, timeout_seconds)

"""What the gateway calls of the semantic tier for supersessions."""

from __future__ import annotations

import grpc

from mneme.semantic.v1 import supersessions_pb2 as pb
from mneme.semantic.v1 import supersessions_pb2_grpc
from services.common.auth import Principal
from services.gateway.upstream_client import MetadataSource, TierClient


class SupersessionClient(TierClient):
    """The supersessions of the semantic tier."""

    def __init__(self, channel: grpc.aio.Channel, metadata: MetadataSource) -> None:
        """Calls over the channel."""
        super().__init__("semantic", metadata)
        self._stub = supersessions_pb2_grpc.SupersessionServiceStub(channel)

    async def list_page(
        self, principal: Principal, request: pb.ListSupersessionsRequest, *, timeout_seconds: float
    ) -> pb.ListSupersessionsResponse:
        """See SupersessionService.ListSupersessions."""
        return await self._call(self._stub.ListSupersessions, request, principal, timeout_seconds)

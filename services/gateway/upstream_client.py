"""What the clients of the tiers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

import grpc

from services.common.auth import Principal
from services.common.errors_grpc import from_rpc_error

Request = TypeVar("Request")
Response = TypeVar("Response")


class MetadataSource(Protocol):
    """Makes the metadata of a call: who asks, under which request id, in which trace."""

    def __call__(self, principal: Principal) -> Sequence[tuple[str, str]]:
        """Returns keys and values."""
        ...


class TierClient:
    """Calls one tier and turns its errors into ours."""

    def __init__(self, name: str, metadata: MetadataSource) -> None:
        self._name = name
        self._metadata = metadata

    async def _call(
        self,
        method: grpc.aio.UnaryUnaryMultiCallable[Request, Response],
        request: Request,
        principal: Principal,
        timeout_seconds: float,
    ) -> Response:
        try:
            return await method(request, timeout=timeout_seconds, metadata=self._metadata(principal))
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error, store=self._name) from error

"""The gRPC edge of exports and imports."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import IO, Final

from mneme.gateway.v1 import portability_pb2, portability_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.errors import LimitExceeded
from services.common.rpc.deadline import seconds_left
from services.common.rpc.interceptors.base import Context
from services.common.rpc.server import ServiceBinding
from services.gateway.portability.service import Portability
from services.gateway.requests import RequestReader

ROLES: Final[Mapping[str, Role]] = {"ExportUser": Role.READER, "ImportUser": Role.WRITER}
"""The role that each method needs, by its name."""

_PART_BYTES: Final = 1024 * 1024


class PortabilityServicer(portability_pb2_grpc.PortabilityServiceServicer):
    """Implements PortabilityService."""

    def __init__(self, portability: Portability, reader: RequestReader, *, deadline_seconds: float) -> None:
        """Serves the use cases; `deadline_seconds` are for a call whose deadline is not known."""
        self._portability = portability
        self._reader = reader
        self._deadline_seconds = deadline_seconds

    async def ExportUser(
        self, request: portability_pb2.ExportUserRequest, context: Context
    ) -> AsyncIterator[portability_pb2.ExportUserResponse]:
        """See the proto."""
        self._reader.user(request.user_id)
        tenant_id = current_principal().tenant_id
        left = seconds_left(self._deadline_seconds)
        async with aclosing(self._portability.export(tenant_id, request.user_id, seconds_left=left)) as parts:
            async for part in parts:
                for start in range(0, len(part), _PART_BYTES):
                    yield portability_pb2.ExportUserResponse(data=part[start : start + _PART_BYTES])

    async def ImportUser(
        self, request_iterator: AsyncIterator[portability_pb2.ImportUserRequest], context: Context
    ) -> portability_pb2.ImportUserResponse:
        """See the proto."""
        with tempfile.TemporaryFile() as file:
            await self._received(request_iterator, file)
            imported = await self._portability.import_file(current_principal(), file, self._reader.user)
        return portability_pb2.ImportUserResponse(
            user_id=imported.user_id,
            record_count=imported.record_count,
            restored_count=imported.restored_count,
            replayed=imported.replayed,
        )

    async def _received(self, requests: AsyncIterator[portability_pb2.ImportUserRequest], file: IO[bytes]) -> None:
        limit = self._portability.settings.import_bytes_max
        size = 0
        async for request in requests:
            size += len(request.data)
            if size > limit:
                raise LimitExceeded("import_bytes_max", limit)
            await asyncio.to_thread(file.write, request.data)


def portability_binding(portability: Portability, reader: RequestReader, *, deadline_seconds: float) -> ServiceBinding:
    """The service, for a `GrpcServer`."""
    return ServiceBinding(
        "mneme.gateway.v1.PortabilityService",
        portability_pb2_grpc.add_PortabilityServiceServicer_to_server,
        PortabilityServicer(portability, reader, deadline_seconds=deadline_seconds),
        ROLES,
    )

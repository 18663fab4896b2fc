"""Exporting and importing users."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable

from mneme.gateway.v1 import portability_pb2
from mneme_client import results_portability
from mneme_client.aio.operations import Operations
from mneme_client.calls import Call

_SERVICE = "/mneme.gateway.v1.PortabilityService"
_STREAM_TIMEOUT_SECONDS = 3600.0


class PortabilityOperations(Operations):
    """All memories of a user as a file, and back."""

    def export_user(self, user_id: str, *, timeout_seconds: float | None = None) -> AsyncGenerator[bytes, None]:
        """Yields the parts of the user's file: whole once the last one has come.

        Raises:
            MnemeClientError: The service refused, could not be reached in time, or ended before the last part.
        """
        request = portability_pb2.ExportUserRequest(user_id=user_id)
        call = Call(f"{_SERVICE}/ExportUser", request, portability_pb2.ExportUserResponse, results_portability.part)
        return self._transport.stream(call, timeout_seconds or _STREAM_TIMEOUT_SECONDS)

    async def import_user(
        self, parts: Iterable[bytes], *, timeout_seconds: float | None = None
    ) -> results_portability.ImportedUser:
        """Stores an exported file, with ids and times.

        Args:
            parts: The file, cut anywhere into parts of at most 4 MiB. A list or a tuple is sent again after a failure.
            timeout_seconds: Deadline of the whole import.

        Raises:
            MnemeClientError: The file is not whole (INVALID_ARGUMENT), or the user has memories
                (FAILED_PRECONDITION); nothing was stored then. After other failures, import the same file again.
            Exception: What reading the parts raised, as it is.
        """
        made = (portability_pb2.ImportUserRequest(data=part) for part in parts)
        requests = list(made) if isinstance(parts, list | tuple) else made
        call = Call(
            f"{_SERVICE}/ImportUser",
            portability_pb2.ImportUserRequest(),
            portability_pb2.ImportUserResponse,
            results_portability.imported_user,
        )
        return await self._transport.upload(call, requests, timeout_seconds or _STREAM_TIMEOUT_SECONDS)

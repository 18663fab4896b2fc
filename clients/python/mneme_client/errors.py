"""The one error that the client raises, with the service's facts as attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

_DETAILS_KEY = "grpc-status-details-bin"
TRANSIENT_CODES = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED})
"""A server that cannot be reached, or that closed while the call was on its way: gRPC cancels such calls."""

_LOST_WHILE_SENDING = "Internal error from Core"
"""Details of gRPC's own error when a stream ends while a message is sent and its status has not arrived yet."""

_CODES = {code.value[0]: code for code in grpc.StatusCode}
_RETRYABLE_CODES = TRANSIENT_CODES | {grpc.StatusCode.DEADLINE_EXCEEDED}


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """What is wrong with one field of the request."""

    field_path: str  # such as "turns[3].content"
    description: str


class MnemeClientError(Exception):
    """A call failed.

    Attributes:
        code: The gRPC status.
        message: For people. Branch on `reason` or `code`, never on this.
        reason: The machine-readable reason of mneme.errors.v1.ErrorReason without its prefix, such as
            "REQUEST_ID_REUSED". Empty when the failure is not the service's own, such as a lost connection.
        metadata: Facts that belong to the reason, such as `limit`.
        violations: The fields that are wrong, by path.
        retry_after_seconds: When the service asks to be called again, or None.
        method: The RPC, such as "mneme.gateway.v1.MemoryService/Recall".
    """

    def __init__(
        self,
        message: str,
        *,
        code: grpc.StatusCode,
        reason: str = "",
        metadata: Mapping[str, str] | None = None,
        violations: tuple[FieldViolation, ...] = (),
        retry_after_seconds: float | None = None,
        method: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = reason
        self.metadata: dict[str, str] = dict(metadata or {})
        self.violations = violations
        self.retry_after_seconds = retry_after_seconds
        self.method = method

    @property
    def retryable(self) -> bool:
        """Whether the same call, with the same request id, may succeed when it is repeated later."""
        return self.code in _RETRYABLE_CODES or self.retry_after_seconds is not None

    def __str__(self) -> str:
        label = self.code.name if self.reason in {"", self.code.name} else f"{self.code.name}/{self.reason}"
        fields = "; ".join(f"{v.field_path}: {v.description}" for v in self.violations)
        return f"{label}: {self.message}" + (f" ({fields})" if fields else "")


class RpcFailure(Protocol):
    """The status of a failed call, of the blocking or the asyncio gRPC library."""

    def code(self) -> grpc.StatusCode:
        """The status."""
        ...

    def details(self) -> str | None:
        """The message."""
        ...

    def trailing_metadata(self) -> object:
        """Pairs of key and value; None where the call never reached a server."""
        ...


def from_rpc_failure(failure: RpcFailure, *, method: str) -> MnemeClientError:
    """Reads the status and its google.rpc details. Details that cannot be read are left out."""
    code, message = failure.code(), failure.details() or "no message"
    if code is grpc.StatusCode.INTERNAL and message == _LOST_WHILE_SENDING:
        code, message = grpc.StatusCode.UNAVAILABLE, "the stream ended while a message was sent"
    return _error(message, code, details=_details(failure), method=method.lstrip("/"))


def client_is_closed(method: str) -> MnemeClientError:
    """The error of a call of a client that is closed, or that was closed while the call was under way."""
    return _error("the client is closed", grpc.StatusCode.CANCELLED, details=(), method=method.lstrip("/"))


def from_item_status(status: status_pb2.Status) -> MnemeClientError:
    """Reads the error of one item of a batch or stream."""
    return _error(status.message, _CODES.get(status.code, grpc.StatusCode.UNKNOWN), details=status.details)


def _error(message: str, code: grpc.StatusCode, *, details: Iterable[Any], method: str = "") -> MnemeClientError:
    reason, metadata, violations, retry_after = "", {}, [], None
    for detail in details:
        info = error_details_pb2.ErrorInfo()
        bad_request = error_details_pb2.BadRequest()
        retry_info = error_details_pb2.RetryInfo()
        if detail.Is(info.DESCRIPTOR) and detail.Unpack(info):
            reason, metadata = info.reason, dict(info.metadata)
        elif detail.Is(bad_request.DESCRIPTOR) and detail.Unpack(bad_request):
            violations += [FieldViolation(v.field, v.description) for v in bad_request.field_violations]
        elif detail.Is(retry_info.DESCRIPTOR) and detail.Unpack(retry_info):
            retry_after = retry_info.retry_delay.ToTimedelta().total_seconds()
    return MnemeClientError(
        message,
        code=code,
        reason=reason,
        metadata=metadata,
        violations=tuple(violations),
        retry_after_seconds=retry_after,
        method=method,
    )


def _details(failure: RpcFailure) -> list[Any]:
    pairs = failure.trailing_metadata()
    for key, value in pairs if isinstance(pairs, Iterable) else ():
        if key == _DETAILS_KEY and isinstance(value, bytes):
            try:
                return list(status_pb2.Status.FromString(value).details)
            except DecodeError:
                return []
    return []

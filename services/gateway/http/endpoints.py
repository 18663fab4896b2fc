"""One HTTP endpoint for each method that the gateway serves."""

from __future__ import annotations

import base64
import math
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, NoReturn, TypeAlias

import grpc
from connectrpc.code import Code
from connectrpc.errors import ConnectError, ErrorDetail
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.request import RequestContext
from connectrpc.server import Endpoint
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.any_pb2 import Any as PackedDetail
from google.protobuf.descriptor import FileDescriptor, MethodDescriptor
from google.rpc import error_details_pb2, status_pb2
from protobuf.wkt import Any as PackedMessage

from services.common.errors import MnemeError
from services.common.errors_grpc import status_code, to_status_details
from services.common.rpc.in_process import InProcessChannel
from services.common.rpc.server import ServiceBinding

Call: TypeAlias = RequestContext[Any, Any]

FORWARDED_HEADERS: Final = ("authorization", "x-request-id", "traceparent", "tracestate")
"""Request headers that a handler sees, as metadata of the same name."""

_STATUS_DETAILS: Final = "grpc-status-details-bin"


def endpoints(services: Sequence[ServiceBinding], channel: InProcessChannel) -> dict[str, Any]:
    """Connect's endpoints by path, such as "/mneme.gateway.v1.MemoryService/Recall".

    Methods with a stream of requests are left out: it would need HTTP/2 in both directions, which gRPC is there for.

    Args:
        services: What the gateway serves.
        channel: To the gateway itself: a call runs through the same authentication, limits and traces as by gRPC.
    """
    found: dict[str, Any] = {}
    for service in services:
        for method in served_methods(service):
            path = f"/{service.full_name}/{method.name}"
            found[path] = _stream(method, path, channel) if method.server_streaming else _unary(method, path, channel)
    return found


def served_methods(service: ServiceBinding) -> list[MethodDescriptor]:
    """The methods of a service that HTTP can carry."""
    methods: Sequence[MethodDescriptor] = descriptor_pool.Default().FindServiceByName(service.full_name).methods
    return [method for method in methods if method.name not in service.withheld and not method.client_streaming]


def response_files(services: Sequence[ServiceBinding]) -> list[FileDescriptor]:
    """The files that hold what the methods return; details of errors inside a response are messages of Google's."""
    methods = [method for service in services for method in served_methods(service)]
    return [error_details_pb2.DESCRIPTOR, *(method.output_type.file for method in methods)]


def _unary(method: MethodDescriptor, path: str, channel: InProcessChannel) -> Any:
    info = _method_info(method, StreamType.UNARY)
    rpc: Any = channel.unary_unary(path, info.input.SerializeToString, info.output.FromString)

    async def call(request: Any, context: Call) -> Any:
        try:
            return await rpc(request, timeout=_seconds_left(context), metadata=metadata_of(context))
        except grpc.aio.AioRpcError as error:
            # A stream's status is 200, whatever its end says: only here does the header mean anything.
            context.response_headers.update(retry_headers(error.trailing_metadata() or ()))
            _fail(error)

    return Endpoint.unary(info, call)


def _stream(method: MethodDescriptor, path: str, channel: InProcessChannel) -> Any:
    info = _method_info(method, StreamType.SERVER_STREAM)

    async def call(request: Any, context: Call) -> AsyncIterator[Any]:
        responses = channel.responses(
            path,
            request.SerializeToString(),
            timeout_seconds=_seconds_left(context),
            metadata=metadata_of(context),
        )
        try:
            async for response in responses:
                yield info.output.FromString(response)
        except grpc.aio.AioRpcError as error:
            _fail(error)

    return Endpoint.server_stream(info, call)


def _method_info(method: MethodDescriptor, stream_type: StreamType) -> MethodInfo[Any, Any]:
    return MethodInfo(
        name=method.name,
        service_name=method.containing_service.full_name,
        input=message_factory.GetMessageClass(method.input_type),
        output=message_factory.GetMessageClass(method.output_type),
        idempotency_level=IdempotencyLevel.UNKNOWN,  # calls are POSTs: a GET with a credential may be cached or logged
        stream_type=stream_type,
    )


def metadata_of(context: Call) -> tuple[tuple[str, str], ...]:
    """What a handler sees of a request's headers."""
    headers = context.request_headers
    return tuple((name, value) for name in FORWARDED_HEADERS if (value := headers.get(name)) is not None)


def _seconds_left(context: Call) -> float | None:
    return None if context.timeout_ms is None else max(0.0, context.timeout_ms / 1000)


def _fail(error: grpc.aio.AioRpcError) -> NoReturn:
    """Raises a status of gRPC as Connect's error with the same code, message and details."""
    raise connect_error(error.code(), error.details() or "", error.trailing_metadata() or ()) from None


def connect_error(code: grpc.StatusCode, message: str, trailing_metadata: Any) -> ConnectError:
    """Connect's error for a status of gRPC; the numbers of their codes are the same."""
    return _with_details(code, message, _status_of(trailing_metadata))


def refusal_of(error: MnemeError) -> ConnectError:
    """Connect's error for one that no gRPC call has had yet, with the same details."""
    status = to_status_details(error)
    return _with_details(status_code(error), status.message, status)


def _with_details(code: grpc.StatusCode, message: str, status: status_pb2.Status) -> ConnectError:
    paths = [text for detail in status.details if (text := _paths(detail))]
    details = [ErrorDetail(PackedMessage(type_url=d.type_url, value=d.value)) for d in status.details]
    return ConnectError(_code(code), ": ".join([message, *paths]), details)


def retry_headers(trailing_metadata: Any) -> dict[str, str]:
    """The header that says after how many seconds a call may be made again, where the status of gRPC says so.

    HTTP has whole seconds only: a part of one counts as one.
    """
    for detail in _status_of(trailing_metadata).details:
        if detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR):
            delay = error_details_pb2.RetryInfo.FromString(detail.value).retry_delay
            return {"retry-after": str(math.ceil(delay.ToTimedelta().total_seconds()))}
    return {}


def _status_of(trailing_metadata: Any) -> status_pb2.Status:
    packed = next((value for key, value in trailing_metadata if key == _STATUS_DETAILS), b"")
    return status_pb2.Status.FromString(packed if isinstance(packed, bytes) else base64.b64decode(packed))


def _paths(detail: PackedDetail) -> str:
    """The fields that are not valid, in words: callers in JSON see details as bytes."""
    if not detail.Is(error_details_pb2.BadRequest.DESCRIPTOR):
        return ""
    violations = error_details_pb2.BadRequest.FromString(detail.value).field_violations
    return "; ".join(f"{violation.field} {violation.description}".strip() for violation in violations)


def _code(code: grpc.StatusCode) -> Code:
    name = {"CANCELLED": "CANCELED"}.get(code.name, code.name)
    return Code[name]

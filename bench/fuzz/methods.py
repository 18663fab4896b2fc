"""Every RPC that a server answers to, and one call of any of them."""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import grpc
from google.protobuf import any_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

import mneme

Metadata = Sequence[tuple[str, str]]

_ANSWERS_MAX: Final = 50
"""Messages of a stream that are read."""
_PROBE_SECONDS: Final = 20.0
_FIELD_ENDS: Final = re.compile(r"[.\[]")


@dataclass(frozen=True, slots=True)
class Served:
    """A method at the address of a service that has it."""

    at: str
    """Name of the service: gateway, session, episodic, semantic or agentic."""
    method: MethodDescriptor

    @property
    def name(self) -> str:
        """As in "gateway mneme.gateway.v1.MemoryService/Recall"."""
        return f"{self.at} {self.method.containing_service.full_name}/{self.method.name}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended."""

    code: grpc.StatusCode
    details: str
    seconds: float
    answers: Sequence[bytes]
    refused_fields: Sequence[str] = ()
    """Of the request, where it was not valid: their names, without what is inside them."""


def methods() -> Sequence[MethodDescriptor]:
    """Returns the methods of all of Mneme's services, by the stubs."""
    pool = descriptor_pool.Default()
    found: dict[str, MethodDescriptor] = {}
    for module in pkgutil.walk_packages(mneme.__path__, "mneme."):
        if module.ispkg or not module.name.endswith("_pb2"):
            continue
        for service in importlib.import_module(module.name).DESCRIPTOR.services_by_name.values():
            for method in pool.FindServiceByName(service.full_name).methods:
                found[method.full_name] = method
    return [found[name] for name in sorted(found)]


async def served(at: str, channel: grpc.aio.Channel, metadata: Metadata) -> Sequence[Served]:
    """Returns the methods that a service has: any answer but that it has none of the name, to an empty request."""
    candidates = [Served(at, method) for method in methods()]
    outcomes = await asyncio.gather(
        *(call(channel, one.method, b"", metadata=metadata, seconds=_PROBE_SECONDS) for one in candidates)
    )
    return [
        one
        for one, outcome in zip(candidates, outcomes, strict=True)
        # The library may report the end of a stream of requests before the server's answer.
        if outcome.code is not grpc.StatusCode.UNIMPLEMENTED and "error from Core" not in outcome.details
    ]


async def call(
    channel: grpc.aio.Channel, method: MethodDescriptor, request: bytes, *, metadata: Metadata, seconds: float
) -> Outcome:
    """Sends bytes as the one request of a call, and reads what comes back."""
    path = f"/{method.containing_service.full_name}/{method.name}"
    made = _callable(channel, method)(path, request_serializer=_as_it_is, response_deserializer=_as_it_is)
    answers: list[bytes] = []
    begin = time.perf_counter()
    code, details = grpc.StatusCode.OK, ""
    refused: Sequence[str] = ()
    try:
        argument = _once(request) if method.client_streaming else request
        called = made(argument, metadata=metadata, timeout=seconds)
        if method.server_streaming:
            async for answer in called:
                answers.append(answer)
                if len(answers) == _ANSWERS_MAX:
                    called.cancel()
                    break
        else:
            answers.append(await called)
    except asyncio.CancelledError:
        if (current := asyncio.current_task()) is not None and current.cancelling():
            raise
        code = grpc.StatusCode.CANCELLED  # the library's word for a call that ended before its request was sent
    except grpc.aio.AioRpcError as error:
        code, details, refused = error.code(), error.details() or "", _refused_fields(error)
    return Outcome(code, details, time.perf_counter() - begin, answers, refused)


def answer_of(method: MethodDescriptor, data: bytes) -> Message | None:
    """Returns an answer as its message, or None where it cannot be read as one."""
    try:
        answer: Message = message_factory.GetMessageClass(method.output_type).FromString(data)
    except DecodeError:
        return None
    return answer


def _refused_fields(error: grpc.aio.AioRpcError) -> tuple[str, ...]:
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            status = status_pb2.Status.FromString(value)
            return tuple(name for detail in status.details for name in _violated(detail))
    return ()


def _violated(detail: any_pb2.Any) -> Sequence[str]:
    request = error_details_pb2.BadRequest()
    if not detail.Unpack(request):
        return ()
    return [_FIELD_ENDS.split(one.field, maxsplit=1)[0] for one in request.field_violations]


def _callable(channel: grpc.aio.Channel, method: MethodDescriptor) -> Callable[..., Any]:
    if method.client_streaming:
        return channel.stream_stream if method.server_streaming else channel.stream_unary
    return channel.unary_stream if method.server_streaming else channel.unary_unary


def _as_it_is(data: bytes) -> bytes:
    return data


async def _once(request: bytes) -> AsyncIterator[bytes]:
    yield request

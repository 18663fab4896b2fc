"""Runs calls of the same process through a server's handlers and interceptors."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import grpc
import structlog

from services.common.rpc.in_process.call import CallEnd, InProcessCall, Metadata
from services.common.rpc.in_process.context import InProcessContext
from services.common.rpc.in_process.stream import InProcessStream, StreamContext, refused
from services.common.rpc.interceptors.around import InterceptorChain
from services.common.rpc.interceptors.base import Handler

_log = structlog.get_logger("mneme.rpc")

NOT_RUNNING: Final = CallEnd(grpc.StatusCode.UNAVAILABLE, "the server does not run")
_STOPPED: Final = CallEnd(grpc.StatusCode.CANCELLED, "CANCELLED")


@dataclass(frozen=True, slots=True)
class _Details:
    """A request for a handler, as grpc's registries ask for it."""

    method: str
    invocation_metadata: Any = ()


class InProcessServer:
    """The part of a server that callers of its own process reach without a socket.

    It takes handlers as grpc.aio.Server does, from the same generated functions, and treats a call as a socket would:
    the same blocks run around the handler, in a task and a variable context of its own, which sees nothing of the
    caller but metadata; the same statuses come back. Messages are serialised and read again. For those of a Recall that
    takes 50 microseconds in all, and neither side can change what the other holds; their size is known by it, too.

    Health and reflection are for others, and streams of requests need a socket.
    """

    def __init__(self, chain: InterceptorChain, *, message_bytes_max: int) -> None:
        """Refuses calls until it is started.

        Args:
            chain: The blocks around every call.
            message_bytes_max: Of a request or response.
        """
        self._chain = chain
        self._message_bytes_max = message_bytes_max
        self._generic: list[Any] = []
        self._handlers: dict[str, Handler | None] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._variables: contextvars.Context | None = None

    def add_generic_rpc_handlers(self, generic_rpc_handlers: Sequence[Any]) -> None:
        """See grpc.aio.Server."""
        self._generic.extend(generic_rpc_handlers)

    def add_registered_method_handlers(self, service_name: str, method_handlers: Mapping[str, Handler]) -> None:
        """See grpc.aio.Server; the generic handlers hold the same."""

    def start(self) -> None:
        """Takes calls from now on. Handlers see the context variables of here, as those of sockets do."""
        self._variables = contextvars.copy_context()

    async def stop(self, grace_seconds: float) -> None:
        """Refuses new calls at once as UNAVAILABLE, and cancels those that outlast the grace."""
        self._variables = None
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_seconds)
        cancelled = tuple(self._tasks)
        for task in cancelled:
            task.cancel()
        if cancelled:
            await asyncio.wait(cancelled, timeout=max(grace_seconds, 1.0))  # as long again to clean up

    def call(
        self,
        method: str,
        request: bytes,
        *,
        timeout_seconds: float | None,
        metadata: Metadata,
        read_response: Callable[[bytes], Any],
        response_bytes_max: int,
    ) -> InProcessCall:
        """Begins a call.

        Args:
            method: Full name, such as "/mneme.session.v1.SessionService/GetSession".
            request: The serialised message.
            timeout_seconds: What the call has in all; None for no deadline.
            metadata: Of the caller.
            read_response: Makes the caller's message of the serialised response.
            response_bytes_max: What the caller takes; the server's own limit holds as well.
        """
        call = InProcessCall(timeout_seconds)
        variables, handler = self._variables, self._handler(method)
        refusal = self._refusal(handler, request)
        if refusal is not None:
            call.settle(refusal)
        elif variables is None:
            call.settle(NOT_RUNNING)
        elif timeout_seconds is None or timeout_seconds > 0:  # else its timer ends it: nothing need be begun
            context = InProcessContext(request, metadata, call.deadline)
            limit = min(response_bytes_max, self._message_bytes_max)
            task = asyncio.get_running_loop().create_task(
                _serve(handler, context, call, _reading(read_response, limit)), context=variables.copy()
            )
            call.run_in(task)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return call

    def stream(
        self, method: str, request: bytes, *, timeout_seconds: float | None, metadata: Metadata
    ) -> InProcessStream:
        """Begins a call whose response is a stream; arguments as of `call`."""
        handler, variables = self._handler(method, is_stream=True), self._variables
        refusal = NOT_RUNNING if variables is None else self._refusal(handler, request)
        if refusal is not None or variables is None:
            return refused(refusal or NOT_RUNNING)
        call = InProcessCall(timeout_seconds)
        context = StreamContext(request, metadata, call.deadline, handler.response_serializer)
        task = asyncio.get_running_loop().create_task(_serve_stream(handler, context, call), context=variables.copy())
        call.run_in(task)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return InProcessStream(call, context)

    def _refusal(self, handler: Any, request: bytes) -> CallEnd | None:
        if handler is None:
            return CallEnd(grpc.StatusCode.UNIMPLEMENTED, "Method not found!")
        if len(request) > self._message_bytes_max:
            return too_large(len(request), self._message_bytes_max)
        return None

    def _handler(self, method: str, *, is_stream: bool = False) -> Any:
        """The handler behind its blocks, found once; None for what is unknown, or streams otherwise than asked for."""
        if method not in self._handlers:
            details = _Details(method)
            found = next((f for f in (g.service(details) for g in self._generic) if f is not None), None)
            is_served = found is not None and not found.request_streaming
            self._handlers[method] = self._chain.wrap(found, method) if is_served else None
        handler: Any = self._handlers[method]
        return handler if handler is not None and handler.response_streaming == is_stream else None


def too_large(size: int, size_max: int) -> CallEnd:
    """The end of a call whose message is larger than one side takes."""
    return CallEnd(grpc.StatusCode.RESOURCE_EXHAUSTED, f"Message larger than max ({size} vs. {size_max})")


async def _serve(
    handler: Any,
    context: InProcessContext,
    call: InProcessCall,
    read: Callable[[bytes, Metadata], CallEnd],
) -> None:
    """Runs the handler of a unary method; a status that it set or aborted with counts more than its response."""

    async def run() -> CallEnd:
        response = await handler.stream_unary(None, context)
        end = context.end()
        if end.code is not grpc.StatusCode.OK:
            return end
        return read(_converted(handler.response_serializer, response), end.trailing_metadata)

    await _run(run, context, call)


async def _serve_stream(handler: Any, context: StreamContext, call: InProcessCall) -> None:
    """Runs the handler of a method whose response is a stream, until its last response was read."""

    async def run() -> CallEnd:
        await handler.stream_stream(None, context)
        await context.drained()
        return context.end()

    await _run(run, context, call)


async def _run(run: Callable[[], Awaitable[CallEnd]], context: InProcessContext, call: InProcessCall) -> None:
    """Ends the call with what `run` returns, unless its deadline or its caller ended it."""
    end = _STOPPED
    is_cancelled = False
    try:
        end = await run()
    except grpc.aio.AbortError:
        end = context.end()
    except asyncio.CancelledError:
        is_cancelled = True
        raise
    except Exception as error:
        # The blocks turn errors into statuses: this is one of theirs, or a message that cannot be read.
        _log.exception("call_failed_outside_of_its_blocks")
        end = CallEnd(grpc.StatusCode.UNKNOWN, f"Unexpected {type(error).__name__}", context.end().trailing_metadata)
    finally:
        call.settle(end)
        context.finish(is_cancelled=is_cancelled)


def _reading(read_response: Callable[[bytes], Any], bytes_max: int) -> Callable[[bytes, Metadata], CallEnd]:
    def read(answer: bytes, trailing_metadata: Metadata) -> CallEnd:
        if len(answer) > bytes_max:
            return too_large(len(answer), bytes_max)
        return CallEnd(trailing_metadata=trailing_metadata, response=read_response(answer))

    return read


def _converted(convert: Callable[[Any], Any] | None, message: Any) -> Any:
    """A message in its other form; without a converter both forms are the same."""
    return message if convert is None else convert(message)

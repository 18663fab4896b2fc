"""Interceptors as blocks around a call, whatever streams it has; all of them behind one gRPC interceptor.

gRPC's own chain costs about 50 microseconds for each interceptor of a call. Here one of them runs all blocks, which are
coroutines in one another: as context managers they took three times as long.
"""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import grpc

from services.common.rpc.interceptors.gate import CallGate
from services.common.rpc.interceptors.reading import readable, tolerant

if TYPE_CHECKING:  # the library's classes take no type arguments at run time
    Context: TypeAlias = grpc.aio.ServicerContext[Any, Any]
    Handler: TypeAlias = grpc.RpcMethodHandler[Any, Any]
else:
    Context = grpc.aio.ServicerContext
    Handler = grpc.RpcMethodHandler

Serve: TypeAlias = Callable[[Any, Context], Awaitable[Any]]

OPEN_PREFIXES: Final = ("/grpc.health.", "/grpc.reflection.")
"""Methods that everybody may call without a credential and without a trace."""

_CODE_NAMES: Final = {code.value[0]: code.name for code in grpc.StatusCode}


class AroundInterceptor(ABC):
    """A block that runs around every call."""

    @abstractmethod
    def around(self, call: Serve, method: str) -> Serve:
        """A handler with the block around another. Made once for each method; runs for each of its calls.

        Args:
            call: The other one, to be awaited where it is called. Its exceptions pass through the block.
            method: Full name, such as "/mneme.gateway.v1.MemoryService/Recall".
        """


class InterceptorChain(grpc.aio.ServerInterceptor):
    """Runs the blocks of all interceptors around every call, the first one outermost.

    Inside of the blocks, a call must have a request that can be read, and pass the gate.

    Wrapped handlers are kept, so a call costs one look-up and the blocks. Health and reflection pass by: probes come
    every few seconds, carry no credential, and watch for as long as they like.
    """

    def __init__(
        self,
        interceptors: Sequence[AroundInterceptor],
        *,
        gate: CallGate | None = None,
        open_prefixes: tuple[str, ...] = OPEN_PREFIXES,
    ) -> None:
        """Runs `interceptors`, outermost first, around every method that is not under `open_prefixes`.

        Args:
            interceptors: One of them turns errors into statuses, else those of the gate are UNKNOWN.
            gate: Closed when the server stops.
            open_prefixes: Of full names of methods.
        """
        self.interceptors = tuple(interceptors)
        self._gate = gate or CallGate()
        self._open_prefixes = open_prefixes
        self._wrapped: dict[str, tuple[Handler, Handler]] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """See grpc.aio.ServerInterceptor."""
        inner = await continuation(handler_call_details)
        method = handler_call_details.method
        if inner is None or method.startswith(self._open_prefixes):
            return inner  # None is an unknown method: gRPC answers UNIMPLEMENTED
        known = self._wrapped.get(method)
        if known is not None and known[0] is inner:
            return known[1]
        wrapped = self.wrap(inner, method)
        self._wrapped[method] = (inner, wrapped)
        return wrapped

    def wrap(self, inner: Any, method: str) -> Handler:
        """A handler that runs the blocks around another, whatever streams it has."""
        serialisation = (tolerant(inner.request_deserializer), inner.response_serializer)
        is_streaming = inner.request_streaming
        if inner.response_streaming:
            call = inner.stream_stream if is_streaming else inner.unary_stream
            make: Any = grpc.stream_stream_rpc_method_handler if is_streaming else grpc.unary_stream_rpc_method_handler
            serve = self._nested(_writing(call), method, is_streaming=is_streaming)
            return cast("Handler", make(serve, *serialisation))
        if is_streaming:
            serve = self._nested(inner.stream_unary, method, is_streaming=True)
            return grpc.stream_unary_rpc_method_handler(serve, *serialisation)
        serve = self._nested(inner.unary_unary, method, is_streaming=False)
        return grpc.unary_unary_rpc_method_handler(serve, *serialisation)

    def _nested(self, call: Serve, method: str, *, is_streaming: bool) -> Serve:
        call = self._gate.guarding(readable(call, is_streaming=is_streaming))
        for interceptor in reversed(self.interceptors):
            call = interceptor.around(call, method)
        return _coroutine(call)


def _coroutine(call: Serve) -> Serve:
    """A handler that gRPC takes for one of asyncio's, which it tells by the function's kind."""
    if inspect.iscoroutinefunction(call):
        return call

    async def serve(request: Any, context: Context) -> Any:
        return await call(request, context)

    return serve


def _writing(call: Any) -> Serve:
    """A streaming handler as a coroutine that writes.

    gRPC drops a generator where it stands when the caller goes away; its blocks would end some time later in another
    task. Through a coroutine cancellation passes at once, and the generator is closed with it.
    """

    async def serve(request: Any, context: Context) -> None:
        responses = call(request, context)
        if not hasattr(responses, "__aiter__"):
            await responses  # a handler of the older style writes to the context itself
            return
        async with aclosing(responses):
            async for response in responses:
                await context.write(response)

    return serve


def metadata_value(context: Context, key: str) -> str:
    """The first text value of a metadata key of the call; empty where there is none."""
    for name, value in context.invocation_metadata() or ():
        if name == key and isinstance(value, str):
            return value
    return ""


def code_name(context: Context, error: BaseException | None = None) -> str:
    """The status that a call ends with, by name.

    Args:
        context: The call. gRPC keeps its status as a number once it is set.
        error: What passes through the block, if anything does.
    """
    code: Any = context.code()
    number = code if isinstance(code, int) else code.value[0] if code is not None else 0
    if number == 0 and isinstance(error, asyncio.CancelledError):
        # Cancelled from outside: by its caller, by its caller's deadline, or because the server stops.
        remaining: float | None = context.time_remaining()
        return "DEADLINE_EXCEEDED" if remaining is not None and remaining <= 0.01 else "CANCELLED"
    if number == 0 and error is not None:
        return "UNKNOWN"
    return _CODE_NAMES.get(number, "UNKNOWN")

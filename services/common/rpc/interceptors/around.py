"""All interceptors of a server behind one gRPC interceptor, which runs their blocks around every call.

gRPC's own chain costs more for each interceptor than most of them do. Every method is served as one that takes a stream
of requests: gRPC calls the handler of such a method when the headers have come, so that callers are authenticated and
counted before they send anything, and the wait for their message has an end. On the wire there is no difference.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, Final, cast

import grpc

from services.common.rpc.interceptors.base import AroundInterceptor, Context, Handler, Method, Serve
from services.common.rpc.interceptors.errors import ErrorInterceptor
from services.common.rpc.interceptors.gate import CallGate
from services.common.rpc.interceptors.open_streams import OpenStreamsInterceptor
from services.common.rpc.interceptors.requests import many_requests, one_request

OPEN_PREFIXES: Final = ("/grpc.health.", "/grpc.reflection.")
"""Methods that everybody may call without a credential and without a trace."""


class InterceptorChain(grpc.aio.ServerInterceptor):
    """Runs the blocks of all interceptors around every call, the first one outermost.

    Inside of the blocks, a call must pass the gate, and then have a request that comes in time and can be read.

    Wrapped handlers are cached, so a call costs one look-up and the blocks. Health and reflection pass by: probes come
    every few seconds, carry no credential, and watch for as long as they like; how many may watch has a bound.
    """

    def __init__(
        self,
        interceptors: Sequence[AroundInterceptor],
        *,
        gate: CallGate | None = None,
        request_seconds: float = 5.0,
        stream_idle_seconds: float = 60.0,
    ) -> None:
        """Runs `interceptors`, outermost first, around every method that is not open to everybody.

        Args:
            interceptors: One of them turns errors into statuses, else those of the gate are UNKNOWN.
            gate: Closed when the server stops.
            request_seconds: How long a call waits for its request.
            stream_idle_seconds: How long a stream of requests waits for the next one.
        """
        self.interceptors = tuple(interceptors)
        self._open = (ErrorInterceptor(), OpenStreamsInterceptor())
        self._gate = gate or CallGate()
        self._request_seconds = request_seconds
        self._stream_idle_seconds = stream_idle_seconds
        self._wrapped: dict[str, tuple[Handler, Handler]] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """See grpc.aio.ServerInterceptor."""
        inner = await continuation(handler_call_details)
        if inner is None:
            return None  # an unknown method: gRPC answers UNIMPLEMENTED
        name = handler_call_details.method
        known = self._wrapped.get(name)
        if known is not None and known[0] is inner:
            return known[1]
        wrapped = self.wrap(inner, name)
        self._wrapped[name] = (inner, wrapped)
        return wrapped

    def wrap(self, inner: Any, name: str) -> Handler:
        """A handler that runs the blocks around another. It takes no requests: it reads them from the context."""
        method = Method(name, is_stream=inner.request_streaming or inner.response_streaming)
        if inner.response_streaming:
            call = _writing(inner.stream_stream if inner.request_streaming else inner.unary_stream)
            make: Any = grpc.stream_stream_rpc_method_handler
        else:
            call = inner.stream_unary if inner.request_streaming else inner.unary_unary
            make = grpc.stream_unary_rpc_method_handler
        if inner.request_streaming:
            call = many_requests(call, inner.request_deserializer, timeout_seconds=self._stream_idle_seconds)
        else:
            call = one_request(call, inner.request_deserializer, timeout_seconds=self._request_seconds)
        return cast("Handler", make(self._nested(call, method), None, inner.response_serializer))

    def _nested(self, call: Serve, method: Method) -> Serve:
        is_open = method.name.startswith(OPEN_PREFIXES)
        if not is_open:
            call = self._gate.guarding(call)
        for interceptor in reversed(self._open if is_open else self.interceptors):
            call = interceptor.around(call, method)

        async def serve(requests: Any, context: Context) -> Any:  # gRPC asks for a coroutine function
            return await call(requests, context)

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

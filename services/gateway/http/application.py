"""The ASGI application: calls, the contract as OpenAPI, and health."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import resources
from typing import Final

from connectrpc.compat import google_protobuf_binary_codec
from connectrpc.server import ConnectASGIApplication
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.common.auth import Authenticator
from services.common.errors import Unauthenticated
from services.common.rpc.in_process import InProcessChannel
from services.common.rpc.server import GrpcServer, ServiceBinding
from services.gateway.http.console.routes import console_routes
from services.gateway.http.endpoints import FORWARDED_HEADERS, Call, endpoints, metadata_of, refusal_of, response_files
from services.gateway.http.json_codec import CompactJsonCodec
from services.gateway.http.mem0.routes import PREFIX as MEM0_PREFIX
from services.gateway.http.mem0.routes import mem0_application
from services.gateway.http.settings import HttpSettings

_LOOPBACK_HOSTS: Final = ["localhost", "127.0.0.1"]
_EXPOSED_HEADERS: Final = ["grpc-status", "grpc-message", "grpc-status-details-bin", "retry-after", "x-request-id"]
_NOT_STORED: Final = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_REASONS: Final = {
    404: "There is no such call by HTTP. Calls are POST /<package>.<Service>/<Method>; /openapi.json lists them.\n",
    405: "Calls are POST.\n",
    415: "The content type must be application/json, application/proto, or one of gRPC-Web.\n",
}
_REPLACED: Final = {b"content-length", b"content-type"}
_ALLOWED_HEADERS: Final = [
    *FORWARDED_HEADERS,
    "content-type",
    "content-encoding",
    "connect-protocol-version",
    "connect-timeout-ms",
    "connect-content-encoding",
    "connect-accept-encoding",
    "grpc-timeout",
    "x-grpc-web",
    "x-user-agent",
]


def application(
    services: Sequence[ServiceBinding], server: GrpcServer, authenticator: Authenticator, settings: HttpSettings
) -> ASGIApp:
    """What the HTTP server runs.

    Paths: POST /<package.Service>/<Method> for calls, GET /openapi.json, GET /health (200 while the gateway is ready,
    else 503; `needs_key` says whether calls need a credential), and, unless the settings switch them off, GET /console/
    for the console and /mem0 for mem0's client.

    Args:
        services: What the gateway serves.
        server: The gateway's gRPC server, whose handlers and interceptors serve the calls.
        authenticator: Checks a call's credential before its body is read.
        settings: Limits and origins.
    """
    channel = server.open_in_process_channel(message_bytes_max=settings.message_bytes_max)
    calls = _Calls(services, channel, authenticator, settings.message_bytes_max)
    mem0 = _limited(mem0_application(channel, authenticator, settings), settings)
    contract = resources.files("mneme").joinpath("openapi.json").read_bytes()

    async def get_contract(_request: Request) -> Response:
        return Response(contract, media_type="application/json")

    async def get_health(_request: Request) -> Response:
        is_serving = await server.is_serving()
        status = "SERVING" if is_serving else "NOT_SERVING"
        # The console asks so before it shows anything, and need not try a call that is refused.
        needs_key = authenticator.development_principal is None
        return JSONResponse({"status": status, "needs_key": needs_key}, 200 if is_serving else 503)

    return Starlette(
        routes=[
            Route("/openapi.json", get_contract),
            Route("/health", get_health),
            *(console_routes() if settings.serves_console else ()),
            *([Mount(MEM0_PREFIX, mem0)] if settings.serves_mem0 else ()),
            Mount("/", _limited(_Explained(calls), settings)),
        ],
        middleware=_middleware(authenticator, settings),
    )


def _limited(inner: ASGIApp, settings: HttpSettings) -> ASGIApp:
    return _NotStored(_BodyInTime(inner, settings.request_seconds))


def _middleware(authenticator: Authenticator, settings: HttpSettings) -> list[Middleware]:
    found = []
    if authenticator.development_principal is not None:
        # Calls need no credential there: a page whose name is made to point to this machine must not make any.
        found.append(Middleware(TrustedHostMiddleware, allowed_hosts=_LOOPBACK_HOSTS, www_redirect=False))
    if settings.origins:
        found.append(
            Middleware(
                CORSMiddleware,
                allow_origins=list(settings.origins),
                allow_methods=["POST"],
                allow_headers=_ALLOWED_HEADERS,
                expose_headers=_EXPOSED_HEADERS,
                max_age=7200,
            )
        )
    return found


class _Calls(ConnectASGIApplication[None]):
    """Connect's application over the endpoints of all services."""

    def __init__(
        self,
        services: Sequence[ServiceBinding],
        channel: InProcessChannel,
        authenticator: Authenticator,
        bytes_max: int,
    ) -> None:
        by_path = endpoints(services, channel)
        super().__init__(
            service=None,
            endpoints=lambda _: by_path,
            interceptors=[_Credential(authenticator)],
            read_max_bytes=bytes_max,
            codecs=[google_protobuf_binary_codec(), CompactJsonCodec(response_files(services))],
        )

    @property
    def path(self) -> str:
        """Where it is mounted."""
        return "/"


class _Credential:
    """Refuses a call without a good credential before its body is read; the handlers' interceptors check it again."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    async def on_start(self, context: Call) -> None:
        try:
            self._authenticator.authenticate(dict(metadata_of(context)))
        except Unauthenticated as error:
            raise refusal_of(error) from None

    async def on_end(self, token: None, context: Call, error: Exception | None, /) -> None:
        """Nothing is left to do."""


class _Explained:
    """Says in words why a request is no call, where Connect's library responds with a status and no body."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start: Message | None = None

        async def send_with_reason(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and message["status"] in _REASONS:
                start = message
                return
            if start is not None:
                begun, start = start, None
                if not message.get("body") and not message.get("more_body", False):
                    headers = [
                        (name, value) for name, value in begun.get("headers", ()) if name.lower() not in _REPLACED
                    ]
                    text = _REASONS[begun["status"]].encode()
                    length, kind = str(len(text)).encode(), b"text/plain; charset=utf-8"
                    headers += [(b"content-length", length), (b"content-type", kind)]
                    begun, message = {**begun, "headers": headers}, {**message, "body": text}
                await send(begun)
            await send(message)

        await self._inner(scope, receive, send_with_reason)


class _NotStored:
    """Says of every response that nothing may store it or take it for another type than it says."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *_NOT_STORED]}
            await send(message)

        await self._inner(scope, receive, send_with_headers)


class _BodyInTime:
    """Ends a request whose body does not come in time with 408."""

    def __init__(self, inner: ASGIApp, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_late = is_complete = has_begun = False

        async def receive_in_time() -> Message:
            nonlocal is_late, is_complete
            if is_complete:  # what comes now is the end of the connection, however long that takes
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                is_late = is_complete = True
                return {"type": "http.disconnect"}
            is_complete = not message.get("more_body", False)
            return message

        async def send_unless_late(message: Message) -> None:
            nonlocal has_begun
            if not is_late:
                has_begun = True
                await send(message)

        deadline = asyncio.get_running_loop().time() + self._seconds
        await self._inner(scope, receive_in_time, send_unless_late)
        if is_late and not has_begun:
            await Response(f"the request did not come within {self._seconds:g} s", 408)(scope, receive, send)

"""Serves mem0's calls below /mem0."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

import grpc
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from services.common.auth import Authenticator
from services.common.errors import Unauthenticated
from services.common.rpc.in_process import InProcessChannel
from services.gateway.http.endpoints import FORWARDED_HEADERS, connect_error, retry_headers
from services.gateway.http.mem0 import calls
from services.gateway.http.mem0.json_values import read_json
from services.gateway.http.mem0.refused import RefusedError
from services.gateway.http.mem0.upstream import Handlers, Metadata, Upstream
from services.gateway.http.settings import HttpSettings

PREFIX: Final = "/mem0"

_AUTHORIZATION: Final = "authorization"
_SCHEME: Final = "token "
_STATUSES: Final[Mapping[grpc.StatusCode, int]] = {
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.FAILED_PRECONDITION: 400,
    grpc.StatusCode.OUT_OF_RANGE: 400,
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.ABORTED: 409,
    grpc.StatusCode.ALREADY_EXISTS: 409,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.UNAVAILABLE: 503,
    grpc.StatusCode.DEADLINE_EXCEEDED: 504,
}

_Call: TypeAlias = Callable[[Upstream, Request, dict[str, Any]], Awaitable[Any]]


def mem0_application(channel: InProcessChannel, authenticator: Authenticator, settings: HttpSettings) -> ASGIApp:
    """The calls below the prefix.

    Args:
        channel: To the gateway itself.
        authenticator: Checks a request's credential before its body is read; the handlers check it again.
        settings: Limits.
    """
    edge = _Edge(Handlers(channel), authenticator, settings)

    def route(path: str, method: str, call: _Call) -> Route:
        async def serve(request: Request) -> JSONResponse:
            return await edge.serve(request, call)

        return Route(path, serve, methods=[method])

    return Starlette(
        routes=[
            Route("/v1/ping/", edge.ping),
            route("/v3/memories/add/", "POST", lambda up, _, body: calls.add(up, body)),
            route("/v3/memories/search/", "POST", lambda up, _, body: calls.search(up, body)),
            route("/v3/memories/", "POST", lambda up, request, body: calls.get_all(up, body, request.query_params)),
            # The same three calls of client 1.x, whose other calls are at the addresses below.
            route("/v1/memories/", "POST", lambda up, _, body: calls.add(up, body)),
            route("/v2/memories/search/", "POST", lambda up, _, body: calls.search_v1(up, body)),
            route("/v2/memories/", "POST", lambda up, request, body: calls.get_all_v1(up, body, request.query_params)),
            route("/v1/memories/", "DELETE", lambda up, request, _: calls.delete_all(up, request.query_params)),
            route("/v1/memories/{id}/", "GET", lambda up, request, _: calls.get(up, _id(request))),
            route("/v1/memories/{id}/", "PUT", lambda up, request, body: calls.update(up, _id(request), body)),
            route("/v1/memories/{id}/", "DELETE", lambda up, request, _: calls.delete(up, _id(request))),
            route("/v1/memories/{id}/history/", "GET", lambda up, request, _: calls.history(up, _id(request))),
            route("/v2/entities/user/{id}/", "DELETE", lambda up, request, _: calls.delete_user(up, _id(request))),
            route("/v1/feedback/", "POST", lambda up, _, body: calls.feedback(up, body)),
        ],
        exception_handlers={404: _not_served, 405: _not_served},
    )


async def _not_served(_request: Request, _error: Exception) -> JSONResponse:
    return JSONResponse({"detail": "this call of mem0 is not served here; docs/mem0.md lists those that are"}, 404)


def _id(request: Request) -> str:
    found: str = request.path_params["id"]
    return found


class _Edge:
    """From a request to a response: credential, body, errors."""

    def __init__(self, handlers: Handlers, authenticator: Authenticator, settings: HttpSettings) -> None:
        self._handlers = handlers
        self._authenticator = authenticator
        self._settings = settings

    async def ping(self, request: Request) -> JSONResponse:
        """Says whose the credential is. mem0's client asks for an organisation and a project: the tenant is both."""
        try:
            tenant_id = self._authenticator.authenticate(dict(self._metadata(request))).tenant_id
        except Unauthenticated as error:
            return JSONResponse({"detail": str(error)}, 401)
        return JSONResponse({"status": "ok", "org_id": tenant_id, "project_id": tenant_id, "user_email": None})

    async def serve(self, request: Request, call: _Call) -> JSONResponse:
        """Runs one call."""
        metadata = self._metadata(request)
        try:
            upstream = Upstream(
                self._handlers,
                metadata,
                tenant_id=self._authenticator.authenticate(dict(metadata)).tenant_id,
                listed_max=self._settings.mem0_listed_max,
                wait_seconds=self._settings.mem0_wait_seconds,
            )
            return JSONResponse(await call(upstream, request, await self._body(request)))
        except Unauthenticated as error:
            return JSONResponse({"detail": str(error)}, 401)
        except RefusedError as error:
            return JSONResponse({"detail": error.detail}, error.status)
        except grpc.aio.AioRpcError as error:
            return _error_response(error)

    def _metadata(self, request: Request) -> Metadata:
        """What the handlers see of a request's headers, with its credential as gRPC's callers give it.

        In development mode calls need no credential, and mem0's client cannot do without one: it is dropped there.
        """
        found = {name: value for name in FORWARDED_HEADERS if (value := request.headers.get(name)) is not None}
        credential = found.get(_AUTHORIZATION, "")
        if credential[: len(_SCHEME)].lower() == _SCHEME:
            if self._authenticator.development_principal is not None:
                del found[_AUTHORIZATION]
            else:
                found[_AUTHORIZATION] = f"Bearer {credential[len(_SCHEME) :].strip()}"
        return tuple(found.items())

    async def _body(self, request: Request) -> dict[str, Any]:
        read = bytearray()
        try:
            async for part in request.stream():
                read += part
                if len(read) > self._settings.message_bytes_max:
                    raise RefusedError(f"the body has more than {self._settings.message_bytes_max} bytes", 413)
        except ClientDisconnect:
            raise RefusedError("the body is incomplete", 408) from None
        try:
            body = read_json(read.decode() or "{}")
        except (ValueError, RecursionError):
            raise RefusedError("the body must be JSON") from None
        if not isinstance(body, dict):
            raise RefusedError("the body must be a JSON object")
        return body


def _error_response(error: grpc.aio.AioRpcError) -> JSONResponse:
    status = _STATUSES.get(error.code(), 500)
    metadata = error.trailing_metadata() or ()
    detail = connect_error(error.code(), error.details() or "", metadata).message
    return JSONResponse({"detail": detail}, status, retry_headers(metadata))

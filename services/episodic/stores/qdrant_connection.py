"""A Qdrant server as this tier calls it: address, deadlines, retries, and its errors as ours."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Final, TypeVar
from urllib.parse import urlsplit

import stamina
import structlog
from grpc import StatusCode
from grpc.aio import AioRpcError
from qdrant_client import AsyncQdrantClient
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse

from services.common.errors import FailedPrecondition, StoreUnavailable
from services.common.telemetry import store_span
from services.episodic.config import QdrantServer, QdrantSettings

_log = structlog.get_logger(__name__)

_T = TypeVar("_T")

_STORE_NAME: Final = "qdrant"
_SCHEMES: Final = {"http": False, "grpc": False, "https": True, "grpcs": True}
_GRPC_PORT: Final = 6334
_REST_PORT: Final = 6333
_VERSION_MIN: Final = (1, 19)
_RETRY_AFTER_SECONDS: Final = 1.0

_TRANSIENT: Final = frozenset({StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED, StatusCode.RESOURCE_EXHAUSTED})
#: The call itself is wrong: it would be so again, and a caller must not take it for an outage.
_FAULTS_OF_OURS: Final = frozenset({StatusCode.INVALID_ARGUMENT, StatusCode.OUT_OF_RANGE})

_KEY_REFUSED: Final = frozenset({StatusCode.UNAUTHENTICATED, StatusCode.PERMISSION_DENIED})

_CHANNEL_OPTIONS: Final = {
    # A name with several addresses, such as a headless service, is used evenly.
    "grpc.service_config": '{"loadBalancingConfig": [{"round_robin": {}}]}',
    # A half-open connection is noticed in the midst of a call.
    "grpc.keepalive_time_ms": 20_000,
    "grpc.keepalive_timeout_ms": 5_000,
    "grpc.max_reconnect_backoff_ms": 5_000,
}


def create_qdrant_client(server: QdrantServer, settings: QdrantSettings) -> AsyncQdrantClient:
    """A client that speaks gRPC alone and connects on its first call; its owner closes it.

    Args:
        server: Where it is. Of the REST port, 6333, the gRPC port beside it is taken, 6334.
        settings: Its time limits.

    Raises:
        ValueError: The URL is not of the form scheme://host or scheme://host:port.
    """
    host, port, is_secure = address_of(server.url)
    options: dict[str, object] = dict(_CHANNEL_OPTIONS)
    if server.authority is not None:
        options["root_certificates"] = server.authority
    return AsyncQdrantClient(
        host=host,
        grpc_port=port,
        https=is_secure,
        prefer_grpc=True,
        api_key=server.api_key or None,
        # The client has one deadline for all writes, whatever a call says; the server's own limit, which the
        # call names, ends before it and reports what became of the write.
        timeout=settings.write_timeout_seconds + 1,
        pool_size=1,
        grpc_options=options,
        # Versions are compared on our own, over gRPC and before the first use.
        check_compatibility=False,
        # Nothing here is text to be embedded: the client need not look for any in each point.
        cloud_inference=True,
    )


def address_of(url: str) -> tuple[str, int, bool]:
    """Host, gRPC port, and whether it speaks TLS.

    Raises:
        ValueError: The URL is of another form, or holds more.
    """
    parts = urlsplit(url)
    is_bare = not (parts.path.strip("/") or parts.query or parts.fragment or parts.username or parts.password)
    if parts.scheme not in _SCHEMES or not parts.hostname or not is_bare:
        raise ValueError("the URL of Qdrant must be http://host:6334 or https://host:6334, without a path")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = parts.port or _GRPC_PORT
    return host, _GRPC_PORT if port == _REST_PORT else port, _SCHEMES[parts.scheme]


class QdrantConnection:
    """Runs calls of a client: again after transient errors, with what remains translated."""

    def __init__(self, client: AsyncQdrantClient, settings: QdrantSettings) -> None:
        """Use a client, which `aclose` closes."""
        self._client = client
        self._settings = settings
        self._is_closed = False

    async def check(self) -> None:
        """Make sure of a server that is new enough, waiting for one that is still starting.

        Raises:
            StoreUnavailable: None responds.
            FailedPrecondition: It is older than 1.19, or does not report it.
        """
        reported = (await self.prepare(lambda client: client.info())).version
        found = re.match(r"v?(\d+)\.(\d+)", reported or "")
        if found is None or (int(found[1]), int(found[2])) < _VERSION_MIN:
            raise FailedPrecondition(
                f"the Qdrant server reports version {reported!r}: 1.19 or newer is needed, "
                "since older ones score words by everybody's texts without saying so"
            )

    async def read(self, call: Callable[[AsyncQdrantClient], Awaitable[_T]], *, operation: str, collection: str) -> _T:
        """Run a call that a response waits for: few attempts, all within the time of one. It has a span."""
        settings = self._settings
        with store_span(_STORE_NAME, operation, collection):
            return await self._run(call, settings.search_attempts, float(settings.search_timeout_seconds))

    async def write(self, call: Callable[[AsyncQdrantClient], Awaitable[_T]], *, operation: str, collection: str) -> _T:
        """Run a call that may be repeated without harm and that nobody waits for. It has a span."""
        settings = self._settings
        with store_span(_STORE_NAME, operation, collection):
            return await self._run(call, settings.write_attempts, float(settings.write_timeout_seconds))

    async def ping(self) -> None:
        """Run a call that asks for nothing, as a search is run."""
        settings = self._settings
        await self._run(lambda client: client.info(), settings.search_attempts, float(settings.search_timeout_seconds))

    async def prepare(self, call: Callable[[AsyncQdrantClient], Awaitable[_T]]) -> _T:
        """Run a call of the start, for as long as the server may take to come up.

        Raises:
            FailedPrecondition: The server refuses it, such as shards outside of cluster mode, or a wrong key.
        """
        try:
            return await self._run(call, None, self._settings.start_timeout_seconds)
        except AioRpcError as error:
            raise FailedPrecondition(
                f"the Qdrant server refuses to create the collection: {error.details()}"
            ) from error
        except StoreUnavailable as error:
            cause = error.__cause__
            if isinstance(cause, AioRpcError) and cause.code() in _KEY_REFUSED:
                raise FailedPrecondition(f"the Qdrant server refuses the API key: {cause.details()}") from cause
            raise

    async def aclose(self) -> None:
        """Close the client. Closing twice is allowed; later calls raise `StoreUnavailable`."""
        if not self._is_closed:
            self._is_closed = True
            await self._client.close()

    async def _run(
        self, call: Callable[[AsyncQdrantClient], Awaitable[_T]], attempts: int | None, timeout_seconds: float
    ) -> _T:
        if self._is_closed:
            raise StoreUnavailable(_STORE_NAME, _RETRY_AFTER_SECONDS)
        with _translated():
            async for attempt in stamina.retry_context(
                on=self._backoff,
                attempts=attempts,
                timeout=timeout_seconds,
                wait_initial=self._settings.retry_seconds_min,
                wait_max=self._settings.retry_seconds_max,
                wait_jitter=self._settings.retry_seconds_min,
            ):
                with attempt:
                    return await call(self._client)
        raise AssertionError("the last attempt returns or raises")

    def _backoff(self, error: Exception) -> bool | float:
        """Whether to try again, or after how many seconds where the server has named a time."""
        if isinstance(error, ResourceExhaustedResponse):
            is_soon = error.retry_after_s <= self._settings.retry_seconds_max
            return float(error.retry_after_s) if is_soon else False
        return isinstance(error, AioRpcError) and error.code() in _TRANSIENT


def is_lost(error: StoreUnavailable) -> bool:
    """Whether the server responds that the object does not exist any more."""
    cause = error.__cause__
    return isinstance(cause, AioRpcError) and cause.code() is StatusCode.NOT_FOUND


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Raises what a server or the way to it has failed at as `StoreUnavailable`; faults of ours pass."""
    try:
        yield
    except ResourceExhaustedResponse as error:
        raise StoreUnavailable(_STORE_NAME, float(error.retry_after_s)) from error
    except AioRpcError as error:
        if error.code() in _FAULTS_OF_OURS:
            raise
        if error.code() not in _TRANSIENT:
            # A wrong key, a collection that is gone: someone must look after it.
            _log.warning("qdrant refuses a call", code=error.code().name, details=error.details())
        raise StoreUnavailable(_STORE_NAME, _RETRY_AFTER_SECONDS) from error

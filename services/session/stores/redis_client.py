"""Clients of Redis, single or Cluster, and their errors as ours."""

from __future__ import annotations

import contextlib
import re
import ssl
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from redis import exceptions as redis_errors
from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster, SSLConnection, UnixDomainSocketConnection
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from services.common.errors import StoreUnavailable
from services.session.config import RedisAccess, RedisSettings
from services.session.stores.redis_sentinel import create_sentinel_client
from services.session.stores.redis_url import RedisUrl, parse_redis_url

STORE_NAME: Final = "redis"

RedisClient: TypeAlias = "Redis | RedisCluster"

_RETRY_AFTER_SECONDS: Final = 1.0

#: Answers of a server that is there but cannot take the call now, by their first word.
_TRANSIENT: Final = frozenset(
    {"BUSY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "MISCONF", "NOREPLICAS", "OOM", "READONLY", "TRYAGAIN"}
)
_TRANSIENT_CLASSES: Final = (
    redis_errors.ConnectionError,
    redis_errors.TimeoutError,
    redis_errors.ClusterError,
    redis_errors.RedisClusterException,
    redis_errors.OutOfMemoryError,
    redis_errors.ReadOnlyError,
    redis_errors.TryAgainError,
    redis_errors.MasterDownError,
    # A user who lacks rights, as one with another password: memory takes over until someone has put it right.
    redis_errors.NoPermissionError,
    TimeoutError,
    OSError,
)


_ARGUMENTS: Final = re.compile(r",? with args beginning with:.*", re.DOTALL)


def hide_values() -> None:
    """Makes the errors of the driver print no arguments of commands, in the whole process; may be repeated.

    A server that does not know a command, or whose operator has renamed it, quotes the first of its arguments, which
    are what users said. Errors are printed in logs, and in spans already where the driver raises them.
    """
    redis_errors.ResponseError.__str__ = text_without_arguments  # type: ignore[method-assign, assignment]


def text_without_arguments(error: redis_errors.ResponseError) -> str:
    """What the server said, without the arguments that it quotes."""
    return _ARGUMENTS.sub(" (its arguments are left out)", Exception.__str__(error))


hide_values()


def create_redis_client(url: str, settings: RedisSettings, access: RedisAccess | None = None) -> RedisClient:
    """A client that gives up at once and connects on its first call; its owner closes it with `aclose`.

    It does not retry: the store behind it falls back on memory, and repeats when Redis is back.

    Args:
        url: See `parse_redis_url`.
        settings: Its bounds.
        access: Users, passwords and certificates that are not in the URL.

    Raises:
        ValueError: The URL is of another form, or a file of certificates cannot be used.
    """
    target, granted = parse_redis_url(url), access or RedisAccess()
    tls = _tls_options(granted) if target.is_tls else {}
    options = _options(target, settings, granted)
    if target.is_cluster:
        return RedisCluster(
            startup_nodes=[ClusterNode(node.host, node.port) for node in target.nodes],
            max_connections=settings.connections_max,
            # Slots that moved are noted one by one: reading all anew would cut off every call that is under way.
            reinitialize_steps=0,
            retry=Retry(NoBackoff(), 1),  # one, to follow a slot that moved
            ssl=target.is_tls,
            **options,
            **tls,
        )
    pool_options: dict[str, Any] = {
        **options,
        **tls,
        "db": target.database,
        "max_connections": settings.connections_max,
        "timeout": None,  # the store lets no more calls in than there are connections
        "retry": Retry(NoBackoff(), 0),
    }
    if target.master:
        return create_sentinel_client(
            [(node.host, node.port) for node in target.nodes],
            target.master,
            sentinel_options=_sentinel_options(settings, granted, is_tls=target.is_tls and settings.sentinel_tls),
            options={**pool_options, "ssl": target.is_tls},
        )
    if target.path:
        return Redis.from_pool(
            BlockingConnectionPool(connection_class=UnixDomainSocketConnection, path=target.path, **pool_options)
        )
    (node,) = target.nodes
    if target.is_tls:
        pool_options["connection_class"] = SSLConnection
    return Redis.from_pool(BlockingConnectionPool(host=node.host, port=node.port, **pool_options))


def _options(target: RedisUrl, settings: RedisSettings, access: RedisAccess) -> dict[str, Any]:
    """Of every connection to a server that holds data."""
    return {
        "username": access.user or target.user or None,
        "password": access.password or target.password or None,
        "socket_timeout": settings.call_timeout_seconds,
        "socket_connect_timeout": settings.call_timeout_seconds,
    }


def _sentinel_options(settings: RedisSettings, access: RedisAccess, *, is_tls: bool) -> dict[str, Any]:
    options: dict[str, Any] = {
        "username": access.sentinel_user or None,
        "password": access.sentinel_password or None,
        "socket_timeout": settings.sentinel_timeout_seconds,
        "socket_connect_timeout": settings.sentinel_timeout_seconds,
        "retry": Retry(NoBackoff(), 0),
    }
    return {**options, "ssl": True, **_tls_options(access)} if is_tls else options


def _tls_options(access: RedisAccess) -> dict[str, Any]:
    """Of connections by TLS, in files that have been tried: else each call would fail as if Redis were gone."""
    options = {
        "ssl_ca_certs": access.authority,
        "ssl_certfile": access.certificate,
        "ssl_keyfile": access.key,
    }
    try:
        context = ssl.create_default_context(cafile=access.authority)
        if access.certificate is not None:
            context.load_cert_chain(access.certificate, access.key)
    except OSError as error:
        raise ValueError("the certificates of the session store cannot be used: files in PEM are needed") from error
    return {name: str(path) for name, path in options.items() if path is not None}


@contextlib.contextmanager
def translate_errors() -> Iterator[None]:
    """Raises what the driver reports about the server's state as `StoreUnavailable`; faults of ours pass."""
    try:
        yield
    except _TRANSIENT_CLASSES as error:
        raise StoreUnavailable(STORE_NAME, _RETRY_AFTER_SECONDS) from error
    except redis_errors.ResponseError as error:
        if str(error).split(" ", 1)[0] in _TRANSIENT:
            raise StoreUnavailable(STORE_NAME, _RETRY_AFTER_SECONDS) from error
        raise

"""Clients of Redis, single or Cluster, and their errors as ours."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final, TypeAlias

from redis import exceptions as redis_errors
from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from services.common.errors import StoreUnavailable
from services.session.config import RedisSettings

STORE_NAME: Final = "redis"

RedisClient: TypeAlias = "Redis | RedisCluster"

_CLUSTER_SUFFIX: Final = "+cluster"
_SCHEMES: Final = ("redis", "rediss", "unix", "redis+cluster", "rediss+cluster")
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
    TimeoutError,
    OSError,
)


def create_redis_client(url: str, settings: RedisSettings) -> RedisClient:
    """A client that gives up at once and connects on its first call; its owner closes it with `aclose`.

    It does not retry: the store behind it falls back on memory, and repeats when Redis is back.

    Args:
        url: redis, rediss or unix; redis+cluster or rediss+cluster for any node of a Cluster.
        settings: Its bounds.

    Raises:
        ValueError: The URL's scheme is none of these.
    """
    scheme, _, rest = url.partition(":")
    if scheme not in _SCHEMES:
        raise ValueError(f"the session store's URL must have one of the schemes {', '.join(_SCHEMES)}")
    timeout_seconds = settings.call_timeout_seconds
    if scheme.endswith(_CLUSTER_SUFFIX):
        return RedisCluster.from_url(
            f"{scheme.removesuffix(_CLUSTER_SUFFIX)}:{rest}",
            max_connections=settings.connections_max,
            socket_timeout=timeout_seconds,
            socket_connect_timeout=timeout_seconds,
            retry=Retry(NoBackoff(), 1),  # one, to follow a slot that moved
        )
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=settings.connections_max,
        timeout=None,  # the store lets no more calls in than there are connections
        socket_timeout=timeout_seconds,
        socket_connect_timeout=timeout_seconds,
        retry=Retry(NoBackoff(), 0),
    )
    return Redis.from_pool(pool)


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

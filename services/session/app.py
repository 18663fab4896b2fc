"""Composition root of the session tier."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from mneme.session.internal.v1 import session_internal_pb2_grpc
from mneme.session.v1 import session_pb2_grpc
from services.common.background import BackgroundWork, every
from services.common.clock import Clock
from services.common.errors import StoreUnavailable
from services.common.hosting import HostSettings
from services.common.ids import IdSource
from services.common.paging import PageTokens
from services.common.rpc.server import ServiceBinding
from services.common.tokens import TokenCounter
from services.session.config import RedisAccess, RedisSettings, SessionSettings
from services.session.internal_servicer import ROLES as INTERNAL_ROLES
from services.session.internal_servicer import SERVICE_NAME as INTERNAL_SERVICE_NAME
from services.session.internal_servicer import SessionInternalServicer
from services.session.lifetimes import LifetimeReports
from services.session.service import SessionService
from services.session.servicer import ROLES, SERVICE_NAME, SessionServicer
from services.session.store import SessionStore
from services.session.stores.embedded import EmbeddedSessionStore
from services.session.stores.event_file import EventFile


@dataclass(frozen=True, kw_only=True)
class SessionResources:
    """What the tier uses and others own."""

    tokens: TokenCounter
    """Measures turns; an embedder is one."""
    clock: Clock
    """The time."""
    ids: IdSource
    """Ids of sessions and turns that come without."""
    secret: bytes
    """The service secret, the same in all replicas; page tokens are signed with a key made of it."""


@dataclass(frozen=True)
class SessionTier:
    """The tier, ready to be served."""

    sessions: SessionService
    """Its use cases."""
    bindings: tuple[ServiceBinding, ...]
    """What a `GrpcServer` serves: the public service and the internal one."""


def redis_access(settings: HostSettings) -> RedisAccess:
    """Who this service is for Redis, as configured.

    Raises:
        OSError: The file of the password cannot be read.
    """
    password = settings.session_store_password.get_secret_value()
    if not password and settings.session_store_password_file is not None:
        password = settings.session_store_password_file.read_text("utf-8").strip()
    return RedisAccess(
        user=settings.session_store_user,
        password=password,
        sentinel_user=settings.session_store_sentinel_user,
        sentinel_password=settings.session_store_sentinel_password.get_secret_value(),
        authority=settings.session_store_tls_authority,
        certificate=settings.session_store_tls_certificate,
        key=settings.session_store_tls_key,
    )


@contextlib.asynccontextmanager
async def open_session(
    resources: SessionResources,
    settings: SessionSettings | None = None,
    *,
    store_url: str = "",
    access: RedisAccess | None = None,
    folder: Path | None = None,
) -> AsyncIterator[SessionTier]:
    """The tier in this process's memory, or on Redis with this memory to fall back on.

    Redis need not be there yet: until it is, responses are degraded.

    Args:
        resources: What others own.
        settings: Defaults where None.
        store_url: Where Redis is, see `parse_redis_url`. Empty: memory alone.
        access: Users, passwords and certificates for it that are not in the URL.
        folder: Where the tier without Redis stores events that the conversation log does not have yet; None: in memory.

    Raises:
        ValueError: The URL is of another form, or a file of certificates cannot be used.
        DataDirLocked: Another process has the folder.
    """
    chosen = settings or SessionSettings()
    async with contextlib.AsyncExitStack() as stack:
        store: SessionStore
        if store_url:
            store = await stack.enter_async_context(_redis_with_fallback(store_url, chosen, access))
        else:
            events = stack.enter_context(EventFile(folder)) if folder is not None else None
            store = EmbeddedSessionStore(chosen.embedded, chosen.store, events)
        tier = open_session_on(store, resources, chosen)
        lifetimes = tier.sessions.lifetimes
        stack.push_async_callback(_report_last_reads, lifetimes)
        background = await stack.enter_async_context(BackgroundWork[str]("session"))
        background.keep_running("report-lifetimes", every(chosen.lifetimes.report_seconds, lifetimes.report_due))
        yield tier


async def _report_last_reads(lifetimes: LifetimeReports) -> None:
    with contextlib.suppress(StoreUnavailable):
        await lifetimes.report_all()


def open_session_on(
    store: SessionStore, resources: SessionResources, settings: SessionSettings | None = None
) -> SessionTier:
    """The tier on any store."""
    chosen = settings or SessionSettings()
    sessions = SessionService(store, resources.tokens, clock=resources.clock, ids=resources.ids, settings=chosen)
    servicer = SessionServicer(sessions, chosen.limits, PageTokens(resources.secret), resources.clock)
    return SessionTier(
        sessions,
        (
            ServiceBinding(SERVICE_NAME, session_pb2_grpc.add_SessionServiceServicer_to_server, servicer, ROLES),
            ServiceBinding(
                INTERNAL_SERVICE_NAME,
                session_internal_pb2_grpc.add_SessionInternalServiceServicer_to_server,
                SessionInternalServicer(sessions, chosen, resources.clock),
                INTERNAL_ROLES,
            ),
        ),
    )


@contextlib.asynccontextmanager
async def _redis_with_fallback(
    url: str, settings: SessionSettings, access: RedisAccess | None
) -> AsyncIterator[SessionStore]:
    # Imported here: without Redis its driver need not be installed.
    from services.session.stores.fallback import FallbackSessionStore
    from services.session.stores.redis import RedisSessionStore
    from services.session.stores.redis_client import create_redis_client

    redis: RedisSettings = settings.redis
    async with contextlib.AsyncExitStack() as stack:
        client = create_redis_client(url, redis, access)
        stack.push_async_callback(client.aclose)
        primary = RedisSessionStore(client, redis, settings.store)
        memory = EmbeddedSessionStore(settings.embedded, settings.store)
        yield await stack.enter_async_context(FallbackSessionStore(primary, memory, settings.fallback))

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
from services.common.encryption.carried import CarriedKeys
from services.common.errors import StoreUnavailable
from services.common.hosting import HostSettings
from services.common.ids import IdSource
from services.common.paging import PageTokens
from services.common.rpc.server import ServiceBinding
from services.common.tokens import TokenCounter
from services.session.config import RedisAccess, RedisSettings, SessionSettings
from services.session.context_window.service import ContextWindowService
from services.session.context_window.servicer import bindings as context_window_bindings
from services.session.context_window.store import ContextWindowStore
from services.session.context_window.stores.embedded import EmbeddedContextWindowStore
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
    keys: CarriedKeys | None = None
    """Encrypts what turns say outside of this process; stored as it is where None."""


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
        DecryptionError: The file of events is encrypted by keys that are not there.
    """
    chosen = settings or SessionSettings()
    async with contextlib.AsyncExitStack() as stack:
        store: SessionStore
        windows: ContextWindowStore = _embedded_windows(chosen)
        if store_url:
            store, windows = await stack.enter_async_context(
                _redis_with_fallback(store_url, chosen, access, resources.keys)
            )
        else:
            events = stack.enter_context(EventFile(folder, keys=resources.keys)) if folder is not None else None
            if events is not None:
                await events.unwrap_keys()
            store = EmbeddedSessionStore(chosen.embedded, chosen.store, events)
        tier = open_session_on(store, resources, chosen, windows=windows)
        lifetimes = tier.sessions.lifetimes
        stack.push_async_callback(_report_last_reads, lifetimes)
        background = await stack.enter_async_context(BackgroundWork[str]("session"))
        background.keep_running("report-lifetimes", every(chosen.lifetimes.report_seconds, lifetimes.report_due))
        yield tier


async def _report_last_reads(lifetimes: LifetimeReports) -> None:
    with contextlib.suppress(StoreUnavailable):
        await lifetimes.report_all()


def open_session_on(
    store: SessionStore,
    resources: SessionResources,
    settings: SessionSettings | None = None,
    *,
    windows: ContextWindowStore | None = None,
) -> SessionTier:
    """The tier on any store; context windows are in this process's memory where they have none of their own."""
    chosen = settings or SessionSettings()
    context_windows = ContextWindowService(
        windows or _embedded_windows(chosen),
        resources.tokens,
        clock=resources.clock,
        ids=resources.ids,
        settings=chosen.context_window,
    )
    sessions = SessionService(
        store, resources.tokens, clock=resources.clock, ids=resources.ids, settings=chosen, windows=context_windows
    )
    pages = PageTokens(resources.secret)
    servicer = SessionServicer(sessions, chosen.limits, pages, resources.clock)
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
            *context_window_bindings(context_windows, chosen.context_window.limits, pages, resources.clock),
        ),
    )


def _embedded_windows(settings: SessionSettings) -> EmbeddedContextWindowStore:
    retention = settings.store.idempotency_retention
    return EmbeddedContextWindowStore(settings.context_window.store, idempotency_retention=retention)


@contextlib.asynccontextmanager
async def _redis_with_fallback(
    url: str, settings: SessionSettings, access: RedisAccess | None, keys: CarriedKeys | None
) -> AsyncIterator[tuple[SessionStore, ContextWindowStore]]:
    # Imported here: without Redis its driver need not be installed.
    from services.session.context_window.stores.fallback import FallbackContextWindowStore
    from services.session.context_window.stores.redis import RedisContextWindowStore
    from services.session.stores.fallback import FallbackSessionStore
    from services.session.stores.redis import RedisSessionStore
    from services.session.stores.redis_calls import RedisCalls
    from services.session.stores.redis_client import create_redis_client

    redis: RedisSettings = settings.redis
    async with contextlib.AsyncExitStack() as stack:
        client = create_redis_client(url, redis, access)
        stack.push_async_callback(client.aclose)
        calls = RedisCalls(client, redis)
        primary = RedisSessionStore(calls, redis, settings.store, keys=keys)
        memory = EmbeddedSessionStore(settings.embedded, settings.store)
        sessions = await stack.enter_async_context(FallbackSessionStore(primary, memory, settings.fallback))
        primary_windows = RedisContextWindowStore(
            calls,
            redis,
            settings.context_window.store,
            idempotency_retention=settings.store.idempotency_retention,
            keys=keys,
        )
        windows = await stack.enter_async_context(
            FallbackContextWindowStore(primary_windows, _embedded_windows(settings), settings.fallback)
        )
        yield sessions, windows

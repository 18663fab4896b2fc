"""All five services on the embedded engines: in one process, or in one process each."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from services.agentic.app import AgenticResources, migrate_agentic, open_agentic
from services.cli.process_stack import run_processes
from services.cli.stack_model import Stack, StackSettings
from services.common.clock import Clock, SystemClock
from services.common.datadir import DataDir
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.encoder import EncoderSettings
from services.common.embedding.factory import EmbeddingSettings, create_embedder
from services.common.hosting import ensure_secret, serving
from services.common.ids import IdSource, Uuid7Ids
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.common.rpc.server import ServiceBinding
from services.episodic.app import EpisodicResources, migrate_episodic, open_episodic, qdrant_server
from services.gateway.app import GatewayResources, migrate_gateway, open_gateway
from services.gateway.config import TierTargets
from services.semantic.app import SemanticResources, migrate_semantic, open_semantic
from services.session.app import SessionResources, open_session

_log = structlog.get_logger(__name__)

__all__ = ["Stack", "StackSettings", "run_stack"]

SECRET_FILE = "service-secret"  # noqa: S105 - the name of the file

_POSTGRES_RESTART_SECONDS = 1.0


@dataclass(frozen=True)
class _Shared:
    """What the services of one process share."""

    settings: StackSettings
    embedder: OnnxEmbedder
    clock: Clock
    ids: IdSource
    secret: bytes


@contextlib.asynccontextmanager
async def run_stack(settings: StackSettings) -> AsyncIterator[Stack]:
    """Starts the engines and the services, yields when all of them serve, and drains them at the end.

    Raises:
        DataDirError: The data folder is in use or cannot be read.
        OSError: A port is taken.
        ModelUnavailableError: There is no usable embedding model.
    """
    async with contextlib.AsyncExitStack() as stack:
        data_dir = stack.enter_context(DataDir(settings.data_dir))
        secret = ensure_secret(data_dir.path / SECRET_FILE)
        postgres = EmbeddedPostgres(data_dir)
        # The model is read while the database starts: each takes about as long as the other.
        starting = asyncio.create_task(_start_postgres(stack, postgres))
        try:
            embedder = await asyncio.to_thread(create_embedder, _embedding_settings(settings, data_dir))
        finally:
            await starting
        stack.push_async_callback(embedder.aclose)
        if settings.processes:
            await embedder.aclose()  # each service loads the model that is built by now
            yield await stack.enter_async_context(run_processes(settings, data_dir, postgres, secret))
            return
        clock = SystemClock()
        shared = _Shared(settings, embedder, clock, Uuid7Ids(clock), secret)
        yield await _serve_all(stack, shared, data_dir, postgres.app_dsn)


async def _start_postgres(stack: contextlib.AsyncExitStack, postgres: EmbeddedPostgres) -> None:
    await stack.enter_async_context(postgres)
    await stack.enter_async_context(_kept_running(postgres))
    dsn = postgres.owner_dsn
    await asyncio.gather(migrate_gateway(dsn), migrate_episodic(dsn), migrate_semantic(dsn), migrate_agentic(dsn))


@contextlib.asynccontextmanager
async def _kept_running(postgres: EmbeddedPostgres) -> AsyncIterator[None]:
    """Starts the database again when it dies; its address stays the same, and pools connect anew by themselves."""

    async def watch() -> None:
        while True:
            try:
                status = await postgres.wait_exited()
                _log.error("postgres_died", exit_status=status)
                await postgres.start()
            except Exception:  # whatever it is, the next attempt may succeed; nobody else would make one
                _log.exception("postgres_not_restarted")
                await asyncio.sleep(_POSTGRES_RESTART_SECONDS)

    watcher = asyncio.create_task(watch())
    try:
        yield
    finally:
        watcher.cancel()
        await asyncio.gather(watcher, return_exceptions=True)


async def _serve_all(stack: contextlib.AsyncExitStack, shared: _Shared, data_dir: DataDir, dsn: str) -> Stack:
    """Opens the tiers, then the gateway on their addresses."""

    async def pool(name: str, size_max: int) -> Pool:
        opened = await create_pool(dsn, PoolSettings(size_max=size_max, application_name=f"mneme-{name}"))
        stack.push_async_callback(opened.close)
        return opened

    async def serve(bindings: Sequence[ServiceBinding], offset: int) -> str:
        return await stack.enter_async_context(_serving(bindings, shared, offset))

    resources: dict[str, Any] = {"clock": shared.clock, "secret": shared.secret}
    session = await stack.enter_async_context(
        open_session(
            SessionResources(ids=shared.ids, tokens=shared.embedder, **resources),
            store_url=shared.settings.host_settings.session_store_url,
        )
    )
    episodic = await stack.enter_async_context(
        open_episodic(
            await pool("episodic", 8),
            data_dir.qdrant,
            EpisodicResources(embedder=shared.embedder, **resources),
            qdrant_server=qdrant_server(shared.settings.host_settings),
        )
    )
    semantic = await stack.enter_async_context(
        open_semantic(
            await pool("semantic", 8),
            SemanticResources(embedder=shared.embedder, ids=shared.ids, **resources),
        )
    )
    agentic = await stack.enter_async_context(
        open_agentic(await pool("agentic", 8), AgenticResources(embedder=shared.embedder, ids=shared.ids, **resources))
    )
    targets = TierTargets(
        session=await serve([session.binding], 1),
        episodic=await serve([episodic.binding], 2),
        semantic=await serve(semantic.bindings, 3),
        agentic=await serve([agentic.binding], 4),
    )
    gateway = await stack.enter_async_context(
        open_gateway(
            await pool("gateway", 24),
            targets,
            GatewayResources(embedder=shared.embedder, ids=shared.ids, **resources),
            shared.settings.gateway,
        )
    )
    return Stack(await serve(gateway.bindings, 0), targets, dsn)


def _serving(
    bindings: Sequence[ServiceBinding], shared: _Shared, offset: int
) -> contextlib.AbstractAsyncContextManager[str]:
    settings = shared.settings
    # The tiers are for the gateway of this process: they stay on loopback, whatever the gateway listens on.
    # A certificate is the gateway's, made for the name that clients call.
    is_gateway = offset == 0
    host = settings.host if is_gateway else "127.0.0.1"
    return serving(
        bindings,
        address=f"{host}:{settings.port + offset if settings.port else 0}",
        settings=settings.host_settings if is_gateway else settings.host_settings.without_tls(),
        secret=shared.secret,
        clock=shared.clock,
        ids=shared.ids,
        grace_seconds=settings.grace_seconds,
    )


def _embedding_settings(settings: StackSettings, data_dir: DataDir) -> EmbeddingSettings:
    return EmbeddingSettings(
        data_dir=data_dir.path,
        model_dir=settings.host_settings.embedding_model_dir,
        encoder=EncoderSettings(intra_op_threads=settings.host_settings.embedding_threads),
    )

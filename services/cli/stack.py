"""All five services: in one process, or in one process each."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from services.agentic.app import AgenticResources, AgenticTier, open_agentic
from services.cli.engines import Database, migrate_graph_of, open_database
from services.cli.process_stack import run_processes
from services.cli.stack_model import Stack, StackSettings
from services.cli.tier_settings import TierSettings, read_tier_settings
from services.common.cache import OwnerCache, create_cache
from services.common.clock import Clock, SystemClock
from services.common.comparing.port import Comparer
from services.common.datadir import DataDir
from services.common.disk import DiskWatch
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.factory import EmbeddingSettings, create_embedder
from services.common.encryption.hosted import hosted_key_management, watching
from services.common.encryption.ring import DataKeyRing
from services.common.garbage import seldom_collected
from services.common.hosting import HostSettings, RunningServer, ensure_secret, running_server
from services.common.ids import IdSource, Uuid7Ids
from services.common.language_model.port import LanguageModel
from services.common.numerics import compute_in_place
from services.common.parsing.port import Parser
from services.common.postgres.pool import create_pool
from services.common.postgres.types import Pool
from services.common.rates import RateLimiter
from services.common.rpc.server import ServiceBinding
from services.common.serving_model.following import ServingModel, following
from services.common.serving_model.postgres import PostgresServingModels
from services.common.shared_settings import (
    create_carried_keys,
    create_comparer,
    create_key_ring,
    create_language_model,
    create_parser,
    embedding_settings,
    pool_settings,
    second_embedding_settings,
)
from services.common.switching import short_switch_interval
from services.common.telemetry.loop_delay import loop_delay_recorded
from services.common.text_cache import text_caches_cleared
from services.common.tokens import token_counter
from services.episodic.app import EpisodicResources, open_episodic, qdrant_server
from services.gateway.app import Gateway, GatewayResources, open_gateway
from services.gateway.config import TierTargets
from services.gateway.upstream import TierChannels
from services.semantic.app import SemanticResources, SemanticTier, open_semantic
from services.session.app import SessionResources, open_session, redis_access

__all__ = ["MakeEmbedder", "Stack", "StackSettings", "run_stack"]

MakeEmbedder = Callable[[EmbeddingSettings], OnnxEmbedder]
"""Makes the embedder of a process; blocks."""

SECRET_FILE = "service-secret"  # noqa: S105 - the name of the file


@dataclass(frozen=True)
class _Shared:
    """What the services of one process share."""

    settings: StackSettings
    tiers: TierSettings
    embedder: OnnxEmbedder
    second_embedder: OnnxEmbedder | None
    parser: Parser
    comparer: Comparer
    language_model: LanguageModel
    clock: Clock
    ids: IdSource
    secret: bytes
    cache: OwnerCache
    disk: DiskWatch
    rates: RateLimiter


@contextlib.asynccontextmanager
async def run_stack(
    settings: StackSettings, *, make_embedder: MakeEmbedder = create_embedder, clock: Clock | None = None
) -> AsyncIterator[Stack]:
    """Starts the engines and the services, yields when all of them serve, and drains them at the end.

    Args:
        settings: What to start.
        make_embedder: Makes each embedder that the services of one process share; benchmarks pass another one. Services
            in processes of their own make their own.
        clock: The time of the services of one process; the operating system's where None.

    Raises:
        SettingsError: The settings' file or a variable cannot be used.
        DataDirError: The data folder is in use or cannot be read.
        DiskFull: There is not enough space to start.
        OSError: A port is taken.
        ModelUnavailableError: There is no usable embedding model.
    """
    compute_in_place()
    tiers = read_tier_settings(settings)
    async with contextlib.AsyncExitStack() as stack:
        disk = DiskWatch(settings.data_dir, tiers.disk)
        disk.require_start()
        data_dir = stack.enter_context(DataDir(settings.data_dir))
        secret = ensure_secret(data_dir.path / SECRET_FILE)
        host_settings = settings.host_settings
        # The model is read while the database starts: each takes about as long as the other.
        starting = asyncio.create_task(stack.enter_async_context(open_database(host_settings, data_dir)))
        try:
            embedder = await asyncio.to_thread(
                make_embedder, embedding_settings(tiers.source, host_settings, data_dir.path)
            )
        finally:
            database = await starting
        stack.push_async_callback(embedder.aclose)
        if host_settings.neo4j_url and host_settings.neo4j_migrate:
            await migrate_graph_of(host_settings, tiers.source)
        if settings.processes:
            await embedder.aclose()  # each service loads the model that is built by now
            yield await stack.enter_async_context(run_processes(settings, data_dir, database, secret))
            return
        clock = clock or SystemClock()
        parser = create_parser(tiers.source, host_settings)
        stack.push_async_callback(parser.aclose)
        comparer = create_comparer(tiers.source)
        stack.push_async_callback(comparer.aclose)
        language_model = create_language_model(tiers.source, host_settings)
        stack.push_async_callback(language_model.aclose)
        ids, cache = Uuid7Ids(clock), create_cache(tiers.cache)
        rates = RateLimiter(tiers.rates)
        first = embedding_settings(tiers.source, host_settings, data_dir.path)
        second = await _second_embedder(stack, first, host_settings, make_embedder)
        shared = _Shared(
            settings, tiers, embedder, second, parser, comparer, language_model, clock, ids, secret, cache, disk, rates
        )
        running = await _serve_all(stack, shared, data_dir, database)
        await stack.enter_async_context(loop_delay_recorded())
        await stack.enter_async_context(text_caches_cleared(tiers.cache.texts_seconds))
        stack.enter_context(seldom_collected())
        stack.enter_context(short_switch_interval())
        yield running


async def _second_embedder(
    stack: contextlib.AsyncExitStack, first: EmbeddingSettings, host: HostSettings, make_embedder: MakeEmbedder
) -> OnnxEmbedder | None:
    """The second model of a change of the model, where one is configured."""
    second = second_embedding_settings(first, host)
    if second is None:
        return None
    embedder = await asyncio.to_thread(make_embedder, second)
    stack.push_async_callback(embedder.aclose)
    return embedder


async def _serving_model(stack: contextlib.AsyncExitStack, shared: _Shared, pool: Pool) -> ServingModel:
    """Which of the models of this process serves."""
    held = [each.fingerprint for each in (shared.embedder, shared.second_embedder) if each is not None]
    store, settings = PostgresServingModels(pool), shared.tiers.serving_model
    followed = following(store, held, service="all", process_id=shared.ids.new_id(), settings=settings)
    return await stack.enter_async_context(followed)


async def _serve_all(stack: contextlib.AsyncExitStack, shared: _Shared, data_dir: DataDir, database: Database) -> Stack:
    """Opens the tiers, then the gateway on their addresses."""
    host_settings = shared.settings.host_settings

    async def pool(name: str, size_max: int, *, vectors: bool = False) -> Pool:
        chosen = pool_settings(
            shared.tiers.source,
            size_max=size_max,
            behind_pgbouncer=host_settings.behind_pgbouncer,
            application_name=f"mneme-{name}",
            vectors=vectors,
        )
        opened = await create_pool(database.url, chosen)
        stack.push_async_callback(opened.close)
        return opened

    async def serve(bindings: Sequence[ServiceBinding], offset: int) -> RunningServer:
        return await stack.enter_async_context(_serving(bindings, shared, offset))

    serving = await _serving_model(stack, shared, await pool("model", 2))
    resources: dict[str, Any] = {"clock": shared.clock, "secret": shared.secret}
    source = shared.tiers.source
    management = await stack.enter_async_context(hosted_key_management(host_settings, source))
    key_ring = create_key_ring(source, management)
    session = await stack.enter_async_context(
        open_session(
            SessionResources(
                ids=shared.ids,
                tokens=token_counter(),
                keys=create_carried_keys(source, management),
                **resources,
            ),
            shared.tiers.session,
            store_url=host_settings.session_store_url,
            access=redis_access(host_settings),
            folder=data_dir.session,
        )
    )
    episodic = await stack.enter_async_context(
        open_episodic(
            await pool("episodic", 8),
            data_dir.qdrant,
            EpisodicResources(
                embedder=shared.embedder,
                second_embedder=shared.second_embedder,
                serving=serving,
                cache=shared.cache,
                disk=shared.disk,
                key_ring=key_ring,
                superuser_url=database.superuser_url,
                language_model=shared.language_model,
                **resources,
            ),
            shared.tiers.episodic,
            qdrant_server=qdrant_server(host_settings),
        )
    )
    semantic, agentic = await _open_graph_tiers(stack, shared, serving, pool, key_ring)
    tiers = {
        "session": await serve(session.bindings, 1),
        "episodic": await serve(episodic.bindings, 2),
        "semantic": await serve(semantic.bindings, 3),
        "agentic": await serve(agentic.bindings, 4),
    }
    targets = TierTargets(**{name: tier.address for name, tier in tiers.items()})
    gateway = await stack.enter_async_context(
        open_gateway(
            await pool("gateway", 24),
            targets,
            GatewayResources(
                embedder=shared.embedder,
                second_embedder=shared.second_embedder,
                serving=serving,
                ids=shared.ids,
                notice_dsn=database.direct_url,
                rates=shared.rates,
                key_ring=key_ring,
                **resources,
            ),
            shared.tiers.gateway,
            in_process=await _open_tier_channels(stack, tiers),
        )
    )
    running = await serve(watching(management, gateway.bindings), 0)
    http_address = await stack.enter_async_context(_http(gateway, running, shared))
    return Stack(running.address, targets, database.url, http_address)


@contextlib.asynccontextmanager
async def _http(gateway: Gateway, running: RunningServer, shared: _Shared) -> AsyncIterator[str]:
    """HTTP beside the gateway's gRPC, where the settings name an address; else an empty one."""
    host_settings = shared.settings.host_settings
    if not host_settings.http_listen:
        yield ""
        return
    # Imported here: its libraries are an extra.
    from services.gateway.http.server import http_server

    async with http_server(
        host_settings.http_listen,
        gateway.bindings,
        running.server,
        shared.tiers.gateway.http,
        tls=host_settings.tls,
        grace_seconds=shared.settings.grace_seconds,
    ) as address:
        yield address


async def _open_tier_channels(stack: contextlib.AsyncExitStack, tiers: Mapping[str, RunningServer]) -> TierChannels:
    """The gateway's channels to the tiers in its own process; the ports of the tiers are for other callers."""
    return TierChannels(
        **{name: await stack.enter_async_context(tier.server.open_in_process_channel()) for name, tier in tiers.items()}
    )


async def _open_graph_tiers(
    stack: contextlib.AsyncExitStack,
    shared: _Shared,
    serving: ServingModel,
    pool: Callable[..., Awaitable[Pool]],
    key_ring: DataKeyRing | None,
) -> tuple[SemanticTier, AgenticTier]:
    """The two tiers that use Neo4j if one is configured, else PostgreSQL."""
    resources: dict[str, Any] = {
        "embedder": shared.embedder,
        "second_embedder": shared.second_embedder,
        "serving": serving,
        "clock": shared.clock,
        "ids": shared.ids,
        "secret": shared.secret,
        "cache": shared.cache,
    }
    semantic = SemanticResources(
        parser=shared.parser,
        comparer=shared.comparer,
        language_model=shared.language_model,
        key_ring=key_ring,
        **resources,
    )
    agentic = AgenticResources(key_ring=key_ring, **resources)
    if not shared.settings.host_settings.neo4j_url:
        return (
            await stack.enter_async_context(
                open_semantic(await pool("semantic", 8, vectors=True), semantic, shared.tiers.semantic)
            ),
            await stack.enter_async_context(
                open_agentic(await pool("agentic", 8, vectors=True), agentic, shared.tiers.agentic)
            ),
        )
    # Imported here: without Neo4j its driver is not loaded.
    from services.agentic.app import open_agentic_graph
    from services.common.neo4j.hosted import hosted_graph
    from services.semantic.app import open_semantic_graph

    graph = await stack.enter_async_context(hosted_graph(shared.settings.host_settings, shared.tiers.source))
    return (
        await stack.enter_async_context(open_semantic_graph(graph, semantic, shared.tiers.semantic)),
        await stack.enter_async_context(open_agentic_graph(graph, agentic, shared.tiers.agentic)),
    )


def _serving(
    bindings: Sequence[ServiceBinding], shared: _Shared, offset: int
) -> contextlib.AbstractAsyncContextManager[RunningServer]:
    settings = shared.settings
    # The tiers are for the gateway of this process: they stay on loopback, whatever the gateway listens on.
    # A certificate is the gateway's, made for the name that clients call.
    is_gateway = offset == 0
    host = settings.host if is_gateway else "127.0.0.1"
    return running_server(
        bindings,
        address=f"{host}:{settings.port + offset if settings.port else 0}",
        settings=settings.host_settings if is_gateway else settings.host_settings.without_tls(),
        secret=shared.secret,
        clock=shared.clock,
        ids=shared.ids,
        drain_seconds=None if is_gateway and not settings.is_private else 0.0,
        grace_seconds=settings.grace_seconds,
        disk=None if settings.host_settings.postgres_url else shared.disk,
        rates=shared.rates if is_gateway else None,
    )

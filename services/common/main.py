"""One service as a process of its own: reads the environment, opens what it needs, serves until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import structlog
import uvloop

from services.common.cache import CacheSettings, OwnerCache, create_cache
from services.common.clock import Clock, SystemClock
from services.common.comparing.port import Comparer
from services.common.credentials import InsecureListenError
from services.common.datadir import DataDirError, default_data_dir
from services.common.disk import DiskSettings, DiskWatch
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.errors import ModelUnavailableError
from services.common.embedding.factory import EmbeddingSettings, create_embedder
from services.common.encryption.carried import CarriedKeys
from services.common.encryption.hosted import hosted_key_management, watching
from services.common.encryption.key_management import KeyManagement, KeyManagementUnavailable
from services.common.encryption.ring import DataKeyRing
from services.common.errors import MnemeError, StoreUnavailable, cause_of
from services.common.garbage import seldom_collected
from services.common.hosting import HostSettings, run_until_signal, running_server
from services.common.ids import IdSource, Uuid7Ids
from services.common.language_model.port import LanguageModel
from services.common.logging import configure_logging
from services.common.maintenance.election import Election
from services.common.numerics import compute_in_place
from services.common.opening import opened
from services.common.parsing.port import Parser
from services.common.postgres.pool import create_pool
from services.common.postgres.types import Pool
from services.common.rates import RateLimiter, RateSettings
from services.common.rpc.server import GrpcServer, ServiceBinding
from services.common.serving_model.following import ServingModel, ServingModelSettings, following
from services.common.serving_model.postgres import PostgresServingModels
from services.common.settings_file import SettingsError, SettingsSource
from services.common.shared_settings import (
    create_carried_keys,
    create_comparer,
    create_key_ring,
    create_language_model,
    create_parser,
    embedding_settings,
    pool_settings,
    second_embedding_settings,
    telemetry_settings,
)
from services.common.switching import short_switch_interval
from services.common.telemetry import TelemetryHandle, configure_telemetry
from services.common.telemetry.loop_delay import loop_delay_recorded
from services.common.text_cache import text_caches_cleared

if TYPE_CHECKING:  # loaded where a Neo4j is configured
    from services.common.neo4j.graph import Graph

_log = structlog.get_logger(__name__)

_T = TypeVar("_T")

STOP_ON_EOF_VARIABLE = "MNEME_STOP_ON_EOF"
"""Set by a supervisor: the service stops when its standard input ends, so that it never outlives the supervisor."""


@dataclass(frozen=True)
class HeldModels:
    """The embedding models of a process."""

    embedder: OnnxEmbedder  # of the settings' model
    second_embedder: OnnxEmbedder | None  # of a second model, while the model is being changed
    serving: ServingModel | None  # which of them serves; None: the first one


@dataclass(frozen=True)
class Assembly:
    """What a service is put together from."""

    name: str
    settings: HostSettings
    source: SettingsSource  # of everything that is not in `settings`
    clock: Clock
    ids: IdSource
    secret: bytes
    stack: contextlib.AsyncExitStack  # closes what was opened, last first
    key_management: KeyManagement | None  # wraps data keys; None: content is not encrypted

    def tier_settings(self, settings: type[_T], table: str) -> _T:
        """A service's own settings, from its table of the file and its variables.

        Raises:
            SettingsError: They cannot be used; all problems at once.
        """
        return self.source.load(settings, table)

    async def pool(self, *, vectors: bool = False) -> Pool:
        """Connections of this service to PostgreSQL.

        Args:
            vectors: Whether it keeps vectors there, and so needs pgvector.

        Raises:
            SystemExit: No database is configured.
        """
        if not self.settings.postgres_url:
            sys.exit("MNEME_POSTGRES_URL is not set: a single service needs a database; `mneme up` brings its own")
        pool = await create_pool(
            self.settings.postgres_url,
            pool_settings(
                self.source,
                size_max=self.settings.postgres_pool_max,
                behind_pgbouncer=self.settings.behind_pgbouncer,
                application_name=f"mneme-{self.name}",
                vectors=vectors,
            ),
        )
        self.stack.push_async_callback(pool.close)
        return pool

    async def choice_pool(self) -> Pool | None:
        """A connection for the choice between two embedding models, of a service that needs no database otherwise."""
        is_changing = self.settings.embedding_second_model_dir is not None
        return await self.pool() if is_changing and self.settings.postgres_url else None

    async def graph(self) -> Graph:
        """Connections of this service to the Neo4j that is configured."""
        from services.common.neo4j.hosted import hosted_graph

        return await self.stack.enter_async_context(hosted_graph(self.settings, self.source))

    def cache(self) -> OwnerCache:
        """What the process holds of users in memory.

        Raises:
            SettingsError: The table `cache` cannot be used.
        """
        return create_cache(self.source.load(CacheSettings, "cache"))

    async def models(self, pool: Pool | None) -> HeldModels:
        """The embedding model, or two while the model is being changed; takes a second for each.

        Args:
            pool: Where the choice between two is, whose schema is up to date; None: the first one serves for good.

        Raises:
            ModelUnavailableError: There is no usable model.
            SettingsError: The table `serving_model` cannot be used.
            FailedPrecondition: The change went away from the one model that is configured.
        """
        settings = embedding_settings(self.source, self.settings, self.data_dir)
        first = await self._embedder(settings)
        second_settings = second_embedding_settings(settings, self.settings)
        second = await self._embedder(second_settings) if second_settings is not None else None
        if pool is None:
            return HeldModels(first, second, None)
        following_it = following(
            PostgresServingModels(pool),
            [each.fingerprint for each in (first, second) if each is not None],
            service=self.name,
            process_id=self.ids.new_id(),
            settings=self.source.load(ServingModelSettings, "serving_model"),
        )
        return HeldModels(first, second, await self.stack.enter_async_context(following_it))

    async def _embedder(self, settings: EmbeddingSettings) -> OnnxEmbedder:
        embedder = await asyncio.to_thread(create_embedder, settings)
        self.stack.push_async_callback(embedder.aclose)
        return embedder

    def language_model(self) -> LanguageModel:
        """The language model, where one is configured.

        Raises:
            SettingsError: It cannot be used.
        """
        model = create_language_model(self.source, self.settings)
        self.stack.push_async_callback(model.aclose)
        return model

    def parser(self) -> Parser:
        """The parser of texts, in a process of its own that starts with the first text.

        Raises:
            SettingsError: The table `parser` cannot be used.
        """
        parser = create_parser(self.source, self.settings)
        self.stack.push_async_callback(parser.aclose)
        return parser

    def comparer(self) -> Comparer:
        """What compares statements, in a process of its own unless settings say otherwise.

        Raises:
            SettingsError: The table `comparer` or `cache` cannot be used.
        """
        comparer = create_comparer(self.source)
        self.stack.push_async_callback(comparer.aclose)
        return comparer

    def election(self) -> Election | None:
        """What elects the replica that leads, where it is not PostgreSQL."""
        if not self.settings.lease_name:
            return None
        # Imported here: the client of Kubernetes is large, and is loaded in clusters alone.
        from services.common.maintenance.elections.kubernetes import LeaseElection, connect

        api, namespace = connect()
        identity = f"{socket.gethostname()}_{self.ids.new_id()}"
        return LeaseElection(api, namespace=namespace, name=self.settings.lease_name, identity=identity)

    @functools.cached_property
    def disk(self) -> DiskWatch | None:
        """What watches the disk of the engines that share a machine with this service, where any do."""
        folder = self.settings.watched_dir
        return DiskWatch(folder, self.source.load(DiskSettings, "disk")) if folder is not None else None

    @functools.cached_property
    def rates(self) -> RateLimiter | None:
        """What limits the calls of each tenant; at the gateway alone, where all of them come in."""
        return RateLimiter(self.source.load(RateSettings, "rates")) if self.name == "gateway" else None

    @functools.cached_property
    def key_ring(self) -> DataKeyRing | None:
        """The data keys that content is encrypted with, where encryption is on."""
        return create_key_ring(self.source, self.key_management)

    @functools.cached_property
    def carried_keys(self) -> CarriedKeys | None:
        """The data keys of stores that have no place for keys, where encryption is on."""
        return create_carried_keys(self.source, self.key_management)

    @property
    def data_dir(self) -> Path:
        """Folder of this service's own data."""
        return self.settings.data_dir or default_data_dir(os.environ)


OpenService = Callable[[Assembly], AbstractAsyncContextManager[Sequence[ServiceBinding]]]
ServeBeside = Callable[[Assembly, Sequence[ServiceBinding], GrpcServer], AbstractAsyncContextManager[None]]
"""Serves the same in another way while the server runs."""


def run_service(
    name: str, default_address: str, open_service: OpenService, *, beside: ServeBeside | None = None
) -> None:
    """Runs a service until SIGTERM or SIGINT. The whole program of a service's `__main__`."""
    try:
        settings = HostSettings()
    except SettingsError as error:
        sys.exit(f"{name}: {error}")
    compute_in_place()
    configure_logging(level=settings.log_level)
    telemetry = TelemetryHandle()
    try:
        telemetry = configure_telemetry(telemetry_settings(f"mneme-{name}", settings))
        uvloop.run(run_until_signal(lambda stop: _serve(name, default_address, open_service, beside, settings, stop)))
    except KeyManagementUnavailable as error:  # says its cause, and what to do
        sys.exit(f"{name}: {error}")
    except StoreUnavailable as error:
        sys.exit(": ".join(filter(None, (name, str(error), cause_of(error)))))
    except (DataDirError, MnemeError, ModelUnavailableError, InsecureListenError, OSError, ValueError) as error:
        sys.exit(f"{name}: {error}")
    finally:
        telemetry.shutdown()


async def _serve(
    name: str,
    default_address: str,
    open_service: OpenService,
    beside: ServeBeside | None,
    settings: HostSettings,
    stop: asyncio.Event,
) -> None:
    clock = SystemClock()
    ids = Uuid7Ids(clock)
    source = SettingsSource.read(settings.config, os.environ)
    async with contextlib.AsyncExitStack() as stack:
        secret = settings.secret()

        async def attempt(opening: contextlib.AsyncExitStack) -> tuple[Assembly, Sequence[ServiceBinding]]:
            management = await opening.enter_async_context(hosted_key_management(settings, source))
            assembly = Assembly(name, settings, source, clock, ids, secret, opening, management)
            return assembly, watching(management, await opening.enter_async_context(open_service(assembly)))

        assembly, bindings = await stack.enter_async_context(
            opened(attempt, engines=settings.engine_servers, wait_seconds=settings.engines_wait_seconds, stop=stop)
        )
        running = await stack.enter_async_context(
            running_server(
                bindings,
                address=settings.listen or default_address,
                settings=settings,
                secret=assembly.secret,
                clock=clock,
                ids=ids,
                disk=assembly.disk,
                rates=assembly.rates,
            )
        )
        if beside is not None:
            await stack.enter_async_context(beside(assembly, bindings, running.server))
        if not settings.has_credentials and not settings.signed_identities_only:
            _log.warning("development_mode", address=running.address, hint="no API keys: calls need no credential")
        _log.info("serving", service=name, address=running.address)
        texts_seconds = source.load(CacheSettings, "cache").texts_seconds
        async with _stopped_by_eof(stop), loop_delay_recorded(), text_caches_cleared(texts_seconds):
            with seldom_collected(), short_switch_interval():
                await stop.wait()
        _log.info("draining", service=name)


@contextlib.asynccontextmanager
async def _stopped_by_eof(stop: asyncio.Event) -> AsyncIterator[None]:
    """Sets the event when standard input ends, where a supervisor asked for it."""
    if not os.environ.get(STOP_ON_EOF_VARIABLE):
        yield
        return
    loop = asyncio.get_running_loop()

    def on_readable() -> None:
        if not os.read(0, 4096):
            loop.remove_reader(0)
            stop.set()

    loop.add_reader(0, on_readable)
    try:
        yield
    finally:
        loop.remove_reader(0)

"""The whole of Mneme on embedded engines, for tests that call it as its users do.

Fixtures, all of them in the session's event loop (mark modules with `pytest.mark.asyncio(loop_scope="session")`):
    `stack` (session): all five services in one process, in development mode.
    `secured_stack` (session): the same with API keys of two tenants and all roles, and nothing else let in.
    `embedder` (session): the model that the services use.
    `client` (function): the SDK's client of `stack`.
    `user_id` (function): a user whom no other test knows.

`gated_gateway` puts a gateway of its own in front of the stack's tiers, on a journal of its own, so that a test can
take a tier away and give it back.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from mneme.episodic.v1 import episodic_pb2_grpc
from mneme.gateway.v1 import (
    conversations_pb2_grpc,
    deliveries_pb2_grpc,
    documents_pb2_grpc,
    erasure_pb2_grpc,
    grants_pb2_grpc,
    memory_pb2_grpc,
    portability_pb2_grpc,
)
from mneme.semantic.v1 import profile_pb2_grpc
from mneme.session.v1 import session_pb2_grpc
from mneme_client import Client
from services.common.auth import IDENTITY_METADATA_KEY, IdentitySigner, Principal, Role, create_api_key, revoke_api_key
from services.common.auth.authenticator import DEVELOPMENT_PRINCIPAL
from services.common.postgres.server import EmbeddedPostgres
from tests.support.gate import Gate
from tests.support.postgres import fresh_postgres

if TYPE_CHECKING:  # they bring in every engine, which no other test needs
    from services.cli.stack import Stack
    from services.common.embedding.embedder import OnnxEmbedder
    from services.gateway.config import GatewaySettings

Metadata = tuple[tuple[str, str], ...]

ANY_PORT = "127.0.0.1:0"
PATIENCE_SECONDS = 180.0
"""Deadline of a call that has none of its own: a busy machine needs seconds until a write can be found."""
UNLINKED_BY_USE: Mapping[str, str] = {"MNEME_AGENTIC__USE__IS_ENABLED": "false"}
"""Variables of services that make no links by use: see `unlinked_by_use`."""

BOTH_WAYS = (
    pytest.param(False, id="one process"),
    pytest.param(True, id="processes", marks=pytest.mark.ci("a process for each service")),
)
"""Parameters of `processes`."""

_user_numbers = itertools.count(1)


@dataclass(frozen=True)
class RunningStack:
    """A stack being served."""

    services: Stack
    secret: bytes  # of the services
    keys: Mapping[str, str] = field(default_factory=dict)  # API keys by name; none in development mode

    @property
    def target(self) -> str:
        """Address of the gateway."""
        return self.services.gateway_target

    def client(self, key: str | None = None, **options: Any) -> Client:
        """The SDK's client, with a key by its name."""
        return patient_client(self.target, self.keys[key] if key else None, **options)

    def with_key(self, key: str) -> Metadata:
        """Metadata of a call with an API key."""
        return (("authorization", f"Bearer {self.keys[key]}"),)

    def identity(self, principal: Principal = DEVELOPMENT_PRINCIPAL, *, secret: bytes | None = None) -> Metadata:
        """Metadata of a call to a tier on behalf of a principal, as the gateway signs it."""
        return ((IDENTITY_METADATA_KEY, IdentitySigner(secret or self.secret).sign(principal)),)


@dataclass(frozen=True)
class Stubs:
    """The gateway's services, for requests that the client would not send."""

    channel: grpc.aio.Channel
    memory: memory_pb2_grpc.MemoryServiceStub
    conversations: conversations_pb2_grpc.ConversationServiceStub
    deliveries: deliveries_pb2_grpc.DeliveryServiceStub
    grants: grants_pb2_grpc.GrantServiceStub
    documents: documents_pb2_grpc.DocumentServiceStub
    erasures: erasure_pb2_grpc.ErasureServiceStub
    portability: portability_pb2_grpc.PortabilityServiceStub
    profiles: profile_pb2_grpc.ProfileServiceStub
    sessions: session_pb2_grpc.SessionServiceStub
    episodes: episodic_pb2_grpc.EpisodicServiceStub


@contextlib.asynccontextmanager
async def stubs(target: str) -> AsyncIterator[Stubs]:
    """Stubs of the gateway at an address."""
    async with grpc.aio.insecure_channel(target, options=[("grpc.max_send_message_length", -1)]) as channel:
        yield Stubs(
            channel,
            memory_pb2_grpc.MemoryServiceStub(channel),
            conversations_pb2_grpc.ConversationServiceStub(channel),
            deliveries_pb2_grpc.DeliveryServiceStub(channel),
            grants_pb2_grpc.GrantServiceStub(channel),
            documents_pb2_grpc.DocumentServiceStub(channel),
            erasure_pb2_grpc.ErasureServiceStub(channel),
            portability_pb2_grpc.PortabilityServiceStub(channel),
            profile_pb2_grpc.ProfileServiceStub(channel),
            session_pb2_grpc.SessionServiceStub(channel),
            episodic_pb2_grpc.EpisodicServiceStub(channel),
        )


@dataclass(frozen=True)
class Refusal:
    """What a refused call says."""

    code: grpc.StatusCode
    reason: str
    paths: tuple[str, ...]  # of the fields that are wrong
    facts: dict[str, str]
    message: str = field(default="", compare=False)  # with what is wrong with the fields


async def refusal(call: Awaitable[Message]) -> Refusal:
    """Awaits a call that must be refused, and reads why."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    status = rpc_status.from_call(caught.value)  # type: ignore[arg-type]  # an AioRpcError has what it reads
    assert status is not None, f"{caught.value.code()} without details: {caught.value.details()}"
    assert status.code == caught.value.code().value[0]
    info, bad_request = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(bad_request)
    assert info.domain == "mneme"
    paths = tuple(violation.field for violation in bad_request.field_violations)
    descriptions = (violation.description for violation in bad_request.field_violations)
    message = "; ".join([status.message, *descriptions])
    return Refusal(caught.value.code(), info.reason, paths, dict(info.metadata), message)


def patient_client(target: str, key: str | None = None, **options: Any) -> Client:
    """The SDK's client with a deadline for busy machines; tests of deadlines have their own."""
    return Client(target, key, **{"default_timeout_seconds": PATIENCE_SECONDS} | options)


async def until(reached: Callable[[], Awaitable[bool]], *, timeout_seconds: float = PATIENCE_SECONDS) -> None:
    """Asks the service again and again until it says yes, with pauses, since questions take the time of the answer."""
    pause_seconds = 0.001
    async with asyncio.timeout(timeout_seconds):
        while not await reached():
            await asyncio.sleep(pause_seconds)
            pause_seconds = min(2 * pause_seconds, 0.1)


@contextlib.asynccontextmanager
async def running_stack(
    data_dir: Path,
    model_folder: Path,
    *,
    keys_file: Path | None = None,
    processes: bool = False,
    tls: tuple[Path, Path] | None = None,
    gateway: GatewaySettings | None = None,
    metrics_listen: str = "",
    http_listen: str = "",
    encryption_key_file: Path | None = None,
    links_by_use: bool = False,
    neo4j_url: str = "",
    second_model_folder: Path | None = None,
    host: Mapping[str, Any] | None = None,
) -> AsyncIterator[Stack]:
    """A stack on free ports, without a model of its own; with a second model where its folder is given.

    With `tls`, a certificate and its key, for the gateway; with `neo4j_url`, the semantic and the agentic tier on it;
    `host` are further fields of `HostSettings`.
    """
    from services.cli.stack import StackSettings, run_stack
    from services.common.hosting import HostSettings
    from services.gateway.config import GatewaySettings

    certificate, key = tls or (None, None)
    host_settings = HostSettings(
        api_keys_file=keys_file,
        embedding_model_dir=model_folder,
        embedding_second_model_dir=second_model_folder,
        default_deadline_seconds=PATIENCE_SECONDS,
        otlp_endpoint="",
        metrics_listen=metrics_listen,
        http_listen=http_listen,
        encryption_key_file=encryption_key_file,
        neo4j_url=neo4j_url,
        tls_certificate=certificate,
        tls_key=key,
        **(host or {}),
    )
    chosen = StackSettings(
        data_dir=data_dir,
        port=0,
        processes=processes,
        gateway=gateway or GatewaySettings(),
        host_settings=host_settings,
        grace_seconds=1.0,
    )
    async with contextlib.AsyncExitStack() as started:
        with contextlib.nullcontext() if links_by_use else unlinked_by_use():
            services = await started.enter_async_context(run_stack(chosen))
        yield services


@contextlib.contextmanager
def unlinked_by_use() -> Iterator[None]:
    """Services that start meanwhile make no links by use: one response never depends on when the last was counted."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in UNLINKED_BY_USE.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedding model, built once for all stacks: that takes three seconds."""
    from services.common.embedding.encoder import EncoderSettings
    from services.common.embedding.graph import ensure_model_folder
    from services.common.embedding.weights import ALL_MINILM_L6_V2, locate_weights

    folder = tmp_path_factory.mktemp("model")
    weights = locate_weights(ALL_MINILM_L6_V2)
    return ensure_model_folder(weights, data_dir=folder, max_tokens=EncoderSettings().max_tokens)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stack(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> AsyncIterator[RunningStack]:
    """All services in development mode."""
    data_dir = tmp_path_factory.mktemp("stack") / "data"
    async with running_stack(data_dir, model_folder, http_listen=ANY_PORT) as services:
        yield RunningStack(services, _secret(data_dir))


KEYS = {
    "reader": ("acme", Role.READER),
    "writer": ("acme", Role.WRITER),
    "admin": ("acme", Role.ADMIN),
    "other writer": ("globex", Role.WRITER),
    "other admin": ("globex", Role.ADMIN),
    "expired": ("acme", Role.ADMIN),
    "revoked": ("acme", Role.ADMIN),
}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def secured_stack(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> AsyncIterator[RunningStack]:
    """All services with `KEYS`."""
    folder = tmp_path_factory.mktemp("secured")
    keys_file = folder / "keys.json"
    keys: dict[str, str] = {}
    for name, (tenant_id, role) in KEYS.items():
        expires = datetime.now(UTC) - timedelta(seconds=1) if name == "expired" else None
        keys[name], record = create_api_key(
            keys_file, tenant_id=tenant_id, principal_id=name, role=role, now=datetime.now(UTC), expires=expires
        )
        if name == "revoked":
            revoke_api_key(keys_file, record.key_id)
    async with running_stack(folder / "data", model_folder, keys_file=keys_file, http_listen=ANY_PORT) as services:
        yield RunningStack(services, _secret(folder / "data"), keys)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def embedder(model_folder: Path) -> AsyncIterator[OnnxEmbedder]:
    """The services' model, for vectors and for the tokens that budgets are counted in."""
    from services.common.embedding.factory import EmbeddingSettings, create_embedder

    settings = EmbeddingSettings(data_dir=model_folder, model_dir=model_folder)
    opened = await asyncio.to_thread(create_embedder, settings)
    yield opened
    await opened.aclose()


@pytest_asyncio.fixture(loop_scope="session")
async def client(stack: RunningStack) -> AsyncIterator[Client]:
    """The SDK's client of `stack`."""
    async with stack.client() as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def gateway(stack: RunningStack) -> AsyncIterator[Stubs]:
    """Stubs of `stack`'s gateway."""
    async with stubs(stack.target) as opened:
        yield opened


@pytest.fixture
def user_id() -> str:
    """A user of this test alone."""
    return f"user-{next(_user_numbers)}-{uuid.uuid4().hex[:8]}"


@dataclass(frozen=True)
class GatedGateway:
    """A gateway whose tiers can be taken away."""

    target: str
    gates: Mapping[str, Gate]  # by the tier's name
    stop: Callable[[], Coroutine[None, None, None]]  # drains the gateway's server


@contextlib.asynccontextmanager
async def gated_gateway(
    stack: RunningStack,
    embedder: OnnxEmbedder,
    postgres: EmbeddedPostgres,
    *,
    shut: Sequence[str] = (),
    settings: GatewaySettings | None = None,
) -> AsyncIterator[GatedGateway]:
    """A gateway on an empty journal, before the tiers of a stack in development mode.

    Args:
        stack: Whose tiers it calls.
        embedder: The same model as the stack's.
        postgres: Where the journal is.
        shut: Tiers that cannot be reached from the beginning.
        settings: Defaults where None; the pauses of an outage are always short.
    """
    from services.common.clock import SystemClock
    from services.common.hosting import HostSettings, running_server
    from services.common.ids import Uuid7Ids
    from services.common.postgres.pool import PoolSettings, create_pool
    from services.gateway.app import GatewayResources, open_gateway
    from services.gateway.config import GatewaySettings, TierTargets
    from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA

    clock = SystemClock()
    ids = Uuid7Ids(clock)
    chosen = settings or GatewaySettings(tells_other_gateways=False)
    pauses = replace(chosen.dispatcher, outage_delay_max=timedelta(milliseconds=200))
    targets = stack.services.tier_targets
    gates = {name: Gate(getattr(targets, name)) for name in ("session", "episodic", "semantic", "agentic")}
    async with contextlib.AsyncExitStack() as exits:
        for name, gate in gates.items():
            await gate.open()
            exits.push_async_callback(gate.shut)
            if name in shut:
                await gate.shut()
        urls = await exits.enter_async_context(fresh_postgres(postgres, migrations=[(SCHEMA, MIGRATIONS)]))
        pool = await create_pool(urls.app, PoolSettings(size_max=12))
        exits.push_async_callback(pool.close)
        opened = await exits.enter_async_context(
            open_gateway(
                pool,
                TierTargets(**{name: gate.target for name, gate in gates.items()}),
                GatewayResources(embedder=embedder, clock=clock, ids=ids, secret=stack.secret),
                replace(chosen, dispatcher=pauses),
            )
        )
        server = await exits.enter_async_context(contextlib.AsyncExitStack())
        running = await server.enter_async_context(
            running_server(
                opened.bindings,
                address="127.0.0.1:0",
                settings=HostSettings(otlp_endpoint="", default_deadline_seconds=PATIENCE_SECONDS),
                secret=stack.secret,
                clock=clock,
                ids=ids,
                grace_seconds=5.0,
            )
        )
        yield GatedGateway(running.address, gates, server.aclose)


def _secret(data_dir: Path) -> bytes:
    from services.cli.stack import SECRET_FILE

    return (data_dir / SECRET_FILE).read_bytes()

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from mneme.episodic.internal.v1 import episodic_internal_pb2_grpc
from mneme.episodic.v1 import episodic_pb2_grpc
from services.common.auth import Authenticator, IdentitySigner, IdentityVerifier, Principal, Role
from services.common.ids import Uuid7Ids
from services.common.language_model.port import LanguageModel, NoLanguageModel
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.rpc.channel import CallMetadata, open_channel
from services.common.rpc.interceptors import interceptors
from services.common.rpc.server import GrpcServer, ServerSettings, method_roles
from services.episodic.app import EpisodicResources, EpisodicTier, open_episodic
from services.episodic.config import EpisodicSettings
from services.episodic.importance import ImportanceSettings
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA
from tests.support.clock import FakeClock
from tests.support.deadlines import PATIENT
from tests.support.embedding import HashingEmbedder
from tests.support.maintenance import MAINTENANCE
from tests.support.postgres import fresh_postgres

SECRET = b"a secret of at least thirty-two bytes"

BY_RULES = EpisodicSettings(importance=ImportanceSettings(with_prototypes=False))
"""Tests count what is embedded."""


@dataclass
class Client:
    """Calls the served tier as some principal."""

    stubs: Sequence[object]  # of the public and the internal service
    metadata: CallMetadata
    embedder: HashingEmbedder
    clock: FakeClock
    tier: EpisodicTier

    async def call(
        self,
        method: str,
        request: object,
        *,
        tenant: str = "acme",
        role: Role = Role.WRITER,
        granted: Sequence[str] = (),
    ) -> object:
        stub = next(stub for stub in self.stubs if hasattr(stub, method))
        rpc: Callable[..., Awaitable[object]] = getattr(stub, method)
        caller = Principal(tenant, "tester", role, granted_scopes=tuple(granted))
        return await rpc(request, metadata=self.metadata(caller), timeout=20)


@pytest.fixture
def second_embedder() -> HashingEmbedder | None:
    """Of a change of the model; a class that tests one has its own fixture."""
    return None


@pytest.fixture
def language_model() -> LanguageModel:
    """None; a module that tests one has its own fixture."""
    return NoLanguageModel()


@pytest.fixture
async def client(
    postgres_server: EmbeddedPostgres,
    tmp_path: Path,
    second_embedder: HashingEmbedder | None,
    language_model: LanguageModel,
) -> AsyncIterator[Client]:
    clock = FakeClock()
    embedder = HashingEmbedder(64)
    resources = EpisodicResources(
        embedder=embedder,
        clock=clock,
        secret=SECRET,
        second_embedder=second_embedder,
        language_model=language_model,
    )
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls:
        pool = await create_pool(urls.app)
        async with open_episodic(pool, tmp_path, resources, BY_RULES) as tier:
            server = GrpcServer(
                ServerSettings(grace_seconds=1.0),
                tier.bindings,
                interceptors(
                    PATIENT,
                    Authenticator(identities=IdentityVerifier(SECRET, clock=clock)),
                    method_roles(tier.bindings),
                    Uuid7Ids(clock),
                ),
            )
            address = await server.start()
            channel: grpc.aio.Channel = open_channel(address)
            yield Client(
                (
                    episodic_pb2_grpc.EpisodicServiceStub(channel),
                    episodic_internal_pb2_grpc.EpisodicInternalServiceStub(channel),
                ),
                CallMetadata(IdentitySigner(SECRET, clock=clock)),
                embedder,
                clock,
                tier,
            )
            await channel.close()
            await server.stop()
        await pool.close()

"""The agentic tier on a real gRPC server, on each of its stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import grpc
import pytest

from mneme.agentic.internal.v1 import notes_pb2_grpc as internal_pb2_grpc
from mneme.agentic.v1 import notes_pb2_grpc
from services.agentic.app import AgenticResources, AgenticTier, open_agentic_on
from services.agentic.store import NoteStore
from services.common.auth import (
    IDENTITY_METADATA_KEY,
    Authenticator,
    IdentitySigner,
    IdentityVerifier,
    Principal,
    Role,
)
from services.common.ids import Uuid7Ids
from services.common.rpc.interceptors.chain import interceptors
from services.common.rpc.server import GrpcServer, ServerSettings, method_roles
from tests.contract.note_drivers import DRIVERS, UnopenedStore, unopened_note_store
from tests.support.clock import FakeClock
from tests.support.deadlines import PATIENT
from tests.support.embedding import HashingEmbedder

SECRET = b"s" * 32


def caller(tenant_id: str, principal_id: str, role: Role) -> tuple[tuple[str, str], ...]:
    """Metadata of a call by this principal, as the gateway signs it."""
    token = IdentitySigner(SECRET, clock=FakeClock()).sign(Principal(tenant_id, principal_id, role))
    return ((IDENTITY_METADATA_KEY, token),)


ANN = caller("acme", "ann-key", Role.WRITER)
READER = caller("acme", "reader-key", Role.READER)
OTHER_TENANT = caller("globex", "ann-key", Role.WRITER)


@dataclass(frozen=True)
class Running:
    """A tier being served."""

    stub: notes_pb2_grpc.NoteServiceStub
    internal: internal_pb2_grpc.NoteInternalServiceStub
    tier: AgenticTier
    store: NoteStore
    clock: FakeClock
    embedder: HashingEmbedder

    @property
    def model(self) -> str:
        return self.embedder.fingerprint


@pytest.fixture(params=DRIVERS)
def unopened(request: pytest.FixtureRequest) -> UnopenedStore:
    return unopened_note_store(request)


@pytest.fixture
def second_embedder() -> HashingEmbedder | None:
    """The second model of the tier; overridden where there is one."""
    return None


@pytest.fixture
async def running(unopened: UnopenedStore, second_embedder: HashingEmbedder | None) -> AsyncIterator[Running]:
    clock, embedder = FakeClock(), HashingEmbedder()
    ids = Uuid7Ids(clock)
    resources = AgenticResources(
        embedder=embedder, second_embedder=second_embedder, clock=clock, ids=ids, secret=SECRET
    )
    async with (
        unopened as store,
        open_agentic_on(store, resources) as tier,
    ):
        authenticator = Authenticator(identities=IdentityVerifier(SECRET, clock=FakeClock()))
        chain = interceptors(PATIENT, authenticator, method_roles(tier.bindings), ids)
        server = GrpcServer(ServerSettings(grace_seconds=0.1), tier.bindings, chain)
        address = await server.start()
        async with grpc.aio.insecure_channel(address) as channel:
            stub = notes_pb2_grpc.NoteServiceStub(channel)
            internal = internal_pb2_grpc.NoteInternalServiceStub(channel)
            yield Running(stub, internal, tier, store, clock, embedder)
        await server.stop()

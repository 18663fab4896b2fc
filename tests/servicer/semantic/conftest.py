"""The semantic tier on a real gRPC server, on embedded PostgreSQL and on Neo4j."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import grpc
import pytest

from mneme.semantic.internal.v1 import semantic_pb2_grpc
from mneme.semantic.v1 import code_pb2_grpc, facts_pb2_grpc, profile_pb2_grpc
from services.common.auth import (
    IDENTITY_METADATA_KEY,
    Authenticator,
    IdentitySigner,
    IdentityVerifier,
    Principal,
    Role,
)
from services.common.ids import Uuid7Ids
from services.common.parsing.port import Parser
from services.common.postgres.server import EmbeddedPostgres
from services.common.rpc.interceptors.chain import interceptors
from services.common.rpc.server import GrpcServer, ServerSettings, method_roles
from services.semantic.app import SemanticResources, SemanticTier, open_semantic, open_semantic_graph
from tests.contract.fact_drivers import semantic_graph, semantic_pool
from tests.support.clock import FakeClock
from tests.support.deadlines import PATIENT
from tests.support.embedding import HashingEmbedder
from tests.support.neo4j import ON_NEO4J

SECRET = b"s" * 32
OpenTier: TypeAlias = Callable[[SemanticResources], AbstractAsyncContextManager[SemanticTier]]


def caller(tenant_id: str, principal_id: str, role: Role) -> tuple[tuple[str, str], ...]:
    """Metadata of a call by this principal, as the gateway signs it."""
    token = IdentitySigner(SECRET, clock=FakeClock()).sign(Principal(tenant_id, principal_id, role))
    return ((IDENTITY_METADATA_KEY, token),)


ANN = caller("acme", "ann-key", Role.WRITER)
READER = caller("acme", "reader-key", Role.READER)
ADMIN = caller("acme", "admin-key", Role.ADMIN)
OTHER_TENANT = caller("globex", "ann-key", Role.WRITER)


@dataclass(frozen=True)
class Running:
    """A tier being served."""

    facts: facts_pb2_grpc.FactServiceStub
    profiles: profile_pb2_grpc.ProfileServiceStub
    internal: semantic_pb2_grpc.SemanticInternalServiceStub
    code: code_pb2_grpc.CodeServiceStub
    clock: FakeClock
    embedder: HashingEmbedder


@contextlib.asynccontextmanager
async def on_postgres(server: EmbeddedPostgres, resources: SemanticResources) -> AsyncIterator[SemanticTier]:
    async with semantic_pool(server) as pool, open_semantic(pool, resources) as tier:
        yield tier


@contextlib.asynccontextmanager
async def on_neo4j(url: str, resources: SemanticResources) -> AsyncIterator[SemanticTier]:
    async with semantic_graph(url) as graph, open_semantic_graph(graph, resources) as tier:
        yield tier


@pytest.fixture(params=["postgres", ON_NEO4J])
def open_tier(request: pytest.FixtureRequest) -> OpenTier:
    if request.param == "postgres":
        return partial(on_postgres, request.getfixturevalue("postgres_server"))
    return partial(on_neo4j, request.getfixturevalue("neo4j_url"))


@pytest.fixture
def second_embedder() -> HashingEmbedder | None:
    """The second model of the tier; overridden where there is one."""
    return None


@pytest.fixture
async def running(
    open_tier: OpenTier, parser: Parser, second_embedder: HashingEmbedder | None
) -> AsyncIterator[Running]:
    clock, embedder = FakeClock(), HashingEmbedder()
    ids = Uuid7Ids(clock)
    resources = SemanticResources(
        embedder=embedder, second_embedder=second_embedder, clock=clock, ids=ids, secret=SECRET, parser=parser
    )
    async with open_tier(resources) as tier:
        authenticator = Authenticator(identities=IdentityVerifier(SECRET, clock=FakeClock()))
        chain = interceptors(PATIENT, authenticator, method_roles(tier.bindings), ids)
        server = GrpcServer(ServerSettings(grace_seconds=0.1), tier.bindings, chain)
        address = await server.start()
        async with grpc.aio.insecure_channel(address) as channel:
            yield Running(
                facts_pb2_grpc.FactServiceStub(channel),
                profile_pb2_grpc.ProfileServiceStub(channel),
                semantic_pb2_grpc.SemanticInternalServiceStub(channel),
                code_pb2_grpc.CodeServiceStub(channel),
                clock,
                embedder,
            )
        await server.stop()

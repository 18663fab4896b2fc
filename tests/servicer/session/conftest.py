"""The session tier on a real gRPC server, in memory and on a Redis that may go away."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from mneme.common.v1 import common_pb2
from mneme.session.v1 import session_pb2 as pb
from mneme.session.v1 import session_pb2_grpc
from services.common.auth import (
    IDENTITY_METADATA_KEY,
    Authenticator,
    IdentitySigner,
    IdentityVerifier,
    Principal,
    Role,
)
from services.common.rpc.interceptors.chain import interceptors
from services.common.rpc.server import GrpcServer, ServerSettings, method_roles
from services.session.app import SessionResources, SessionTier, open_session, open_session_on
from services.session.config import EmbeddedSettings, SessionSettings, StoreSettings
from services.session.stores.embedded import EmbeddedSessionStore
from services.session.stores.fallback import FallbackSessionStore
from tests.support.clock import FakeClock, SequentialIds
from tests.support.deadlines import PATIENT
from tests.support.session import ManualSleep, SwitchableStore
from tests.support.tokens import WordCounter

SECRET = b"s" * 32

Metadata = tuple[tuple[str, str], ...]


def caller(tenant_id: str, role: Role, principal_id: str = "agent") -> Metadata:
    """Metadata of a call by this principal, as the gateway signs it."""
    token = IdentitySigner(SECRET, clock=FakeClock()).sign(Principal(tenant_id, principal_id, role))
    return ((IDENTITY_METADATA_KEY, token),)


WRITER = caller("acme", Role.WRITER)
READER = caller("acme", Role.READER)
OTHER_TENANT = caller("globex", Role.WRITER)


def said(interaction_id: str = "", content: str = "hello there", position: int | None = None) -> pb.SessionTurn:
    turn = common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, content=content)
    return pb.SessionTurn(interaction_id=interaction_id, turn=turn, position=position)


@dataclass(frozen=True)
class Problem:
    """What a failed call says."""

    code: grpc.StatusCode
    reason: str
    field_paths: list[str]
    message: str


@dataclass(frozen=True)
class Running:
    """A tier being served."""

    stub: session_pb2_grpc.SessionServiceStub
    clock: FakeClock
    line: SwitchableStore
    sleep: ManualSleep
    store: FallbackSessionStore

    async def append(self, request: pb.AppendTurnsRequest, who: Metadata = WRITER) -> pb.AppendTurnsResponse:
        response: pb.AppendTurnsResponse = await self.stub.AppendTurns(request, metadata=who)
        return response

    async def say(self, *interaction_ids: str, conversation_id: str = "s1", who: Metadata = WRITER) -> pb.Session:
        request = pb.AppendTurnsRequest(
            user_id="ada",
            conversation_id=conversation_id,
            turns=[said(interaction_id) for interaction_id in interaction_ids],
            create_if_missing=True,
        )
        await self.append(request, who)
        return (await self.get(conversation_id, who)).session

    async def get(self, conversation_id: str = "s1", who: Metadata = WRITER) -> pb.GetSessionResponse:
        request = pb.GetSessionRequest(user_id="ada", conversation_id=conversation_id)
        response: pb.GetSessionResponse = await self.stub.GetSession(request, metadata=who)
        return response

    async def problem(self, method: str, request: Any, who: Metadata = WRITER) -> Problem:
        """Makes a call that must fail, and reads why."""
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await getattr(self.stub, method)(request, metadata=who)
        return read_problem(caught.value)


def read_problem(error: grpc.aio.AioRpcError) -> Problem:
    """Code, reason and fields of a status."""
    status = rpc_status.from_call(error)  # type: ignore[arg-type]  # an AioRpcError has what it reads
    info, bad_request = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(bad_request)
    assert info.domain == "mneme"
    paths = [violation.field for violation in bad_request.field_violations]
    return Problem(error.code(), info.reason, paths, error.details() or "")


@contextlib.asynccontextmanager
async def served(tier: SessionTier) -> AsyncIterator[session_pb2_grpc.SessionServiceStub]:
    """A stub of the tier over a server on a free port."""
    authenticator = Authenticator(identities=IdentityVerifier(SECRET, clock=FakeClock()))
    chain = interceptors(PATIENT, authenticator, method_roles(tier.bindings), SequentialIds())
    server = GrpcServer(ServerSettings(grace_seconds=0.1), tier.bindings, chain)
    address = await server.start()
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            yield session_pb2_grpc.SessionServiceStub(channel)
    finally:
        await server.stop()


def resources(clock: FakeClock) -> SessionResources:
    return SessionResources(tokens=WordCounter(), clock=clock, ids=SequentialIds("made-"), secret=SECRET)


@pytest.fixture
async def running() -> AsyncIterator[Running]:
    clock, sleep, settings = FakeClock(), ManualSleep(), SessionSettings()
    line = SwitchableStore(EmbeddedSessionStore(EmbeddedSettings(), StoreSettings()))
    memory = EmbeddedSessionStore(EmbeddedSettings(), StoreSettings())
    async with FallbackSessionStore(line, memory, settings.fallback, sleep=sleep) as store:
        tier = open_session_on(store, resources(clock), settings)
        async with served(tier) as stub:
            yield Running(stub, clock, line, sleep, store)


@contextlib.asynccontextmanager
async def served_from(store_url: str, settings: SessionSettings) -> AsyncIterator[session_pb2_grpc.SessionServiceStub]:
    """The tier as its composition root opens it."""
    async with open_session(resources(FakeClock()), settings, store_url=store_url) as tier, served(tier) as stub:
        yield stub

from __future__ import annotations

from collections.abc import AsyncIterator

import grpc
import pytest

from services.common.auth import Authenticator, IdentitySigner, IdentityVerifier, Principal, Role
from services.common.rpc.channel import CallMetadata
from tests.support.echo import WAYS, EchoServicer, echo_channel

SECRET = b"a secret of at least thirty-two bytes"
READER = Principal("acme", "alice", Role.READER)
WRITER = Principal("acme", "robot", Role.WRITER)


@pytest.fixture
def metadata() -> CallMetadata:
    """Of calls by the gateway."""
    return CallMetadata(IdentitySigner(SECRET))


@pytest.fixture
def authenticator() -> Authenticator:
    return Authenticator(identities=IdentityVerifier(SECRET))


@pytest.fixture
def servicer() -> EchoServicer:
    return EchoServicer()


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    """How the service is called: it makes no difference."""
    return str(request.param)


@pytest.fixture
async def channel(way: str, servicer: EchoServicer, authenticator: Authenticator) -> AsyncIterator[grpc.aio.Channel]:
    """To a server with all interceptors, by each way."""
    async with echo_channel(way, servicer, authenticator) as opened:
        yield opened


@pytest.fixture
async def socket_channel(servicer: EchoServicer, authenticator: Authenticator) -> AsyncIterator[grpc.aio.Channel]:
    """The same through a socket, for streams, health and reflection."""
    async with echo_channel("socket", servicer, authenticator) as opened:
        yield opened

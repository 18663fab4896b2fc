from __future__ import annotations

from collections.abc import AsyncIterator

import grpc
import pytest

from services.common.auth import Authenticator, IdentitySigner, IdentityVerifier, Principal, Role
from services.common.rpc.channel import CallMetadata, open_channel
from tests.support.echo import EchoServicer, echo_server

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


@pytest.fixture
async def channel(servicer: EchoServicer, authenticator: Authenticator) -> AsyncIterator[grpc.aio.Channel]:
    """To a server with all interceptors."""
    async with echo_server(servicer, authenticator) as address, open_channel(address) as opened:
        yield opened

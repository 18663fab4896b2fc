"""Methods that take calls of other services alone, and identities that are large."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import grpc
import pytest

from services.common.auth import ApiKeyRing, Authenticator, IdentityVerifier, Role, create_api_key
from services.common.clock import SystemClock
from services.common.rpc.channel import CallMetadata
from services.common.scope import Scope, ScopeLevel
from tests.servicer.common.conftest import READER, SECRET
from tests.servicer.common.test_interceptors import failure, method, reason
from tests.support.echo import EchoServicer


@pytest.fixture
def admin_key(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ApiKeyRing]:
    """An administrator's key, and the keys that the server knows."""
    path = tmp_path_factory.mktemp("keys") / "keys.toml"
    clock = SystemClock()
    key, _ = create_api_key(path, tenant_id="acme", principal_id="root", role=Role.ADMIN, now=clock.now())
    return key, ApiKeyRing(path, clock=clock)


@pytest.fixture
def authenticator(admin_key: tuple[str, ApiKeyRing]) -> Authenticator:
    return Authenticator(identities=IdentityVerifier(SECRET), api_keys=admin_key[1])


async def test_spec_7_1_an_internal_method_takes_calls_of_services_alone(
    channel: grpc.aio.Channel, metadata: CallMetadata, admin_key: tuple[str, ApiKeyRing]
) -> None:
    key = [("authorization", f"Bearer {admin_key[0]}")]

    assert await method(channel, "Write")(b"x", metadata=key) == b"x"
    error = await failure(method(channel, "Ingest")(b"x", metadata=key))
    assert (error.code(), reason(error)) == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING")
    assert await method(channel, "Ingest")(b"x", metadata=metadata(READER)) == b"x"


async def test_spec_5_3_an_identity_with_many_grants_passes(
    channel: grpc.aio.Channel, metadata: CallMetadata, servicer: EchoServicer
) -> None:
    def identifier(text: str) -> str:
        return hashlib.sha512(text.encode()).hexdigest()  # 128 characters, which do not compress well

    places = [
        Scope(ScopeLevel.TASK, identifier(f"p{n}"), identifier(f"s{n}"), identifier(f"t{n}"), identifier(f"c{n}"))
        for n in range(256)
    ]
    reader = replace(READER, granted_scopes=tuple(place.key for place in places))

    assert await method(channel)(b"x", metadata=metadata(reader)) == b"x"
    assert servicer.principals == [reader]

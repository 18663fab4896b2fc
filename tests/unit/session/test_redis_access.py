"""TLS, users and passwords, on real servers."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from services.common.errors import StoreUnavailable
from services.session.config import EmbeddedSettings, FallbackSettings, RedisAccess, RedisSettings
from services.session.stores.embedded import EmbeddedSessionStore
from services.session.stores.fallback import FallbackSessionStore
from services.session.stores.redis import RedisSessionStore
from services.session.stores.redis_client import create_redis_client
from tests.contract.session_samples import ADA, SPEC, STORE_SETTINGS, idempotency_key, ids, key, turn
from tests.support.certificates import self_signed
from tests.support.clock import FakeClock
from tests.support.redis import RedisServer, redis_store, require_redis_server
from tests.support.redis_group import SentinelGroup, running
from tests.support.session import ManualSleep

#: What the service needs of Redis, as the README says.
RIGHTS = ("resetkeys", "~test:*", "-@all", "+@read", "+@write", "+@connection", "+@scripting", "-@dangerous")


@pytest.fixture(autouse=True)
def redis_is_there(request: pytest.FixtureRequest) -> None:
    require_redis_server(request)


@contextlib.contextmanager
def started(server: RedisServer) -> Iterator[RedisServer]:
    try:
        server.start()
        yield server
    finally:
        server.stop()


async def use(store: RedisSessionStore) -> None:
    now = FakeClock().now()
    await store.check()
    await store.append(key(), [turn("a")], create=SPEC, now=now, idempotency_key=idempotency_key("r1"))
    assert ids((await store.get(key(), now=now)).value) == ["a"]
    await store.extend(key(), ttl=SPEC.ttl, now=now)
    assert len((await store.list_sessions(ADA, limit=2, after=None, now=now)).value) == 1
    await store.delete(key(), now=now)
    await store.create(key("s2"), SPEC, now=now)


class TestTls:
    @pytest.fixture
    def server(self, tmp_path: Path) -> Iterator[RedisServer]:
        certificate, private = self_signed("redis").saved(tmp_path, "server")
        client, _ = self_signed("mneme").saved(tmp_path, "client")
        trusted = tmp_path / "trusted.pem"
        trusted.write_bytes(certificate.read_bytes() + client.read_bytes())
        server = RedisServer(tmp_path / "data")
        files = ("--tls-cert-file", str(certificate), "--tls-key-file", str(private), "--tls-ca-cert-file")
        server.options = ["--port", "0", "--tls-port", str(server.port), *files, str(trusted)]
        with started(server):
            yield server

    async def test_spec_7_2_a_private_authority_and_an_own_certificate(
        self, server: RedisServer, tmp_path: Path
    ) -> None:
        access = RedisAccess(
            authority=tmp_path / "server.crt", certificate=tmp_path / "client.crt", key=tmp_path / "client.key"
        )
        async with redis_store(f"rediss://127.0.0.1:{server.port}", access=access) as store:
            await use(store)

    @pytest.mark.parametrize("known", ["no certificate", "another authority", "another name", "no TLS"])
    async def test_spec_7_2_others_are_not_let_in_nor_trusted(
        self, server: RedisServer, tmp_path: Path, known: str
    ) -> None:
        authority = "client.crt" if known == "another authority" else "server.crt"
        access = RedisAccess(authority=tmp_path / authority)
        if known != "no certificate":
            access = replace(access, certificate=tmp_path / "client.crt", key=tmp_path / "client.key")
        scheme = "redis" if known == "no TLS" else "rediss"
        host = "localhost" if known == "another name" else "127.0.0.1"
        async with redis_store(f"{scheme}://{host}:{server.port}", access=access) as store:
            with pytest.raises(StoreUnavailable):
                await store.check()

    @pytest.mark.parametrize("scheme", ["rediss", "rediss+cluster", "rediss+sentinel"])
    async def test_files_that_cannot_be_used_are_told_at_the_start(self, tmp_path: Path, scheme: str) -> None:
        broken = tmp_path / "broken.pem"
        broken.write_text("no certificate")
        for access in (RedisAccess(authority=tmp_path / "missing.pem"), RedisAccess(authority=broken)):
            with pytest.raises(ValueError, match="certificates of the session store"):
                create_redis_client(f"{scheme}://cache/0", RedisSettings(), access)


class TestUsers:
    @pytest.fixture
    def server(self, tmp_path: Path) -> Iterator[RedisServer]:
        with started(RedisServer(tmp_path)) as server:
            server.command("ACL", "SETUSER", "mneme", "on", ">s3cret", *RIGHTS)
            server.command("ACL", "SETUSER", "weak", "on", ">s3cret", "~*", "+@connection", "+get")
            server.command("ACL", "SETUSER", "default", "off")
            yield server

    @pytest.mark.parametrize("is_in_url", [True, False])
    async def test_spec_7_1_a_user_with_few_rights_is_enough(self, server: RedisServer, is_in_url: bool) -> None:
        url = f"redis://{'mneme:s3cret@' * is_in_url}127.0.0.1:{server.port}"
        access = None if is_in_url else RedisAccess(user="mneme", password="s3cret")
        async with redis_store(url, access=access) as store:
            await use(store)

    @pytest.mark.parametrize("login", ["", "mneme:s3cret-no@", "nobody:s3cret@", "weak:s3cret@"])
    async def test_spec_1_6_without_rights_memory_answers_and_no_password_is_told(
        self, server: RedisServer, login: str
    ) -> None:
        with capture_logs() as logs:
            async with fallback_on(f"redis://{login}127.0.0.1:{server.port}") as store:
                response = await store.append(key(), [turn("a")], create=SPEC, now=FakeClock().now())
                assert response.is_degraded
        (lost,) = [entry for entry in logs if entry["event"] == "session_store_lost"]
        assert "s3cret" not in repr(lost)


async def test_sentinels_and_servers_may_have_passwords_of_their_own(tmp_path: Path) -> None:
    group = SentinelGroup(
        tmp_path,
        options=["--requirepass", "s3cret", "--masterauth", "s3cret"],
        password="s3cret",
        sentinel_password="other",
    )
    with running(group):
        access = RedisAccess(password="s3cret", sentinel_password="other")
        async with redis_store(group.url, access=access) as store:
            await use(store)
        async with redis_store(group.url, access=RedisAccess(password="s3cret")) as store:
            with pytest.raises(StoreUnavailable):
                await store.check()


@contextlib.asynccontextmanager
async def fallback_on(url: str) -> AsyncIterator[FallbackSessionStore]:
    memory = EmbeddedSessionStore(EmbeddedSettings(), STORE_SETTINGS)
    async with (
        redis_store(url) as primary,
        FallbackSessionStore(primary, memory, FallbackSettings(), sleep=ManualSleep()) as store,
    ):
        yield store

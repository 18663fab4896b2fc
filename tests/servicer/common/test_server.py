from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from structlog.testing import capture_logs

from mneme.session.v1 import session_pb2  # noqa: F401 - registers the descriptor that the test looks up
from services.cli.health import Answer, ask, is_met
from services.common.addresses import is_loopback
from services.common.auth import (
    DEVELOPMENT_PRINCIPAL,
    ApiKeyRing,
    Authenticator,
    IdentityVerifier,
    Role,
    create_api_key,
)
from services.common.clock import SystemClock
from services.common.errors import FailedPrecondition, StoreUnavailable
from services.common.rpc.certificates import TlsFiles
from services.common.rpc.channel import CallMetadata, open_channel
from services.common.rpc.interceptors import InterceptorSettings, interceptors
from services.common.rpc.readiness import ReadinessSettings
from services.common.rpc.server import (
    LIVENESS_NAME,
    GrpcServer,
    ServerSettings,
    ServiceBinding,
    needing,
)
from tests.servicer.common.conftest import READER, SECRET
from tests.support.clock import SequentialIds
from tests.support.echo import ECHO, EchoServicer, binding, echo_channel, echo_server

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def echo(channel: grpc.aio.Channel, name: str = "Echo") -> Any:
    return channel.unary_unary(f"/{ECHO}/{name}")


def health(channel: grpc.aio.Channel) -> Any:
    return health_pb2_grpc.HealthStub(channel)


async def failure(call: Any) -> grpc.StatusCode:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value.code()


async def test_spec_8_2_health_is_told_without_a_credential(socket_channel: grpc.aio.Channel) -> None:
    for service in ("", ECHO):
        answer = await health(socket_channel).Check(health_pb2.HealthCheckRequest(service=service))
        assert answer.status == SERVING
    unknown = health(socket_channel).Check(health_pb2.HealthCheckRequest(service="unknown"))
    assert await failure(unknown) is grpc.StatusCode.NOT_FOUND


async def test_spec_8_2_services_are_found_by_reflection(socket_channel: grpc.aio.Channel) -> None:
    synchronous: Any = socket_channel  # as the stub's types have it
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(synchronous)
    call = stub.ServerReflectionInfo()
    await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
    answer = await call.read()
    await call.done_writing()

    assert {s.name for s in answer.list_services_response.service} >= {ECHO, "grpc.health.v1.Health"}


async def test_spec_8_2_a_draining_server_says_so_and_finishes_its_calls(
    servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    arrived, proceed = asyncio.Event(), asyncio.Event()

    async def behaviour() -> None:
        arrived.set()
        await proceed.wait()

    servicer.behaviour = behaviour
    chain = interceptors(InterceptorSettings(), authenticator, binding(servicer).method_roles, SequentialIds())
    server = GrpcServer(ServerSettings(grace_seconds=5.0), [binding(servicer)], chain)
    async with asyncio.timeout(60), open_channel(await server.start()) as channel:
        watch = health(channel).Watch(health_pb2.HealthCheckRequest(service=ECHO))
        assert (await watch.read()).status == SERVING
        call = asyncio.ensure_future(echo(channel)(b"under way", metadata=metadata(READER)))
        await arrived.wait()
        stopping = asyncio.create_task(server.stop())
        assert (await watch.read()).status == NOT_SERVING
        watch.cancel()
        proceed.set()

        assert await call == b"under way"
        await stopping


async def test_a_service_can_report_that_it_is_not_ready(servicer: EchoServicer, authenticator: Authenticator) -> None:
    server = GrpcServer(
        ServerSettings(grace_seconds=0.0), [binding(servicer)], interceptors_of(servicer, authenticator)
    )
    async with open_channel(await server.start()) as channel:
        await server.report_health(ECHO, is_serving=False)
        assert (await health(channel).Check(health_pb2.HealthCheckRequest(service=ECHO))).status == NOT_SERVING
        assert (await health(channel).Check(health_pb2.HealthCheckRequest())).status == SERVING
    await server.stop()


async def test_spec_8_2_a_process_is_alive_while_its_store_is_away(
    servicer: EchoServicer, authenticator: Authenticator
) -> None:
    server = GrpcServer(
        ServerSettings(grace_seconds=0.0), [binding(servicer)], interceptors_of(servicer, authenticator)
    )
    async with open_channel(await server.start()) as channel:
        await server.report_health("", is_serving=False)
        assert (await health(channel).Check(health_pb2.HealthCheckRequest())).status == NOT_SERVING
        assert (await health(channel).Check(health_pb2.HealthCheckRequest(service=LIVENESS_NAME))).status == SERVING
    await server.stop()


async def test_spec_7_1_an_api_key_opens_a_tenant(
    servicer: EchoServicer, authenticator: Authenticator, tmp_path: Path
) -> None:
    path, now = tmp_path / "keys.json", SystemClock().now()
    key, _ = create_api_key(path, tenant_id="acme", principal_id="robot", role=Role.READER, now=now)
    accepts_keys = Authenticator(identities=IdentityVerifier(SECRET), api_keys=ApiKeyRing(path))
    async with echo_server(servicer, accepts_keys) as address, open_channel(address) as channel:
        await echo(channel)(b"", metadata=[("authorization", f"Bearer {key}")])
        refused = [
            [("authorization", f"Bearer {key}x")],
            [("authorization", f"Basic {key}")],
            [("authorization", key)],
            # A bad credential is not passed over for a good one.
            [("mneme-identity", "forged"), ("authorization", f"Bearer {key}")],
        ]
        for metadata in refused:
            assert await failure(echo(channel)(b"", metadata=metadata)) is grpc.StatusCode.UNAUTHENTICATED
        write = echo(channel, "Write")(b"", metadata=[("authorization", f"Bearer {key}")])
        assert await failure(write) is grpc.StatusCode.PERMISSION_DENIED
    async with echo_server(servicer, authenticator) as address, open_channel(address) as channel:
        elsewhere = echo(channel)(b"", metadata=[("authorization", f"Bearer {key}")])
        assert await failure(elsewhere) is grpc.StatusCode.UNAUTHENTICATED

    assert [(p.tenant_id, p.principal_id) for p in servicer.principals] == [("acme", "robot")]


async def test_spec_7_1_development_mode_is_for_loopback(servicer: EchoServicer) -> None:
    anybody = Authenticator(development_principal=DEVELOPMENT_PRINCIPAL)
    with pytest.raises(ValueError, match="loopback"):
        GrpcServer(ServerSettings(address="0.0.0.0:0"), [], interceptors_of(servicer, anybody))
    with capture_logs() as logs:
        async with echo_server(servicer, anybody) as address, open_channel(address) as channel:
            await echo(channel)(b"")

    assert servicer.principals == [DEVELOPMENT_PRINCIPAL]
    assert [(e["event"], e["log_level"]) for e in logs if e["event"] != "call"] == [("development_mode", "warning")]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1:0", True),
        ("127.8.8.8:1", True),
        ("[::1]:7700", True),
        ("localhost:7700", True),
        ("unix:/run/mneme.sock", True),
        ("0.0.0.0:7700", False),
        ("[::]:7700", False),
        (":7700", False),
        ("192.168.1.5:7700", False),
        ("example.org:7700", False),
        ("localhost.example.org:7700", False),
    ],
)
def test_what_loopback_is(address: str, expected: bool) -> None:
    assert is_loopback(address) is expected


async def test_a_server_listens_on_a_unix_socket(
    servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata, tmp_path: Path
) -> None:
    settings = ServerSettings(address=f"unix:{tmp_path}/s", grace_seconds=0.0)
    async with echo_server(servicer, authenticator, settings=settings) as address, open_channel(address) as channel:
        assert await echo(channel)(b"x", metadata=metadata(READER)) == b"x"


async def test_a_taken_port_is_an_error(servicer: EchoServicer, authenticator: Authenticator) -> None:
    async with echo_server(servicer, authenticator) as address:
        second = GrpcServer(ServerSettings(address=address), [], [])
        with pytest.raises(OSError, match="in use"):
            await second.start()


async def test_spec_7_2_a_message_over_the_limit_is_refused(
    way: str, servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    settings = ServerSettings(message_bytes_max=1_000, grace_seconds=0.0)
    async with echo_channel(way, servicer, authenticator, settings=settings) as channel:
        assert len(await echo(channel)(b"x" * 900, metadata=metadata(READER))) == 900
        refused = await failure(echo(channel)(b"x" * 1_001, metadata=metadata(READER)))

    assert refused is grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize("change", [{"Nothing": Role.READER}, {"GetSession": None}])
def test_a_table_of_roles_fits_its_service(change: dict[str, Role | None]) -> None:
    names = ("CreateSession", "GetSession", "ListSessions", "AppendTurns", "ExtendSession", "DeleteSession")
    roles = {name: role for name, role in {**dict.fromkeys(names, Role.READER), **change}.items() if role}
    wrong = ServiceBinding("mneme.session.v1.SessionService", lambda _s, _t: None, object(), roles)

    with pytest.raises(ValueError, match=next(iter(change))):
        GrpcServer(ServerSettings(), [wrong], [])


async def test_spec_7_2_mutual_tls(
    servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata, tmp_path: Path
) -> None:
    tls, strangers = certificate(tmp_path / "ours"), certificate(tmp_path / "theirs")
    settings = ServerSettings(tls=tls, grace_seconds=0.0)
    async with echo_server(servicer, authenticator, settings=settings) as address:
        async with open_channel(address, tls=tls) as channel:
            assert await echo(channel)(b"x", timeout=5, metadata=metadata(READER)) == b"x"
        stranger = TlsFiles(strangers.certificate, strangers.key, tls.authority)
        for credentials in (stranger, None):
            async with open_channel(address, tls=credentials) as channel:
                refused = await failure(echo(channel)(b"x", timeout=5, metadata=metadata(READER)))
                assert refused is grpc.StatusCode.UNAVAILABLE

    assert servicer.principals == [READER]


def interceptors_of(servicer: EchoServicer, authenticator: Authenticator) -> Any:
    return interceptors(InterceptorSettings(), authenticator, binding(servicer).method_roles, SequentialIds())


def certificate(folder: Path) -> TlsFiles:
    """A certificate for 127.0.0.1 that is its own authority."""
    folder.mkdir()
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = TlsFiles(folder / "tls.crt", folder / "tls.key", folder / "tls.crt")
    files.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    files.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return files


async def test_spec_6_9_a_condition_has_a_name_of_its_own_and_the_server_stays_healthy(
    servicer: EchoServicer, authenticator: Authenticator
) -> None:
    is_stopped = False

    async def check() -> None:
        if is_stopped:
            raise FailedPrecondition("a job is stopped")

    bindings = [replace(binding(servicer), conditions={"maintenance": check})]
    chain = interceptors(InterceptorSettings(), authenticator, {}, SequentialIds())
    watched = ReadinessSettings(interval_seconds=0.001)
    server = GrpcServer(ServerSettings(grace_seconds=0.0, readiness=watched), bindings, chain)
    address = await server.start()

    async def until_reported(*, is_running: bool) -> None:
        async with asyncio.timeout(60):
            while await is_met(address, "maintenance") is not is_running:
                assert await ask(address) is Answer.SERVING

    await until_reported(is_running=True)
    is_stopped = True
    await until_reported(is_running=False)
    assert await ask(address) is Answer.SERVING
    is_stopped = False
    await until_reported(is_running=True)
    assert await is_met(address, "no such condition") is None
    await server.stop()


async def test_spec_8_2_readiness_follows_the_stores_of_a_service(
    servicer: EchoServicer, authenticator: Authenticator
) -> None:
    is_away = False

    async def check() -> None:
        if is_away:
            raise StoreUnavailable("postgres")

    bindings = needing(check, [binding(servicer)])
    chain = interceptors(InterceptorSettings(), authenticator, {}, SequentialIds())
    watched = ReadinessSettings(interval_seconds=0.001, failures_max=2)
    server = GrpcServer(ServerSettings(grace_seconds=0.0, readiness=watched), bindings, chain)
    address = await server.start()
    async with open_channel(address) as channel:

        async def until_reported(status: Any) -> None:
            async with asyncio.timeout(60):
                for name in ("", ECHO):
                    request = health_pb2.HealthCheckRequest(service=name)
                    while (await health(channel).Check(request)).status != status:
                        continue

        await until_reported(SERVING)
        is_away = True
        await until_reported(NOT_SERVING)
        is_away = False
        await until_reported(SERVING)
    await server.stop()

"""What container engines ask: whether the service beside them is healthy."""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import os
import sys
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from typer.testing import CliRunner

from services.cli.main import app
from services.cli.probe import OwnTls, own_target, own_tls
from services.common.auth import Authenticator, IdentityVerifier
from services.common.rpc.certificates import TlsFiles
from services.common.rpc.server import ServerSettings
from tests.support.echo import EchoServicer, echo_server

AUTHENTICATOR = Authenticator(identities=IdentityVerifier(b"a secret of at least thirty-two bytes"))


@pytest.mark.parametrize(
    ("listen", "target"),
    [
        ("0.0.0.0:7700", "127.0.0.1:7700"),
        ("[::]:7700", "[::1]:7700"),
        ("10.0.0.7:7701", "10.0.0.7:7701"),
        ("unix:/run/mneme.sock", "unix:/run/mneme.sock"),
        ("", "127.0.0.1:7700"),
    ],
)
def test_a_service_is_asked_where_it_listens(listen: str, target: str) -> None:
    assert own_target({"MNEME_LISTEN": listen}) == target


async def probe(**environment: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.cli.probe"),
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode()


async def test_spec_8_2_a_probe_tells_a_serving_service_from_none() -> None:
    async with echo_server(EchoServicer(), AUTHENTICATOR) as address:
        assert await probe(MNEME_LISTEN=address) == (0, f"{address}: a gRPC service is serving\n")
    assert await probe(MNEME_LISTEN=address) == (1, f"{address}: nothing listens\n")


async def test_spec_8_3_a_probe_imports_grpc_and_little_else() -> None:
    listing = "import sys, services.cli.probe; print(*sorted({'.'.join(m.split('.')[:2]) for m in sys.modules}))"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", listing, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    loaded = set(output.decode().split())
    assert {"services.cli", "grpc.aio", "grpc_health.v1"} <= loaded
    ours = {name for name in loaded if name.startswith(("services.", "mneme"))}
    assert ours == {"services.cli"}, "the client and the generated code are most of what a probe would cost"
    costly = {"google.rpc", "opentelemetry", "cryptography", "pydantic", "typer", "numpy", "rich"}
    assert not {name for name in loaded if name.split(".")[0] in costly or name in costly}


@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.parametrize("name", ["mneme.example", "*.mneme.example", "10.1.2.3", None])
async def test_spec_7_1_a_probe_knows_the_certificate_of_its_service(
    tmp_path: Path, name: str | None, mutual: bool
) -> None:
    certificate, key = make_certificate(tmp_path, name)
    settings = ServerSettings(tls=TlsFiles(certificate, key, certificate if mutual else None))
    async with echo_server(EchoServicer(), AUTHENTICATOR, settings=settings) as address:
        code, output = await probe(MNEME_LISTEN=address, MNEME_TLS_CERTIFICATE=str(certificate), MNEME_TLS_KEY=str(key))
    assert code == (0 if name else 1), output  # a name is what gRPC knows a server by


async def test_a_probe_says_that_its_certificate_cannot_be_read(tmp_path: Path) -> None:
    missing = str(tmp_path / "tls.crt")
    code, output = await probe(MNEME_TLS_CERTIFICATE=missing, MNEME_TLS_KEY=missing)
    assert code == 1
    assert "the certificate cannot be used" in output


def test_without_a_certificate_a_probe_does_not_encrypt() -> None:
    assert own_tls({"MNEME_TLS_AUTHORITY": "authority.pem"}) is None


def test_a_probe_with_a_certificate_expects_its_name(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path, "mneme.example")
    tls = own_tls({"MNEME_TLS_CERTIFICATE": str(certificate), "MNEME_TLS_KEY": str(key)})
    assert isinstance(tls, OwnTls)
    assert tls.server_name == "mneme.example"


async def test_the_command_line_asks_any_service() -> None:
    async with echo_server(EchoServicer(), AUTHENTICATOR) as address:
        asked = await asyncio.to_thread(CliRunner().invoke, app, ["health", "--target", address])
        by_default = await asyncio.to_thread(CliRunner().invoke, app, ["--target", address, "health"])
    assert (asked.exit_code, by_default.exit_code) == (0, 0), asked.output + by_default.output
    assert asked.stdout == f"{address}: a gRPC service is serving\n"
    gone = await asyncio.to_thread(CliRunner().invoke, app, ["health", "--target", address])
    assert gone.exit_code == 1
    assert "nothing listens" in gone.stderr


def make_certificate(folder: Path, name: str | None) -> tuple[Path, Path]:
    """A certificate that is its own authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mneme")])
    now = dt.datetime.now(dt.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    )
    if name is not None:
        known_by: x509.GeneralName = (
            x509.IPAddress(ipaddress.ip_address(name)) if name[0].isdigit() else x509.DNSName(name)
        )
        builder = builder.add_extension(x509.SubjectAlternativeName([known_by]), critical=False)
    files = folder / "tls.crt", folder / "tls.key"
    files[0].write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return files

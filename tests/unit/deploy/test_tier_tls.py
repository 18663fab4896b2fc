"""Mutual TLS between gateway and tiers, while clients of the gateway need no certificate."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from services.common.auth import IdentitySigner, Principal, Role, create_api_key
from services.common.clock import SystemClock
from services.common.hosting import HostSettings, running_server
from services.common.rpc.certificates import TlsFiles
from services.common.rpc.channel import CallMetadata, open_channel
from tests.support.clock import SequentialIds
from tests.support.echo import ECHO, EchoServicer, binding

SECRET = b"a secret of at least thirty-two bytes"


def identity() -> Any:
    """Metadata with an identity signed now: it is valid for two minutes only."""
    return CallMetadata(IdentitySigner(SECRET))(Principal("acme", "alice", Role.WRITER))


class Authority:
    """Signs certificates for names on loopback."""

    def __init__(self, folder: Path) -> None:
        """Writes its own certificate to ca.crt of the folder."""
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "authority")])
        self.file = folder / "ca.crt"
        self._write(self.file, self.name, self.key.public_key(), is_authority=True)

    def certificate(self, name: str) -> tuple[Path, Path]:
        """A certificate for localhost and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        files = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self._write(files[0], subject, key.public_key(), is_authority=False)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        files[1].write_bytes(private)
        return files

    def _write(self, file: Path, subject: x509.Name, key: ec.EllipticCurvePublicKey, *, is_authority: bool) -> None:
        now = dt.datetime.now(dt.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(minutes=5))
            .not_valid_after(now + dt.timedelta(hours=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


async def call(target: str, credentials: grpc.ChannelCredentials, metadata: Any) -> bytes:
    async with grpc.aio.secure_channel(target, credentials) as channel:
        echo: Any = channel.unary_unary(f"/{ECHO}/Echo")
        response: bytes = await echo(b"hi", metadata=metadata, timeout=10)
        return response


async def test_spec_7_1_a_tier_demands_a_certificate_and_the_gateway_shows_its_own(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    tier, gateway = authority.certificate("tier"), authority.certificate("gateway")
    key, _ = create_api_key(
        tmp_path / "keys.json", tenant_id="acme", principal_id="app", role=Role.WRITER, now=SystemClock().now()
    )
    of_tier = HostSettings(
        tls_certificate=tier[0], tls_key=tier[1], tls_authority=authority.file, signed_identities_only=True
    )
    of_gateway = HostSettings(
        tls_certificate=gateway[0],
        tls_key=gateway[1],
        tier_tls_authority=authority.file,
        api_keys_file=tmp_path / "keys.json",
    )
    given: dict[str, Any] = {"secret": SECRET, "clock": SystemClock(), "ids": SequentialIds()}
    servicers = [binding(EchoServicer())]
    without_certificate = grpc.ssl_channel_credentials(root_certificates=authority.file.read_bytes())
    async with (
        running_server(servicers, address="localhost:0", settings=of_tier, **given) as tier_server,
        running_server(servicers, address="localhost:0", settings=of_gateway, **given) as gateway_server,
    ):
        async with open_channel(tier_server.address, tls=of_gateway.upstream_tls) as channel:
            echo: Any = channel.unary_unary(f"/{ECHO}/Echo")
            assert await echo(b"hi", metadata=identity(), timeout=10) == b"hi"
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(tier_server.address, without_certificate, identity())
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        bearer = [("authorization", f"Bearer {key}")]
        assert await call(gateway_server.address, without_certificate, bearer) == b"hi"


@pytest.mark.parametrize(
    ("given", "authority"),
    [
        ({}, None),
        ({"tls_authority": "a.crt"}, "a.crt"),
        ({"tier_tls_authority": "b.crt"}, "b.crt"),
        ({"tls_authority": "a.crt", "tier_tls_authority": "b.crt"}, "b.crt"),
    ],
)
def test_the_authority_of_the_tiers_is_its_own_setting_or_that_of_clients(
    given: dict[str, str], authority: str | None
) -> None:
    settings = HostSettings.model_validate({"tls_certificate": "own.crt", "tls_key": "own.key", **given})
    expected = Path(authority) if authority else None
    assert settings.upstream_tls == TlsFiles(Path("own.crt"), Path("own.key"), expected)


def test_the_gateway_does_not_encrypt_without_a_certificate_or_when_told_not_to() -> None:
    assert HostSettings().upstream_tls is None
    given = {"tls_certificate": "own.crt", "tls_key": "own.key", "tier_tls": False}
    assert HostSettings.model_validate(given).upstream_tls is None

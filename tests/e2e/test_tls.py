"""A stack whose gateway has a certificate; the tiers behind it stay on loopback."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from mneme_client import Client, MnemeClientError, RetryPolicy, Tls
from tests.support.stack import BOTH_WAYS, running_stack

NAME = "mneme.example"  # as a public name: the certificate does not hold for the loopback address


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate that is its own authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "tls.crt", folder / "tls.key"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return files


@pytest.mark.parametrize("processes", BOTH_WAYS)
async def test_spec_7_1_a_stack_with_a_certificate_serves_encrypted(
    tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch, processes: bool
) -> None:
    monkeypatch.setenv("MNEME_EMBEDDING_MODEL_DIR", str(model_folder))  # processes read their own environment
    files = certificate(tmp_path)
    trusted = Tls(root_certificates=files[0].read_bytes(), server_name=NAME)
    async with running_stack(tmp_path / "data", model_folder, processes=processes, tls=files) as services:
        async with Client(services.gateway_target, tls=trusted, default_timeout_seconds=30.0) as client:
            written = await client.remember("ada", "c1", "My cat is called Momo.")
            found = await client.recall("ada", "What is my cat called?", consistency_token=written.consistency_token)
        assert found.memories[0].turn.content == "My cat is called Momo."
        assert not found.degraded
        plain = RetryPolicy(attempts_max=1)
        async with Client(services.gateway_target, retry=plain, default_timeout_seconds=2.0) as client:
            with pytest.raises(MnemeClientError) as caught:
                await client.get_profile("ada")
            assert caught.value.code in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}

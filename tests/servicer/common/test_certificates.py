"""Certificates that are replaced while they are used, between a server and clients of mutual TLS."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from services.common.auth import Authenticator
from services.common.errors import Reason, StoreUnavailable
from services.common.rpc.certificates import Certificates, CertificateWatch, TlsFiles
from services.common.rpc.channel import CallMetadata, open_channel
from services.common.rpc.reloading import ReloadingChannel
from services.common.rpc.server import ServerSettings
from tests.servicer.common.conftest import READER
from tests.servicer.common.test_interceptors import method
from tests.support.certificates import self_signed
from tests.support.echo import EchoServicer, echo_server


def replace(files: TlsFiles, name: str) -> None:
    """New contents for all files: another certificate, which is its own authority."""
    made = self_signed(name)
    assert files.authority is not None
    for file, content in (
        (files.certificate, made.certificate),
        (files.key, made.key),
        (files.authority, made.certificate),
    ):
        new = file.with_suffix(".new")
        new.write_bytes(content)
        new.replace(file)


def copy(files: TlsFiles, folder: Path) -> TlsFiles:
    """The files as they are now."""
    folder.mkdir()
    assert files.authority is not None
    for file in (files.certificate, files.key, files.authority):
        (folder / file.name).write_bytes(file.read_bytes())
    return TlsFiles(*(folder / file.name for file in (files.certificate, files.key, files.authority)))


@pytest.fixture
def files(tmp_path: Path) -> TlsFiles:
    files = TlsFiles(tmp_path / "tls.crt", tmp_path / "tls.key", tmp_path / "ca.crt")
    replace(files, "first")
    return files


@pytest.fixture
async def address(files: TlsFiles, servicer: EchoServicer, authenticator: Authenticator) -> AsyncIterator[str]:
    settings = ServerSettings(tls=files, grace_seconds=0.0)
    async with echo_server(servicer, authenticator, settings=settings) as bound:
        yield bound


async def is_served(address: str, files: TlsFiles, metadata: CallMetadata) -> bool:
    """Whether a new client with these certificates is served."""
    async with open_channel(address, tls=files) as channel:
        try:
            return bool(await method(channel)(b"x", timeout=5, metadata=metadata(READER)) == b"x")
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.UNAVAILABLE:
                raise
            return False


async def test_spec_7_2_replaced_certificates_are_used_without_a_restart(
    address: str, files: TlsFiles, metadata: CallMetadata, tmp_path: Path
) -> None:
    certificates = Certificates(files)
    channel = ReloadingChannel(
        lambda: grpc.aio.secure_channel(address, certificates.channel_credentials()), certificates.refresh
    )
    earlier = copy(files, tmp_path / "earlier")
    async with channel:
        echo = method(channel)
        assert await echo(b"1", timeout=5, metadata=metadata(READER)) == b"1"
        first = channel.current()
        replace(files, "second")
        assert await echo(b"2", timeout=5, metadata=metadata(READER)) == b"2"
        assert channel.current() is not first
        assert await is_served(address, files, metadata)
        assert not await is_served(address, earlier, metadata), "the first authority is not trusted any more"


async def test_spec_7_2_certificates_that_do_not_fit_leave_the_earlier_ones_in_use(
    address: str, files: TlsFiles, metadata: CallMetadata, tmp_path: Path
) -> None:
    earlier = copy(files, tmp_path / "earlier")
    files.key.write_bytes(self_signed("other").key)
    assert await is_served(address, earlier, metadata)
    files.certificate.unlink()
    assert await is_served(address, earlier, metadata)
    replace(files, "third")
    assert await is_served(address, files, metadata)
    assert not await is_served(address, earlier, metadata)


async def test_a_client_looks_for_new_certificates_once_a_second(files: TlsFiles) -> None:
    now = [100.0]
    watch = CertificateWatch(Certificates(files), monotonic=lambda: now[0])
    assert not watch.has_changed()
    replace(files, "second")
    assert not watch.has_changed()
    now[0] += 1.0
    assert watch.has_changed()
    assert not watch.has_changed()


def test_certificates_that_cannot_be_used_are_refused_at_the_start(files: TlsFiles) -> None:
    files.key.write_bytes(self_signed("other").key)
    with pytest.raises(ValueError, match="does not belong"):
        Certificates(files)


async def test_a_call_that_meets_a_stopping_replica_is_made_again(
    servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    attempts = 0

    async def stopping_once() -> None:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise StoreUnavailable("server", 0.1, reason=Reason.SHUTTING_DOWN)

    servicer.behaviour = stopping_once
    async with echo_server(servicer, authenticator) as address, open_channel(address) as channel:
        assert await method(channel)(b"x", timeout=5, metadata=metadata(READER)) == b"x"
    assert attempts == 2


async def test_in_an_outage_calls_are_not_made_again(
    servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    attempts = 0

    async def away() -> None:
        nonlocal attempts
        attempts += 1
        raise StoreUnavailable("redis")

    servicer.behaviour = away
    async with echo_server(servicer, authenticator) as address, open_channel(address) as channel:
        for _ in range(50):
            with pytest.raises(grpc.aio.AioRpcError):
                await method(channel)(b"x", timeout=5, metadata=metadata(READER))
    assert 50 <= attempts < 65

"""A tier on another machine than the gateway: who gets in."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import grpc
import pytest

from services.common.auth import IdentitySigner, Principal, Role
from services.common.clock import SystemClock
from services.common.credentials import InsecureListenError, authenticator
from services.common.hosting import HostSettings, running_server
from services.common.rpc.channel import CallMetadata, open_channel
from tests.support.clock import SequentialIds
from tests.support.echo import ECHO, EchoServicer, binding

SECRET = b"a secret of at least thirty-two bytes"
CALLER = Principal("acme", "alice", Role.WRITER)
ANYWHERE = "0.0.0.0:0"


def settings(**given: object) -> HostSettings:
    return HostSettings.model_validate(given)


async def test_spec_7_1_a_tier_on_a_network_serves_other_services_alone() -> None:
    served = running_server(
        [binding(EchoServicer())],
        address=ANYWHERE,
        settings=settings(signed_identities_only=True),
        secret=SECRET,
        clock=SystemClock(),
        ids=SequentialIds(),
    )
    async with served as running, open_channel(f"127.0.0.1:{running.address.rpartition(':')[2]}") as channel:
        echo: Any = channel.unary_unary(f"/{ECHO}/Echo")
        assert await echo(b"hi", metadata=CallMetadata(IdentitySigner(SECRET))(CALLER)) == b"hi"
        forged = CallMetadata(IdentitySigner(b"another secret of at least thirty-two bytes"))(CALLER)
        for metadata in ((), forged, [("authorization", "Bearer mn_0_key")]):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await echo(b"hi", metadata=metadata)
            assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_a_server_that_is_told_nothing_stays_on_loopback() -> None:
    with pytest.raises(InsecureListenError, match="MNEME_SIGNED_IDENTITIES_ONLY"):
        authenticator(settings(), SECRET, SystemClock(), address=ANYWHERE)


def test_keys_and_signed_identities_alone_exclude_each_other() -> None:
    both = settings(signed_identities_only=True, api_keys_file=Path("keys.json"))
    with pytest.raises(InsecureListenError, match="exclude each other"):
        authenticator(both, SECRET, SystemClock(), address="127.0.0.1:0")


async def test_a_service_without_its_key_file_says_so(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.session"),
        env={
            **os.environ,
            "MNEME_LISTEN": "127.0.0.1:0",
            "MNEME_SERVICE_SECRET": SECRET.decode(),
            "MNEME_API_KEYS_FILE": str(tmp_path / "missing.json"),
        },
        stderr=asyncio.subprocess.PIPE,
    )
    _, told = await process.communicate()
    assert process.returncode == 1
    assert told.decode().splitlines()[-1].startswith("session: cannot read API keys from ")
    assert b"Traceback" not in told

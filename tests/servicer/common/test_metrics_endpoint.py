"""The endpoint that Prometheus scrapes."""

from __future__ import annotations

import asyncio
import socket
import urllib.error
import urllib.request
from typing import Any

import pytest

from services.common.auth import Authenticator
from services.common.hosting import HostSettings
from services.common.rpc.channel import CallMetadata, open_channel
from services.common.shared_settings import telemetry_settings
from services.common.telemetry import TelemetrySettings, configure_telemetry, state
from services.common.telemetry.loop_delay import LoopDelay
from tests.servicer.common.conftest import READER
from tests.support.echo import ECHO, EchoServicer, echo_server


def scrape(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as response:
        return str(response.read().decode())


async def test_spec_8_1_calls_are_measured_from_half_a_millisecond(
    servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    handle = configure_telemetry(telemetry_settings("mneme-test", HostSettings(metrics_listen="127.0.0.1:0")))
    try:
        assert state.is_measured()
        assert not state.is_on(), "traces go nowhere, so none is made"
        async with echo_server(servicer, authenticator) as address, open_channel(address) as channel:
            call: Any = channel.unary_unary(f"/{ECHO}/Echo")
            await call(b"", metadata=metadata(READER))
        LoopDelay().record(0.2)
        assert handle.metrics_port is not None
        lines = (await asyncio.to_thread(scrape, handle.metrics_port)).splitlines()
    finally:
        await asyncio.to_thread(handle.shutdown)
    labels = f'rpc_method="{ECHO}/Echo",rpc_response_status_code="OK",rpc_system_name="grpc"'
    assert f"rpc_server_call_duration_seconds_count{{{labels}}} 1.0" in lines
    buckets = [line for line in lines if line.startswith("rpc_server_call_duration_seconds_bucket")]
    assert buckets[0].startswith('rpc_server_call_duration_seconds_bucket{le="0.0005"')
    assert "mneme_event_loop_stalls_total 1.0" in lines
    assert any(line.startswith("process_resident_memory_bytes ") for line in lines)
    assert any(line.startswith("target_info{") and 'service_name="mneme-test"' in line for line in lines)


def test_the_endpoint_is_gone_after_the_end_and_off_by_default() -> None:
    handle = configure_telemetry(TelemetrySettings(metrics_listen="127.0.0.1:0"))
    port = handle.metrics_port
    assert port is not None
    handle.shutdown()
    assert not state.is_measured()
    with pytest.raises(urllib.error.URLError):
        scrape(port)
    assert configure_telemetry(telemetry_settings("x", HostSettings())).metrics_port is None


def test_an_address_that_cannot_be_used_is_an_error_at_the_start() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            configure_telemetry(TelemetrySettings(metrics_listen=f"127.0.0.1:{port}"))
    with pytest.raises(ValueError, match="host:port"):
        configure_telemetry(TelemetrySettings(metrics_listen="9464"))

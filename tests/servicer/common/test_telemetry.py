from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import StatusCode

from services.common.auth import Authenticator
from services.common.errors import NotFound
from services.common.rpc.channel import CallMetadata, open_channel
from services.common.rpc.interceptors import InterceptorSettings, interceptors
from services.common.telemetry import (
    TelemetrySettings,
    TreeSpanExporter,
    configure_telemetry,
    extract_context,
    inject_context,
    render_tree,
    span,
    state,
    traceparent,
)
from tests.servicer.common.conftest import READER
from tests.support.clock import SequentialIds
from tests.support.echo import ECHO, EchoServicer, echo_channel, echo_server


@pytest.fixture
def exporter() -> Iterator[TreeSpanExporter]:
    """Telemetry is on while it is used."""
    spans = TreeSpanExporter()
    handle = configure_telemetry(TelemetrySettings(service_name="test"), exporter=spans)
    yield spans
    handle.shutdown()


def test_the_order_of_interceptors_with_telemetry(exporter: TreeSpanExporter) -> None:
    traced = [type(i).__name__ for i in interceptors(InterceptorSettings(), Authenticator(), {}, SequentialIds())]
    state.switch_on(TracerProvider(), MeterProvider())
    chain = interceptors(InterceptorSettings(), Authenticator(), {}, SequentialIds())

    assert "TraceInterceptor" in traced
    assert "MetricsInterceptor" not in traced, "nothing reads metrics here"
    assert [type(i).__name__ for i in chain] == [
        "RequestIdInterceptor",
        "TraceInterceptor",
        "MetricsInterceptor",
        "LogInterceptor",
        "ErrorInterceptor",
        "DeadlineInterceptor",
        "AuthInterceptor",
        "AdmissionInterceptor",
    ]
    assert exporter.take() == ()


async def test_spec_8_1_a_call_continues_the_trace_of_its_caller(
    way: str, exporter: TreeSpanExporter, servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    async def behaviour() -> None:
        with span("inside"):
            raise NotFound("session", "s1")

    async with echo_channel(way, servicer, authenticator) as channel:
        call: Any = channel.unary_unary(f"/{ECHO}/Echo")
        with span("caller"):
            await call(b"", metadata=metadata(READER))
        servicer.behaviour = behaviour
        with pytest.raises(grpc.aio.AioRpcError):
            await call(b"", metadata=metadata(READER))
    spans = exporter.take()
    good, caller, inside, bad = sorted(spans, key=lambda s: s.end_time or 0)

    assert good.parent is not None
    assert caller.context is not None
    assert (good.parent.span_id, good.context.trace_id if good.context else 0) == (
        caller.context.span_id,
        caller.context.trace_id,
    )
    assert (good.attributes or {})["rpc.grpc.status_code"] == 0
    assert (bad.attributes or {})["rpc.grpc.status_code"] == grpc.StatusCode.NOT_FOUND.value[0]
    assert bad.status.status_code is StatusCode.ERROR
    assert [line.split()[0] for line in render_tree([inside, bad]).splitlines()] == [f"{ECHO}/Echo", "inside"]


async def test_spec_8_1_an_abandoned_stream_ends_its_span(
    exporter: TreeSpanExporter, servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    async with echo_server(servicer, authenticator) as address, open_channel(address) as channel:
        stream: Any = channel.unary_stream(f"/{ECHO}/CountForever")
        call = stream(b"", metadata=metadata(READER))
        await call.read()
        call.cancel()
        await servicer.closed.wait()
    (recorded,) = exporter.take()

    assert (recorded.attributes or {})["rpc.grpc.status_code"] == grpc.StatusCode.CANCELLED.value[0]


def test_spec_8_1_queued_work_belongs_to_the_trace_that_queued_it(exporter: TreeSpanExporter) -> None:
    with span("queue"):
        stored = traceparent()
    with extract_context(stored, "work"), span("step"):
        pass
    with extract_context("", "orphan"):
        pass
    lines = render_tree(exporter.take()).splitlines()

    assert [(len(line) - len(line.lstrip()), line.split()[0]) for line in lines] == [
        (0, "queue"),
        (2, "work"),
        (4, "step"),
        (0, "orphan"),
    ]


def test_telemetry_is_off_unless_asked_for() -> None:
    handle = configure_telemetry(TelemetrySettings())

    assert not state.is_on()
    assert span("one") is span("two")
    assert inject_context() == {}
    assert traceparent() == ""
    with extract_context("", "work"):
        pass
    handle.shutdown()


async def test_spec_8_1_calls_are_counted_and_measured(
    servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    reader = InMemoryMetricReader()
    state.switch_on(TracerProvider(), MeterProvider(metric_readers=[reader]))
    try:
        async with echo_server(servicer, authenticator) as address, open_channel(address) as channel:
            call: Any = channel.unary_unary(f"/{ECHO}/Echo")
            await call(b"", metadata=metadata(READER))
            await call(b"", metadata=metadata(READER))
    finally:
        state.switch_off()
    data = reader.get_metrics_data()
    assert data is not None
    points: Any = data.resource_metrics[0].scope_metrics[0].metrics[0].data.data_points

    assert [(dict(p.attributes), p.count) for p in points] == [
        ({"rpc.system.name": "grpc", "rpc.method": f"{ECHO}/Echo", "rpc.response.status_code": "OK"}, 2)
    ]

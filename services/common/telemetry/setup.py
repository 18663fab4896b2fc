"""Switches telemetry on for a process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.asyncpg import AsyncPGInstrumentor
from opentelemetry.instrumentation.redis import RedisInstrumentor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter

from services.common.telemetry import state


@dataclass(frozen=True, slots=True)
class TelemetrySettings:
    """Where traces and metrics go."""

    service_name: str = "mneme"
    otlp_endpoint: str = ""  # OTLP over gRPC, such as "http://127.0.0.1:4317"; empty: nothing is exported
    is_insecure: bool = True  # without TLS to the endpoint
    metrics_interval_seconds: float = 30.0


class TelemetryHandle:
    """Ends what `configure_telemetry` began."""

    def __init__(
        self, tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
    ) -> None:
        """Owns the providers."""
        self._tracer_provider = tracer_provider
        self._meter_provider = meter_provider

    def flush(self) -> None:
        """Exports what was recorded so far."""
        if self._tracer_provider is not None:
            self._tracer_provider.force_flush()

    def shutdown(self) -> None:
        """Exports what was recorded and switches off. Blocks for some seconds at most."""
        if self._tracer_provider is not None:
            state.switch_off()
            for instrumentor in _instrumentors():
                instrumentor.uninstrument()
            self._tracer_provider.shutdown()
        if self._meter_provider is not None:
            self._meter_provider.shutdown()


def configure_telemetry(settings: TelemetrySettings, *, exporter: SpanExporter | None = None) -> TelemetryHandle:
    """Switches traces on where an endpoint or an exporter is given, and metrics where an endpoint is.

    Call it once, before connections are opened.

    Args:
        settings: Where to.
        exporter: Takes spans as well, each as it ends; for tests and for the console.
    """
    if not settings.otlp_endpoint and exporter is None:
        return TelemetryHandle()
    resource = Resource.create({"service.name": settings.service_name})
    tracer_provider = TracerProvider(resource=resource)
    meter_provider = None
    if exporter is not None:
        tracer_provider.add_span_processor(SimpleSpanProcessor(exporter))
    if settings.otlp_endpoint:
        otlp = OTLPSpanExporter(endpoint=settings.otlp_endpoint, insecure=settings.is_insecure)
        tracer_provider.add_span_processor(BatchSpanProcessor(otlp))
        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(endpoint=settings.otlp_endpoint, insecure=settings.is_insecure),
            export_interval_millis=settings.metrics_interval_seconds * 1000,
        )
        meter_provider = MeterProvider(resource=resource, metric_readers=[reader])
    for instrumentor in _instrumentors():
        instrumentor.instrument(tracer_provider=tracer_provider)
    state.switch_on(tracer_provider, meter_provider)
    return TelemetryHandle(tracer_provider, meter_provider)


def _instrumentors() -> list[Any]:
    """Of the drivers: statements are recorded, their parameters are not."""
    return [AsyncPGInstrumentor(), RedisInstrumentor()]  # type: ignore[no-untyped-call]

"""Switches telemetry on for a process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.asyncpg import AsyncPGInstrumentor
from opentelemetry.instrumentation.redis import RedisInstrumentor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter

from services.common.telemetry import state

if TYPE_CHECKING:  # loaded where metrics are scraped
    from services.common.telemetry.endpoint import MetricsEndpoint


@dataclass(frozen=True, slots=True)
class TelemetrySettings:
    """Where traces and metrics go."""

    service_name: str = "mneme"
    otlp_endpoint: str = ""  # OTLP over gRPC, such as "http://127.0.0.1:4317"; empty: nothing is exported
    is_insecure: bool = True  # without TLS to the endpoint
    metrics_interval_seconds: float = 30.0
    metrics_listen: str = ""  # host:port of the endpoint that Prometheus scrapes; empty: none


class TelemetryHandle:
    """Ends what `configure_telemetry` began."""

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        endpoint: MetricsEndpoint | None = None,
    ) -> None:
        """Owns the providers and the endpoint."""
        self._tracer_provider = tracer_provider
        self._meter_provider = meter_provider
        self._endpoint = endpoint

    @property
    def metrics_port(self) -> int | None:
        """Where metrics can be scraped; None where they cannot."""
        return None if self._endpoint is None else self._endpoint.port

    def flush(self) -> None:
        """Exports what was recorded so far."""
        if self._tracer_provider is not None:
            self._tracer_provider.force_flush()

    def shutdown(self) -> None:
        """Exports what was recorded and switches off. Blocks for some seconds at most."""
        if self._tracer_provider is not None or self._meter_provider is not None:
            state.switch_off()
        if self._tracer_provider is not None:
            for instrumentor in _instrumentors():
                instrumentor.uninstrument()
            self._tracer_provider.shutdown()
        if self._endpoint is not None:
            self._endpoint.close()
        if self._meter_provider is not None:
            self._meter_provider.shutdown()


def configure_telemetry(settings: TelemetrySettings, *, exporter: SpanExporter | None = None) -> TelemetryHandle:
    """Switches traces on where an OTLP endpoint or an exporter is given, and metrics where they can be read.

    Call it once, before connections are opened and components are put together.

    Args:
        settings: Where to.
        exporter: Takes spans as well, each as it ends; for tests and for the console.

    Raises:
        OSError: The address of `metrics_listen` cannot be bound.
        ValueError: It is no address.
    """
    resource = Resource.create({"service.name": settings.service_name})
    endpoint = _open_endpoint(settings.metrics_listen)
    tracer_provider = _tracer_provider(settings, resource, exporter)
    readers: list[MetricReader] = [] if endpoint is None else [endpoint.reader]
    if settings.otlp_endpoint:
        exporting = OTLPMetricExporter(endpoint=settings.otlp_endpoint, insecure=settings.is_insecure)
        interval = settings.metrics_interval_seconds * 1000
        readers.append(PeriodicExportingMetricReader(exporting, export_interval_millis=interval))
    meter_provider = MeterProvider(resource=resource, metric_readers=readers) if readers else None
    if tracer_provider is not None or meter_provider is not None:
        state.switch_on(tracer_provider, meter_provider)
    return TelemetryHandle(tracer_provider, meter_provider, endpoint)


def _open_endpoint(address: str) -> MetricsEndpoint | None:
    if not address:
        return None
    from services.common.telemetry.endpoint import MetricsEndpoint

    return MetricsEndpoint(address)


def _tracer_provider(
    settings: TelemetrySettings, resource: Resource, exporter: SpanExporter | None
) -> TracerProvider | None:
    if not settings.otlp_endpoint and exporter is None:
        return None
    provider = TracerProvider(resource=resource)
    if exporter is not None:
        provider.add_span_processor(SimpleSpanProcessor(exporter))
    if settings.otlp_endpoint:
        otlp = OTLPSpanExporter(endpoint=settings.otlp_endpoint, insecure=settings.is_insecure)
        provider.add_span_processor(BatchSpanProcessor(otlp))
    for instrumentor in _instrumentors():
        instrumentor.instrument(tracer_provider=provider)
    return provider


def _instrumentors() -> list[Any]:
    """Of the drivers: statements are recorded, their parameters are not."""
    return [AsyncPGInstrumentor(), RedisInstrumentor()]  # type: ignore[no-untyped-call]

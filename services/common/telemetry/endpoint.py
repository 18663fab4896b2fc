"""The endpoint that Prometheus scrapes: a small HTTP server in a thread of its own."""

from __future__ import annotations

from opentelemetry.exporter.prometheus import PrometheusMetricReader
from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector, start_http_server


class MetricsEndpoint:
    """Serves the process's metrics at `http://<address>/metrics`, without credentials: they hold no content."""

    def __init__(self, address: str) -> None:
        """Listens at once.

        Args:
            address: host:port; port 0 takes a free one.

        Raises:
            OSError: The address cannot be bound.
            ValueError: It is no address.
        """
        host, separator, port = address.rpartition(":")
        if not separator or not port.isdecimal():
            raise ValueError(f"MNEME_METRICS_LISTEN must be host:port, not {address!r}")
        registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)
        self.reader = PrometheusMetricReader(scope_info_enabled=False, registry=registry)
        self._server, self._thread = start_http_server(int(port), addr=host.strip("[]") or "0.0.0.0", registry=registry)  # noqa: S104

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_port)

    def close(self) -> None:
        """Stops listening. A scrape under way is finished."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

"""Prints the spans of one command as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.trace import Tracer
from rich.console import Console


@contextmanager
def trace_calls(console: Console, *, enabled: bool) -> Iterator[Tracer | None]:
    """Records what happens inside and prints it afterwards. Costs nothing when it is not enabled.

    Must be entered before services start in this process. Yields the tracer for a client's own spans.
    """
    if not enabled:
        yield None
        return
    # Imported here: the SDK and its exporters take longer to import than most commands to run.
    from services.common.telemetry import (
        TelemetrySettings,
        TreeSpanExporter,
        configure_telemetry,
        render_tree,
        state,
    )

    exporter = TreeSpanExporter()
    handle = configure_telemetry(TelemetrySettings(service_name="mneme"), exporter=exporter)
    try:
        yield state.tracer("mneme_client")
    finally:
        handle.flush()
        console.print(render_tree(exporter.take()), markup=False, highlight=False, soft_wrap=True)
        handle.shutdown()

"""Prints the spans of one command as a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry.trace import Tracer
from rich.console import Console

from mneme_client.tracing import TRACER_NAME

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


@contextmanager
def trace_calls(console: Console, *, enabled: bool) -> Iterator[Tracer | None]:
    """Records spans and prints them afterwards, if enabled.

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
        yield state.tracer(TRACER_NAME)
    finally:
        handle.flush()
        console.print(render_tree(_of_calls(exporter.take())), markup=False, highlight=False, soft_wrap=True)
        handle.shutdown()


def _of_calls(spans: Sequence[ReadableSpan]) -> list[ReadableSpan]:
    """The spans of traces that a client's call began, without the services' start and background work."""
    roots = [span for span in spans if span.instrumentation_scope and span.instrumentation_scope.name == TRACER_NAME]
    traces = {span.context.trace_id for span in roots if span.context}
    return [span for span in spans if span.context and span.context.trace_id in traces]

"""Traces and metrics by OpenTelemetry: off, and free, unless configured."""

from services.common.telemetry.setup import TelemetryHandle, TelemetrySettings, configure_telemetry
from services.common.telemetry.spans import extract_context, inject_context, span, store_span, traceparent
from services.common.telemetry.tree import TreeSpanExporter, render_tree

__all__ = [
    "TelemetryHandle",
    "TelemetrySettings",
    "TreeSpanExporter",
    "configure_telemetry",
    "extract_context",
    "inject_context",
    "render_tree",
    "span",
    "store_span",
    "traceparent",
]

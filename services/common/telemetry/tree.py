"""Spans as a tree that people can read, for `--trace-console`."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import StatusCode

_SPANS_MAX = 10_000


class TreeSpanExporter(SpanExporter):
    """Keeps finished spans in memory, the newest up to a bound."""

    def __init__(self) -> None:
        """Begins empty."""
        self._lock = threading.Lock()
        self._spans: list[ReadableSpan] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Takes finished spans."""
        with self._lock:
            self._spans = (self._spans + list(spans))[-_SPANS_MAX:]
        return SpanExportResult.SUCCESS

    def take(self) -> tuple[ReadableSpan, ...]:
        """The spans so far; they are removed here."""
        with self._lock:
            spans, self._spans = tuple(self._spans), []
        return spans


def render_tree(spans: Sequence[ReadableSpan]) -> str:
    """The spans as lines `  name  12.3 ms  ERROR`, children below their parents, in the order of their start."""
    known = {span.context.span_id for span in spans if span.context is not None}
    children: dict[int | None, list[ReadableSpan]] = {}
    for span in sorted(spans, key=lambda s: s.start_time or 0):
        parent = span.parent.span_id if span.parent is not None and span.parent.span_id in known else None
        children.setdefault(parent, []).append(span)
    lines: list[str] = []

    def add(parent: int | None, depth: int) -> None:
        for span in children.get(parent, ()):
            lines.append(_line(span, depth))
            if span.context is not None:
                add(span.context.span_id, depth + 1)

    add(None, 0)
    return "\n".join(lines)


def _line(span: ReadableSpan, depth: int) -> str:
    milliseconds = ((span.end_time or 0) - (span.start_time or 0)) / 1e6
    failed = "  ERROR" if span.status.status_code is StatusCode.ERROR else ""
    service = span.resource.attributes.get("service.name", "")
    return f"{'  ' * depth}{span.name:<{max(1, 60 - 2 * depth)}} {milliseconds:9.2f} ms  {service}{failed}"

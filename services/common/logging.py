"""Structured logs: for people on a terminal, as JSON elsewhere, with request and trace ids."""

from __future__ import annotations

import logging
import sys
from typing import Any, TextIO

import structlog
from opentelemetry import trace


def configure_logging(*, level: str = "info", stream: TextIO | None = None, as_json: bool | None = None) -> None:
    """Sets up logging for the process.

    Args:
        level: debug, info, warning or error.
        stream: Where to; standard error by default.
        as_json: One JSON object a line; by default where the stream is no terminal.
    """
    out = stream or sys.stderr
    json_lines = not out.isatty() if as_json is None else as_json
    renderer: Any = structlog.processors.JSONRenderer() if json_lines else structlog.dev.ConsoleRenderer()
    processors: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_trace,
    ]
    if json_lines:
        processors.append(structlog.processors.format_exc_info)
    structlog.configure(
        processors=[*processors, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.WriteLoggerFactory(file=out),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(level=max(logging.WARNING, getattr(logging, level.upper())), stream=out)


def _add_trace(_logger: Any, _name: str, event: dict[str, Any]) -> dict[str, Any]:
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = f"{context.trace_id:032x}"
    return event

"""Structured logs: for people on a terminal, as JSON elsewhere, with request and trace ids."""

from __future__ import annotations

import logging
import sys
from typing import Any, Final, TextIO

import structlog
from opentelemetry import trace
from structlog.typing import EventDict, Processor

_SHARED: Final[tuple[Processor, ...]] = (
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def configure_logging(*, level: str = "info", stream: TextIO | None = None, as_json: bool | None = None) -> None:
    """Sets up logging for the process; libraries' lines come out in the same form, from warnings up.

    Args:
        level: debug, info, warning or error.
        stream: Where to; standard error by default.
        as_json: One JSON object a line; by default where the stream is no terminal.

    Raises:
        ValueError: There is no such level.
    """
    threshold = logging.getLevelNamesMapping().get(level.upper())
    if threshold is None:
        raise ValueError(f"unknown log level {level!r}: debug, info, warning or error")
    out = stream or sys.stderr
    as_lines = not out.isatty() if as_json is None else as_json
    processors = [*_SHARED, _add_trace]
    final: list[Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if as_lines
        # The default formatter prints the values of local variables: secrets and what users said.
        else [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    )
    structlog.configure(
        processors=[*processors, *final],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.WriteLoggerFactory(file=out),
        # Loggers are made when modules are imported, before this runs, and tests listen in later.
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*processors, structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *final],
        )
    )
    logging.basicConfig(level=max(logging.WARNING, threshold), handlers=[handler], force=True)


def _add_trace(_logger: Any, _name: str, event: EventDict) -> EventDict:
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = f"{context.trace_id:032x}"
        event["span_id"] = f"{context.span_id:016x}"
    return event

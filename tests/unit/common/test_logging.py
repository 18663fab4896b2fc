from __future__ import annotations

import io
import json
import logging

import pytest
import structlog

from services.common.logging import configure_logging
from services.common.telemetry import TelemetrySettings, TreeSpanExporter, configure_telemetry, span


@pytest.fixture
def out() -> io.StringIO:
    """A stream to log to."""
    return io.StringIO()


def lines(out: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_lines_are_json_where_nobody_looks(out: io.StringIO) -> None:
    configure_logging(level="info", stream=out)
    log = structlog.get_logger("mneme")
    log.debug("not shown")
    log.info("shown", method="Recall")
    logging.getLogger("library").warning("of a %s", "library")
    logging.getLogger("library").info("not shown")
    first, second = lines(out)

    assert (first["event"], first["level"], first["method"]) == ("shown", "info", "Recall")
    assert (second["event"], second["level"], second["logger"]) == ("of a library", "warning", "library")


def test_lines_carry_the_trace(out: io.StringIO) -> None:
    configure_logging(level="info", stream=out)
    handle = configure_telemetry(TelemetrySettings(), exporter=TreeSpanExporter())
    with span("work"):
        structlog.get_logger().info("inside")
    structlog.get_logger().info("outside")
    handle.shutdown()
    inside, outside = lines(out)

    assert len(str(inside["trace_id"])) == 32
    assert len(str(inside["span_id"])) == 16
    assert "trace_id" not in outside


@pytest.mark.parametrize("as_json", [True, False])
def test_a_traceback_shows_no_values(out: io.StringIO, as_json: bool) -> None:
    configure_logging(level="info", stream=out, as_json=as_json)

    def fail(content: str) -> None:
        raise KeyError(len(content))

    said = " ".join(["what", "a", "user", "said"])  # in pieces: a traceback quotes the source
    try:
        fail(said)
    except KeyError:
        structlog.get_logger().exception("failed")

    assert "KeyError" in out.getvalue()
    assert said not in out.getvalue()


def test_an_unknown_level_is_an_error() -> None:
    with pytest.raises(ValueError, match="loud"):
        configure_logging(level="loud")

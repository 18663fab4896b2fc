from __future__ import annotations

import grpc
import pytest
from typer.testing import CliRunner

from mneme_client import MnemeClientError
from services.cli.hints import hint
from services.cli.main import app

TARGET = "127.0.0.1:7700"
_HTTP = "Failed parsing HTTP/2 (Expected SETTINGS frame as the first frame, got frame type 80) "
_HTTP += "(Trying to connect an http1.x server (HTTP status 400))"


@pytest.mark.parametrize(
    ("message", "target", "expected"),
    [
        ("Failed to connect to remote host: Connection refused", TARGET, "Is Mneme running?"),
        ("Failed to connect to remote host: Connection refused", "dns:///gateway", "Is Mneme running?"),
        (_HTTP, "127.0.0.1:7780", "HTTP is served at 127.0.0.1:7780, and gRPC at another port"),
        ("errors resolving http://127.0.0.1:7700", "http://127.0.0.1:7700", "without a scheme"),
        ("Failed to connect to remote host: Connection refused", "127.0.0.1", "needs a port"),
        ("Tls handshake failed: SSL_ERROR_SSL: WRONG_VERSION_NUMBER", TARGET, "does not use TLS"),
        ("Tls handshake failed: CERTIFICATE_VERIFY_FAILED", TARGET, "--ca-file"),
    ],
)
def test_a_connection_that_fails_says_which_option_is_wrong(message: str, target: str, expected: str) -> None:
    assert expected in hint(MnemeClientError(message, code=grpc.StatusCode.UNAVAILABLE), target)


def test_what_was_not_found_says_where_to_look() -> None:
    method = "mneme.gateway.v1.ErasureService/Correct"
    error = MnemeClientError("statement not found", code=grpc.StatusCode.NOT_FOUND, reason="NOT_FOUND", method=method)
    assert "says what --wrong says" in hint(error, TARGET)
    assert str(error) == "NOT_FOUND: statement not found"
    other = MnemeClientError(
        "fact not found", code=grpc.StatusCode.NOT_FOUND, method="mneme.semantic.v1.FactService/GetFact"
    )
    assert not hint(other, TARGET)


def test_a_service_that_is_there_is_not_asked_whether_it_runs() -> None:
    error = MnemeClientError("postgres is unavailable", code=grpc.StatusCode.UNAVAILABLE, reason="STORE_UNAVAILABLE")
    assert not hint(error, TARGET)


@pytest.mark.parametrize(
    ("reason", "expected"), [("CREDENTIAL_MISSING", "Give a key by"), ("CREDENTIAL_INVALID", "leave them out")]
)
def test_a_refused_key_is_not_asked_for_again(reason: str, expected: str) -> None:
    error = MnemeClientError("no", code=grpc.StatusCode.UNAUTHENTICATED, reason=reason)
    assert expected in hint(error, TARGET)


def test_an_empty_target_is_wrong_usage() -> None:
    result = CliRunner().invoke(app, ["--target", "", "backlog"])
    assert result.exit_code == 2
    assert "--target" in result.output

"""Messages of `mneme up` where the services cannot be started."""

from __future__ import annotations

import grpc

from services.cli import local_stack
from services.common.errors import StoreUnavailable


def test_a_file_that_is_missing_is_named_without_a_number() -> None:
    assert local_stack._in_words(FileNotFoundError(2, "No such file or directory", "/a.pem")) == (
        "/a.pem: No such file or directory"
    )


def test_a_store_that_cannot_be_reached_says_why() -> None:
    error = StoreUnavailable("postgres")
    error.__cause__ = ConnectionRefusedError(111, "Connection refused")
    assert local_stack._in_words(error).startswith("postgres is unavailable: [Errno 111]")


def test_the_cause_of_grpc_is_its_details_alone() -> None:
    error = StoreUnavailable("qdrant")
    error.__cause__ = grpc.aio.AioRpcError(
        grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata(), details="Connection refused"
    )
    assert local_stack._in_words(error) == "qdrant is unavailable: Connection refused"


def test_a_port_that_is_taken_says_which_options_choose_others() -> None:
    words = local_stack._in_words(OSError("cannot listen on 127.0.0.1:7701: is it in use?"))
    assert "--port is the first of five" in words

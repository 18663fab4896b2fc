from __future__ import annotations

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from mneme.errors.v1 import error_reason_pb2
from services.common import errors
from services.common.errors import (
    AlreadyExists,
    Conflict,
    DeadlineExceeded,
    FailedPrecondition,
    FieldViolation,
    InvalidArgument,
    LimitExceeded,
    MnemeError,
    NotFound,
    PermissionDenied,
    Reason,
    StoreUnavailable,
    Unauthenticated,
)
from services.common.errors_grpc import (
    INTERNAL_MESSAGE,
    STATUS_CODES,
    STATUS_DETAILS_KEY,
    from_item_status,
    from_rpc_error,
    item_status,
    public_error,
    status_code,
    to_status_details,
)

EXAMPLES: list[MnemeError] = [
    InvalidArgument("bad", reason=Reason.INVALID_VECTOR, violations=[FieldViolation("a[3].b", "is wrong")]),
    NotFound("session", "s1"),
    AlreadyExists("session", "s1"),
    Conflict("changed meanwhile"),
    FailedPrecondition("not now"),
    LimitExceeded("sessions_max", 10_000),
    StoreUnavailable("redis", 2.5),
    DeadlineExceeded("too late"),
    PermissionDenied("no", metadata={"required_role": "admin"}),
]


def as_rpc_error(status: Status, code: grpc.StatusCode) -> grpc.aio.AioRpcError:
    metadata = grpc.aio.Metadata((STATUS_DETAILS_KEY, status.SerializeToString()))
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), metadata, details=status.message)


def detail(status: Status, message: ErrorInfo | BadRequest | RetryInfo) -> None:
    packed: AnyMessage = next(d for d in status.details if d.Is(message.DESCRIPTOR))
    packed.Unpack(message)


def test_every_class_has_a_status_code() -> None:
    classes = {c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, MnemeError)}

    assert classes == STATUS_CODES.keys()
    assert len(set(STATUS_CODES.values())) == len(classes)


def test_reasons_are_those_of_the_proto() -> None:
    names = {name.removeprefix("ERROR_REASON_") for name in error_reason_pb2.ErrorReason.DESCRIPTOR.values_by_name}

    assert {str(reason) for reason in Reason} == names - {"UNSPECIFIED"}


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda e: type(e).__name__)
def test_an_error_survives_the_wire(error: MnemeError) -> None:
    code = status_code(error)
    received = from_rpc_error(as_rpc_error(to_status_details(error), code), store="episodic")

    assert type(received) is type(error)
    assert (received.message, received.reason, received.metadata, received.violations) == (
        error.message,
        error.reason,
        error.metadata,
        error.violations,
    )
    assert getattr(received, "retry_after_seconds", None) == getattr(error, "retry_after_seconds", None)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda e: type(e).__name__)
def test_the_error_of_an_item_survives_the_wire(error: MnemeError) -> None:
    received = from_item_status(item_status(error), store="episodic")

    assert (type(received), received.reason, received.metadata, received.violations) == (
        type(error),
        error.reason,
        error.metadata,
        error.violations,
    )


def test_the_error_of_an_item_that_is_our_fault_says_no_more_than_that() -> None:
    status = item_status(RuntimeError("a secret"))

    assert (status.code, status.message) == (grpc.StatusCode.INTERNAL.value[0], INTERNAL_MESSAGE)
    assert from_item_status(status, store="episodic").reason is Reason.INTERNAL


def test_the_details_are_those_that_clients_of_google_apis_know() -> None:
    status = to_status_details(EXAMPLES[0])
    info, request = ErrorInfo(), BadRequest()
    detail(status, info)
    detail(status, request)

    assert (info.reason, info.domain) == ("INVALID_VECTOR", "mneme")
    assert [(v.field, v.description) for v in request.field_violations] == [("a[3].b", "is wrong")]


def test_an_unavailable_store_says_when_to_come_back() -> None:
    retry = RetryInfo()
    detail(to_status_details(StoreUnavailable("redis", 2.5)), retry)

    assert retry.retry_delay.ToTimedelta().total_seconds() == 2.5


def test_a_status_fits_into_metadata_whatever_was_wrong() -> None:
    violations = [FieldViolation(f"turns[{i}].content", "is wrong " * 100) for i in range(1_000)]
    error = InvalidArgument("x" * 100_000, metadata={"fact": "y" * 100_000}, violations=violations)

    assert 2_000 < to_status_details(error).ByteSize() < 4_500


def test_an_unexpected_error_says_nothing() -> None:
    public = public_error(KeyError("a secret"))

    assert (public.message, public.reason, status_code(public)) == (
        "internal error",
        Reason.INTERNAL,
        grpc.StatusCode.INTERNAL,
    )


def test_an_internal_error_of_ours_says_nothing_either() -> None:
    assert public_error(MnemeError("session failed", metadata={"store": "session"})).metadata == {}


def test_a_timeout_is_a_deadline() -> None:
    assert status_code(TimeoutError()) is grpc.StatusCode.DEADLINE_EXCEEDED
    assert isinstance(public_error(TimeoutError("driver text")), DeadlineExceeded)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (grpc.StatusCode.UNAVAILABLE, StoreUnavailable),
        (grpc.StatusCode.CANCELLED, StoreUnavailable),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, StoreUnavailable),
        (grpc.StatusCode.DEADLINE_EXCEEDED, DeadlineExceeded),
        (grpc.StatusCode.INTERNAL, MnemeError),
        (grpc.StatusCode.UNIMPLEMENTED, MnemeError),
    ],
)
def test_failures_of_the_transport_carry_no_text(code: grpc.StatusCode, expected: type[MnemeError]) -> None:
    error = grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), details="text of the transport")

    received = from_rpc_error(error, store="episodic")

    assert type(received) is expected
    assert "text of the transport" not in received.message


def test_a_refused_identity_is_not_the_callers_fault() -> None:
    status = to_status_details(Unauthenticated("the identity is not valid"))

    received = from_rpc_error(as_rpc_error(status, grpc.StatusCode.UNAUTHENTICATED), store="session")

    assert isinstance(received, StoreUnavailable)
    assert received.metadata == {"store": "session"}


def test_details_of_strangers_are_not_believed() -> None:
    status = to_status_details(NotFound("session", "s1"))
    info = ErrorInfo(reason="NOT_FOUND", domain="elsewhere")
    status.details[0].Pack(info)

    assert type(from_rpc_error(as_rpc_error(status, grpc.StatusCode.NOT_FOUND), store="session")) is MnemeError


def test_broken_details_are_passed_over() -> None:
    metadata = grpc.aio.Metadata((STATUS_DETAILS_KEY, b"\xff\xff\xff"))
    error = grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), metadata)

    assert isinstance(from_rpc_error(error, store="session"), StoreUnavailable)


def test_a_newer_servers_reason_keeps_its_class() -> None:
    status = to_status_details(Conflict("changed"))
    status.details[0].Pack(ErrorInfo(reason="SOMETHING_NEW", domain="mneme"))

    received = from_rpc_error(as_rpc_error(status, grpc.StatusCode.ABORTED), store="session")

    assert (type(received), received.reason) == (Conflict, Reason.CONFLICT)

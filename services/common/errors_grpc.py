"""Between our errors and gRPC statuses, both ways. The only place that knows which class has which code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn

import grpc
import structlog
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError, Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

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

_log = structlog.get_logger(__name__)

ERROR_DOMAIN: Final = "mneme"
"""The domain of ErrorInfo: says whose reasons these are."""

STATUS_DETAILS_KEY: Final = "grpc-status-details-bin"
"""The trailing metadata key of the serialized google.rpc.Status."""

STATUS_CODES: Final[Mapping[type[MnemeError], grpc.StatusCode]] = {
    InvalidArgument: grpc.StatusCode.INVALID_ARGUMENT,
    NotFound: grpc.StatusCode.NOT_FOUND,
    AlreadyExists: grpc.StatusCode.ALREADY_EXISTS,
    Conflict: grpc.StatusCode.ABORTED,
    FailedPrecondition: grpc.StatusCode.FAILED_PRECONDITION,
    LimitExceeded: grpc.StatusCode.RESOURCE_EXHAUSTED,
    StoreUnavailable: grpc.StatusCode.UNAVAILABLE,
    DeadlineExceeded: grpc.StatusCode.DEADLINE_EXCEEDED,
    Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
    PermissionDenied: grpc.StatusCode.PERMISSION_DENIED,
    MnemeError: grpc.StatusCode.INTERNAL,
}

INTERNAL_MESSAGE: Final = "internal error"

# Clients refuse metadata beyond 8 KiB by default, and binary values grow by a third on the wire.
_DETAILS_BYTES_MAX: Final = 4_096
_MESSAGE_CHARS_MAX: Final = 512
_FACT_CHARS_MAX: Final = 256

_CLASSES: Final = {code: cls for cls, code in STATUS_CODES.items()}
_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}


def status_code(error: BaseException) -> grpc.StatusCode:
    """The status code of an error of any class; a subclass without an entry has that of its base."""
    for cls in type(error).__mro__:
        code = STATUS_CODES.get(cls)
        if code is not None:
            return code
    return grpc.StatusCode.DEADLINE_EXCEEDED if isinstance(error, TimeoutError) else grpc.StatusCode.INTERNAL


def public_error(error: BaseException) -> MnemeError:
    """What a caller may see of an error: itself where it is ours, else no more than that something failed."""
    if isinstance(error, MnemeError) and status_code(error) is not grpc.StatusCode.INTERNAL:
        return error
    if isinstance(error, TimeoutError):
        return DeadlineExceeded("the call took longer than its deadline")
    return MnemeError(INTERNAL_MESSAGE)


def to_status_details(error: MnemeError) -> Status:
    """The error as google.rpc.Status with ErrorInfo, BadRequest and RetryInfo, at most about 4 KiB.

    Facts are cut to 256 characters and violations beyond the size are left out, so that the status always
    arrives.
    """
    status = Status(code=status_code(error).value[0], message=error.message[:_MESSAGE_CHARS_MAX])
    facts = {key: value[:_FACT_CHARS_MAX] for key, value in error.metadata.items()}
    status.details.append(_packed(ErrorInfo(reason=str(error.reason), domain=ERROR_DOMAIN, metadata=facts)))
    if isinstance(error, StoreUnavailable | LimitExceeded) and error.retry_after_seconds is not None:
        delay = Duration()
        delay.FromNanoseconds(round(error.retry_after_seconds * 1e9))
        status.details.append(_packed(RetryInfo(retry_delay=delay)))
    if error.violations:
        request = BadRequest()
        budget = _DETAILS_BYTES_MAX - status.ByteSize()
        for violation in error.violations:
            entry = BadRequest.FieldViolation(
                field=violation.field_path[:_FACT_CHARS_MAX],
                description=violation.description[:_FACT_CHARS_MAX],
            )
            budget -= entry.ByteSize() + 4
            if budget < 0:
                break
            request.field_violations.append(entry)
        status.details.append(_packed(request))
    return status


def item_status(error: BaseException) -> Status:
    """The error of one item of a batch whose other items succeed, as its result carries it."""
    return to_status_details(public_error(error))


def from_item_status(status: Status, *, store: str) -> MnemeError:
    """The error of one item as our class again: inverse of `item_status`.

    Args:
        status: What the item's result carries.
        store: Name of the service that sent it, for the facts of the error.
    """
    found = _from_details(_CODES.get(status.code, grpc.StatusCode.UNKNOWN), status, store)
    return found or MnemeError(f"{store} failed", metadata={"store": store})


async def abort_with(context: grpc.aio.ServicerContext[Any, Any], error: BaseException) -> NoReturn:
    """Ends the call with the status of an error.

    Uses `abort` with the details in trailing metadata, next to what is there already: instrumentation records status
    OK for `abort_with_status`.
    """
    public = public_error(error)
    status = to_status_details(public)
    await context.abort(
        status_code(public),
        status.message,
        (*(context.trailing_metadata() or ()), (STATUS_DETAILS_KEY, status.SerializeToString())),
    )


def from_rpc_error(error: grpc.aio.AioRpcError, *, store: str) -> MnemeError:
    """The error that an upstream service answered with, as our class again: inverse of `to_status_details`.

    Failures of the transport, and of services that are not ours, have no details; they become
    `StoreUnavailable`, `DeadlineExceeded`, or an internal error, and never carry the other side's text. A
    refused identity is a fault of this installation and not of the caller, who has been authenticated: it is
    logged and becomes `StoreUnavailable`.

    Args:
        error: What the call raised.
        store: Name of the upstream service, for the facts of the error.
    """
    code = error.code()
    if code is grpc.StatusCode.UNAUTHENTICATED:
        _log.error("upstream_refused_identity", upstream=store)
        return StoreUnavailable(store)
    details = _details(error)
    if details is not None:
        found = _from_details(code, details, store)
        if found is not None:
            return found
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return DeadlineExceeded(f"{store} did not answer in time")
    if code in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.RESOURCE_EXHAUSTED}:
        # Without details, exhaustion is the transport's: too many concurrent calls there.
        return StoreUnavailable(store)
    return MnemeError(f"{store} failed", metadata={"store": store})


def _from_details(code: grpc.StatusCode, status: Status, store: str) -> MnemeError | None:
    info, request, retry = ErrorInfo(), BadRequest(), RetryInfo()
    for detail in status.details:
        for message in (info, request, retry):
            if detail.Is(message.DESCRIPTOR):
                detail.Unpack(message)
    cls = _CLASSES.get(code)
    if info.domain != ERROR_DOMAIN or cls is None:
        return None
    try:
        reason = Reason(info.reason)
    except ValueError:
        # A newer server's reason: the class still says which kind it is.
        reason = cls.default_reason
    facts = dict(info.metadata)
    seconds = retry.retry_delay.ToNanoseconds() / 1e9 if retry.HasField("retry_delay") else None
    if cls is StoreUnavailable:
        seconds = 1.0 if seconds is None else seconds
        if reason is Reason.SHUTTING_DOWN:
            return StoreUnavailable(store, seconds)  # it is not the one who passes this on that stops
        return StoreUnavailable(facts.get("store", store), seconds, reason=reason)
    if cls is NotFound or cls is AlreadyExists:
        return cls(facts.get("resource", "resource"), facts.get("id", ""))
    if cls is LimitExceeded:
        limit = _number(facts.get("limit"))
        name = facts.get("limit_name", store)
        return LimitExceeded(name, limit, status.message, retry_after_seconds=seconds, reason=reason)
    violations = [FieldViolation(v.field, v.description) for v in request.field_violations]
    return cls(status.message, reason=reason, metadata=facts, violations=violations)


def reason_and_limit(trailing_metadata: Iterable[tuple[str, str | bytes]]) -> tuple[str, str]:
    """The reason of a refused call, and the name of the limit that it met, each empty where there is none.

    Nothing else of an error's facts is for a log: ids are the caller's.
    """
    for key, value in trailing_metadata:
        if key == STATUS_DETAILS_KEY and isinstance(value, bytes):
            info = ErrorInfo()
            for detail in Status.FromString(value).details:
                detail.Unpack(info)
            return info.reason, info.metadata.get("limit_name", "")
    return "", ""


def _details(error: grpc.aio.AioRpcError) -> Status | None:
    for key, value in error.trailing_metadata() or ():
        if key == STATUS_DETAILS_KEY and isinstance(value, bytes):
            try:
                return Status.FromString(value)
            except DecodeError:
                return None
    return None


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return float("nan")


def _packed(message: Message) -> AnyMessage:
    packed = AnyMessage()
    packed.Pack(message)
    return packed

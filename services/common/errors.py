"""Errors that reach callers: what went wrong, as typed facts. No gRPC here; the mapping is in errors_grpc."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Machine-readable reasons, as mneme.errors.v1.ErrorReason lists them without the prefix."""

    INVALID_FIELD = "INVALID_FIELD"
    UNKNOWN_ENUM_VALUE = "UNKNOWN_ENUM_VALUE"
    TEXT_TOO_LONG = "TEXT_TOO_LONG"
    TOO_MANY_ITEMS = "TOO_MANY_ITEMS"
    INVALID_VECTOR = "INVALID_VECTOR"
    INVALID_PAGE_TOKEN = "INVALID_PAGE_TOKEN"
    INVALID_CONSISTENCY_TOKEN = "INVALID_CONSISTENCY_TOKEN"
    REQUEST_ID_REUSED = "REQUEST_ID_REUSED"
    CREDENTIAL_MISSING = "CREDENTIAL_MISSING"
    CREDENTIAL_INVALID = "CREDENTIAL_INVALID"
    ROLE_MISSING = "ROLE_MISSING"
    NOT_FOUND = "NOT_FOUND"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    CONFLICT = "CONFLICT"
    PRECONDITION_FAILED = "PRECONDITION_FAILED"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    RATE_LIMITED = "RATE_LIMITED"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    SHUTTING_DOWN = "SHUTTING_DOWN"
    DISK_FULL = "DISK_FULL"
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    INTERNAL = "INTERNAL"


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """What is wrong with one field."""

    field_path: str  # from the request, such as "turns[3].content"
    description: str


class MnemeError(Exception):
    """Root of all errors that callers may see. The message holds no user content and no driver's text."""

    default_reason: Reason = Reason.INTERNAL

    def __init__(
        self,
        message: str,
        *,
        reason: Reason | None = None,
        metadata: Mapping[str, str] | None = None,
        violations: Sequence[FieldViolation] = (),
    ) -> None:
        """Takes the message for people, and for machines the reason with its facts."""
        super().__init__(message)
        self.message = message
        self.reason = reason or self.default_reason
        self.metadata: dict[str, str] = dict(metadata or {})
        self.violations: tuple[FieldViolation, ...] = tuple(violations)


class InvalidArgument(MnemeError):
    """The request is wrong, whatever the state of the system."""

    default_reason = Reason.INVALID_FIELD


class NotFound(MnemeError):
    """The named resource does not exist for this tenant."""

    default_reason = Reason.NOT_FOUND

    def __init__(self, resource: str, identifier: str) -> None:
        """Names the kind of resource and its id."""
        super().__init__(f"{resource} not found", metadata={"resource": resource, "id": identifier})


class AlreadyExists(MnemeError):
    """A resource with this id exists."""

    default_reason = Reason.ALREADY_EXISTS

    def __init__(self, resource: str, identifier: str) -> None:
        """Names the kind of resource and its id."""
        super().__init__(f"{resource} exists already", metadata={"resource": resource, "id": identifier})


class Conflict(MnemeError):
    """The resource was changed by someone else: read it again and retry."""

    default_reason = Reason.CONFLICT


class FailedPrecondition(MnemeError):
    """The system is not in the state that the call needs."""

    default_reason = Reason.PRECONDITION_FAILED


class LimitExceeded(MnemeError):
    """A limit on size, count or rate is reached."""

    default_reason = Reason.LIMIT_EXCEEDED

    def __init__(
        self,
        limit_name: str,
        limit: float,
        message: str = "",
        *,
        retry_after_seconds: float | None = None,
        reason: Reason | None = None,
    ) -> None:
        """Names the limit and its value, and when to try again where that helps."""
        super().__init__(
            message or f"the limit {limit_name} of {limit:g} is reached",
            reason=reason,
            metadata={"limit_name": limit_name, "limit": f"{limit:g}"},
        )
        self.retry_after_seconds = retry_after_seconds


class StoreUnavailable(MnemeError):
    """A store or a tier cannot be reached."""

    default_reason = Reason.STORE_UNAVAILABLE

    def __init__(self, store: str, retry_after_seconds: float = 1.0, *, reason: Reason | None = None) -> None:
        """Names the store, and when to try again."""
        super().__init__(f"{store} is unavailable", reason=reason, metadata={"store": store})
        self.retry_after_seconds = retry_after_seconds


class DeadlineExceeded(MnemeError):
    """The call's time ran out before it was done."""

    default_reason = Reason.DEADLINE_EXCEEDED


class Unauthenticated(MnemeError):
    """No credential, or one that is not accepted."""

    default_reason = Reason.CREDENTIAL_INVALID


class PermissionDenied(MnemeError):
    """The principal may not do this."""

    default_reason = Reason.ROLE_MISSING


def cause_of(error: Exception) -> str:
    """What a failure was caused by, of gRPC its details alone; empty where that is not known."""
    details = getattr(error.__cause__, "details", None)
    return str(details() if callable(details) else error.__cause__ or "")

"""Idempotency records: their data, their port, and the rule by which a request runs once.

`tests/contract/idempotency_records.py` is the suite that every driver passes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Generic, Protocol, TypeVar

from pydantic import TypeAdapter

from services.common.errors import FieldViolation, InvalidArgument, NotFound, Reason
from services.common.owners import UserId

RETENTION_SECONDS: Final = 7 * 86_400.0
"""Default retention of records, the same in every service."""

_ResponseT = TypeVar("_ResponseT")


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """Who sent a request under which id, and what was requested."""

    principal_id: str
    request_id: str
    digest: str  # of the method and every field of the request; distinguishes a repeat from another request


@dataclass(frozen=True, slots=True)
class IdempotencyRecord:
    """The first response to a request."""

    key: IdempotencyKey
    user_id: UserId  # whose memory the request changed
    resource_id: str  # what it changed, such as the id of a fact
    response: str | None  # JSON; None: erased together with the resource
    create_time: datetime  # aware, UTC


class IdempotencyRecords(Protocol):
    """The records of one tenant, in the transaction of the write that they belong to."""

    async def find(self, key: IdempotencyKey) -> IdempotencyRecord | None:
        """The record of this principal and request id, whatever its digest; or None."""
        ...

    async def add(self, record: IdempotencyRecord, *, purge_before: datetime) -> None:
        """Store a record. Some of the tenant's records from before `purge_before` are deleted with it."""
        ...

    async def erase(self, user_id: UserId, resource_ids: Sequence[str] | None = None) -> None:
        """Erase the responses about resources of a user; about all of them for None.

        The records stay, so that a repeat does not create again what was deleted.
        """
        ...


class Idempotency(Generic[_ResponseT]):
    """Runs a request once, and returns its first response to repeats."""

    def __init__(self, response_type: type[_ResponseT], *, retention_seconds: float) -> None:
        """Responses are dataclasses of `response_type`; records are stored for `retention_seconds` at least."""
        self._adapter: TypeAdapter[_ResponseT] = TypeAdapter(response_type)
        self._retention = timedelta(seconds=retention_seconds)

    async def run(
        self,
        records: IdempotencyRecords,
        key: IdempotencyKey,
        work: Callable[[], Awaitable[_ResponseT]],
        *,
        now: datetime,
        user_id: UserId,
        resource_id: Callable[[_ResponseT], str],
    ) -> _ResponseT:
        """The response of `work`, or the first response if the request ran before.

        Args:
            records: Of the transaction that `work` writes in: record and changes are committed together.
            key: The request.
            work: What the request does. Not called for a repeat.
            now: When.
            user_id: Whose memory it changes.
            resource_id: What it changed, by its response.

        Raises:
            InvalidArgument: The request id was used for another request.
            NotFound: A repeat, and what the request changed was deleted since.
        """
        first = await self.first(records, key)
        if first is not None:
            return first
        response = await work()
        text = self._adapter.dump_json(response).decode()
        added = IdempotencyRecord(key, user_id, resource_id(response), text, now)
        await records.add(added, purge_before=now - self._retention)
        return response

    async def first(self, records: IdempotencyRecords, key: IdempotencyKey) -> _ResponseT | None:
        """The first response to a request; None where it has not run yet.

        Raises:
            InvalidArgument: The request id was used for another request.
            NotFound: What the request changed was deleted since.
        """
        record = await records.find(key)
        if record is None:
            return None
        if record.key.digest != key.digest:
            raise request_id_reused()
        if record.response is None:
            raise NotFound("resource", record.resource_id)
        return self._adapter.validate_json(record.response)


def request_id_reused() -> InvalidArgument:
    """The error for a request id that was used for another request."""
    return InvalidArgument(
        "the request id was used before with a different request",
        reason=Reason.REQUEST_ID_REUSED,
        violations=[FieldViolation("request_id", "was used before with a different request")],
    )

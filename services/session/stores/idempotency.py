"""Idempotency records in the memory of this process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.common.idempotency.model import IdempotencyKey, request_id_reused
from services.common.owners import Owner
from services.session.model import Appended, Session

_RecordId = tuple[Owner, str, str]  # owner, principal, request id


@dataclass(frozen=True, slots=True)
class _Record:
    """The first response to a request."""

    digest: str
    response: Session | Appended
    expire_time: datetime


class RecordMemory:
    """Stores responses, which hold no turns, for a time and up to a number; the oldest are evicted first."""

    def __init__(self, *, retention: timedelta, records_max: int) -> None:
        """Begin empty."""
        self._retention = retention
        self._records_max = records_max
        self._records: OrderedDict[_RecordId, _Record] = OrderedDict()  # oldest first

    def find(self, owner: Owner, key: IdempotencyKey | None, *, now: datetime) -> Session | Appended | None:
        """The first response, or None where the request is new.

        Raises:
            InvalidArgument: The id was used for another request (REQUEST_ID_REUSED).
        """
        if key is None:
            return None
        record = self._records.get((owner, key.principal_id, key.request_id))
        if record is None or record.expire_time <= now:
            return None
        if record.digest != key.digest:
            raise request_id_reused()
        return record.response

    def add(self, owner: Owner, key: IdempotencyKey | None, response: Session | Appended, *, now: datetime) -> None:
        """Store a response; without a key there is nothing to store."""
        if key is None:
            return
        record_id = (owner, key.principal_id, key.request_id)
        self._records.pop(record_id, None)
        self._records[record_id] = _Record(key.digest, response, now + self._retention)
        while self._records and self._is_oldest_due(now):
            self._records.popitem(last=False)

    def remove(self, is_removed: Callable[[Owner], bool]) -> None:
        """Remove the records of owners."""
        for record_id in [record_id for record_id in self._records if is_removed(record_id[0])]:
            del self._records[record_id]

    def _is_oldest_due(self, now: datetime) -> bool:
        if len(self._records) > self._records_max:
            return True
        return next(iter(self._records.values())).expire_time <= now

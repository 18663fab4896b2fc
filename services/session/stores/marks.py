"""Answers to marked requests, kept in memory so that a repeat gets the same one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from services.common.errors import FieldViolation, InvalidArgument, Reason
from services.session.model import Appended, Owner, RequestMark, Session, turn_size_bytes

_MarkKey = tuple[Owner, str, str]  # owner, principal, request id
_OVERHEAD_BYTES: Final = 512


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a marked request was answered."""

    fingerprint: str
    answer: Session | Appended
    forget_time: datetime
    size_bytes: int


class MarkMemory:
    """Remembers answers for a time, within bounds on their number and size; the oldest go first."""

    def __init__(self, *, lifetime: timedelta, marks_max: int, bytes_max: int) -> None:
        """Begin empty."""
        self._lifetime = lifetime
        self._marks_max = marks_max
        self._bytes_max = bytes_max
        self._marks: OrderedDict[_MarkKey, _Kept] = OrderedDict()  # oldest first
        self._size_bytes = 0

    def __len__(self) -> int:
        """How many are held, those to be forgotten included."""
        return len(self._marks)

    def recall(self, owner: Owner, mark: RequestMark | None, *, now: datetime) -> Session | Appended | None:
        """The first answer, or None where the request is new.

        Raises:
            InvalidArgument: The id was used for another request (REQUEST_ID_REUSED).
        """
        if mark is None:
            return None
        kept = self._marks.get((owner, mark.principal_id, mark.request_id))
        if kept is None or kept.forget_time <= now:
            return None
        if kept.fingerprint != mark.fingerprint:
            raise request_id_reused()
        return kept.answer

    def remember(self, owner: Owner, mark: RequestMark | None, answer: Session | Appended, *, now: datetime) -> None:
        """Keep an answer; without a mark there is nothing to keep."""
        if mark is None:
            return
        key = (owner, mark.principal_id, mark.request_id)
        self._forget(key)
        turns = answer.turns if isinstance(answer, Session) else ()
        size_bytes = _OVERHEAD_BYTES + sum(turn_size_bytes(turn.turn) for turn in turns)
        self._marks[key] = _Kept(mark.fingerprint, answer, now + self._lifetime, size_bytes)
        self._size_bytes += size_bytes
        while self._marks and self._is_oldest_due(now):
            self._forget(next(iter(self._marks)))

    def remove(self, is_removed: Callable[[Owner], bool]) -> None:
        """Forget the answers of owners."""
        for key in [key for key in self._marks if is_removed(key[0])]:
            self._forget(key)

    def _is_oldest_due(self, now: datetime) -> bool:
        if len(self._marks) > self._marks_max or self._size_bytes > self._bytes_max:
            return True
        return next(iter(self._marks.values())).forget_time <= now

    def _forget(self, key: _MarkKey) -> None:
        kept = self._marks.pop(key, None)
        if kept is not None:
            self._size_bytes -= kept.size_bytes


def request_id_reused() -> InvalidArgument:
    """The error for a request id that was used for another request."""
    return InvalidArgument(
        "the request id was used for another request",
        reason=Reason.REQUEST_ID_REUSED,
        violations=[FieldViolation("request_id", "was used for another request")],
    )

"""The id port: new identifiers are an argument, so that tests and replays are deterministic."""

import os
import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from services.common.clock import Clock

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SEQUENCE_BITS: Final = 12
_VERSION: Final = 7


class IdSource(Protocol):
    """Source of new unique identifiers."""

    def new_id(self) -> str:
        """A new identifier, never returned before."""
        ...


class Uuid7Ids:
    """UUIDs of version 7 (RFC 9562): they sort by creation time, also as text.

    Ordered ids keep B-tree inserts at the right edge of an index. Within one object ids increase strictly:
    the 12 bits after the millisecond are a counter (RFC 9562, section 6.2, method 1), and when the clock
    steps back the last millisecond is used on. Between processes the order is that of their clocks.
    Thread-safe.
    """

    def __init__(self, clock: Clock, *, random_bytes: Callable[[int], bytes] = os.urandom) -> None:
        """Take time from `clock` and randomness from `random_bytes(count)`."""
        self._clock = clock
        self._random_bytes = random_bytes
        self._lock = threading.Lock()
        self._last_milliseconds = -1
        self._sequence = 0

    def new_id(self) -> str:
        """A new UUID in canonical lower-case text form, 36 characters."""
        now_milliseconds = (self._clock.now() - _EPOCH) // timedelta(milliseconds=1)
        with self._lock:
            if now_milliseconds > self._last_milliseconds:
                self._last_milliseconds = now_milliseconds
                self._sequence = 0
            else:
                self._sequence += 1
                if self._sequence >> _SEQUENCE_BITS:
                    # Over 4,096 ids in one millisecond: borrow the next one rather than wait for it.
                    self._last_milliseconds += 1
                    self._sequence = 0
            prefix = (self._last_milliseconds << _SEQUENCE_BITS) | self._sequence
        milliseconds, sequence = prefix >> _SEQUENCE_BITS, prefix & ((1 << _SEQUENCE_BITS) - 1)
        tail = int.from_bytes(self._random_bytes(8)) & ((1 << 62) - 1)
        return str(uuid.UUID(int=milliseconds << 80 | 0x7 << 76 | sequence << 64 | 0b10 << 62 | tail))


def made_time(identifier: str) -> datetime | None:
    """When an identifier of `Uuid7Ids` was made, to the millisecond; None for an identifier of another kind."""
    try:
        parsed = uuid.UUID(identifier)
    except ValueError:
        return None
    if parsed.version != _VERSION:
        return None
    try:
        return _EPOCH + timedelta(milliseconds=parsed.int >> 80)
    except OverflowError:
        return None  # a caller's own id, of a time beyond the year 9999

"""The entries of a cache with their sizes: one budget in bytes, least recently used first out."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from services.common.telemetry import state

OwnerKey: TypeAlias = tuple[str, str]
"""Tenant id and user id."""
EntryName: TypeAlias = tuple[str, OwnerKey]
"""Kind and owner."""

_REMEMBERED_MAX: Final = 20_000
"""Names whose misses and refusals are remembered."""
TOO_LARGE_SECONDS: Final = 600.0
"""How long an owner who was too large is not read again to find out whether that still holds."""
_ENTRY_SHARE_MAX: Final = 0.75
"""Of the budget that one entry may take: a larger one would evict everything else."""
_V = TypeVar("_V")


class CacheEntry(Protocol):
    """What is cached of one owner."""

    @property
    def size_bytes(self) -> int:
        """Memory that it takes, about. May grow; then it is stored anew."""


class Ledger:
    """Entries by kind and owner. What a `CacheKind` works on; nobody else does."""

    def __init__(self, bytes_max: int, *, prefetch_after_misses: int, monotonic: Callable[[], float]) -> None:
        """Hold up to so many bytes; see `OwnerCache`."""
        self.bytes_max = bytes_max
        self.entry_bytes_max = int(bytes_max * _ENTRY_SHARE_MAX)
        self.size_bytes = 0
        self._prefetch_after_misses = prefetch_after_misses
        self._monotonic = monotonic
        self._entries: OrderedDict[EntryName, tuple[Any, int]] = OrderedDict()  # with sizes as last measured
        self._misses: OrderedDict[EntryName, int] = OrderedDict()
        self._refused: OrderedDict[EntryName, float] = OrderedDict()  # until when
        meter = state.meter("mneme.cache")
        self._requests = meter.create_counter("mneme.cache.requests", description="Look-ups, by kind and result")
        self._evictions = meter.create_counter("mneme.cache.evictions", description="Evictions, by kind and reason")
        self._bytes = meter.create_up_down_counter("mneme.cache.bytes", unit="By", description="Memory, by kind")

    def expect_evictions(self, kind: str) -> None:
        """Report those of a kind as zero, so that the first one is seen as an increase."""
        self._evictions.add(0, {"kind": kind, "reason": "budget"})

    def __contains__(self, name: EntryName) -> bool:
        """Whether an entry is there."""
        return name in self._entries

    def of_kind(self, kind: str) -> list[tuple[EntryName, Any]]:
        """The entries of a kind, least recently used first."""
        return [(name, entry) for name, (entry, _) in self._entries.items() if name[0] == kind]

    def peek(self, name: EntryName) -> Any:
        """An entry or None, without using it."""
        found = self._entries.get(name)
        return None if found is None else found[0]

    def use(self, name: EntryName) -> Any:
        """An entry or None; it counts as used now."""
        found = self._entries.get(name)
        self._requests.add(1, {"kind": name[0], "result": "miss" if found is None else "hit"})
        if found is None:
            return None
        self._entries.move_to_end(name)
        return found[0]

    def put(self, name: EntryName, entry: CacheEntry) -> bool:
        """Add, replace or measure an entry, and evict others; false where it is too large."""
        size = entry.size_bytes
        if size > self.entry_bytes_max or not self.bytes_max:
            self.drop(name, reason="too large")
            return False
        before = self._entries.pop(name, None)
        self._entries[name] = entry, size
        self._resize(name[0], size - (0 if before is None else before[1]))
        while self.size_bytes > self.bytes_max:
            self.drop(next(iter(self._entries)), reason="budget")
        return True

    def drop(self, name: EntryName, *, reason: str) -> None:
        """Remove an entry, if it is there."""
        dropped = self._entries.pop(name, None)
        if dropped is not None:
            self._resize(name[0], -dropped[1])
            self._evictions.add(1, {"kind": name[0], "reason": reason})
            if reason == "budget":
                self._misses.pop(name, None)  # worth loading again when the owner is back

    def miss(self, name: EntryName) -> bool:
        """Count a miss; whether the entry is to be loaded now."""
        count = self._misses.get(name, 0) + 1
        _remember(self._misses, name, count)
        return is_doubled(count, self._prefetch_after_misses)

    def refuse(self, name: EntryName) -> None:
        """Remember for a while that an entry is too large."""
        self.drop(name, reason="too large")
        _remember(self._refused, name, self._monotonic() + TOO_LARGE_SECONDS)

    def is_refused(self, name: EntryName) -> bool:
        """Whether an entry was too large a short while ago."""
        return self._refused.get(name, -math.inf) > self._monotonic()

    def _resize(self, kind: str, difference: int) -> None:
        self.size_bytes += difference
        self._bytes.add(difference, {"kind": kind})


def _remember(known: OrderedDict[EntryName, _V], name: EntryName, value: _V) -> None:
    known[name] = value
    known.move_to_end(name)
    if len(known) > _REMEMBERED_MAX:
        known.popitem(last=False)


def is_doubled(number: int, start: int) -> bool:
    """Whether a number is `start`, or that doubled any number of times."""
    times, rest = divmod(number, start)
    return rest == 0 and times > 0 and times & (times - 1) == 0

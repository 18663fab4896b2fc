"""The cache: entries by owner and kind, within one budget."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final, Generic, TypeAlias, TypeVar

import structlog

from services.common.background import BackgroundWork
from services.common.cache.ledger import CacheEntry, Ledger, OwnerKey
from services.common.errors import MnemeError

_log = structlog.get_logger(__name__)

BYTES_MAX_DEFAULT: Final = 640 * 1024 * 1024
"""Budget where none is given."""

Load: TypeAlias = Callable[[OwnerKey], Awaitable[None]]
"""Reads what is cached of an owner, and puts it."""

E = TypeVar("E", bound=CacheEntry)


class OwnerCache:
    """What a process holds of its users in memory. Belongs to one event loop."""

    def __init__(
        self,
        bytes_max: int = BYTES_MAX_DEFAULT,
        *,
        prefetch_after_misses: int = 3,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Hold up to so many bytes.

        Args:
            bytes_max: The budget of all kinds together; 0: nothing is cached.
            prefetch_after_misses: Misses of an owner before a kind with a loader loads it in the background. After
                a load that did not lead to an entry it takes twice as many.
            monotonic: The time in seconds.
        """
        self._ledger = Ledger(bytes_max, prefetch_after_misses=prefetch_after_misses, monotonic=monotonic)
        self._kinds: dict[str, CacheKind[Any]] = {}

    @property
    def bytes_max(self) -> int:
        """The budget."""
        return self._ledger.bytes_max

    @property
    def size_bytes(self) -> int:
        """Memory of all entries, as last measured."""
        return self._ledger.size_bytes

    def kind(self, name: str, load: Load | None = None) -> CacheKind[Any]:
        """A kind of entries.

        Args:
            name: Names the kind in metrics. A second one of a name gets a number.
            load: Makes entries in the background.
        """
        unique = name if name not in self._kinds else f"{name}-{len(self._kinds)}"
        kind: CacheKind[Any] = CacheKind(self._ledger, unique, load)
        self._ledger.expect_evictions(unique)
        self._kinds[unique] = kind
        return kind

    def prefetch(self, owner: OwnerKey) -> None:
        """Load what is not cached of an owner yet, in the background."""
        for kind in self._kinds.values():
            if kind.peek(owner) is None:
                kind.prefetch(owner)

    def forget(self, owner: OwnerKey) -> None:
        """Drop everything of an owner."""
        for kind in self._kinds.values():
            kind.forget(owner)

    async def settle(self) -> None:
        """Wait for what is being loaded."""
        for kind in self._kinds.values():
            await kind.settle()


class CacheKind(Generic[E]):
    """The entries of one kind; made by `OwnerCache.kind`."""

    def __init__(self, ledger: Ledger, name: str, load: Load | None) -> None:
        """Entries of `ledger`."""
        self._ledger = ledger
        self._name = name
        self._load = load
        self._loading = BackgroundWork[OwnerKey](f"cache-{name}")

    @property
    def entry_bytes_max(self) -> int:
        """The most that one entry may take."""
        return self._ledger.entry_bytes_max

    def get(self, owner: OwnerKey) -> E | None:
        """The entry of an owner, which counts as used now; None where there is none.

        Where this kind has a loader it is loaded in the background once the owner was missed several times.
        """
        entry: E | None = self._ledger.use((self._name, owner))
        if entry is None:
            self.missed(owner)
        return entry

    def missed(self, owner: OwnerKey) -> None:
        """Count that an owner is not cached, or that the entry lacks what was looked for."""
        if self._load is not None and self._ledger.miss((self._name, owner)):
            self.prefetch(owner)

    def peek(self, owner: OwnerKey) -> E | None:
        """The entry of an owner; this is not a use of it."""
        entry: E | None = self._ledger.peek((self._name, owner))
        return entry

    def put(self, owner: OwnerKey, entry: E) -> bool:
        """Add or replace an entry, or measure one that has grown. Evicts others to stay within the budget.

        Returns:
            Whether it is cached: false where it is too large.
        """
        return self._ledger.put((self._name, owner), entry)

    def prefetch(self, owner: OwnerKey) -> None:
        """Load an owner in the background, where this kind has a loader."""
        load = self._load
        if load is None or not self._ledger.bytes_max:
            return

        async def work() -> None:
            try:
                await load(owner)
            except MnemeError as error:
                _log.warning("a user is not cached", kind=self._name, error=str(error.__cause__ or error))

        self._loading.begin(owner, work)

    def forget(self, owner: OwnerKey) -> None:
        """Drop the entry of an owner."""
        self._ledger.drop((self._name, owner), reason="forgotten")

    def forget_all(self, *, reason: str = "forgotten") -> None:
        """Drop all entries of this kind."""
        for name, _ in self._ledger.of_kind(self._name):
            self._ledger.drop(name, reason=reason)

    def refuse(self, owner: OwnerKey) -> None:
        """Remember for ten minutes that an owner is too large for the cache."""
        self._ledger.refuse((self._name, owner))

    def is_refused(self, owner: OwnerKey) -> bool:
        """Whether an owner is known to be too large."""
        return self._ledger.is_refused((self._name, owner))

    def entries(self) -> Iterator[E]:
        """All entries, least recently used first."""
        return (entry for _, entry in self._ledger.of_kind(self._name))

    async def settle(self) -> None:
        """Wait for what is being loaded."""
        await self._loading.settle()

    async def aclose(self) -> None:
        """Stop loading, and drop all entries. Closing twice is allowed."""
        await self._loading.aclose()
        self.forget_all(reason="closed")

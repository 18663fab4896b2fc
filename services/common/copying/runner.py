"""Copies records page by page, goes on where it was interrupted, and compares both sides at the end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from services.common.copying.checksum import Checksum, checksum_of
from services.common.copying.ledger import CopyLedger, Progress
from services.common.copying.model import BATCH_RECORDS, CopyError, Key, Kind, Record, RecordStore, key_of


class Watcher(Protocol):
    """Watches the progress."""

    def begun(self, step: str, kind: str, *, done: int, total: int) -> None:
        """A kind is begun, with so many records done before."""
        ...

    def advanced(self, records: int) -> None:
        """So many more are done."""
        ...


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a kind comes to on both sides."""

    kind: str
    source: Checksum
    target: Checksum

    @property
    def is_equal(self) -> bool:
        """Whether both sides hold the same."""
        return self.source.agrees_with(self.target)


@dataclass(frozen=True, slots=True)
class _Pair:
    """A kind, and who holds it on either side."""

    source_kind: Kind
    source: RecordStore
    target_kind: Kind
    target: RecordStore

    @property
    def name(self) -> str:
        return self.source_kind.name

    @property
    def sides(self) -> tuple[tuple[RecordStore, Kind], tuple[RecordStore, Kind]]:
        return (self.source, self.source_kind), (self.target, self.target_kind)


class Copier:
    """Copies everything that some stores hold into others, which hold the same kinds.

    Memory holds two pages of records: one is read while the one before it is written.
    """

    def __init__(
        self,
        source: Sequence[RecordStore],
        target: Sequence[RecordStore],
        watcher: Watcher,
        *,
        batch_records: int = BATCH_RECORDS,
    ) -> None:
        """Pairs the kinds of both sides.

        Raises:
            CopyError: They hold different kinds, or kinds with different fields.
        """
        self._pairs = _paired(source, target)
        self._watcher = watcher
        self._batch_records = batch_records

    async def copy(self, ledger: CopyLedger, source_name: str) -> None:
        """Writes everything that the target has not yet.

        Args:
            ledger: Of the target.
            source_name: Identifies the source, and is the same when a copy is resumed.

        Raises:
            CopyError: The target holds something else, or the source has changed since the copy was begun.
        """
        counts = {pair.name: await pair.source.count(pair.source_kind) for pair in self._pairs}
        progress = await self._begun(ledger, source_name, counts)
        for pair in self._pairs:
            state = progress.get(pair.name, Progress())
            self._watcher.begun("copy", pair.name, done=state.records, total=counts[pair.name])
            if not state.is_complete:
                await self._copy_kind(pair, state, ledger, source_name)

    async def compare(self) -> list[Comparison]:
        """Reads both sides whole, and what each kind comes to."""
        found: list[Comparison] = []
        for pair in self._pairs:
            counts = [await store.count(kind) for store, kind in pair.sides]
            self._watcher.begun("compare", pair.name, done=0, total=sum(counts))
            sums = [await self._checksum(store, kind) for store, kind in pair.sides]
            found.append(Comparison(pair.name, *sums))
        return found

    async def _begun(self, ledger: CopyLedger, source_name: str, counts: Mapping[str, int]) -> Mapping[str, Progress]:
        known = await ledger.known()
        if known is None:
            for pair in self._pairs:
                if await pair.target.read(pair.target_kind, after=None, limit=1):
                    raise CopyError(f"the target is not empty: it holds {pair.name}; copy to a new installation")
            await ledger.begin(source_name, counts)
            return {}
        if known.source != source_name:
            raise CopyError("the target holds a copy of another installation, or a part of one")
        if known.finish_time is not None:
            raise CopyError(
                f"the target holds a whole copy of this source, finished at {known.finish_time:%Y-%m-%d %H:%M} UTC; "
                "--verify-only compares them"
            )
        changed = sorted(
            kind for kind in counts.keys() | known.counts.keys() if counts.get(kind) != known.counts.get(kind)
        )
        if changed:
            raise CopyError(
                f"the source has changed since this copy was begun ({', '.join(changed)}): copy to a new installation"
            )
        return await ledger.progress(source_name)

    async def _copy_kind(self, pair: _Pair, state: Progress, ledger: CopyLedger, source_name: str) -> None:
        name, records, last_key = pair.name, state.records, state.last_key
        async with contextlib.aclosing(self._pages(pair.source, pair.source_kind, last_key)) as pages:
            async for page in pages:
                await pair.target.write(pair.target_kind, page)
                records += len(page)
                last_key = key_of(pair.source_kind, page[-1])
                # After the records: killed in between, the page is written once more, which changes nothing.
                await ledger.save(source_name, name, Progress(last_key, records))
                self._watcher.advanced(len(page))
        await ledger.save(source_name, name, Progress(last_key, records, is_complete=True))

    async def _checksum(self, store: RecordStore, kind: Kind) -> Checksum:
        total = Checksum()
        async with contextlib.aclosing(self._pages(store, kind, None)) as pages:
            async for page in pages:
                total += checksum_of(kind, page)
                self._watcher.advanced(len(page))
        return total

    async def _pages(self, store: RecordStore, kind: Kind, after: Key | None) -> AsyncGenerator[list[Record], None]:
        """Pages that are not empty; the next one is read while the caller works on one."""
        limit = self._batch_records
        reading = asyncio.ensure_future(store.read(kind, after=after, limit=limit))
        try:
            while page := await reading:
                if len(page) >= limit:
                    reading = asyncio.ensure_future(store.read(kind, after=key_of(kind, page[-1]), limit=limit))
                yield page
                if len(page) < limit:
                    break
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


def _paired(source: Sequence[RecordStore], target: Sequence[RecordStore]) -> list[_Pair]:
    """The kinds of both sides."""
    holders = {kind.name: (kind, store) for store in target for kind in store.kinds}
    pairs: list[_Pair] = []
    for store in source:
        for kind in store.kinds:
            found, holder = holders.pop(kind.name, (None, None))
            if found is None or holder is None:
                raise CopyError(f"the target has no place for {kind.name}: bring both sides up to date")
            if found.fields != kind.fields or set(found.key) != set(kind.key):
                differing = ", ".join(sorted(found.fields ^ kind.fields)) or "their key"
                raise CopyError(f"both sides differ in the form of {kind.name} ({differing}): bring them up to date")
            pairs.append(_Pair(kind, store, found, holder))
    if missing := sorted(holders):
        raise CopyError(f"the source lacks {', '.join(missing)}: bring both sides up to date")
    return pairs

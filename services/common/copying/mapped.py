"""Records that change their form between an engine and a copy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from services.common.copying.model import Key, Kind, Record, RecordStore


def _unchanged(record: Record) -> Record:
    return record


@dataclass(frozen=True, slots=True)
class Form:
    """How one kind's records differ from those of the engine. Key fields stay as they are."""

    outward: Callable[[Record], Record] = _unchanged
    """To the form of the copy."""
    inward: Callable[[Record], Record] = _unchanged
    """To the engine's form."""


class MappedRecords:
    """A `RecordStore` over another one, with some kinds in another form."""

    def __init__(self, store: RecordStore, forms: Mapping[str, Form]) -> None:
        """Change records of the kinds that are named."""
        self._store = store
        self._forms = forms

    @property
    def kinds(self) -> Sequence[Kind]:
        """Those of the other store."""
        return self._store.kinds

    async def count(self, kind: Kind) -> int:
        """See `RecordStore.count`."""
        return await self._store.count(kind)

    async def read(self, kind: Kind, *, after: Key | None, limit: int) -> list[Record]:
        """See `RecordStore.read`."""
        form = self._forms.get(kind.name, Form())
        return [form.outward(record) for record in await self._store.read(kind, after=after, limit=limit)]

    async def write(self, kind: Kind, records: Sequence[Record]) -> None:
        """See `RecordStore.write`."""
        form = self._forms.get(kind.name, Form())
        await self._store.write(kind, [form.inward(record) for record in records])

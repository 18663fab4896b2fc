"""What every driver of `RecordStore` keeps to, for each kind that it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from services.common.copying.checksum import checksum_of
from services.common.copying.model import Kind, Record, RecordStore, key_of


@dataclass(frozen=True)
class Subject:
    """A driver with an empty kind, and records for it."""

    store: RecordStore
    kind: Kind
    record: Callable[[int], Record]
    """Record number n, from 0, the same each time."""


class RecordStoreContract:
    """Subclasses give a fixture `subject`."""

    async def test_an_empty_kind_has_no_records(self, subject: Subject) -> None:
        assert await subject.store.count(subject.kind) == 0
        assert await subject.store.read(subject.kind, after=None, limit=10) == []

    async def test_what_is_written_is_read_unchanged(self, subject: Subject) -> None:
        records = [subject.record(n) for n in range(5)]

        await subject.store.write(subject.kind, records)

        found = await subject.store.read(subject.kind, after=None, limit=10)
        assert await subject.store.count(subject.kind) == 5
        assert sorted(found, key=lambda r: key_of(subject.kind, r)) == sorted(
            records, key=lambda r: key_of(subject.kind, r)
        )
        assert checksum_of(subject.kind, found).agrees_with(checksum_of(subject.kind, records))

    async def test_pages_hold_every_record_once(self, subject: Subject) -> None:
        records = [subject.record(n) for n in range(23)]
        await subject.store.write(subject.kind, records)

        found: list[Record] = []
        sizes: list[int] = []
        while page := await subject.store.read(
            subject.kind, after=key_of(subject.kind, found[-1]) if found else None, limit=5
        ):
            found += page
            sizes.append(len(page))

        assert sizes == [5, 5, 5, 5, 3]
        keys = [key_of(subject.kind, record) for record in found]
        assert sorted(keys) == sorted(key_of(subject.kind, record) for record in records)

    async def test_the_order_is_the_same_with_pages_of_any_size(self, subject: Subject) -> None:
        await subject.store.write(subject.kind, [subject.record(n) for n in range(12)])
        whole = await subject.store.read(subject.kind, after=None, limit=100)

        for place in range(12):
            behind = await subject.store.read(subject.kind, after=key_of(subject.kind, whole[place]), limit=100)
            assert behind == whole[place + 1 :]

    async def test_writing_again_changes_nothing(self, subject: Subject) -> None:
        records = [subject.record(n) for n in range(6)]
        await subject.store.write(subject.kind, records[:4])

        await subject.store.write(subject.kind, records)
        await subject.store.write(subject.kind, records[2:])

        found = await subject.store.read(subject.kind, after=None, limit=100)
        assert checksum_of(subject.kind, found).agrees_with(checksum_of(subject.kind, records))

    async def test_every_record_has_the_fields_of_its_kind(self, subject: Subject) -> None:
        await subject.store.write(subject.kind, [subject.record(0)])

        [found] = await subject.store.read(subject.kind, after=None, limit=2)

        assert found.keys() == subject.kind.fields

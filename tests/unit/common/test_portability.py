"""Lines of a user's file, and pages of them, on records in memory."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from services.common.copying.model import Key, Kind, OwnedRecords, Owner, Record, key_of
from services.common.errors import InvalidArgument
from services.common.portability.lines import from_fields, kind_of, to_line
from services.common.portability.records import PAGE_BYTES_MAX, Page, Shape, TierRecords, UserRecords

ADA = ("acme", "ada")
NOTES = Kind(
    name="tier.notes",
    key=("tenant_id", "user_id", "note_id"),
    fields=frozenset({"tenant_id", "user_id", "note_id", "data"}),
)
TURNS = Kind(
    name="tier.turns",
    key=("tenant_id", "user_id", "turn_id"),
    fields=frozenset({"tenant_id", "user_id", "turn_id", "data"}),
)


class MemoryRecords:
    """`UserRecordStore` and `OwnedRecords` over a dict."""

    def __init__(self) -> None:
        self.kinds: Sequence[Kind] = (NOTES, TURNS)
        self.stored: dict[str, dict[Key, Record]] = {kind.name: {} for kind in self.kinds}
        self.read_counts: list[int] = []

    @contextlib.asynccontextmanager
    async def open(self, tenant_id: str) -> AsyncIterator[OwnedRecords]:
        assert tenant_id == ADA[0]
        yield self

    async def read_owned(self, kind: Kind, owner: Owner, *, after: Key | None, limit: int) -> list[Record]:
        keys = sorted(k for k in self.stored[kind.name] if k[:2] == owner and (after is None or k > after))
        self.read_counts.append(len(keys[:limit]))
        return [self.stored[kind.name][key] for key in keys[:limit]]

    async def write(self, kind: Kind, records: Sequence[Record], *, replace: bool = False) -> None:
        assert replace
        self.stored[kind.name].update({key_of(kind, record): record for record in records})

    def put(self, kind: Kind, name: str, data: bytes) -> None:
        record = {"tenant_id": ADA[0], "user_id": ADA[1], kind.key[2]: name, "data": data}
        self.stored[kind.name][key_of(kind, record)] = record


def user_records(store: MemoryRecords, **shape: object) -> UserRecords:
    return UserRecords(store, TierRecords(hidden=frozenset(), shapes={NOTES.name: Shape(**shape)}))  # type: ignore[arg-type]


async def pages(records: UserRecords, *, limit: int = 500) -> list[Page]:
    found = [await records.read(ADA, "", limit=limit, memories_only=False)]
    while found[-1].next_token:
        found.append(await records.read(ADA, found[-1].next_token, limit=limit, memories_only=False))
    return found


@pytest.mark.parametrize("size", [0, 1, 1024, 1025, 100_000])
def test_spec_6_7_bytes_of_any_length_come_back_from_a_line(size: int) -> None:
    data = bytes(number % 251 for number in range(size))
    record = {"tenant_id": ADA[0], "user_id": ADA[1], "note_id": "n", "data": data}
    line = to_line(NOTES, record, frozenset())
    assert len(line) < 3_000 + 1.4 * size
    assert from_fields(NOTES, kind_of(line)[1], ADA, frozenset()) == record


@pytest.mark.parametrize("data", ["AA=A", "A", "é===", 7])
def test_spec_6_7_bytes_that_are_none_are_refused(data: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        from_fields(NOTES, {"note_id": "n", "data": {"$base64": data}}, ADA, frozenset())


async def test_spec_6_7_a_page_has_no_more_bytes_than_allowed_unless_it_is_one_record() -> None:
    store = MemoryRecords()
    sizes = [PAGE_BYTES_MAX // 2, PAGE_BYTES_MAX // 2, 10, 2 * PAGE_BYTES_MAX, 10, PAGE_BYTES_MAX // 3]
    for number, size in enumerate(sizes):
        store.put(NOTES, f"n{number}", b"x" * size)
    store.put(TURNS, "t0", b"y" * (PAGE_BYTES_MAX // 2))
    found = await pages(user_records(store))
    lengths = [[len(line.encode()) for line in page.lines] for page in found]
    assert all(sum(page) <= PAGE_BYTES_MAX or len(page) == 1 for page in lengths)
    assert [len(page) for page in lengths] == [1, 2, 1, 2, 1]
    copied = MemoryRecords()
    for page in found:
        await user_records(copied).write(ADA, page.lines, validate_only=False)
    assert copied.stored == store.stored


async def test_spec_6_7_records_that_may_be_large_are_read_a_few_at_once() -> None:
    store = MemoryRecords()
    for number in range(20):
        store.put(NOTES, f"n{number:02}", b"x")
    [page] = await pages(user_records(store, records_at_once=8))
    assert len(page.lines) == 20
    assert max(store.read_counts) == 8
    assert [len(page.lines) for page in await pages(user_records(store, records_at_once=8), limit=11)] == [11, 9]


async def test_spec_6_7_a_record_that_no_store_would_have_is_refused_before_anything_is_written() -> None:
    def refuse(record: Record) -> None:
        if record["data"] != b"good":
            raise ValueError("bad")

    check: Callable[[Record], None] = refuse
    store = MemoryRecords()
    store.put(NOTES, "n", b"bad")
    [page] = await pages(user_records(store))
    target = MemoryRecords()
    store.put(NOTES, "a", b"good")
    [page] = await pages(user_records(store))
    with pytest.raises(InvalidArgument, match="does not fit: bad") as refused:
        await user_records(target, check=check).write(ADA, page.lines, validate_only=True)
    assert [violation.field_path for violation in refused.value.violations] == ["lines[1]"]
    assert target.stored == MemoryRecords().stored


@pytest.mark.parametrize("token", ["x", "[]", '["tier.other",["a"]]', "7", '["tier.notes",7]'])
async def test_a_token_of_another_kind_is_refused(token: str) -> None:
    with pytest.raises(InvalidArgument):
        await user_records(MemoryRecords()).read(ADA, token, limit=5, memories_only=False)

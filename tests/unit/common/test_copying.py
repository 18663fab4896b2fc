from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.copying.checksum import Checksum, checksum_of
from services.common.copying.ledger import KnownCopy, Progress
from services.common.copying.mapped import Form, MappedRecords
from services.common.copying.model import CopyError, Key, Kind, Record, canonical, key_of
from services.common.copying.postgres_values import form_of, microseconds, moment, vector_bytes
from services.common.copying.runner import Copier

WORDS = Kind(name="test.words", key=("owner", "number"), fields=frozenset({"owner", "number", "text"}))
POINTS = Kind(
    name="test.points", key=("number",), fields=frozenset({"number", "vector"}), vectors=frozenset({"vector"})
)

plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
words = st.builds(
    lambda owner, number, text: {"owner": owner, "number": number, "text": text},
    st.sampled_from(["ana", "ben", "çelik"]),
    st.integers(),
    plain_values,
)
distinct_words = st.lists(words, max_size=40, unique_by=lambda record: key_of(WORDS, record))


class TestChecksum:
    """Two sets of records have one checksum just when they are equal."""

    @given(distinct_words, st.randoms(use_true_random=False), st.integers(0, 40))
    def test_it_depends_neither_on_the_order_nor_on_the_parts(
        self, records: list[Record], order: random.Random, cut: int
    ) -> None:
        shuffled = [dict(reversed(record.items())) for record in records]
        order.shuffle(shuffled)

        parts = checksum_of(WORDS, shuffled[:cut]) + checksum_of(WORDS, shuffled[cut:])

        assert parts == checksum_of(WORDS, records)
        assert parts.agrees_with(checksum_of(WORDS, records))

    @given(distinct_words, words, st.data())
    def test_any_change_of_one_record_shows(self, records: list[Record], other: Record, data: st.DataObject) -> None:
        if not records:
            return
        place = data.draw(st.integers(0, len(records) - 1))
        changed = [*records[:place], other, *records[place + 1 :]]

        is_same = canonical(other) == canonical(records[place])

        assert checksum_of(WORDS, changed).agrees_with(checksum_of(WORDS, records)) == is_same

    @given(distinct_words, words)
    def test_records_more_or_less_show(self, records: list[Record], more: Record) -> None:
        whole = checksum_of(WORDS, records)

        assert not checksum_of(WORDS, [*records, more]).agrees_with(whole)
        assert not (whole + whole).agrees_with(whole) or not records

    @given(plain_values, plain_values)
    def test_values_that_differ_are_written_differently(self, one: object, other: object) -> None:
        is_written_alike = canonical({"v": one}) == canonical({"v": other})

        assert is_written_alike == (repr_of(one) == repr_of(other))

    def test_a_record_of_other_fields_is_a_fault(self) -> None:
        with pytest.raises(ValueError, match=r"test\.words has other fields than its kind: number, text, word"):
            checksum_of(WORDS, [{"owner": "ana", "word": "x"}])


def repr_of(value: object) -> object:
    """What tells values apart: true from 1, 1.0 from 1, but not the order of an object's fields."""
    if isinstance(value, dict):
        return ("object", sorted((key, repr_of(inner)) for key, inner in value.items()))
    if isinstance(value, list):
        return ("list", [repr_of(inner) for inner in value])
    return (type(value).__name__, repr(value))


class TestVectorSketch:
    """Vectors that an engine has rounded count as equal; lost, changed and exchanged ones do not."""

    def records(self, count: int) -> list[Record]:
        vectors = np.random.default_rng(7).normal(size=(count, 384)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return [{"number": n, "vector": vector_bytes(vectors[n])} for n in range(count)]

    def test_vectors_brought_to_length_1_once_more_agree(self) -> None:
        records = self.records(2_000)
        again: list[Record] = []
        for record in records:
            vector = np.frombuffer(record["vector"], dtype="<f4")
            again.append({**record, "vector": vector_bytes(vector / np.linalg.norm(vector) * np.float32(1 + 1e-6))})

        assert again != records
        assert checksum_of(POINTS, again).agrees_with(checksum_of(POINTS, records))

    def test_one_changed_vector_of_many_shows(self) -> None:
        records = self.records(2_000)
        changed = [{**records[0], "vector": self.records(3)[2]["vector"]}, *records[1:]]

        assert not checksum_of(POINTS, changed).agrees_with(checksum_of(POINTS, records))

    def test_two_exchanged_vectors_show(self) -> None:
        records = self.records(2_000)
        exchanged = [
            {**records[0], "vector": records[1]["vector"]},
            {**records[1], "vector": records[0]["vector"]},
            *records[2:],
        ]

        assert not checksum_of(POINTS, exchanged).agrees_with(checksum_of(POINTS, records))


class TestValues:
    """Values of a database, in records."""

    @given(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999))
    def test_times_are_exact_to_the_microsecond(self, value: int) -> None:
        assert microseconds(moment(value)) == value

    def test_a_type_that_nobody_has_described_is_refused(self) -> None:
        with pytest.raises(LookupError):
            form_of("money[]")


class InterruptedCopyError(Exception):
    """What a kill is here."""


class ListRecords:
    """A `RecordStore` in memory that can be interrupted before or after any of its writes."""

    def __init__(self, records: Sequence[Record] = (), kinds: Sequence[Kind] = (WORDS,)) -> None:
        self.records: dict[str, dict[Key, Record]] = {kind.name: {} for kind in kinds}
        for record in records:
            self.records[kinds[0].name][key_of(kinds[0], record)] = record
        self._kinds = kinds
        self.writes_left: int | None = None
        self.loses_last = False

    @property
    def kinds(self) -> Sequence[Kind]:
        return self._kinds

    async def count(self, kind: Kind) -> int:
        return len(self.records[kind.name])

    async def read(self, kind: Kind, *, after: Key | None, limit: int) -> list[Record]:
        keys = sorted(self.records[kind.name])
        behind = keys if after is None else [key for key in keys if key > after]
        return [self.records[kind.name][key] for key in behind[:limit]]

    async def write(self, kind: Kind, records: Sequence[Record]) -> None:
        if self.writes_left == 0 and self.loses_last:
            raise InterruptedCopyError
        for record in records:
            self.records[kind.name].setdefault(key_of(kind, record), record)
        if self.writes_left == 0:
            raise InterruptedCopyError
        if self.writes_left is not None:
            self.writes_left -= 1


class MemoryLedger:
    """A `CopyLedger` that outlives an interrupted copy."""

    def __init__(self) -> None:
        self.copy: KnownCopy | None = None
        self.kinds: dict[str, Progress] = {}

    async def known(self) -> KnownCopy | None:
        return self.copy

    async def begin(self, source: str, counts: Mapping[str, int]) -> None:
        self.copy = KnownCopy(source, dict(counts), None)

    async def progress(self, source: str) -> Mapping[str, Progress]:
        assert self.copy is not None
        assert self.copy.source == source
        return dict(self.kinds)

    async def save(self, source: str, kind: str, progress: Progress) -> None:  # noqa: ARG002
        self.kinds[kind] = progress

    async def finish(self, source: str) -> None:
        assert self.copy is not None
        self.copy = KnownCopy(source, self.copy.counts, moment(0))


class Silence:
    """A `Watcher` that adds up what it is told."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, str, int, int]] = []
        self.records = 0

    def begun(self, step: str, kind: str, *, done: int, total: int) -> None:
        self.steps.append((step, kind, done, total))

    def advanced(self, records: int) -> None:
        self.records += records


def word(n: int) -> Record:
    return {"owner": "ana", "number": n, "text": f"word {n}"}


class TestCopier:
    """Copies, and goes on."""

    @given(st.integers(0, 25), st.integers(1, 7), st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=6))
    async def test_however_often_it_is_interrupted_it_ends_equal(
        self, count: int, batch: int, interruptions: list[tuple[int, bool]]
    ) -> None:
        source, target, ledger = ListRecords([word(n) for n in range(count)]), ListRecords(), MemoryLedger()
        for target.writes_left, target.loses_last in interruptions:
            try:
                await Copier([source], [target], Silence(), batch_records=batch).copy(ledger, "a")
            except InterruptedCopyError:
                continue
        target.writes_left = None

        copier = Copier([source], [target], Silence(), batch_records=batch)
        await copier.copy(ledger, "a")

        assert target.records == source.records
        [comparison] = await copier.compare()
        assert comparison.is_equal
        assert comparison.source.count == count

    async def test_it_goes_on_where_it_was(self) -> None:
        source, target, ledger = ListRecords([word(n) for n in range(10)]), ListRecords(), MemoryLedger()
        target.writes_left, target.loses_last = 2, True
        with pytest.raises(InterruptedCopyError):
            await Copier([source], [target], Silence(), batch_records=3).copy(ledger, "a")
        target.writes_left, watcher = None, Silence()

        await Copier([source], [target], watcher, batch_records=3).copy(ledger, "a")

        assert watcher.steps == [("copy", "test.words", 6, 10)]
        assert watcher.records == 4

    async def test_a_difference_shows_on_the_kind_that_has_it(self) -> None:
        other = Kind(name="test.others", key=("number",), fields=frozenset({"number"}))
        source, target = ListRecords([word(1)], (WORDS, other)), ListRecords([word(2)], (WORDS, other))

        comparisons = await Copier([source], [target], Silence()).compare()

        assert [(c.kind, c.is_equal) for c in comparisons] == [("test.words", False), ("test.others", True)]

    async def test_a_target_with_data_of_its_own_is_refused(self) -> None:
        with pytest.raises(CopyError, match=r"not empty: it holds test\.words"):
            await Copier([ListRecords()], [ListRecords([word(1)])], Silence()).copy(MemoryLedger(), "a")

    async def test_a_part_of_another_copy_is_refused(self) -> None:
        source, target, ledger = ListRecords([word(1)]), ListRecords(), MemoryLedger()
        await Copier([source], [target], Silence()).copy(ledger, "a")

        with pytest.raises(CopyError, match="copy of another installation"):
            await Copier([source], [target], Silence()).copy(ledger, "b")

    async def test_a_source_that_has_changed_meanwhile_is_refused(self) -> None:
        source, target, ledger = ListRecords([word(1)]), ListRecords(), MemoryLedger()
        await Copier([source], [target], Silence()).copy(ledger, "a")
        await source.write(WORDS, [word(2)])

        with pytest.raises(CopyError, match=r"source has changed since this copy was begun \(test\.words\)"):
            await Copier([source], [target], Silence()).copy(ledger, "a")

    async def test_a_finished_copy_is_not_made_again(self) -> None:
        source, target, ledger = ListRecords([word(1)]), ListRecords(), MemoryLedger()
        await Copier([source], [target], Silence()).copy(ledger, "a")
        await ledger.finish("a")

        with pytest.raises(CopyError, match="--verify-only"):
            await Copier([source], [target], Silence()).copy(ledger, "a")

    @pytest.mark.parametrize(
        ("kinds", "problem"),
        [
            ((POINTS,), r"no place for test\.words"),
            ((WORDS, POINTS), r"the source lacks test\.points"),
            ((Kind(name="test.words", key=WORDS.key, fields=WORDS.fields | {"tag"}),), r"form of test\.words \(tag\)"),
            ((Kind(name="test.words", key=("owner",), fields=WORDS.fields),), r"form of test\.words \(their key\)"),
        ],
    )
    def test_sides_that_hold_other_kinds_are_refused(self, kinds: tuple[Kind, ...], problem: str) -> None:
        with pytest.raises(CopyError, match=problem):
            Copier([ListRecords()], [ListRecords(kinds=kinds)], Silence())

    async def test_keys_may_be_read_in_another_order_on_either_side(self) -> None:
        turned = Kind(name="test.words", key=("number", "owner"), fields=WORDS.fields)
        source, target = ListRecords([word(n) for n in range(9)]), ListRecords(kinds=(turned,))
        copier = Copier([source], [target], Silence(), batch_records=2)

        await copier.copy(MemoryLedger(), "a")

        assert all(comparison.is_equal for comparison in await copier.compare())

    async def test_records_may_have_another_form_in_an_engine(self) -> None:
        source, target = ListRecords([word(1)]), ListRecords()
        form = Form(
            outward=lambda record: {**record, "text": record["text"].lower()},
            inward=lambda record: {**record, "text": record["text"].upper()},
        )
        copier = Copier([source], [MappedRecords(target, {WORDS.name: form})], Silence())

        await copier.copy(MemoryLedger(), "a")

        assert target.records[WORDS.name] == {("ana", 1): {"owner": "ana", "number": 1, "text": "WORD 1"}}
        [comparison] = await copier.compare()
        assert comparison.is_equal


def test_the_empty_set_has_a_checksum() -> None:
    assert checksum_of(WORDS, []) == Checksum()
    assert Checksum().short == "000000000000"

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.semantic.code.excerpts import excerpts_of, lines_of_place
from services.semantic.code.model import Symbol, SymbolKind
from services.semantic.code.packing import pack, text_of, unpack
from services.semantic.code.parser import parse_file

TEXT = "\n".join(f"line {number}" for number in range(1, 101))


def symbol(start: int, end: int, kind: SymbolKind = SymbolKind.FUNCTION) -> Symbol:
    return Symbol("f", kind, "", start, end, "def f()")


def test_spec_1_9_definitions_come_before_the_best_part() -> None:
    found = excerpts_of(TEXT, [symbol(50, 54)], (10, 40), lines_max=10)
    assert [(one.start_line, one.end_line) for one in found] == [(10, 14), (50, 54)]
    assert found[1].text == "line 50\nline 51\nline 52\nline 53\nline 54"


def test_of_a_class_its_head_is_shown_and_neighbours_are_joined() -> None:
    found = excerpts_of(TEXT, [symbol(1, 90, SymbolKind.CLASS), symbol(13, 15)], (90, 100), lines_max=100)
    assert [(one.start_line, one.end_line) for one in found] == [(1, 15), (90, 100)]


def test_spec_1_9_each_file_has_half_the_lines_of_the_one_before() -> None:
    assert [lines_of_place(place, lines_max=80, lines_min=5) for place in range(7)] == [80, 40, 20, 10, 5, 5, 5]
    assert [lines_of_place(place, lines_max=60, lines_min=0) for place in range(3)] == [60, 60, 60]


spans = st.tuples(st.integers(1, 120), st.integers(0, 60)).map(lambda pair: (pair[0], sum(pair)))


@given(st.lists(spans, max_size=5), spans, st.integers(1, 60))
def test_lines_are_within_the_file_and_the_limit(
    definitions: list[tuple[int, int]], part: tuple[int, int], lines_max: int
) -> None:
    found = excerpts_of(TEXT, [symbol(*one) for one in definitions], part, lines_max=lines_max)
    lines = [line for one in found for line in range(one.start_line, one.end_line + 1)]
    assert len(lines) <= lines_max
    assert lines == sorted(set(lines))
    assert all(1 <= line <= 100 for line in lines)
    assert "\n".join(one.text for one in found) == "\n".join(f"line {line}" for line in lines)


def test_a_file_is_packed_with_or_without_its_text() -> None:
    content = "def levy():\n    return 'é'\n".encode()
    parsed = parse_file("shop/tax.py", content)
    with_text, without = pack(parsed, content), pack(parsed)
    assert unpack(with_text) == unpack(without)
    assert text_of(with_text) == content.decode()
    assert text_of(without) is None
    assert text_of(pack(parse_file("a.py", b"\xff"), b"\xff")) == "\N{REPLACEMENT CHARACTER}"

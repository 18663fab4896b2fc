"""The search of names in one text finds what a look at each name finds."""

from __future__ import annotations

import difflib

from hypothesis import given, settings
from hypothesis import strategies as st

from services.semantic.code.names import Names
from tests.support.examples import share_of

_LETTERS = st.text(alphabet="abAB_xé\n", max_size=8)
_NAMES = st.lists(_LETTERS, max_size=12, unique=True)


def _is_found(text: str, name: str) -> bool:
    low, other = text.lower(), name.replace("\n", " ").lower()
    bare = low.replace("_", "")
    return low in other or (bare != "" and bare == other.replace("_", ""))


@given(_NAMES, _LETTERS.filter(bool))
@settings(max_examples=share_of(300), deadline=None)
def test_spec_3_11_names_are_found_by_a_part_of_them(names: list[str], text: str) -> None:
    expected = [] if "\n" in text else [name for name in names if _is_found(text, name)]
    assert sorted(Names(names).containing(text)) == sorted(expected)


@given(st.lists(st.text(alphabet="abcdAB_é", min_size=1, max_size=8), max_size=20, unique=True), st.integers(1, 4))
@settings(max_examples=share_of(300), deadline=None)
def test_spec_3_11_similar_names_are_the_most_similar_of_all(names: list[str], limit: int) -> None:
    text = "abcd_A"
    ratios = [(difflib.SequenceMatcher(None, name, text).ratio(), name) for name in names]
    near = [one for one in ratios if one[0] >= 0.5 and abs(len(one[1]) - len(text)) <= 1 + len(text) // 4]
    expected = sorted(near, key=lambda one: (-one[0], one[1]))[:limit]
    found = Names(names).similar(text, limit=limit, ratio_min=0.5)
    assert [ratio for ratio, _ in found] == [ratio for ratio, _ in expected]
    assert set(found) <= set(near)


def test_a_name_with_a_line_break_is_one_name() -> None:
    names = Names(["one\ntwo", "three", "TWO"])
    assert names.containing("two") == ["one\ntwo", "TWO"]
    assert names.containing("thr_ee") == ["three"]

"""`clients/frameworks/langgraph/ported.md` names where each test of LangGraph's own stores is."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent.parent.parent / "clients/frameworks/langgraph"
PREFIX = "test_spec_9_4_ported_"


def text_of_the_list() -> str:
    return (FOLDER / "ported.md").read_text("utf-8")


def rows() -> list[list[str]]:
    """The cells of the table of tests."""
    lines = text_of_the_list().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("| LangGraph's tests |")) + 2
    end = next(i for i, line in enumerate(lines[begin:], begin) if not line.startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[begin:end]]


def names(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def defined() -> set[str]:
    found = [re.findall(r"^(?:async )?def (\w+)", path.read_text("utf-8"), re.M) for path in FOLDER.glob("test_*.py")]
    return {name.removeprefix(PREFIX) for functions in found for name in functions if name.startswith(PREFIX)}


def test_spec_9_4_each_of_langgraphs_tests_is_ported_or_has_a_reason() -> None:
    listed = [name for theirs, *_ in rows() for name in names(theirs)]
    assert len(listed) == len(set(listed)) > 60
    for theirs, files, ours, different in rows():
        assert files, theirs
        assert set(names(ours)) <= defined(), theirs
        assert names(ours) or different.startswith("not ported: "), theirs


def test_spec_9_4_each_ported_test_is_listed() -> None:
    assert defined() <= set(names(text_of_the_list()))

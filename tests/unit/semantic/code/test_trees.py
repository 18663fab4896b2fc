"""A file that was edited gives what its text gives, whatever was parsed before."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from services.semantic.code import trees
from services.semantic.code.model import FileStatus
from services.semantic.code.parser import parse_file
from services.semantic.code.trees import RecentTrees

DATA = Path(__file__).resolve().parents[3] / "data" / "code"
FILES = sorted(path for path in DATA.rglob("*") if path.is_file())


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "_BYTES_MIN", 0)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_spec_3_11_edits_of_lines_give_what_the_whole_text_gives(path: Path) -> None:
    recent, chance = RecentTrees(), random.Random(path.name)
    lines = path.read_bytes().splitlines(keepends=True)
    for _ in range(60):
        at, count = chance.randrange(len(lines) + 1), chance.randrange(3)
        lines[at : at + count] = chance.sample(lines, min(len(lines), chance.randrange(4)))
        content = b"".join(lines) or b"\n"
        assert parse_file(path.name, content, trees=recent) == parse_file(path.name, content)
        lines = content.splitlines(keepends=True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b"def a(): pass\n"),
        (b"def a(): pass\n", b""),
        (b"def a(): pass\n", b"def a(): pass\n"),
        (b"def a(): pass", b"def a(): pass\ndef b(): a()"),
        (b"x = '\xc3\xa4'\n", b"x = '\xc3\xb6'\ndef b(): pass\n"),
        (b"def a():\n    b()\n", b"class A:\n    def a():\n        b()\n"),
        (b"a()\na()\na()\n", b"a()\na()\n"),
    ],
)
def test_spec_3_11_an_edit_at_either_end_gives_what_the_whole_text_gives(before: bytes, after: bytes) -> None:
    recent = RecentTrees()
    parse_file("a.py", before, trees=recent)
    assert parse_file("a.py", after, trees=recent) == parse_file("a.py", after)


def test_spec_3_11_errors_that_come_and_go_leave_nothing_behind() -> None:
    recent = RecentTrees()
    good, bad = b"def a():\n    b()\n\n\ndef b(): pass\n", b"def a(:\n    b(\n\n\ndef b(): pass\n"
    for content in (good, bad, good, bad, bad, good):
        assert parse_file("a.py", content, trees=recent) == parse_file("a.py", content)
    assert parse_file("a.py", good, trees=recent).status is FileStatus.PARSED


def test_spec_3_11_trees_of_a_few_files_are_held() -> None:
    recent = RecentTrees()
    for number in range(20):
        parse_file(f"{number}.py", b"def a(): pass\n", trees=recent)
    assert len(recent._known) == 4

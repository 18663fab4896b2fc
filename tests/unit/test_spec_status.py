"""docs/spec-status.md says nothing that no test stands for."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
LINE = re.compile(r"^\| (\d+)\.(\d+) \| [^|]+ \| (done|part|not yet)[^|]*\|([^|]*)\|$", re.MULTILINE)


def test_every_item_that_is_there_has_a_test_named_after_it() -> None:
    text = (ROOT / "docs" / "spec-status.md").read_text("utf-8")
    tests = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py"))
    items = [(chapter, number) for chapter, number, status, _ in LINE.findall(text) if status != "not yet"]
    missing = [f"{c}.{n}" for c, n in items if not re.search(rf"def test_spec_{c}_{n}_", tests)]
    assert missing == []


def test_every_place_that_is_named_exists() -> None:
    text = (ROOT / "docs" / "spec-status.md").read_text("utf-8")
    places = {
        place
        for *_, where in LINE.findall(text)
        for place in re.findall(r"`((?:services|tests|tools|bench|clients|deploy)/[^`]+)`", where)
    }
    assert len(places) > 20
    assert [place for place in sorted(places) if not (ROOT / place).exists()] == []


def test_all_chapters_are_listed() -> None:
    text = (ROOT / "docs" / "spec-status.md").read_text("utf-8")
    counts = dict.fromkeys("123456789", 0)
    for chapter, *_ in LINE.findall(text):
        counts[chapter] += 1
    assert list(counts.values()) == [10, 11, 13, 10, 12, 11, 4, 5, 6]

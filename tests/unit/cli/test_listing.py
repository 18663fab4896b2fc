"""Lists for the terminal: ids stay in one piece, texts are readable, whatever the width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from services.cli.listing import Listing
from services.cli.state import output

ID = "01a226d5-373e-7000-8fd9-bde9ce4782e4"
SAID = "Ada's sister Grace is getting married in June, and everybody is invited."


def printed(listing: Listing, width: int) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=width).print(listing)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def facts() -> Listing:
    found = Listing("id", "confirmed", "category", "confidence", texts=["text"], right=["confidence"])
    found.add_row(ID, "2026-11-29 10:23", "personal info", "0.85", Text(SAID))
    return found


def test_a_wide_terminal_has_a_line_for_each_row() -> None:
    head, row = printed(facts(), 200)
    assert head.split() == ["id", "confirmed", "category", "confidence", "text"]
    assert row == f"{ID}  2026-11-29 10:23  personal info        0.85  {SAID}"


@pytest.mark.parametrize("width", [90, 100])
def test_a_narrow_one_has_the_text_below(width: int) -> None:
    head, row, *text = printed(facts(), width)
    assert head.split() == ["id", "confirmed", "category", "confidence"]
    assert row == f"{ID}  2026-11-29 10:23  personal info        0.85"
    assert " ".join(line.removeprefix("  ") for line in text) == SAID
    assert len(text) == 1, "a text has the whole width"


@pytest.mark.parametrize("width", [40, 60, 80])
def test_values_for_which_a_line_has_no_room_are_on_the_next_one(width: int) -> None:
    lines = printed(facts(), width)
    assert all(len(line) <= width for line in lines)
    whole = "\n".join(lines)
    for value in (ID, "2026-11-29 10:23", "personal info", "0.85", "confidence"):
        assert value in whole, "nothing is broken or cut off"


def test_several_texts_below_are_named_and_empty_ones_left_out() -> None:
    found = Listing("id", texts=["says", "against", "why"])
    found.add_row(ID, "I live in Ghent.", Text("I live in Bruges."), "")
    assert printed(found, 60) == ["id", ID, "  says: I live in Ghent.", "  against: I live in Bruges."]
    assert len(printed(found, 100)) == 2


def test_an_id_among_the_texts_is_not_broken_either() -> None:
    for width in range(20, 120):
        found = Listing("job", texts=["run"])
        found.add_row("agentic.consolidate", ID)
        if width > len(ID) + 2:
            assert any(ID in line for line in printed(found, width)), width


def test_short_texts_stay_beside_the_values() -> None:
    found = Listing("name", texts=["state"])
    found.add_row("one", "ok")
    assert printed(found, 20) == ["name  state", "one   ok"]


def test_a_file_gets_a_row_on_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    output().print(facts())
    assert len(capsys.readouterr().out.splitlines()) == 2
    monkeypatch.setenv("COLUMNS", "60")
    output().print(facts())
    assert len(capsys.readouterr().out.splitlines()) > 2

"""Families of changes and their look-alikes, as turns of two days (tests/labelled/changes)."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from services.common.text import split_sentences
from services.common.values.holding import Said, supersedes
from services.common.values.keys import statement_keys
from services.common.values.model import Relation
from services.common.values.sentences import announces, is_statement, stated_part

_FILE = Path(__file__).parents[3] / "labelled" / "changes" / "pairs.jsonl"
_PAIRS: list[dict[str, Any]] = [json.loads(line) for line in _FILE.read_text("utf-8").splitlines()]
_ENDS = (Relation.UPDATE, Relation.CONTRADICT)


def said_in(turn: str, day: date) -> list[Said]:
    """What a turn states, sentence by sentence, as the semantic tier reads it."""
    texts = [stated for text in split_sentences(turn) if is_statement(stated := stated_part(text))]
    return [
        Said(text, "Ada", announces(" ".join(texts[max(0, number - 1) : number + 1])), day)
        for number, text in enumerate(texts)
    ]


def ended_by(earlier: str, later: str) -> tuple[Said, Said] | None:
    """The sentence of the later turn that ends one of the earlier turn, and that one."""
    first, second = said_in(earlier, date(2025, 2, 3)), said_in(later, date(2025, 5, 12))
    return next(((a, b) for a in first for b in second if supersedes(a, b) in _ENDS), None)


@pytest.mark.parametrize(
    "pair", [pair for pair in _PAIRS if not pair["ends"]], ids=lambda pair: f"{pair['earlier']} / {pair['later']}"
)
def test_spec_3_5_a_look_alike_ends_nothing(pair: dict[str, Any]) -> None:
    assert ended_by(pair["earlier"], pair["later"]) is None


@pytest.mark.parametrize(
    "pair",
    [pair for pair in _PAIRS if pair["ends"] and not pair.get("missed")],
    ids=lambda pair: f"{pair['earlier']} / {pair['later']}",
)
def test_spec_3_5_a_change_of_a_family_ends_what_it_changes(pair: dict[str, Any]) -> None:
    found = ended_by(pair["earlier"], pair["later"])
    assert found is not None
    assert statement_keys(found[0].text) & statement_keys(found[1].text), "they would not be compared"


def test_spec_3_5_every_family_has_look_alikes() -> None:
    of_changes = {pair["family"] for pair in _PAIRS if pair["ends"]}
    assert of_changes <= {pair["family"] for pair in _PAIRS if not pair["ends"]}

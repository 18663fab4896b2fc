"""The demo conversation is well formed, and its questions point at turns that exist."""

from __future__ import annotations

import itertools
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

DEMO_DIR = Path(__file__).parents[2] / "services" / "cli" / "demo"
TURN_FIELDS = {"conversation", "session", "time", "speaker", "role", "text"}
QUESTION_FIELDS = {"question", "answer", "evidence", "shown", "kind", "why"}
KINDS = {"changed fact", "date", "multi-hop", "no shared words", "commitment", "preference"}


@pytest.fixture(scope="module")
def turns() -> list[dict[str, Any]]:
    lines = (DEMO_DIR / "conversation.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((DEMO_DIR / "questions.json").read_text(encoding="utf-8"))
    return loaded


def _time(turn: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(turn["time"])


def test_every_turn_has_the_documented_fields(turns: list[dict[str, Any]]) -> None:
    for turn in turns:
        assert set(turn) - {"caption"} == TURN_FIELDS
        assert turn["conversation"] == "demo"
        assert turn["role"] == "user"
        assert all(isinstance(value, str) and value.strip() for value in turn.values())
        assert 2 <= len(turn["text"].split()) <= 60, turn["text"]


def test_conversation_is_long_enough_to_need_a_memory(turns: list[dict[str, Any]]) -> None:
    assert len(turns) >= 150
    assert len({turn["speaker"] for turn in turns}) == 2
    assert len({_time(turn).date() for turn in turns}) >= 10
    assert len({turn["session"] for turn in turns}) >= 14
    assert _time(turns[-1]) - _time(turns[0]) >= timedelta(days=270)
    assert sum("caption" in turn for turn in turns) >= 2


def test_times_are_utc_and_strictly_increasing(turns: list[dict[str, Any]]) -> None:
    assert all(turn["time"].endswith("Z") for turn in turns)
    assert all(_time(earlier) < _time(later) for earlier, later in itertools.pairwise(turns))


def test_a_session_is_one_unbroken_sitting_on_one_day(turns: list[dict[str, Any]]) -> None:
    # "yesterday" and "last Sunday" are only datable while a sitting does not cross midnight.
    sittings = [(name, list(group)) for name, group in itertools.groupby(turns, key=lambda t: t["session"])]
    names = [name for name, _ in sittings]
    assert names == [f"s{number:02d}" for number in range(1, len(names) + 1)]
    assert all(len({_time(turn).date() for turn in sitting}) == 1 for _, sitting in sittings)
    assert all(len({turn["speaker"] for turn in sitting}) == 2 for _, sitting in sittings)


def test_questions_are_complete_and_the_shown_ones_are_of_different_kinds(questions: list[dict[str, Any]]) -> None:
    assert len(questions) == 10
    for question in questions:
        assert set(question) == QUESTION_FIELDS
        assert all(question[field].strip() for field in ("question", "answer", "kind", "why"))
    shown = [question for question in questions if question["shown"] is True]
    assert len({question["kind"] for question in shown}) == len(shown) == 5
    assert {question["kind"] for question in questions} == KINDS


def test_evidence_indices_are_valid(turns: list[dict[str, Any]], questions: list[dict[str, Any]]) -> None:
    for question in questions:
        evidence = question["evidence"]
        assert evidence, question["question"]
        assert evidence == sorted(set(evidence))
        assert all(type(line) is int and 0 <= line < len(turns) for line in evidence)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("boardwalk", ["14th of August", "11th of September", "2nd of October", "It was yesterday"]),
        ("Admiral", ["last Sunday"]),
        ("birthday cake", ["cashews and pistachios", "pistachio cake"]),
        ("pastime", ["can't stand cold water", "Clevedon", "three mornings a week"]),
        ("forgot to bring", ["the cookbook", "by this Friday", "the Tuesday after"]),
        ("flavour", ["gone off chocolate"]),
        ("Owen's job", ["sous-chef", "Crumb & Co", "head baker"]),
        ("airport", ["Leeds Bradford", "cancelled my flight", "Manchester"]),
        ("move to Bristol", ["A week ago yesterday"]),
        ("next September", ["Great North Run", "defer", "Next September"]),
    ],
)
def test_evidence_holds_the_words_the_answer_rests_on(
    turns: list[dict[str, Any]], questions: list[dict[str, Any]], asked: str, words: list[str]
) -> None:
    # Inserting one turn shifts every later line number; this notices it.
    [question] = [question for question in questions if asked in question["question"]]
    evidence = "\n".join(turns[line]["text"] for line in question["evidence"])
    assert [word for word in words if word not in evidence] == []

"""The demo's conversation and questions; demo/README.md describes their fields."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from services.cli.importers.jsonl import read_jsonl
from services.cli.importers.model import Entry

DEMO_USER = "demo"
"""Whose memory the demo writes to."""

_FOLDER = Path(__file__).parent / "demo"


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question about the conversation."""

    question: str
    answer: str  # the expected one, in a phrase
    shown: bool  # asked by the demo


def demo_entries() -> list[Entry]:
    """The turns of the conversation, in order."""
    return list(read_jsonl(_FOLDER / "conversation.jsonl"))


def demo_questions() -> list[DemoQuestion]:
    """The questions, in order."""
    loaded = json.loads((_FOLDER / "questions.json").read_text("utf-8"))
    return [DemoQuestion(q["question"], q["answer"], q["shown"]) for q in loaded]

"""The recorded session of the coding demo; demo/README.md describes its fields."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_FILE = Path(__file__).parent / "demo" / "coding_session.json"


@dataclass(frozen=True, slots=True)
class CodingStep:
    """One question of the user, and what the agent did about it."""

    user: str
    thought: str
    reads: int  # files that are read, of those that the prepared context names
    edits: bool  # whether the first of them was edited
    test_success: bool
    test_output: str


@dataclass(frozen=True, slots=True)
class CodingSession:
    """A day of an agent, and the first question of the next one."""

    system_prompt: str
    task: str
    max_tokens: int  # of the context window
    steps: Sequence[CodingStep]
    learning: str
    next_day: str


def coding_session() -> CodingSession:
    """The recorded session. The contents of files are not part of it: they are those of the repository at hand."""
    loaded = json.loads(_FILE.read_text("utf-8"))
    steps = [
        CodingStep(
            one["user"],
            one["thought"],
            one["reads"],
            one.get("edits", False),
            one["test"]["success"],
            one["test"]["output"],
        )
        for one in loaded["steps"]
    ]
    return CodingSession(
        loaded["system_prompt"], loaded["task"], loaded["max_tokens"], steps, loaded["learning"], loaded["next_day"]
    )

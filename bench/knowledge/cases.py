"""Cases of turns, an operation and probes: their layout, and whether a probe holds. Pure functions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final

from bench.common import BenchError

ASKED_AFTER: Final = timedelta(hours=1)
"""How long after the last turn a probe asks, where it names no time."""


@dataclass(frozen=True, slots=True)
class CaseTurn:
    """One turn."""

    user: str  # tells several users of a case apart; empty where there is one
    conversation: str
    speaker: str
    role: str  # user, assistant or tool
    text: str
    time: datetime
    is_after: bool  # said after the operation


@dataclass(frozen=True, slots=True)
class Probe:
    """A question and what its results must hold."""

    question: str
    kind: str  # stale, value, survivor or gone
    user: str
    as_of: datetime
    must: tuple[str, ...]
    must_not: tuple[str, ...]
    unmarked: tuple[str, ...]
    marked_ok: bool
    facts_only: bool


@dataclass(frozen=True, slots=True)
class Case:
    """A story with its probes."""

    case_id: str
    category: str
    turns: tuple[CaseTurn, ...]
    operation: Mapping[str, Any] | None
    probes: tuple[Probe, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A text of a response."""

    text: str
    is_marked: bool  # as superseded, for all of it or for a part


@dataclass(frozen=True, slots=True)
class Seen:
    """What the responses to one probe hold."""

    first: tuple[Shown, ...]  # the first five memories, facts and notes, and a context of 400 tokens
    facts: tuple[Shown, ...]  # the facts alone
    everything: tuple[str, ...] = ()  # among 50, in 4,000 tokens, and asked for in its own words


def load_cases(path: Path) -> list[Case]:
    """Reads the cases of a file, one JSON object a line.

    Raises:
        BenchError: There is no such file, or a line is no case.
    """
    if not path.is_file():
        raise BenchError(f"there is no file {path}: give the file of cases, one JSON object a line")
    try:
        return [_case(json.loads(line)) for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (KeyError, ValueError) as error:
        raise BenchError(f"{path} holds a line that is no case: {error}") from error


def holds(probe: Probe, seen: Seen) -> bool:
    """Returns whether a probe holds."""
    shown = seen.facts if probe.facts_only else seen.first
    found = all(
        any(matches(pattern, item.text) and (not item.is_marked or probe.marked_ok) for item in shown)
        for pattern in probe.must
    )
    if probe.kind == "gone":
        stale = any(matches(pattern, text) for pattern in probe.must_not for text in seen.everything)
    else:
        stale = any(matches(pattern, item.text) and not item.is_marked for pattern in probe.must_not for item in shown)
    mismarked = any(matches(pattern, item.text) and item.is_marked for pattern in probe.unmarked for item in shown)
    return found and not stale and not mismarked


def score(results: Iterable[tuple[str, bool]]) -> tuple[dict[str, float], float]:
    """Returns the share of passed cases by kind, in the order of their first case, and the mean over the kinds.

    Args:
        results: Kind of each case, and whether all its probes hold.
    """
    passed: dict[str, list[bool]] = {}
    for kind, is_passed in results:
        passed.setdefault(kind, []).append(is_passed)
    shares = {kind: sum(found) / len(found) for kind, found in passed.items()}
    return shares, sum(shares.values()) / len(shares) if shares else 0.0


def matches(pattern: str, text: str) -> bool:
    """Returns whether a pattern of a probe is found in a text, whatever the case of letters."""
    return re.search(pattern, text, re.IGNORECASE | re.MULTILINE) is not None


def _case(data: Mapping[str, Any]) -> Case:
    turns = tuple(_turn(item) for item in data["turns"])
    asked = max(turn.time for turn in turns) + ASKED_AFTER
    return Case(
        data["id"], data["category"], turns, data["operation"], tuple(_probe(item, asked) for item in data["probes"])
    )


def _turn(data: Mapping[str, Any]) -> CaseTurn:
    return CaseTurn(
        user=data.get("user", ""),
        conversation=data["conversation"],
        speaker=data["speaker"],
        role=data["role"],
        text=data["text"],
        time=datetime.fromisoformat(data["time"]),
        is_after=bool(data.get("after")),
    )


def _probe(data: Mapping[str, Any], asked: datetime) -> Probe:
    # A day means its end: turns of that day have been said.
    as_of = datetime.combine(date.fromisoformat(data["as_of"][:10]), time.max, UTC) if "as_of" in data else asked
    return Probe(
        question=data["question"],
        kind=data["kind"],
        user=data.get("user", ""),
        as_of=as_of,
        must=_patterns(data["must"]),
        must_not=_patterns(data["must_not"]),
        unmarked=_patterns(data.get("unmarked", ())),
        marked_ok=bool(data.get("marked_ok")),
        facts_only=data.get("in") == "facts",
    )


def _patterns(found: Sequence[str]) -> tuple[str, ...]:
    return tuple(found)

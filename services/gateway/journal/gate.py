"""The write gate: which turns become memories, and which stay in the conversation log alone (SPEC 2.3).

Rules alone, because the verdict is part of the acknowledgement: they take microseconds, and they drop a turn only where
every clause of it is a greeting, an acknowledgement or noise. So whatever says anything else is kept. The rules know
English; a text in another language is kept.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Final

from services.common.loop_budget import LoopBudget
from services.common.statements import Statement, makes
from services.common.text import is_question
from services.common.turns import MessageRole, Turn


class GateReason(IntEnum):
    """Why a turn is kept or gated; the numbers are those of the wire format."""

    UNJUDGED = 0  # the gate is off
    STATED_IMPORTANCE = 1
    EXPLICIT_REQUEST = 2
    CORRECTION = 3
    DECISION = 4
    PERSONAL = 5
    DETAIL = 6
    NEW_INFORMATION = 7
    ANSWER = 8
    GREETING = 9
    ACKNOWLEDGEMENT = 10
    NOISE = 11

    @property
    def is_gated(self) -> bool:
        """Whether the turn stays in the conversation log alone."""
        return self in {GateReason.GREETING, GateReason.ACKNOWLEDGEMENT, GateReason.NOISE}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate decided about a turn."""

    reason: GateReason = GateReason.UNJUDGED
    detail: str = ""  # which rule decided, for people; never content of the turn


UNJUDGED: Final = Verdict()
"""While the gate is off."""


@dataclass(frozen=True, slots=True)
class GateSettings:
    """The write gate."""

    is_enabled: bool = False  # whether greetings, acknowledgements and noise stay in the conversation log alone


_GATED_CHARS_MAX: Final = 240
"""Longer texts are never gated: they say something."""
_READ_CHARS: Final = 500
"""How much of a text is read to find the reason why it is kept."""
_STATEMENTS: Final = (
    (Statement.REQUEST, GateReason.EXPLICIT_REQUEST, "asks to remember"),
    (Statement.CORRECTION, GateReason.CORRECTION, "takes back or corrects"),
    (Statement.DECISION, GateReason.DECISION, "decides, plans or promises"),
    (Statement.PERSONAL, GateReason.PERSONAL, "is about the speaker or their people"),
    (Statement.DETAIL, GateReason.DETAIL, "holds a number, a date or a name"),
)

_CLAUSE: Final = re.compile(r"[^.!?,;:\n()~*\u2026\u2014\u2013]+")
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_DRAWN_OUT: Final = re.compile(r"([^\W\d_])\1{2,}")  # "sooo", "yesss"
_NAME: Final = re.compile(r"[A-Z][a-z]{1,14}")
_KEY_ROW: Final = re.compile(
    r"asdf|sdfg|dfgh|fghj|ghjk|hjkl|qwer|wert|rtyu|tyui|zxcv|xcvb|cvbn|vbnm|^[bcdfghjklmnpqrstvwxz]{6,}$"
)
_VERDICTS: Final = {
    GateReason.GREETING: Verdict(GateReason.GREETING, "only greets or takes leave"),
    GateReason.ACKNOWLEDGEMENT: Verdict(GateReason.ACKNOWLEDGEMENT, "only acknowledges"),
    GateReason.NOISE: Verdict(GateReason.NOISE, "is noise"),
}


_PHRASES: Final = Path(__file__).parent / "data" / "phrases.toml"


class _Phrases:
    """The phrases of the package, compiled."""

    def __init__(self) -> None:
        tables = tomllib.loads(_PHRASES.read_text("utf-8"))
        parts = {name: f"(?:{'|'.join(words)})" for name, words in tables["parts"].items()}

        def compiled(name: str) -> re.Pattern[str]:
            alternatives = "|".join(tables[name])
            for part, words in parts.items():
                alternatives = alternatives.replace(f"{{{part}}}", words)
            return re.compile(f"(?:{alternatives})", re.IGNORECASE)

        reasons = (GateReason.GREETING, GateReason.ACKNOWLEDGEMENT, GateReason.NOISE)
        self.gated = tuple((compiled(reason.name.lower()), reason) for reason in reasons)
        self.yes_or_no = re.compile(compiled("yes_or_no").pattern + r"\b", re.IGNORECASE)
        self.addressing = frozenset(tables["addressing"])
        self.no_names = frozenset(tables["no_names"])


_phrases = _Phrases()


class WriteGate:
    """Judges turns; the same turns always get the same verdicts."""

    def __init__(self, settings: GateSettings | None = None) -> None:
        """Judges by rules, unless the settings switch it off."""
        self._settings = settings or GateSettings()

    async def judge(self, turns: Sequence[Turn]) -> tuple[Verdict, ...]:
        """The verdict on each turn of one request, in order; what follows a question is let through as its answer."""
        if not self._settings.is_enabled:
            return (UNJUDGED,) * len(turns)
        verdicts = []
        asks = False
        budget = LoopBudget()
        for turn in turns:
            verdicts.append(_judged(turn, is_asked=asks))
            asks = _asks(turn.content)
            await budget.step()
        return tuple(verdicts)


def _judged(turn: Turn, *, is_asked: bool) -> Verdict:
    if turn.importance is not None:
        return Verdict(GateReason.STATED_IMPORTANCE, "the caller stated its importance")
    if turn.role in {MessageRole.USER, MessageRole.ASSISTANT} and not any(a.caption.strip() for a in turn.attachments):
        gated = _gated(turn.content)
        if gated is not None and is_asked and gated.reason is GateReason.ACKNOWLEDGEMENT:
            return Verdict(GateReason.ANSWER, "follows a question")
        if gated is not None:
            return gated
    content = turn.content[:_READ_CHARS]
    for statement, reason, detail in _STATEMENTS:
        if makes(statement, content):
            return Verdict(reason, detail)
    if len(turn.content) <= _GATED_CHARS_MAX and _phrases.yes_or_no.match(turn.content):
        return Verdict(GateReason.ANSWER, "opens like an answer")
    return Verdict(GateReason.NEW_INFORMATION)


def _asks(content: str) -> bool:
    """Whether a turn asks something that a word could answer; "How are you?" is not such a question."""
    return is_question(content[-_GATED_CHARS_MAX:]) and _gated(content) is None


def _gated(content: str) -> Verdict | None:
    """The verdict on a text of which nothing is worth remembering; None for any other."""
    if len(content) > _GATED_CHARS_MAX:
        return None
    clauses = [_words(clause) for clause in _CLAUSE.findall(content)]
    said = [words for words in clauses if words]
    if not said:
        return None if any(mark.isalnum() for mark in content) else Verdict(GateReason.NOISE, "holds no word")
    kinds = set()
    for index, words in enumerate(said):
        if index and len(words) == 1 and _is_name(words[0]):
            continue  # "Thanks, Mel!"
        kind = _kind(words)
        if kind is None:
            return None
        kinds.add(kind)
    return _VERDICTS[min(kinds)]


def _words(clause: str) -> list[str]:
    return _WORD.findall(clause)


def _kind(words: list[str]) -> GateReason | None:
    """What a clause is: a greeting, an acknowledgement, noise, or None for anything else."""
    found = _phrase(words)
    if found is None and len(words) > 1 and _is_name(words[-1]) and words[-2].lower() in _phrases.addressing:
        return _phrase(words[:-1])
    return found


def _phrase(words: list[str]) -> GateReason | None:
    text = _DRAWN_OUT.sub(r"\1", " ".join(words)).replace("\u2019", "'")
    plain = " ".join(words).replace("\u2019", "'")
    for pattern, reason in _phrases.gated:
        if pattern.fullmatch(text) or pattern.fullmatch(plain):
            return reason
    if all(word.islower() and _KEY_ROW.search(word) for word in words):
        return GateReason.NOISE
    return None


def _is_name(word: str) -> bool:
    return _NAME.fullmatch(word) is not None and word.lower() not in _phrases.no_names

"""Learned patterns as recalls use them: which of them a query is for. Frozen data and pure functions.

A user's procedures and the patterns of the deployment's file are the same thing here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from services.common.scope import GLOBAL_SCOPE, Reader, Scope
from services.common.text_cache import text_cache

_WORD: Final = re.compile(r"[^\W_]+")
_SHORT_CHARS_MAX: Final = 3
"""Words of a trigger up to this length need not be in a query where the trigger has longer ones."""
_PATTERN_BYTES: Final = 900
"""Memory of one pattern, about."""


class PatternKind(IntEnum):
    """What a pattern changes; the numbers are those of the wire format."""

    QUERY_REWRITING = 1
    RETRIEVAL_STRATEGY = 2
    RESPONSE_FORMATTING = 3
    SOURCE_SELECTION = 4
    CO_EDIT = 5
    ERROR_FIX = 6
    REFACTOR = 7


@dataclass(frozen=True, slots=True)
class Pattern:
    """One learned pattern."""

    trigger: str  # words of a query; empty: every query
    action: str
    confidence: float
    kind: PatternKind = PatternKind.QUERY_REWRITING
    expands: bool = False  # a rewriting whose action is added behind the trigger
    scope: Scope = GLOBAL_SCOPE  # for the recalls that see it
    procedure_id: str = ""  # empty for a pattern of the deployment

    def applied_to(self, words: str) -> str:
        """What the found words become."""
        return f"{words} {self.action}" if self.expands else self.action


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns of one user, or of the deployment."""

    revision: int | None = None  # None: not known
    by_word: Mapping[str, Sequence[Pattern]] = field(default_factory=dict)  # by the first word of the trigger
    count: int = 0

    @classmethod
    def of(cls, patterns: Iterable[Pattern], revision: int | None = None) -> Patterns:
        """Patterns in an order of preference."""
        by_word: dict[str, list[Pattern]] = defaultdict(list)
        count = 0
        for pattern in patterns:
            by_word[next(iter(_needed(pattern)), "")].append(pattern)
            count += 1
        return cls(revision, by_word, count)

    @property
    def size_bytes(self) -> int:
        """Memory that they take, about."""
        return 500 + _PATTERN_BYTES * self.count

    def matching(self, query: str, reader: Reader) -> list[Pattern]:
        """Those that a query of a reader is for, the most confident first."""
        if not self.count:
            return []
        words = frozenset(_stems(query))
        found = [
            pattern
            for word in ("", *words)
            for pattern in self.by_word.get(word, ())
            if words.issuperset(_needed(pattern)) and reader.sees(pattern.scope)
        ]
        return sorted(found, key=lambda one: (-one.confidence, -len(one.trigger), one.trigger, one.action))


NO_PATTERNS: Final = Patterns()


@text_cache(4_096)
def expression_of(words: str) -> re.Pattern[str]:
    """Finds words as a whole; in any case, unless they have capitals."""
    escaped = r"\s+".join(map(re.escape, words.split()))
    flags = re.IGNORECASE if words == words.lower() else re.NOFLAG
    return re.compile(rf"(?<!\w){escaped}(?!\w)", flags)


def _needed(pattern: Pattern) -> list[str]:
    """The words that a query for a pattern has. A rewriting is looked for as it stands: all of them."""
    stems = list(_stems(pattern.trigger))
    if pattern.kind is PatternKind.QUERY_REWRITING:
        return stems
    return [stem for stem in stems if len(stem) > _SHORT_CHARS_MAX] or stems


def _stems(text: str) -> Iterator[str]:
    """The words of a text without regard to case and plural."""
    return (word.removesuffix("s") or word for word in _WORD.findall(text.casefold()))

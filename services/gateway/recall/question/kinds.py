"""The kind of answer that a question wants, read from its words (English)."""

from __future__ import annotations

import re
from enum import IntFlag
from typing import Final

from services.common.text_cache import text_cache


class QuestionKind(IntFlag):
    """What is asked for; a question may be of several kinds, or of none."""

    WHEN = 1
    WHO = 2
    WHERE = 4
    HOW_MANY = 8
    WHY = 16
    LIST = 32
    ORDER = 64
    SUMMARY = 128
    REQUEST = 256
    YES_NO = 512


_WORD: Final = r"\w[\w+/&'’-]{0,40}"  # noqa: RUF001
"""A word, or several that are written as one: "LGBTQ+", "career-high", "artists/bands"."""

_PATTERNS: Final = {
    QuestionKind.WHEN: (
        r"\bwhens?\b|\b(?:what|which) (?:date|day|month|year|time|week)\b|\bhow (?:long|recently|soon)\b"
    ),
    QuestionKind.WHO: r"\bwho(?:m|se?)?\b|\bwhat (?:is|was|are|were) the names?\b",
    QuestionKind.WHERE: r"\bwheres?\b|\b(?:what|which) (?:city|country|place|town|state|restaurant|park|area)\b",
    QuestionKind.HOW_MANY: (
        r"\bhow (?:many|much|often|old|far)\b"
        r"|\bwhat (?:is|was) the (?:\w+ ){0,3}(?:number|count|average|total|percentage)\b"
    ),
    QuestionKind.WHY: r"\bwhys?\b|\bwhat (?:made|motivate[sd]?|inspire[sd]?|caused)\b|\breasons?\b",
    QuestionKind.LIST: (
        rf"\b(?:what|which) (?:{_WORD} ){{0,2}}(?!{_WORD}ss\b)(?:{_WORD})?\w{{3,}}s"
        r" (?:has|have|did|does|do|are|were|is|was)\b"
        r"|\b(?:what|which) (?:kinds?|types?|sorts?) of\b|\bother than\b|\bboth\b|\ball (?:of )?the\b"
    ),
    QuestionKind.ORDER: r"\border\b|\bsequence\b|\bchronolog\w*|\bwhich (?:\w+ ){0,4}(?:first|last|earlier|later)\b",
    QuestionKind.SUMMARY: (
        r"\bsummar\w+|\boverview\b|\brecap\b|\bover time\b|\bprogress(?:ed|ion)?\b|\bdevelop(?:ed|ment) of\b"
    ),
    QuestionKind.REQUEST: (
        r"^\W*(?:can|could|would|will) you\b|\bplease\b|\bhow (?:can|should|do|would) (?:i|we|you)\b"
        r"|\b(?:suggest|recommend|advise|advice|tips|help me|show me|tell me|explain"
        r"|i'm (?:planning|looking|trying)|i want|i need)\b"
    ),
    QuestionKind.YES_NO: r"^\W*(?:do|does|did|is|are|was|were|has|have|had|can|could|would|will|should)\b(?! you\b)",
}
_COMPILED: Final = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _PATTERNS.items()}


@text_cache(256)
def read_kinds(text: str) -> QuestionKind:
    """Returns the kinds that the question's words show."""
    found = QuestionKind(0)
    for kind, pattern in _COMPILED.items():
        if pattern.search(text):
            found |= kind
    return found

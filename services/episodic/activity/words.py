"""Words of questions, paths and texts about code, as a search in the activity log compares them."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CHARS_MIN: Final = 3
_STOP: Final = frozenset(
    [
        "and",
        "are",
        "but",
        "can",
        "code",
        "did",
        "does",
        "done",
        "file",
        "files",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "into",
        "last",
        "not",
        "our",
        "that",
        "the",
        "them",
        "then",
        "there",
        "this",
        "those",
        "was",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "work",
        "worked",
        "you",
    ]
)
"""Words that a question about work has anyway."""


def words_of(text: str) -> frozenset[str]:
    """Words in small letters, those of camelCase and snake_case too; without short and common ones."""
    found: set[str] = set()
    for word in _WORD.findall(text):
        found.update(part.casefold() for part in (word, *_HUMP.split(word)))
    return frozenset(word for word in found if len(word) >= _CHARS_MIN and word not in _STOP)

"""The same with the opposite word: "I like to train early", "I like to train late now". Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.reading.splitting import DETERMINERS
from services.common.values.words.tokens import PUNCTUATION, tokenize

_CHARS_MAX: Final = 200
_OPPOSITES: Final = tuple(
    frozenset(pair.split("/"))
    for pair in """
    early/late earlier/later strong/weak loud/quiet indoors/outdoors inside/outside upstairs/downstairs
    with/without before/after alone/together
    """.split()  # noqa: SIM905 - words
)
_NEW: Final = re.compile(
    r"\b(?:now|nowadays|these\sdays|again|once\smore|instead|any\s?more|from\snow\son|after\sall)\b", re.IGNORECASE
)
_REMARK: Final = re.compile(r"[,;:](?:\s|$)|\s[\u2013-]{1,2}\s")
_LIGHT: Final = (DETERMINERS - {"first", "second", "his", "her", "their"}) | frozenset(PUNCTUATION)
_WORDS_MIN: Final = 3


def is_the_opposite(earlier: str, later: str, *, is_new: bool = False) -> bool:
    """Returns whether the later statement says the earlier one with one word turned into its opposite.

    Args:
        earlier: A statement.
        later: A later one of the same speaker, of which only what stands before its first remark is read.
        is_new: Whether something beside the words says that it is new; else "now" or "once more" must.
    """
    first, second = _words(earlier), _words(later)
    if not is_new and not _says_new(later):
        return False
    if not _WORDS_MIN <= len(first) == len(second):
        return False
    differing = [{a, b} for a, b in zip(first, second, strict=True) if a != b]
    return len(differing) == 1 and differing[0] in _OPPOSITES


@text_cache(4_096)
def _says_new(text: str) -> bool:
    return _NEW.search(_REMARK.split(text, maxsplit=1)[0]) is not None


@text_cache(4_096)
def _words(text: str) -> tuple[str, ...]:
    if len(text) > _CHARS_MAX:
        return ()
    said = _NEW.sub("", _REMARK.split(text.replace("\u2019", "'"), maxsplit=1)[0])
    return tuple(token.lower for token in tokenize(said) if token.lower not in _LIGHT)

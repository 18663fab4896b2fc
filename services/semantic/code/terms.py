"""From text to the terms it is searched by: words, and identifiers split by case. Pure functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[^\W\d_][\w$]*|_+[^\W\d_][\w$]*")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_TERM_CHARS_MAX: Final = 48
_STOP: Final = frozenset(
    """
    a an and are as at be been but by can could did do does for from had has have how i if in into is it its me my no
    not of on or our should so some such than that the their them then there these they this to us use used uses using
    was we what when where which while who why will with would you your
    """.split()  # noqa: SIM905 - one list of 70 strings is no easier to read
)


def words_of(text: str) -> list[str]:
    """Identifiers and words of a text, as they are written."""
    return _WORD.findall(text)


@lru_cache(maxsize=200_000)
def terms_of_word(word: str) -> tuple[str, ...]:
    """The terms of one identifier or word: its parts, stemmed, and all of it where it has several parts.

    "getHTTPResponse_code" gives "get", "http", "respons", "code" and "gethttpresponsecode".
    """
    parts = [part.lower() for part in _PART.findall(word)]
    terms = [stem(part) for part in parts if len(part) > 1 and part not in _STOP]
    if len(parts) > 1:
        terms.append("".join(parts)[:_TERM_CHARS_MAX])
    return tuple(term[:_TERM_CHARS_MAX] for term in terms)


def count_terms(text: str) -> Counter[str]:
    """How often each term stands in a text."""
    return count_words(_WORD.findall(text))


def count_words(words: Iterable[str]) -> Counter[str]:
    """How often each term stands in a list of words."""
    counted: dict[str, int] = {}
    known = counted.get
    for word, count in Counter(words).items():
        for term in terms_of_word(word):
            counted[term] = known(term, 0) + count
    return Counter(counted)


_PAIRS: Final = """
ization:iz isation:iz izing:iz izer:iz ized:iz izes:iz ize:iz ising:iz ised:iz ations:at ation:at ating:at ators:at
ator:at ated:at ates:at ate:at ments: ment: ings: ing: ions: ion: ies:y ied:y ers: ors: er: or: ed: es: ly: able:
ible: s: e:
"""
_ENDINGS: Final = tuple((ending, other) for ending, _, other in (pair.partition(":") for pair in _PAIRS.split()))
"""Endings, longer ones before those that end them, and what takes their place."""
_DOUBLING: Final = ("ing", "ed", "er", "ers", "ings")
"""Endings before which a consonant is doubled: "running"."""
_STEMMED_CHARS_MIN: Final = 5
_STEM_CHARS_MIN: Final = 3


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """A word without its ending, so that "validation", "validates" and "validator" meet."""
    if len(word) < _STEMMED_CHARS_MIN:
        return word[:-1] if len(word) == _STEMMED_CHARS_MIN - 1 and word.endswith("s") and word[-2] != "s" else word
    if word.endswith("ss"):
        return word
    for ending, replacement in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_CHARS_MIN:
            base = word[: -len(ending)]
            is_doubled = len(base) > _STEM_CHARS_MIN and base[-1] == base[-2] and base[-1] not in "lsz"
            return (base[:-1] if is_doubled and ending in _DOUBLING else base) + replacement
    return word

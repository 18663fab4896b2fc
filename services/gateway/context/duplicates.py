"""Finds texts that say nearly the same. Rules only; pure functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeVar

T = TypeVar("T")

_WORD: Final = re.compile(r"\w+(?:['’]\w+)*")  # noqa: RUF001 - both apostrophes are written
_KEY_WORDS: Final = 8
"""Longest words of a text that it is looked up by: texts that share hardly any of them cannot be nearly the same."""
_KEY_WORDS_SHARED_MIN: Final = 4
_NEGATION_LIST: Final = "no not never none nothing nobody nowhere neither nor without cannot stopped"
_NEGATIONS: Final = frozenset(_NEGATION_LIST.split())


@dataclass(frozen=True, slots=True)
class _Included:
    """A text and, once it is needed, what it is compared by."""

    text: str
    words: tuple[str, ...]
    cache: list[_Contents]

    def contents(self) -> _Contents:
        if not self.cache:
            self.cache.append(_Contents.of(self.text, self.words))
        return self.cache[0]


@dataclass(frozen=True, slots=True)
class _Contents:
    words: frozenset[str]
    distinctive: frozenset[str]  # words that change what is said: with a digit, a capital letter or a negation
    shingles: frozenset[str]  # pairs of neighbouring words

    @classmethod
    def of(cls, text: str, words: Sequence[str]) -> _Contents:
        found = ((word, word.casefold()) for word in _WORD.findall(text))
        # "don't" is not of letters alone; so is everything with a digit.
        distinctive = {low for word, low in found if word != low or not low.isalpha()}
        return cls(
            frozenset(words),
            frozenset(distinctive.union(_NEGATIONS.intersection(words))),
            frozenset(f"{first} {second}" for first, second in pairwise(words)) or frozenset(words),
        )


class NearDuplicates:
    """Texts included so far, by number, to compare further ones with.

    Two texts are nearly the same where the Jaccard similarity of their word pairs reaches `similarity_min`, case and
    punctuation aside, and no number, name or negation stands in one of them alone: "I paid 30 euros" and "I paid 40
    euros" are two things however much else they share.
    """

    def __init__(self, similarity_min: float) -> None:
        """Compares by `similarity_min` in (0, 1]; 1 finds texts of the same word pairs only."""
        self._similarity_min = similarity_min
        self._included: list[_Included] = []
        self._by_key: dict[str, list[int]] = {}

    def earlier(self, text: str) -> int | None:
        """The number of the first text taken in that says nearly the same.

        Without one the text itself is taken in, and the result is None. Numbers count from 0.
        """
        one = _Included(text, tuple(_WORD.findall(text.casefold())), [])
        keys = _keys(one.words)
        shared = Counter(number for key in keys for number in self._by_key.get(key, ()))
        needed = min(_KEY_WORDS_SHARED_MIN, len(keys))
        for number in sorted(number for number, count in shared.items() if count >= needed):
            if self._is_near(one.contents(), self._included[number].contents()):
                return number
        for key in keys:
            self._by_key.setdefault(key, []).append(len(self._included))
        self._included.append(one)
        return None

    def _is_near(self, one: _Contents, other: _Contents) -> bool:
        if (one.words ^ other.words) & (one.distinctive | other.distinctive):
            return False
        shared = len(one.shingles & other.shingles)
        return shared >= self._similarity_min * (len(one.shingles) + len(other.shingles) - shared)


def without_duplicates(
    items: Iterable[T], text_of: Callable[[T], str], *, similarity_min: float
) -> list[tuple[T, tuple[T, ...]]]:
    """The items in their order, each with the later ones that say nearly the same and are left out for it."""
    included = NearDuplicates(similarity_min)
    groups: list[tuple[T, list[T]]] = []
    for item in items:
        number = included.earlier(text_of(item))
        if number is None:
            groups.append((item, []))
        else:
            groups[number][1].append(item)
    return [(item, tuple(duplicates)) for item, duplicates in groups]


def _keys(words: Sequence[str]) -> list[str]:
    """The longest words, ties by the alphabet."""
    return sorted(sorted(set(words)), key=len)[-_KEY_WORDS:]

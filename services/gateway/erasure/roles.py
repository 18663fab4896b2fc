"""Whom a query means by what they are to the speaker: "everything about my brother-in-law". Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from services.common.values.words.lexicon import KIN
from services.common.values.words.tokens import lemma
from services.gateway.erasure.queries import Wanted
from services.gateway.erasure.wording import FIRST, ROLES, Word, words_of

_TITLES: Final = frozenset({"mr", "mrs", "ms", "dr"})
_PASSED: Final = _TITLES | {"is", "was", "called", "named"}
"""Between what somebody is and their name."""


def name_of_role(wanted: Wanted, texts: Sequence[str]) -> Wanted | None:
    """Returns a query by the name of the one whom it means by what they are to the speaker: "my brother-in-law".

    None where no text names them, or texts name several.
    """
    roles = wanted.topics & (KIN | ROLES)
    if wanted.names or wanted.is_of_other or not wanted.own_words or not roles or wanted.topics - roles:
        return None
    found = {name for text in texts for name in _names_of(list(words_of(text)), roles)}
    if len(found) != 1:
        return None
    return replace(wanted, names=((found.pop(),),), about_name=True, own_words=frozenset())


def _names_of(words: Sequence[Word], roles: frozenset[str]) -> Iterator[str]:
    """Names of "my coach Ernst", "my coach is called Ernst", "my coach's name is Ernst" and "Ernst is my coach"."""
    for place, word in enumerate(words):
        if word.is_possessive:  # "my coach's car is a Ford" names no coach
            is_named = [one.lower for one in words[place + 1 : place + 3]] in (["name", "is"], ["name", "was"])
            behind = words[place + 3 : place + 5] if is_named and lemma(word.bare) in roles else []
            name = next((one for one in behind if one.lower not in _TITLES), None)
            if place and words[place - 1].lower in {"my", "our"} and name is not None and name.is_capital:
                yield name.bare
            continue
        if lemma(word.lower) not in roles or not place or words[place - 1].lower not in {"my", "our"}:
            continue
        behind = [one for one in words[place + 1 : place + 4] if one.lower not in _PASSED]
        copulas = place + 1 < len(words) and (words[place + 1].is_capital or words[place + 1].lower in {"is", "was"})
        if copulas and behind and behind[0].is_capital and behind[0].lower == behind[0].bare:
            yield behind[0].lower
        before = [one for one in words[: place - 1] if one.lower not in _TITLES]
        is_copula = (
            words[place - 1].text.islower()
            and bool(before)
            and (before[-1].lower in {"is", "was"} or before[-1].index < words[place - 1].index - 1)
        )
        if is_copula and len(before) <= 2 and before[0].is_capital and before[0].lower not in FIRST:
            yield before[0].lower

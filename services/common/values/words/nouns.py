"""Words of a text that name things. Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.words.lexicon import MONTHS, PARTS_OF_DAY, POSSESSIVES, PRONOUNS, SEASONS, STOP, WEEKDAYS
from services.common.values.words.tokens import PUNCTUATION, lemma, tokenize

LIGHT: Final = STOP | PRONOUNS | frozenset(POSSESSIVES) | frozenset(PUNCTUATION) | {"not", "no", "be", "have"}
"""Words that say nothing of what a text is about."""
TIMES: Final = (
    WEEKDAYS | PARTS_OF_DAY | SEASONS | frozenset(MONTHS)
    | {"day", "week", "month", "year", "today", "tomorrow", "yesterday", "before", "after", "hour", "minute", "last",
       "next", "always", "often", "usually", "every", "since", "sunday", "time", "term", "either", "ever", "old"}
)  # fmt: skip
MEALS: Final = frozenset({"lunch", "dinner", "breakfast"})
"""Meals, which are also times of the day."""
_MEAL: Final = re.compile(
    rf"\b(?P<meal>{'|'.join(sorted(MEALS))})(?:\s(?:is|was|has|got|now|been|are)){{0,3}}\s?$", re.IGNORECASE
)
_ATTRIBUTE: Final = re.compile(
    rf"\b(?:the|my|our)\s(?P<which>{'|'.join(sorted(WEEKDAYS | PARTS_OF_DAY | SEASONS))})\s(?=[\w'])", re.IGNORECASE
)


def attributes_in(subject: str) -> frozenset[str]:
    """Returns the times that say which of several things a subject is about: "the night ferry [is cancelled]"."""
    return frozenset(match["which"].casefold() for match in _ATTRIBUTE.finditer(subject))


def meal_in(subject: str) -> frozenset[str]:
    """Returns the meal that a subject is about, which is no time of day there: "the team lunch [is cancelled]"."""
    match = _MEAL.search(subject)
    return frozenset() if match is None else frozenset({match["meal"].casefold()})


@text_cache(4_096)
def nouns_of(text: str) -> frozenset[str]:
    """Returns the words of a text that name things, in base form, without times."""
    words = (lemma(token.lower) for token in tokenize(text))
    return frozenset(
        word
        for word in words
        if word not in LIGHT and word not in TIMES and word not in {"and", "too", "doctor", "consultant", "vet", "had"}
    )

"""Whether a word of a text is a name that a query means, and not a common noun or somebody else's. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.common.values.words.lexicon import AUXILIARIES, MONTHS, SEASONS, VERBS, WEEKDAYS
from services.common.values.words.tokens import lemma
from services.gateway.erasure.times import time_at
from services.gateway.erasure.word_names import (
    ADVERBS,
    ALSO_WORDS,
    adjacent,
    is_opening,
    opens_as_a_word,
    stands_as_a_name,
)
from services.gateway.erasure.wording import (
    ARTICLES,
    DETERMINERS,
    FIRST,
    HONOURED,
    LINKS,
    OFFICES,
    ROLES,
    TITLES,
    Word,
)

_DATED: Final = frozenset("in until till since last next this early late mid every during".split())  # noqa: SIM905 - words
"""Before a month they make it a time: "in May"."""
_TIMES: Final = frozenset(MONTHS) | SEASONS
_BEFORE_NOUNS: Final = frozenset({"my", "our", "the", "his", "her", "their"})
"""Where nothing has capitals, what follows them is a common noun: "my iris scan"."""
_PLANTS: Final = frozenset(
    "rosemary basil sage ginger olive ivy rose lily violet daisy iris poppy hazel holly heather jasmine".split()  # noqa: SIM905
)
_BESIDE_PLANTS: Final = frozenset(
    """
    thyme garlic lemon parsley mint marinade oven pan bed pot soil seed seeds petals bush hedge compost prune pruned
    water watered herb herbs leaves flower flowers bloom garden oil salad sauce tea
    """.split()  # noqa: SIM905 - words
)
_TO_A_PLACE: Final = frozenset({"to", "in", "at", "near", "into", "via", "through", "around", "towards"})
_NAMED_AFTER: Final = frozenset(
    "letter epistle gospel book feast psalm church chapel cathedral town city village university island".split()  # noqa: SIM905
)
"""Before "of" and a name they are works and places that bear it."""

_TITLED: Final = frozenset(
    """
    ode hymn song ballad elegy requiem sonnet psalm symphony sonata serenade lullaby waltz concerto anthem portrait
    tale tales legend adventures diary memoirs confessions
    """.split()  # noqa: SIM905 - words
)
"""With a capital before "to", "of" or "for" and a name they are the title of a work."""
_HAILS: Final = frozenset({"hey", "hello", "goodbye", "farewell", "oh"})
"""Before a name and with a capital inside a sentence they open a title: "they played Hey Jude"."""


def is_name(words: Sequence[Word], place: int, name: tuple[str, ...]) -> bool:
    """Returns whether a word is a part of a name: with a capital, unless the text has none, and no common noun."""
    word = words[place]
    if word.bare not in name and not _is_spelled_otherwise(words, place, name):
        return False
    is_held = len(name) > 1 and name[0] in OFFICES
    if is_held and word.bare in OFFICES:
        return place + 1 < len(words) and words[place + 1].bare in name
    if is_held and not _is_of_office(words, place):
        return False  # "Morel mushrooms", where Captain Morel is meant
    knows_capitals = any(other.is_capital and other.lower != "i" and len(other.text) > 1 for other in words)
    if word.bare in _PLANTS and any(other.bare in _BESIDE_PLANTS for other in words):
        return False  # "Rosemary goes behind the thyme"
    if not word.text[:1].isupper() and word.bare in ALSO_WORDS:
        return stands_as_a_name(words, place)
    if opens_as_a_word(words, place):
        return False  # "Mark the day", where the colleague Mark is meant
    if knows_capitals and not word.text[:1].isupper():
        return False
    before = words[place - 1] if place and words[place - 1].index == word.index - 1 else None
    if _is_time(words, place, before, name):
        return False
    if not knows_capitals and _is_behind_article(words, place):
        return False  # "I have a nice tan"
    if before is not None and name[0] in TITLES and len(name) > 1 and _is_first_name(before, name):
        return False
    if before is not None and before.is_capital and before.bare in HONOURED and before.bare not in name:
        return False
    if before is not None and _is_in_title(words, place, name):
        return False  # "Ode to Joy"
    if before is not None and name[0] in TITLES and before.lower in _TO_A_PLACE:
        return False  # "the train to Pickering", where Mr Pickering is meant
    return before is None or before.lower not in (ARTICLES if knows_capitals else ARTICLES | _BEFORE_NOUNS)


def _is_spelled_otherwise(words: Sequence[Word], place: int, name: tuple[str, ...]) -> bool:
    """Whether a double name stands with a hyphen where the query has none, or without: "Anna-Maria", "Anna Maria"."""
    if "-" in words[place].bare:
        return tuple(words[place].bare.split("-")) == name
    doubles = (part.split("-") for part in name if "-" in part)
    return any([word.bare for word in words[place : place + len(double)]] == double for double in doubles)


def _is_time(words: Sequence[Word], place: int, before: Word | None, name: tuple[str, ...]) -> bool:
    """Whether a word says when something is: "in May", and "free on Friday" where Black Friday is meant."""
    word, after = words[place], words[place + 1].text if place + 1 < len(words) else ""
    if word.bare in _TIMES and (before is not None or after):
        is_dated = before is not None and (before.lower in _DATED or before.text[:1].isdigit())
        return is_dated or after[:1].isdigit()
    return len(name) > 1 and word.bare in WEEKDAYS and bool(time_at(words, place))


def _is_in_title(words: Sequence[Word], place: int, name: tuple[str, ...]) -> bool:
    """Whether the words right before a name make it a part of a work's title: "Ode to Joy", "Hey Jude"."""
    before, first = words[place - 1], words[place - 2] if place > 1 else None
    if before.is_capital and before.lower in _HAILS and before.bare not in name:
        after = next(iter(adjacent(words, place)), None)
        return not is_opening(words, place - 1) or (after is not None and after.lower in {"is", "was", "by"})
    if first is not None and before.lower == "of" and first.bare in _NAMED_AFTER:
        return True  # "the letter of Paul to the Galatians"
    is_work = first is not None and first.is_capital and first.bare in _TITLED and first.index == before.index - 1
    return is_work and before.lower in {"to", "of", "for"} and words[place].is_capital


def _is_of_office(words: Sequence[Word], place: int) -> bool:
    """Whether a name stands for somebody: behind no article, and at the beginning before no noun: "Morel mushrooms"."""
    before = words[place - 1] if place else None
    if before is not None:
        return before.lower not in ARTICLES | {"the"} or before.index < words[place].index - 1
    after = words[1] if len(words) > 1 and words[1].index == words[0].index + 1 else None
    if after is None or words[0].is_possessive or after.is_capital or after.lower in ADVERBS | LINKS:
        return after is None or after.lower not in DETERMINERS
    return after.bare in AUXILIARIES or lemma(after.bare) in VERBS or after.bare.endswith("ed")


def _is_behind_article(words: Sequence[Word], place: int) -> bool:
    """Whether an article and another word stand before a word, nothing between them."""
    near = words[max(0, place - 2) : place]
    return len(near) > 1 and near[0].lower in ARTICLES and words[place].index - near[0].index == len(near)


def _is_first_name(before: Word, name: tuple[str, ...]) -> bool:
    """Whether a capital before a surname makes it another one's: "Bruce Lee", where "Dr Lee" is meant."""
    is_name = before.is_capital and before.bare not in {*name, *TITLES} and before.lower == before.bare
    return is_name and before.lower not in DETERMINERS | FIRST | LINKS and before.bare not in ROLES


def surname_behind(words: Sequence[Word], place: int, names: tuple[tuple[str, ...], ...]) -> str:
    """Returns the capitalised word that follows a name directly and is no part of it; empty where there is none."""
    if place + 1 == len(words) or words[place + 1].index != words[place].index + 1 or "'" in words[place].text:
        return ""
    follower = words[place + 1]
    is_part = any(follower.bare in name for name in names)
    return "" if is_part or not follower.is_capital or follower.lower in FIRST else follower.bare

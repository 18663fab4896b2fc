"""Words of a text with their places, small words of queries, and forms of words. Pure functions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.words.lexicon import KIN, PRONOUNS, STOP, VERBS
from services.common.values.words.tokens import lemma
from services.gateway.erasure.accents import without_accents


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


GENERIC: Final = _set(
    "thing stuff detail info information data value fact everything anything something memory conversation chat "
    "whole entire entirely complete my mine our ours everything about say tell mention remember forget"
)
"""Words of a query that name no topic."""
LINKS: Final = STOP | {"about", "between", "against", "without", "before", "after", "during", "not", "no"}
FIRST: Final = _set("i me my mine myself we us our ours you your yours i'm i've i'd i'll we're we've im ive")
SELF: Final = _set("i i'm i've i'd i'll im ive we we've we're we'd we'll weve you you're")
OTHER: Final = _set("other another second third next old former previous spare last")
"""Before a noun these say that another thing is meant."""
ARTICLES: Final = frozenset({"a", "an"})
PERSONS: Final = KIN | _set("friend neighbour neighbor colleague boss flatmate roommate teacher doctor dog cat")
ROLES: Final = PERSONS - {"dog", "cat"} | _set(
    "ex girlfriend boyfriend fiance fiancee brother-in-law sister-in-law mother-in-law father-in-law son-in-law "
    "daughter-in-law stepdad stepmum stepfather stepmother stepson stepdaughter goddaughter godson godfather godmother "
    "grandson granddaughter gran granny nan nana grandad manager physio dentist therapist landlord landlady tutor "
    "coach trainer lawyer solicitor gardener cleaner nanny babysitter client customer hire intern assistant housemate "
    "tenant classmate coworker supervisor mentor midwife nurse surgeon consultant"
)
"""Who somebody is to the speaker, besides relatives."""
TITLES: Final = frozenset({"mr", "mrs", "ms", "dr", "prof"})
OFFICES: Final = TITLES | _set(
    "deacon captain rabbi pastor reverend rev imam vicar bishop canon sergeant inspector constable officer colonel "
    "major lieutenant professor judge nurse coach chancellor"
)
"""What stands before the name of somebody who holds an office."""
BEARERS: Final = _set(
    "opera film movie song album ship boat ferry yacht hurricane storm restaurant cafe bar pub hotel shop brand "
    "perfume book novel play ballet musical band game app font street road school church chapel hospital "
    "foundation prize award"
)
"""Things that bear a name: "the opera Salome"."""
HONOURED: Final = _set("mother saint st san santa queen king pope lady lord")
"""Before a name and with a capital they make it that of somebody known: "Mother Teresa", "St Paul's day"."""
OF_THIRD: Final = _set("his her their")
DETERMINERS: Final = _set("the a an his her their its this that these those")
_TOKEN: Final = re.compile(r"\w+(?:[-.']\w+)*(?:(?<=s)')?|[.,;:!?()\n]")
_SHORTENED: Final = PRONOUNS | {"that", "there", "here", "what", "who", "where", "how", "let", "everything", "all"}
"""Before "'s" these are no owners."""
_SIBILANT: Final = ("x", "ch", "sh", "ss")
"""Words that end so have a plural in "es"."""
_STEM_MIN: Final = 5
"""Letters of a verb that a noun is made of: "station" is of no "state"."""
_GAINS: Final = {"savings": "save", "earnings": "earn", "winnings": "win", "takings": "take"}
"""Nouns of what somebody gets by doing something."""
_MEASURES: Final = frozenset({"high", "deep", "length", "jerk"})
"""Behind a noun and a hyphen these make a measure of it: "knee-high boots"."""


class Chosen(IntEnum):
    """Why a query means a memory, or why it stays; the numbers are those of the wire format."""

    UNSPECIFIED = 0
    NAME = 1
    WORDS = 2
    MATTER = 3
    SIMILARITY = 4
    FOLLOW_UP = 5
    CONVERSATION = 6
    OWN_SUBJECT = 7
    ANOTHER = 8
    UNSURE = 9
    EXCEPTED = 10


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text."""

    text: str
    index: int  # among the tokens

    @property
    def lower(self) -> str:
        """In lower case, without accents."""
        return without_accents(self.text).casefold()

    @property
    def bare(self) -> str:
        """Without a possessive ending."""
        return re.sub(r"'s?$", "", self.lower)

    @property
    def is_possessive(self) -> bool:
        """Whether it says whose something is: "Ida's", not "it's"."""
        return self.lower != self.bare and self.bare not in _SHORTENED

    @property
    def is_capital(self) -> bool:
        """Whether it begins with a capital, and is no abbreviation."""
        return self.text[:1].isupper() and not (self.text.isupper() and len(self.text) > 1)


def words_of(text: str) -> Iterator[Word]:
    """Words with their places among words and marks: marks separate what does not belong together."""
    plain = unicodedata.normalize("NFC", text).replace("’", "'")  # noqa: RUF001
    for index, found in enumerate(_TOKEN.finditer(plain)):
        if found[0][0].isalnum() or found[0][0] == "_":
            yield Word(found[0], index)


def has(words: Sequence[Word], topic: str) -> bool:
    """Whether one of the words is a form of a topic's, or some are together: "knee surgery" of "knee-surgery"."""
    return any(is_topic(word, topic) for word in words) or stands_apart(words, topic.split("-"))


def stands_apart(words: Sequence[Word], parts: Sequence[str]) -> bool:
    """Whether the parts of a compound stand one behind the other as words of their own."""
    if len(parts) < 2:
        return False
    runs = (words[place : place + len(parts)] for place in range(len(words) - len(parts) + 1))
    return any(
        run[-1].index - run[0].index == len(parts) - 1
        and all(is_form(word.bare, part) for word, part in zip(run, parts, strict=True))
        for run in runs
    )


def is_topic(word: Word, topic: str) -> bool:
    """Whether a word, or a part of a compound, is a form of a topic's."""
    parts = word.bare.split("-")
    if len(parts) > 1 and parts[-1] in _MEASURES:
        return False
    return any(is_form(part, topic) for part in (word.bare, *parts))


def is_form(word: str, topic: str) -> bool:
    """Whether a word is a form of a topic's: "divorced" and "divorce", "therapist" and "therapy"."""
    base = lemma(word)
    if (
        base == topic
        or (topic.endswith(_SIBILANT) and f"{topic}e" == base)
        or (base.endswith(_SIBILANT) and f"{base}e" == topic)
    ):
        return True  # "taxes" and "tax"
    length = max(5, len(topic) - 2)
    if len(word) >= length and word[:length] == topic[:length] and len(word) <= len(topic) + 4:
        return True
    if topic == _GAINS.get(word):
        return True
    return is_act_of(word, topic) or topic in _verbs_of(word)


def is_act_of(word: str, topic: str) -> bool:
    """Whether a word is a form of the verb that a noun is made of: "retired" for "retirement"."""
    return bool(_bases_of(word) & _verbs_of(topic))


def forms_of(topics: Iterable[str]) -> frozenset[str]:
    """The verbs of nouns among the topics: "inherit" of "inheritance"."""
    return frozenset(verb for topic in topics for verb in _verbs_of(topic))


@text_cache(1_024)
def _verbs_of(noun: str) -> frozenset[str]:
    """What a noun may be made of, by its ending: "retire" of "retirement", "resign" of "resignation"."""
    found: set[str] = set()
    for ending in ("ment", "ation", "ion", "ance", "ence"):
        stem = noun.removesuffix(ending)
        if stem != noun and len(stem) >= _STEM_MIN:
            found |= {stem, f"{stem}e"}
    return frozenset(found)


@text_cache(4_096)
def _bases_of(word: str) -> frozenset[str]:
    """What a form that is no noun may be of: "retire" of "retired"; none for a word without an ending."""
    if lemma(word) in VERBS:
        return frozenset({lemma(word)})
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            return frozenset({word.removesuffix(ending), f"{word.removesuffix(ending)}e"})
    return frozenset()


def names_other_kin(words: Sequence[Word], topics: frozenset[str]) -> bool:
    """Whether a query is about a relative and a text about another one."""
    asked = topics & KIN
    named = {lemma(word.bare) for word in words} & KIN
    return bool(asked and named) and not asked & named

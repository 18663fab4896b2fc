"""What has a thing no more: the shop, where "the shop has no Stripe any more". Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.values.reading.splitting import DETERMINERS, PREPOSITIONS, verb_place
from services.common.values.reading.whose import RELATIVES
from services.common.values.words.nouns import TIMES
from services.common.values.words.tokens import PUNCTUATION, lemma

_FOR_WHAT: Final = re.compile(
    r"^\s(?:now\s|here\s)?(?:for|in|on|at)\s(?:the|our|my|this)\s(?P<what>[\w-]{2,30}(?:\s(?!(?:and|but|so|because|since|now|as|from|last|this)\b)[\w-]{2,30})?)"
    r"(?=$|\s(?:[.,;:!?]|and|but|so|because|since|now|as|from|last|this)(?:\s|$))",
    re.IGNORECASE,
)
"""Behind what is gone, for what it is: "is history for the shop"."""
_NO_PLACES: Final = TIMES | frozenset(
    """
    good moment time being season summer winter spring autumn year week month holiday holidays
    rest best market bin skip dump tip scrapyard end minute price money same reason
    other kids children road internet bill list menu plan floor sea lake river fire
    """.split()  # noqa: SIM905 - words
)


def holder_of(said: str, match: re.Match[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Returns what the sentence is about, for "it", and what has a thing no more, where "no" stands behind its verb.

    Nothing where that is the speaker. "It" is anything that the sentence names before it.
    """
    before = said[: match.start()].lower()
    clause = re.split(r"\s[.,;:!?]\s|\s(?:and|but|so|because|since)\s", before)[-1].split()
    if not match[0].lower().startswith("no ") or not clause or {"i", "we", "there"} & set(clause):
        return frozenset(), frozenset()
    light = DETERMINERS | PREPOSITIONS | frozenset(PUNCTUATION)
    if not {"it", "they", "that"} & set(clause):
        return frozenset(), frozenset(map(lemma, clause)) - light
    words = before.split()
    opening = frozenset(map(lemma, words[: verb_place(words) or 0])) - light
    return opening - {"i", "we", "they"}, frozenset(map(lemma, words)) - light


def scope_of(said: str, match: re.Match[str]) -> frozenset[str]:
    """Returns the words of that for which a thing is gone: shop, where "IE is history for the shop"; else none."""
    found = _FOR_WHAT.match(said[match.end() :].rstrip(" ."))
    words = frozenset(map(lemma, found["what"].lower().split())) if found is not None else frozenset()
    return frozenset() if words & (_NO_PLACES | RELATIVES) else words

"""What has a thing no more: the shop, where "the shop has no Stripe any more". Pure functions."""

from __future__ import annotations

import re

from services.common.values.reading.splitting import DETERMINERS, PREPOSITIONS, verb_place
from services.common.values.words.tokens import PUNCTUATION, lemma


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

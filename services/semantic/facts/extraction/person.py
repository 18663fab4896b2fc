"""From the first person to the third: "I work from my garden" becomes "Nadia works from their garden".

English grammar by rule. Genders are not known, so that "my" becomes "their".
"""

from __future__ import annotations

import re
from typing import Final

from services.semantic.facts.extraction.lexicon import word_set

_PRONOUNS: Final = {
    "my": "their", "me": "them", "mine": "theirs", "myself": "themselves", "our": "their", "us": "them",
    "ours": "theirs", "ourselves": "themselves", "i": "they", "we": "they",
    "i'm": "they're", "i've": "they've", "i'll": "they'll", "i'd": "they'd",
    "we're": "they're", "we've": "they've", "we'll": "they'll", "we'd": "they'd",
}  # fmt: skip
_PRONOUN: Final = re.compile(
    r"\b(?:(?P<be>I am|I was|we are)|(?:I|we)(?:'(?:m|ve|ll|d|re))?|my|me|mine|myself|our|us|ours|ourselves)\b(?!')",
    re.IGNORECASE,
)
_BE: Final = {"i am": "they are", "i was": "they were", "we are": "they are"}
# First person, or full form, of a verb as it stands in a normalised clause, with its third person singular.
_AUXILIARIES: Final = {
    "am": "is", "are": "is", "were": "was", "have": "has", "do": "does", "go": "goes",
}  # fmt: skip
_UNCHANGED: Final = word_set(
    """
    is was has does will would can could should must may might shall used cannot went got had bought sold left
    quit met won ran began broke came did drove ate fell felt flew found forgot gave grew heard held hurt kept
    knew led lent lost made paid put rang rode rose sang said sat saw sent shot slept spent spoke stood swam
    swore taught tore thought threw told took understood woke wore wrote built became chose caught brought
    fought dug drank drew bit burnt learnt dreamt stuck struck sought bred laid hid
    """
)
_PRESENT_IN_ED: Final = frozenset(["need", "feed", "breed", "speed", "bleed", "heed", "seed", "weed"])


def straight_quotes(text: str) -> str:
    """The text with typographic apostrophes and quotes replaced by plain ones."""
    return text.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"')  # noqa: RUF001


def third_person_pronouns(text: str) -> str:
    """Words for the speaker replaced by "they" and "their"."""

    def replaced(match: re.Match[str]) -> str:
        word = match.group().lower()
        return _BE[word] if match["be"] else _PRONOUNS[word]

    return _PRONOUN.sub(replaced, text)


def conjugated(verb: str) -> str:
    """Third person singular of a verb in the first person: "carry" is "carries", "moved" stays."""
    lower = verb.lower()
    if lower in _AUXILIARIES:
        return _AUXILIARIES[lower]
    if lower in _UNCHANGED or (lower.endswith("ed") and lower not in _PRESENT_IN_ED):
        return verb
    if lower.endswith(("s", "sh", "ch", "x", "z", "o")):
        # "works" of a clause about somebody else is there already.
        return verb if lower.endswith("s") and not lower.endswith(("ss", "us")) else verb + "es"
    if lower.endswith("y") and lower[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"

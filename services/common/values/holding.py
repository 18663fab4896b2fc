"""Whether a later statement of a conversation ends an earlier one (SPEC 3.5).

`compare` reads two statements as they stand. In a conversation there is more to know: who speaks, and that a sentence
has more clauses than the one that matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from services.common.values.compare import relation
from services.common.values.lexicon import POSSESSIVES, PRONOUNS, STOP
from services.common.values.model import Relation
from services.common.values.tokens import PUNCTUATION, lemma, tokenize

_LIGHT: Final = STOP | PRONOUNS | frozenset(POSSESSIVES) | frozenset(PUNCTUATION) | {"not", "no", "be", "have"}


@dataclass(frozen=True, slots=True)
class Said:
    """A statement and who made it."""

    text: str
    speaker: str = ""  # may be empty


def supersedes(earlier: Said, later: Said) -> Relation:
    """Returns UPDATE or CONTRADICT where the later statement takes the place of the earlier one, else another relation.

    Args:
        earlier: The statement that was made first.
        later: The other one.
    """
    if earlier.speaker != later.speaker:
        return Relation.UNRELATED
    return relation(earlier.text, later.text)


def content_words(text: str) -> frozenset[str]:
    """Returns the words of a statement by which others about the same thing are found, in base form."""
    words = (lemma(token.lower) for token in tokenize(text))
    return frozenset(word for word in words if word not in _LIGHT)

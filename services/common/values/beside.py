"""What a change of a sentence leaves of it."""

from __future__ import annotations

import re
from typing import Final

from services.common.values.sentences import content_words

_JOINS: Final = re.compile(r"; |,? (?:and|but) ")
"""Between parts of a sentence that may say things of their own."""
_PART_WORDS_MIN: Final = 2
"""Words with content that such a part has at least."""


def says_more(sentence: str, changed: str) -> bool:
    """Returns whether a sentence has a part that a change is not about, beside one that it is about.

    Of "I'm allergic to nuts, and the builder comes on Monday", "The builder comes on Tuesday" changes one part.

    Args:
        sentence: As it was said.
        changed: What is said in its place, or the words of it that are wrong.
    """
    named = content_words(changed)
    parts = [content_words(part) for part in _JOINS.split(sentence)]
    beside = [part for part in parts if part.isdisjoint(named)]
    return len(beside) < len(parts) and any(len(part) >= _PART_WORDS_MIN for part in beside)


def is_beside(read: str, sentence: str, changed: str, *, subject: str = "") -> bool:
    """Returns whether what was read in a sentence comes from another part of it than the one that changed.

    "Ada is allergic to nuts" is beside "the builder comes on Tuesday", of "I'm allergic to nuts, and the builder comes
    on Monday". Where no part has a word of the change, nobody knows what it is about, and nothing is beside it.

    Args:
        read: What was read in the sentence.
        sentence: As it was said.
        changed: What is said in its place, or the words of it that are wrong.
        subject: Whom it was read of, in words that the sentence need not have.
    """
    own, named = _said(read) - _said(subject), content_words(changed)
    parts = [content_words(part) for part in _JOINS.split(sentence)]
    if not own <= frozenset().union(*parts):
        return False
    of_it = frozenset().union(own, *(part for part in parts if not part.isdisjoint(own)))
    others = frozenset().union(*(part for part in parts if part.isdisjoint(own)))
    return named.isdisjoint(of_it) and not named.isdisjoint(others)


def _said(text: str) -> frozenset[str]:
    """The content words of a text without what they stand for, which depends on who speaks."""
    return frozenset(word for word in content_words(text) if ":" not in word)

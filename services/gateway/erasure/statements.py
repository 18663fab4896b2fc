"""Which statements of turns say what Correct calls wrong. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.common.values.words.lexicon import PRONOUNS, VERBS
from services.common.values.words.tokens import lemma
from services.gateway.erasure.matching import Rules, near
from services.gateway.erasure.queries import read
from services.gateway.erasure.wording import DETERMINERS, FIRST, LINKS, OTHER, words_of

_LIGHT: Final = frozenset({"have", "be"})
"""Verbs of a query for which a statement may have none."""
_COVERED_SHARE: Final = 0.6


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a turn."""

    turn: int  # index of the turn
    number: int  # of the sentence in it, from 0
    text: str
    speaker: str = ""  # who said it


def wrong_statements(
    query: str, right: str, statements: Sequence[Statement], similarities: Sequence[float], rules: Rules
) -> list[Statement]:
    """The statements that say what a query calls wrong: all with all of its words, else the most similar ones.

    Args:
        query: What is wrong.
        right: What is right; a statement with the same content words says so already.
        statements: Candidates.
        similarities: Cosine of each to the query.
        rules: Bounds.
    """
    wanted, correct = content_of(query) - _LIGHT or content_of(query), content_of(right)
    found = [index for index, one in enumerate(statements) if content_of(one.text) != correct]
    worded = [
        index
        for index in found
        if wanted and wanted - _speaker(statements[index]) <= content_of(statements[index].text)
    ]
    if worded:
        own = [index for index in worded if not _is_of_another(query, statements[index])]
        named = [index for index in worded if wanted & _speaker(statements[index])]
        return [statements[index] for index in own or ([] if named else worded)]
    nearest = near(found, similarities, rules.statement_min, rules.statement_margin)
    # A name of the query is never somebody else's.
    names = {part for name in read(query).names for part in name}
    return [
        statements[index]
        for index in nearest
        if names <= {word.bare for word in words_of(statements[index].text)} | _speaker(statements[index])
        and not (names & _speaker(statements[index]) and _is_of_another(query, statements[index]))
    ]


def _speaker(statement: Statement) -> frozenset[str]:
    """The name of the speaker, where a statement does not say whose it is: "Ada's wedding" is Ada's "the wedding"."""
    return frozenset(word.bare for word in words_of(statement.speaker))


def _is_of_another(query: str, statement: Statement) -> bool:
    """Whether a statement is about another thing of the kind: "the other flat", "Ida's flat", "the holiday flat"."""
    asked = {word.bare for word in words_of(query)}
    none = LINKS | FIRST | PRONOUNS | DETERMINERS | _speaker(statement)
    head = next((w.bare for w in words_of(query) if w.bare not in none), "")
    words = list(words_of(statement.text))
    place = next((n for n, word in enumerate(words) if word.bare == head), 0)
    before = words[place - 1] if place and words[place - 1].index == words[place].index - 1 else None
    if before is None or before.bare in asked:
        return False
    if before.bare in OTHER or (before.lower != before.bare and before.lower not in FIRST):
        return True
    # "The work laptop", where "my laptop" is called wrong.
    return before.lower not in DETERMINERS | FIRST | LINKS | PRONOUNS and lemma(before.bare) not in VERBS


def nearest_statements(statements: Sequence[Statement], similarities: Sequence[float], rules: Rules) -> list[Statement]:
    """The statements of a turn that a right text takes the place of: those most like it."""
    return [statements[index] for index in near(range(len(statements)), similarities, -1.0, rules.similarity_margin)]


def stated_in(text: str, statements: Sequence[Statement]) -> list[Statement]:
    """The statements whose content words a text has, as a note has those of the sentences that it was made from."""
    words = content_of(text)
    return [one for one in statements if content_of(one.text) and content_of(one.text) <= words]


def is_covered(statement: str, said: str, *, share: float = _COVERED_SHARE) -> bool:
    """Whether a statement says little besides what another text says: then it is wrong as a whole.

    Args:
        statement: The statement.
        said: The other text.
        share: Of the statement's words that it has at least.
    """
    words = content_of(statement)
    # One word more is the wrong value itself.
    return len(words - content_of(said)) <= max(1.0, (1.0 - share) * len(words))


def content_of(text: str) -> frozenset[str]:
    """The words of a text that say something, in base form."""
    return frozenset(lemma(word.bare) for word in words_of(text)) - LINKS - FIRST - PRONOUNS

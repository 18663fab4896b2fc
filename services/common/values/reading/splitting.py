"""Cuts a statement into clauses, where a verb or a new subject follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from services.common.values.words.lexicon import AUXILIARIES, IRREGULAR, NOUNS_TOO, PRONOUNS, VERBS
from services.common.values.words.quantities import Item, Token
from services.common.values.words.tokens import PUNCTUATION, lemma

DETERMINERS: Final = frozenset(
    [
        "a",
        "an",
        "the",
        "my",
        "our",
        "his",
        "her",
        "their",
        "your",
        "its",
        "this",
        "that",
        "no",
        "some",
        "any",
        "new",
        "first",
        "second",
    ]
)
PREPOSITIONS: Final = frozenset(
    ["to", "in", "on", "at", "of", "by", "for", "with", "from", "into", "about", "over", "under", "near"]
)
_THE: Final = frozenset({"the", "my", "our", "your", "his", "her", "their"})
_BE: Final = frozenset({"is", "are", "was", "were"})
_OBJECTS: Final = _THE | {"me", "us", "him", "them"}
_SUBJECT_WORDS_MAX: Final = 3
_NO_KINDS: Final = AUXILIARIES | PREPOSITIONS | DETERMINERS | {"and", "or", "but", "so", *PUNCTUATION}
_SPEAKING: Final = frozenset({"i", "we", "they", "he", "she"})
_BETWEEN: Final = frozenset(
    """
    also always never often usually still just now mostly mainly sometimes both all only already actually really
    finally recently currently again soon then not no_longer no too almost nearly hardly barely ever
    """.split()  # noqa: SIM905 - words
)
"""What stands between a pronoun and its verb."""
_NO_VERBS: Final = _BETWEEN | PREPOSITIONS | {"and", "or", "who", "like", *PUNCTUATION}
_FINITE: Final = frozenset(IRREGULAR) - frozenset(
    ["living", "driving", "eating", "giving", "taken", "given", "gone", "run"]
)


def split_clauses(tokens: Sequence[Token]) -> Iterator[tuple[list[Token], str]]:
    """Cut at sentence ends, and at commas and "and" where a verb or a new subject follows."""
    current: list[Token] = []
    for place, token in enumerate(tokens):
        following = [item.lower for item in tokens[place + 1 : place + 4]]
        if token.lower in {".", "!", "?", ";"}:
            if token.lower == "." and current and current[-1].lower in {"dr", "mr", "ms", "mrs", "st", "prof"}:
                continue
            yield current, token.lower
            current = []
        elif token.lower == ":" and not (
            current and following and _has_verb(current) and not _has_verb(tokens[place:])
        ):
            if current and not _has_verb(current) and not _has_verb(tokens[place + 1 :]):
                current.append(Token("is", "is"))
            else:
                yield current, ","
                current = []
        elif token.lower in {",", "and", "but", "so"} and _has_verb(current) and _opens_clause(following):
            yield current, ","
            current = []
        elif token.lower not in PUNCTUATION:
            current.append(token)
    yield current, "."


def _opens_clause(following: Sequence[str]) -> bool:
    words = [word for word in following if word not in {"and", "but", "so", "then", "now"}]
    if not words:
        return False
    first = words[0]
    if first in PRONOUNS and first not in {"one", "this", "that"}:
        return len(words) > 1
    if first in {"my", "the", "our", "his", "her", "their"}:
        return len(words) > 2 and (words[2] in AUXILIARIES or lemma(words[2]) in VERBS)
    if first.isalpha() and first not in PREPOSITIONS and _BE & {*words[1:3]}:
        return True  # "..., compiler exam is on Saturday"
    return first in AUXILIARIES or (lemma(first) in VERBS and not first.endswith("ing"))


def _has_verb(tokens: Sequence[Token]) -> bool:
    return verb_place([token.lower for token in tokens]) is not None


def verb_place(words: Sequence[Item]) -> int | None:
    """The place of the first auxiliary or finite verb."""
    for place, word in enumerate(words):
        if not isinstance(word, str):
            continue
        before = words[place - 1] if place else ""
        if word in AUXILIARIES:
            return place
        if word == "to" or before in DETERMINERS or before in PREPOSITIONS or before == "'s":
            continue
        if before in _SPEAKING and word not in _NO_VERBS and not word.endswith("ly"):
            return place  # whatever stands behind "we" is its verb
        if lemma(word) in NOUNS_TOO and not word.endswith("ed") and not _has_object(words, place):
            continue
        if lemma(word) in VERBS and word not in {"like", "left", "number"} | set(IRREGULAR) - _FINITE:
            if place == 0 and any(item in AUXILIARIES for item in words[1:4]):
                continue
            return place
        if word == "like" and place and (before in PRONOUNS or before in _BETWEEN):
            return place
        if word == "left" and place:
            return place
    return None


def _has_object(words: Sequence[Item], place: int) -> bool:
    """Whether a word that may be a noun in the plural does something to what follows: "Carla waters the plants"."""
    word, following = words[place], words[place + 1] if place + 1 < len(words) else ""
    return 0 < place <= _SUBJECT_WORDS_MAX and str(word).endswith("s") and following in _OBJECTS


def are_two_of_a_kind(first: Sequence[str], second: Sequence[str]) -> bool:
    """Returns whether two statements name two things of one kind: "the search api", "the upload api".

    Args:
        first: The words of one, in lower case.
        second: Those of the other.
    """
    kinds: list[dict[str, set[str]]] = [{}, {}]
    for found, words in zip(kinds, (first, second), strict=True):
        for before, which, what in zip(words, words[1:], words[2:], strict=False):
            if before in _THE and not {which, what} & _NO_KINDS and lemma(what) not in VERBS:
                found.setdefault(lemma(what), set()).add(which)
    one, other = kinds
    return any(
        not one[what] & other[what] and not one[what] & set(second) and not other[what] & set(first)
        for what in one.keys() & other.keys()
    )

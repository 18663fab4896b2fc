"""Whose a thing is that a text speaks of: the speaker's own, or that of somebody else. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from services.common.values.words.lexicon import KIN, VERBS
from services.common.values.words.tokens import lemma
from services.gateway.erasure.queries import Wanted
from services.gateway.erasure.relations import canonical
from services.gateway.erasure.word_names import adjacent, does_something
from services.gateway.erasure.wording import (
    DETERMINERS,
    FIRST,
    LINKS,
    OF_THIRD,
    PERSONS,
    ROLES,
    SELF,
    Word,
    is_act_of,
    is_form,
    is_topic,
)

_WE: Final = frozenset({"i", "we", "i've", "we've", "i'm", "we're"})
_OWNER_WORDS_MAX: Final = 3
"""How far before a thing its owner stands: "my sister's old shoe size"."""
LIGHT: Final = frozenset({"trouble", "problem", "issue", "situation", "loss", "visit", "attempt", "session"})
"""Words that name a topic only together with another one."""


def is_own(words: Sequence[Word], wanted: Wanted) -> bool:
    """Returns whether the speaker's own thing is meant: nothing of others stands before the topic in the text."""
    place = next((p for p, word in enumerate(words) if any(is_form(word.bare, t) for t in wanted.topics)), None)
    if place is None:
        return any(word.lower in wanted.own_words for word in words)
    before = words[:place]
    near = [word for word in before if words[place].index - word.index <= _OWNER_WORDS_MAX]
    owner = next((word for word in reversed(near) if word.is_possessive or word.lower in OF_THIRD), None)
    if owner is not None and owner.lower not in wanted.own_words:
        return owner.bare in wanted.topics  # "my sister's shoe size"
    if _is_told_to_somebody(words, place):
        return True
    if any(
        one.lower in FIRST | wanted.own_words and two.bare in PERSONS - wanted.topics for one, two in pairwise(before)
    ):
        return False  # "my mother had arthritis"
    if any(word.lower in wanted.own_words for word in before):
        return True
    if wanted.topics & KIN and any(word.lower in wanted.own_words for word in words[place:]):
        return True  # "the divorce of my brother"
    if wanted.own_words == SELF and any(_is_owned(words, place, word) for word in near):
        return True  # "what I earn", "our income"
    if _is_there(words, place):
        return True
    if wanted.own_words == SELF:
        return any(word.lower in _WE for word in words[place + 1 : place + 2])  # "in therapy we spoke"
    is_of_another = any(word.lower in DETERMINERS or word.is_possessive or word.bare in PERSONS for word in before)
    return not is_of_another and not _does_another(words, place)


def _does_another(words: Sequence[Word], place: int) -> bool:
    """Whether somebody right before a verb of the topic does it: "Jonas smokes"."""
    before = words[place - 1] if place else None
    is_somebody = before is not None and (before.is_capital or before.lower in {"he", "she", "they"})
    is_somebody = is_somebody and before is not None and before.lower not in FIRST
    return is_somebody and does_something(words[place : place + 1])


def _is_owned(words: Sequence[Word], place: int, owner: Word) -> bool:
    """Whether "my" or "our" stands before a thing, and nobody between: "my March salary"."""
    between = [word for word in words[:place] if word.index > owner.index]
    if between and does_something(words[place : place + 1]):
        return False  # "Our caretaker retired"
    return owner.lower in {"my", "our"} and not any(word.bare in PERSONS or canonical(word.bare) for word in between)


def _is_there(words: Sequence[Word], place: int) -> bool:
    """Whether a text says that there is one and speaks of the speaker alone: "there's a bonus, paid with my salary"."""
    before, behind = [word.lower for word in words[:place]], words[place + 1 :]
    is_said = any(
        one == "there's" or (one == "there" and two in {"is", "was", "will"}) for one, two in pairwise([*before, ""])
    )
    is_own = any(word.lower in FIRST - {"you", "your", "yours"} for word in behind)
    others = (
        word.bare in PERSONS or canonical(word.bare) or word.lower in OF_THIRD or word.is_possessive for word in words
    )
    return is_said and is_own and not any(others)


def _is_told_to_somebody(words: Sequence[Word], place: int) -> bool:
    """Whether the speaker tells somebody of it: "I asked my boss about my knee", "I told my mother about the knee"."""
    before = words[:place]
    if not before or words[place].index != before[-1].index + 1:
        return False
    if before[-1].lower in {"my", "our"}:
        return True
    is_about = len(before) > 1 and (before[-2].lower, before[-1].lower) in {("about", "the"), ("of", "the")}
    is_of_another = place + 1 < len(words) and words[place + 1].lower == "of"  # "the diabetes of my aunt"
    person = next((p for p, (one, two) in enumerate(pairwise(before)) if one.lower == "my" and two.bare in PERSONS), 0)
    return is_about and not is_of_another and any(word.lower in _WE for word in before[:person])


def _before_topic(words: Sequence[Word], wanted: Wanted) -> tuple[Word, Sequence[Word]] | None:
    """The first word of the topic, and up to two right before it."""
    for place, word in enumerate(words):
        if any(is_topic(word, topic) for topic in wanted.topics):
            near = words[max(0, place - 2) : place]
            return word, [one for one in near if word.index - one.index <= len(near)]
    return None


def is_called_own(words: Sequence[Word], wanted: Wanted) -> bool:
    """Returns whether a text calls the thing of the query the speaker's: "my dog"."""
    found = _before_topic(words, wanted)
    return found is not None and any(word.lower in {"my", "our"} for word in found[1])


def is_another(words: Sequence[Word], wanted: Wanted) -> bool:
    """Returns whether a query means one thing and a text another's ("the neighbour's dog") or the kind ("hot dogs")."""
    found = _before_topic(words, wanted)
    if found is None or wanted.is_of_other or wanted.owners:
        return False
    word, before = found
    if any(one.is_possessive or one.lower in OF_THIRD for one in before):
        return True
    is_kind = any(is_form(word.bare, topic) and word.bare == f"{topic}s" for topic in wanted.singular)
    return is_kind and not any(one.lower in DETERMINERS | FIRST or one.lower[0].isdigit() for one in before)


def is_told_of_another(words: Sequence[Word], wanted: Wanted) -> bool:
    """Returns whether a text begins with somebody else who does what it tells: "My friend Ivo rows too"."""
    if len(words) < 2 or any(word.lower in _WE for word in words[:1]):
        return False
    does_too = bool({"too", "also"} & {word.lower for word in words}) or any(
        (one.lower, two.lower) == ("as", "well") for one, two in pairwise(words)
    )
    place = 1 if words[0].is_capital and words[1].lower in {"my", "our"} else 0  # behind the speaker: "Ada: My nan ..."
    owner = words[place].lower in {"my", "our"}
    if owner:
        is_person = place + 1 < len(words) and words[place + 1].bare in ROLES
        topical = next((n for n, word in enumerate(words) if any(is_topic(word, one) for one in wanted.topics)), 0)
        return is_person and not any(word.lower in _WE for word in words[: topical or len(words)])
    names = {part for name in wanted.names for part in name}
    is_name = words[0].is_capital and words[0].bare not in names | wanted.topics | LINKS | FIRST | DETERMINERS
    return does_too and is_name and lemma(words[1].bare) != words[1].bare and lemma(words[1].bare) in VERBS


def is_of_another(words: Sequence[Word], wanted: Wanted) -> bool:
    """Returns whether a query is about what the speaker does, and a text about what another does: "My nan taught"."""
    if not wanted.is_of_self:
        return False
    acts = [place for place, word in enumerate(words) if any(is_topic(word, topic) for topic in wanted.topics - LIGHT)]
    does = bool(acts) and all(_does_another(words, place) for place in acts) and bool(wanted.names)
    return does or is_told_of_another(words, wanted)


def is_another_act(words: Sequence[Word], wanted: Wanted) -> bool:
    """Returns whether a text has only the verb of the query's noun, and what it is done to: "We operated the crane"."""
    found = [place for place, word in enumerate(words) if any(is_topic(word, topic) for topic in wanted.topics)]
    return bool(found) and all(
        any(is_act_of(words[place].bare, topic) and lemma(words[place].bare) != topic for topic in wanted.topics)
        and [word.lower for word in adjacent(words, place)[:1]] == ["the"]
        for place in found
    )

"""Things of others whose name has a word of the speaker's: "the tattoo studio", "the phone number of the club".

"My tattoo" and "my phone number" mean neither. Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.common.values.words.lexicon import AUXILIARIES, VERBS
from services.common.values.words.tokens import lemma
from services.gateway.erasure.queries import OFFICES_OF, Wanted
from services.gateway.erasure.relations import canonical
from services.gateway.erasure.topics import names_matter
from services.gateway.erasure.word_names import adjacent
from services.gateway.erasure.wording import (
    DETERMINERS,
    FIRST,
    LINKS,
    OF_THIRD,
    PERSONS,
    SELF,
    Word,
    is_topic,
    words_of,
)

_BUSINESSES: Final = OFFICES_OF - {"desk", "ward"} | frozenset(
    """
    studio parlour parlor salon shop store park museum theatre theater cinema restaurant cafe bar pub hotel factory
    workshop centre center society association union federation parish charity team orchestra town hall
    """.split()  # noqa: SIM905 - words
)
"""Places and bodies that serve many people."""
_REACHED_BY: Final = frozenset("address number phone telephone mobile e-mail email mail fax website wifi wi-fi".split())  # noqa: SIM905
"""What everybody has one of, and is reached by: "at" and "for" say whose it is as well."""
_HELD: Final = _REACHED_BY | frozenset(
    "password pin iban birthday age name salary wage income weight height size surname".split()  # noqa: SIM905 - words
)
"""What everybody has one of."""
_OF: Final = frozenset({"of"})
_AT: Final = frozenset({"of", "at", "for"})
_DEALS: Final = SELF - {"you", "you're"} | {"me", "us"}
"""The speaker does something there, or is told something: "the yoga studio says I may come"."""
_MINE: Final = FIRST - {"you", "your", "yours"}


def is_of_others(wanted: Wanted, text: str) -> bool:
    """Returns whether a query means a thing of the speaker's, and a text has its word only in the name of another's.

    Args:
        wanted: The query.
        text: What somebody said.
    """
    if not wanted.own_words or wanted.is_of_other:
        return False
    words = list(words_of(text))
    places = [place for place, word in enumerate(words) if any(is_topic(word, topic) for topic in wanted.topics)]
    ends = [place for place in places if place + 1 not in places or words[place + 1].index != words[place].index + 1]
    return bool(ends) and all(
        _is_known_business(words, place, wanted) or _is_held_by_another(words, place, wanted) for place in ends
    )


def _is_known_business(words: Sequence[Word], place: int, wanted: Wanted) -> bool:
    """Whether a word says of which kind a place is with which the speaker does not deal: "the tattoo studio moved".

    Where a matter of life is meant, such a place is a part of it: "the fertility clinic".
    """
    behind = adjacent(words, place)[:2]
    if len(behind) > 1 and (
        behind[0].lower in LINKS or behind[0].bare in AUXILIARIES or lemma(behind[0].bare) in VERBS
    ):
        behind = behind[:1]  # "the tattoo from the studio"; not "the wheelchair rugby team"
    if names_matter(wanted.matters) or not any(lemma(word.bare) in _BUSINESSES for word in behind):
        return False
    return not any(word.lower in _MINE for word in words[:place]) and not any(word.lower in _DEALS for word in words)


def _is_held_by_another(words: Sequence[Word], place: int, wanted: Wanted) -> bool:
    """Whether somebody else or a body has what everybody has one of: "the e-mail address of the society"."""
    behind = adjacent(words, place)
    run = {lemma(word.bare) for word in words[max(0, place - 1) : place + 1]}  # "the wifi password at the library"
    links = _AT if run & _REACHED_BY else _OF
    if lemma(words[place].bare) not in _HELD or len(behind) < 2 or behind[0].lower not in links:
        return False
    owner = behind[1:]
    if owner[0].lower in _MINE:
        return any(word.bare in PERSONS or canonical(word.bare) for word in owner[1:3]) and owner[0].lower == "my"
    if owner[0].lower in DETERMINERS | OF_THIRD:
        owner = owner[1:4]
        return any(lemma(word.bare) in _BUSINESSES or word.bare in PERSONS or canonical(word.bare) for word in owner)
    return owner[0].is_capital and owner[0].bare not in wanted.topics

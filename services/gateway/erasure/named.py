"""Texts with a name that a query means: that of somebody, and not of a namesake, a place or a work. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from services.common.values.words.tokens import lemma
from services.gateway.erasure.bearers import is_elsewhere, is_of_other_bearer, is_somebody
from services.gateway.erasure.naming import is_name, surname_behind
from services.gateway.erasure.queries import Wanted
from services.gateway.erasure.relations import canonical
from services.gateway.erasure.word_names import adjacent, does_something, is_opening
from services.gateway.erasure.wording import BEARERS, OFFICES, ROLES, Word, has

_ROLES: Final = frozenset(map(lemma, ROLES))
"""As topics of a query: "manage" of "manager"."""

_DOERS: Final = ("er", "or", "ist", "ian", "ant", "man", "woman", "person", "mate", "ee")
"""How words for what people do end: "lodger", "glazier"."""
_PEOPLE: Final = frozenset("help helper maid aide girl boy guy lady lad bloke cook nurse guest au-pair".split())  # noqa: SIM905
"""Other words for who somebody is: "Joy, our help in the house"."""
_DEVICES: Final = frozenset(
    """
    computer printer scooter trailer router server cooker mixer freezer scanner charger cruiser trawler
    freighter steamer tractor motor monitor projector tanker paper theater theatre newsletter river water
    container coffee tree committee restaurant plant number folder car camper
    """.split()  # noqa: SIM905 - words
)
"""Things whose words end so."""


def named(wanted: Wanted, texts: Sequence[Sequence[Word]]) -> list[int]:
    """Texts with all numbers, and one of the names: by its own or with the surname that all of them give it."""
    found: list[int] = []
    surnamed: dict[str, list[int]] = {}
    for index, hits in _hits(wanted, texts).items():
        others = [surname_behind(texts[index], place, wanted.names) for place in hits]
        if "" in others:
            found.append(index)
        for surname in others:
            if surname:
                surnamed.setdefault(surname, []).append(index)
    if not found and len(surnamed) == 1:
        (found,) = surnamed.values()
    return sorted(set(found))


def _hits(wanted: Wanted, texts: Sequence[Sequence[Word]]) -> dict[int, list[int]]:
    """Where each text has one of the names; of somebody who is meant not where a place or a work bears it."""
    found = {
        index: hits
        for index, words in enumerate(texts)
        if wanted.numbers <= {word.lower for word in words} and (hits := _places(wanted, words))
    }
    if not wanted.about_name:
        return found
    names = [part for name in wanted.names for part in name]
    if _is_of_somebody(wanted):
        return _without(found, texts, names, is_of_other_bearer)
    # A name alone may be anything's, unless a text shows that it is somebody's.
    shows = any(is_somebody(texts[index], place) for index, hits in found.items() for place in hits)
    return _without(found, texts, names, is_elsewhere) if shows and not wanted.topics & BEARERS else found


def _without(
    found: Mapping[int, Sequence[int]],
    texts: Sequence[Sequence[Word]],
    names: Sequence[str],
    is_other: Callable[[Sequence[Word], int, Sequence[str]], bool],
) -> dict[int, list[int]]:
    return {
        index: [place for place in hits if not is_other(texts[index], place, names)] for index, hits in found.items()
    }


def _places(wanted: Wanted, words: Sequence[Word]) -> list[int]:
    hits = [
        place
        for place in range(len(words))
        for name in wanted.names
        if is_name(words, place, name)
        or _is_from_there(words, place, name, wanted)
        or _is_with_the_role(words, place, name, wanted)
    ]
    return [p for p in hits if not _is_from_elsewhere(words, p, wanted) and not _is_of_thing(words, p, wanted)]


def _is_of_somebody(wanted: Wanted) -> bool:
    """Whether a query says who somebody is to the speaker, where they are from or by which title they go."""
    is_titled = any(name[0] in OFFICES for name in wanted.names)
    return (
        is_titled
        or bool(wanted.origin)
        or any(
            canonical(topic) or topic in _ROLES | _PEOPLE or (topic.endswith(_DOERS) and topic not in _DEVICES)
            for topic in wanted.topics
        )
    )


def _is_from_there(words: Sequence[Word], place: int, name: tuple[str, ...], wanted: Wanted) -> bool:
    """Whether a word in small letters is a name by where somebody is from: "rose from the choir sings alto"."""
    is_from = words[place].bare in name and place + 2 < len(words) and words[place + 1].lower == "from"
    return is_from and any(has(words[place + 2 : place + 4], word) for word in wanted.origin)


def _is_with_the_role(words: Sequence[Word], place: int, name: tuple[str, ...], wanted: Wanted) -> bool:
    """Whether a word that opens a text is a name by who somebody is: "bill the decorator painted the hall".

    Then it goes on with what they do: "bill the decorator for the paint" is told to somebody.
    """
    opening = adjacent(words, place)
    if words[place].bare not in name or not is_opening(words, place) or len(opening) < 2:
        return False
    is_role = opening[0].lower == "the" and lemma(opening[1].bare) in wanted.topics
    is_wish = words[place].lower == "hope"  # "hope the physio rings"
    return is_role and not is_wish and (opening[1].is_possessive or does_something(opening[2:]))


def _is_of_thing(words: Sequence[Word], place: int, wanted: Wanted) -> bool:
    """Whether a name is that of a work or a place: "the opera Salome", where "my tutor Salome" is meant."""
    if not place or words[place - 1].index != words[place].index - 1:
        return False
    return words[place - 1].bare in BEARERS and lemma(words[place - 1].bare) not in wanted.topics


def _is_from_elsewhere(words: Sequence[Word], place: int, wanted: Wanted) -> bool:
    """Whether somebody of the name is from somewhere else than the query says: "Ron from the bank"."""
    if not wanted.origin or place + 2 >= len(words) or words[place + 1].lower != "from":
        return False
    return not any(has(words[place + 2 : place + 5], word) for word in wanted.origin)

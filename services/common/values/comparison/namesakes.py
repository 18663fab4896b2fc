"""Two people of one name, told apart by who they are: "my brother Jan", "my friend Jan". Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.words.fields import ENDED, EVENTS
from services.common.values.words.patterns import CachedPattern

_FAMILY: Final = tuple(
    frozenset(words.split())
    for words in (
        "mother mum mom mummy mam stepmother stepmum stepmom",
        "father dad daddy stepfather stepdad",
        "grandmother grandma gran granny nan nana",
        "grandfather grandpa grandad granddad",
        "brother twin sibling half-brother stepbrother",
        "sister twin sibling half-sister stepsister",
        "son boy child kid baby stepson",
        "daughter girl child kid baby stepdaughter",
        "grandson grandchild",
        "granddaughter grandchild",
        "cousin",
        "aunt auntie godmother",
        "uncle godfather",
        "nephew godson",
        "niece goddaughter",
        "brother-in-law",
        "sister-in-law",
        "father-in-law",
        "mother-in-law",
        "son-in-law",
        "daughter-in-law",
        "dog puppy",
        "cat kitten",
        "horse pony",
        "rabbit",
        "parrot budgie",
        "hamster",
    )
)
"""Relatives and pets, each with its other names. One cannot be another one, nor any of `_OTHERS`."""
_OTHERS: Final = frozenset(
    """
    wife husband partner girlfriend boyfriend fiance fiancee fiancé fiancée ex friend mate buddy pal colleague coworker
    co-worker workmate boss manager mentor neighbour neighbor flatmate roommate housemate classmate teammate teacher
    tutor coach trainer doctor dentist vet therapist landlord landlady lawyer client customer
    """.split()  # noqa: SIM905 - words
)
"""Somebody can be several of these: a friend becomes a husband, a neighbour is the dentist too."""
_ROLES: Final = "|".join(sorted(_OTHERS.union(*_FAMILY), key=len, reverse=True))
_WHOSE: Final = r"(?:my|our|his|her|their|(?:[A-Z][\w-]{0,30}\s){0,2}[A-Z][\w-]{0,30}'s)\s(?:(?:\w{2,12})\s)?"
_NAMED: Final = CachedPattern(rf"\b(?i:{_WHOSE})(?P<role>(?i:{_ROLES}))\s(?P<name>[A-Z][\w-]{{1,30}})\b")
"""As in "my older brother Jan"."""
_EXPLAINED: Final = CachedPattern(rf"\b(?P<name>[A-Z][\w-]{{1,30}}),\s(?i:{_WHOSE})(?P<role>(?i:{_ROLES}))\b")
"""As in "Jan, my brother, ..."."""
_WITH_ROLE: Final = re.compile(
    r"^(?:[Mm]y|[Oo]ur)\s(?:[a-z][a-z-]{1,14}\s)?(?P<role>[a-z][a-z-]{1,14})\s(?P<name>[A-Z][\w-]{1,30})(?=\s[a-z]|'s\s)"
)
_BARE: Final = re.compile(
    r"^(?:(?i:from|as\sof|since|starting|after)\s(?:(?!(?:my|our|his|her|their)\s)\w{1,12},?\s){1,3}|(?i:now|and|but|so|actually|also|today|yesterday),?\s)?(?P<name>[A-Z][\w-]{1,30})(?=\s(?!and\b)[a-z]|'s\s)"
)
_BESIDES: Final = re.compile(r"\b(?:also|too|as\swell)\b", re.IGNORECASE)
_NEAREST: Final = frozenset("wife husband partner girlfriend boyfriend fiance fiancee fiancé fiancée ex".split())  # noqa: SIM905
_CHARS_MAX: Final = 800


def are_namesakes(earlier: str, later: str) -> bool:
    """Returns whether the earlier statement opens with one person, and the later one names another of that name.

    Args:
        earlier: A statement.
        later: A later one; the person may stand anywhere in it.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX:
        return False
    opening = _NAMED.match(earlier) or _EXPLAINED.match(earlier)
    if opening is None:
        return False
    role, name = opening["role"].casefold(), opening["name"]
    others = [other for other_name, other in _people(later) if other_name == name]
    return bool(others) and all(_exclude_each_other(role, other) for other in others)


def with_bare_names(earlier: str, later: str) -> tuple[str, str]:
    """Returns two statements about one person without who it is, where one of them names the person alone.

    "Our maid Sunita comes at 7" is "Sunita comes at 7" beside "from today Sunita comes at 11", but not beside "Sunita
    comes on Mondays as well". Who is called "my colleague Sunita" later may be another one, and what became of a
    relative's job or marriage depends on whose relative they are.

    Args:
        earlier: A statement.
        later: A later one.
    """
    role = _WITH_ROLE.match(later)
    if _BESIDES.search(later) is not None:
        return earlier, later
    is_introduced = role is not None and role["role"] in _OTHERS.union(*_FAMILY)
    return _bare(earlier, later), later if is_introduced else _bare(later, earlier)


def _bare(text: str, other: str) -> str:
    full, bare = _WITH_ROLE.match(text), _BARE.match(other)
    if full is None or bare is None or full["name"] != bare["name"]:
        return text
    if full["role"] in _NEAREST.union(*_FAMILY) and (EVENTS.search(other) or ENDED.search(other)):
        return text
    return text[full.start("name") :]


@text_cache(4_096)
def _people(text: str) -> tuple[tuple[str, str], ...]:
    """The people in a text that are named with a role, each as name and role."""
    return tuple(
        (match["name"], match["role"].casefold())
        for found in (_NAMED, _EXPLAINED)
        for match in found.pattern.finditer(text)
    )


def _exclude_each_other(role: str, other: str) -> bool:
    if role == other or any({role, other} <= group for group in _FAMILY):
        return False
    return role not in _OTHERS or other not in _OTHERS

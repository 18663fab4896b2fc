"""Things of one kind that belong to two people: "my flat" and "my sister's flat". Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache

_OWNED: Final = re.compile(
    r"\b(?P<owner>(?!(?:it|that|there|what|here|who|let|he|she|where|how)'s)[a-z][\w-]{1,20})'s\s(?:(?:new|old|own|big|little)\s)?(?P<what>[a-z][a-z-]{2,20})\b",
    re.IGNORECASE,
)
_OWN: Final = re.compile(
    r"\b(?:my|our)\s(?:(?:new|old|own)\s)?(?P<what>[a-z][a-z-]{2,20})(?=\s(?:is|are|has|was|costs?|starts?|weighs?|takes?|ends?|runs?)\b)",
    re.IGNORECASE,
)


def are_of_two_owners(earlier: str, later: str) -> bool:
    """Returns whether one statement is about something of the speaker, and the other one about somebody else's.

    As in "my boss is Mrs Klein", "my husband's boss is Mr Gross now". Where both name the owner, both may mean theirs.
    """
    return _is_of_another(earlier, later) or _is_of_another(later, earlier)


def _is_of_another(own: str, other: str) -> bool:
    things = _own_things(own)
    if not things or "'s " not in other:
        return False
    owners = _owners(other)
    said = own.casefold()
    return any(owners[thing] not in said for thing in things & owners.keys()) and not things & _own_things(other)


@text_cache(4_096)
def _own_things(text: str) -> frozenset[str]:
    return frozenset(match["what"].casefold() for match in _OWN.finditer(text))


@text_cache(4_096)
def _owners(text: str) -> dict[str, str]:
    """By thing who has it."""
    return {match["what"].casefold(): match["owner"].casefold() for match in _OWNED.finditer(text)}

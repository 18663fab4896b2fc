"""What somebody does for the speaker or with them; it ends when they emigrate or leave their work. Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.values.pieces import read_statement
from services.common.values.tokens import lemma
from services.common.values.whose import people_in, spoken, turned_to

_LEFT_WORK: Final = re.compile(
    r"\bi\s(?:have\s|has\s)?(?:left|quit)\s(?:the\s)?(?:company|firm|team|department|agency|studio|practice|school|job)\b"
)
_AT_WORK: Final = frozenset("share work sit commute lunch carpool pair".split())  # noqa: SIM905 - words
"""What is done with a colleague."""
_EMIGRATED: Final = re.compile(r"\bi\s(?:have\s|has\s)?(?:emigrated|moved\s(?:abroad|overseas))\b")
_FOR_ME: Final = frozenset(
    "pick water drive feed clean walk mow fix help teach bring collect look cut cook babysit mind".split()  # noqa: SIM905
)
_WITH_ME: Final = frozenset("share meet train play run swim commute drive live cook".split())  # noqa: SIM905 - words
"""What somebody does for the speaker, and with them: it ends when they leave the country."""


def leaves_the_near(earlier: str, later: str) -> bool:
    """Returns whether somebody who does something with or for the speaker has gone far away, or left their work.

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
    """
    people = people_in(later)
    if any(_EMIGRATED.search(turned_to(later, person)) and _is_near(earlier, person) for person in people):
        return True
    return any(_LEFT_WORK.search(turned_to(later, person)) and _is_near(earlier, person, _AT_WORK) for person in people)


def _is_near(earlier: str, person: str, deeds: frozenset[str] = _WITH_ME) -> bool:
    """Whether a statement says what somebody does for the speaker or with them, where they live."""
    for clause in read_statement(earlier).clauses:
        subject = {word for item in clause.subject for word in str(item).split()}
        if clause.past or clause.negated or clause.historic:
            continue
        opening = [lemma(word) for word in spoken(earlier).lower().split()[1:3]]
        if clause.words[:1] == (person,) and _FOR_ME & set(opening):
            return True
        with_whom = {
            word for item in clause.rest if clause.prepositions.get(item) == "with" for word in str(item).split()
        }
        if {"i", "we"} & subject and clause.verb in deeds and person in with_whom:
            return True
    return False

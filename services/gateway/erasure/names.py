"""Names in queries that are typed without capitals. Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.values.reading.splitting import DETERMINERS
from services.common.values.words.lexicon import KIN, POSSESSIVES, PRONOUNS, STOP
from services.gateway.erasure.word_names import ALSO_WORDS

_RELATION: Final = (
    rf"(?:(?:former|ex|old|best|new|late)[\s-])?(?:{'|'.join(sorted(KIN))}|step\w{{3,8}}|friend|ex|boss|colleague|coworker|neighbou?r|"
    r"flatmate|roommate|teacher|coach|tutor|doctor|dentist|therapist|landlord|landlady|client|customer|crush|classmate|"
    r"gardener|cleaner|babysitter|nanny|trainer|manager|assistant|girlfriend|boyfriend|fianc\w{1,2}|dog|cat)"
)
_LOWER_FIRST: Final = re.compile(rf"^(?P<name>[a-z]{{2,20}}),\s(?:my|our|[a-z]{{2,20}}'s)\s{_RELATION}$")
_LOWER_LAST: Final = re.compile(rf"^(?:my|our|[a-z]{{2,20}}'s)\s{_RELATION}\s(?P<name>[a-z]{{2,20}})$")
_LOWER_ROLE: Final = re.compile(
    rf"^(?P<name>{'|'.join(sorted(ALSO_WORDS))})\sthe\s(?:{_RELATION}|[a-z]{{3,16}}(?:er|or|ist|ian|man|woman))$"
)
"""A name that is a word too: "bill the decorator"."""
_NO_NAMES: Final = STOP | PRONOUNS | DETERMINERS | frozenset(POSSESSIVES)


def with_capitals(query: str) -> str:
    """Returns a query with capitals of the name that a relation shows: "ron, vince's stepdad", "my friend leo"."""
    if query != query.lower():
        return query
    for pattern in (_LOWER_FIRST, _LOWER_LAST, _LOWER_ROLE):
        match = pattern.match(query)
        if match is not None and match["name"] not in _NO_NAMES:
            start, end = match.span("name")
            return query[:start] + match["name"].title() + query[end:]
    return query

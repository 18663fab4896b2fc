"""The yes and the no of the same, in the forms that verbs give it: "the office has no lift". Pure functions.

Beside `slots.is_denied`, which compares clauses as they stand, these rules read "has no X" as a denial, "skips X" as
"does not eat X", and what somebody got or received as what they have.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.comparison.slots import is_plain
from services.common.values.reading.clauses import Clause
from services.common.values.reading.people import OTHERS
from services.common.values.reading.pieces import read_statement
from services.common.values.words.nouns import nouns_of
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.unsure import UNSURE

_CHARS_MAX: Final = 200
_REWRITES: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), form)
    for pattern, form in (
        (r"\b(?:has|have|'ve\sgot|has\sgot|have\sgot)\sno\s(?=\w)", "do not have a "),
        (r"\b(?:skips?|skipping|refuses?|refusing|won't\seat|will\snot\seat|won't\stouch)\s(?=\w)", "do not eat "),
        (r"\b(?P<can>can|can't|cannot)\smake\sit\b", r"\g<can> come"),
        (r"\bi(?:'m|\sam)\snot\s(?P<deed>eat|drink|us|tak|play|wear|smok)ing\s", r"i do not \g<deed>ing "),
        (r",?\safter\sall\b", " now"),
        (r"\b(?P<who>i|we)\s(?:always|usually|normally|often|mostly|regularly)\s", r"\g<who> "),
    )
)
"""Other forms of a denial, in the plain one."""
_LACKS: Final = re.compile(
    r"^(?:i|we)\s(?:(?:still\s)?(?:don't|do\snot)\s(?:have|own)\s(?:an?|any)|(?:have|own|'ve\sgot)\sno)\s(?P<what>[\w-]{2,30}(?:\s[\w-]{2,30})?)$",
    re.IGNORECASE,
)
_GETS: Final = re.compile(
    r"^(?:(?:i|we)(?:'ve|\shave)?(?:\s(?:finally|just|now|recently))?\s(?:got|bought|adopted|received|built|installed)\s"
    r"(?:an?|my|our|our\sfirst|my\sfirst)\s(?P<what>[\w-]{2,30}(?:\s[\w-]{2,30})?)|"
    r"(?:my|our)\s(?:new\s)?(?P<own>[\w-]{2,30})\s(?:has\s)?(?:finally\s)?(?:arrived|came|is\shere|was\sdelivered|been\sdelivered))"
    r"(?=$|[.,;!]|\s(?:today|yesterday|now|last|this|on|in|at|from|for|finally|with)\b)",
    re.IGNORECASE,
)
_WHO: Final = r"(?P<who>(?:the|my|our)\s[\w'-]{2,30}(?:\s[\w'-]{2,30}){0,2}?|(?-i:[A-Z])[\w'-]{1,30})"
_WHAT: Final = r"(?:(?:all|any|new|more|the|its|your|my|our)\s){0,2}(?P<what>[\w-]{2,30}(?:\s[\w-]{2,30})??)"
_REFUSES: Final = CachedPattern(
    rf"(?:^|[\s,;:]){_WHO}\s(?:(?:now|currently|also)\s)?(?:refuses?|rejects?|declines?|blocks?|bars?|turns?\saway|"
    r"(?:(?:won't|doesn't|don't|can't|cannot|does\snot|will\snot)\s)(?:take|accept|allow|admit|serve|process|read)|"
    rf"(?:is|are)\s(?:refusing|rejecting|declining|blocking)|(?:takes?|accepts?|allows?|admits?|serves?)\sno|skips?)\s{_WHAT}"
    r"(?=$|[,.;!]|\s(?:until|till|during|for|at|this|these|while|because|since|right|any)\b)",
    re.IGNORECASE,
)
_ADMITS: Final = re.compile(
    rf"(?:^|[\s,;:]){_WHO}\s(?:(?:is|are)\s)?(?:(?:now|finally)\s)?(?:takes?|taking|accepts?|accepting|allows?|allowing|admits?|admitting|"
    rf"serves?|serving|processes|processing|reads?|reading)\s{_WHAT}\s(?:again|once\smore|as\s(?:before|usual))\b",
    re.IGNORECASE,
)
"""A thing, a place or an office that did not take something and does so again."""
_BRIEF: Final = frozenset("yesterday today tonight morning once this".split())  # noqa: SIM905 - words
_WILL: Final = re.compile(r"\b(?:will|shall|soon|not|never|only)\b|'ll\b|n't\b", re.IGNORECASE)
_SPEAKERS: Final = frozenset({"i", "we"})
_DEEDS: Final = frozenset({"eat", "have", "drink", "like"})


class _Stated(NamedTuple):
    clauses: tuple[Clause, ...]
    lacks: frozenset[str]
    gets: frozenset[str]


def is_reversed(earlier: str, later: str) -> bool:
    """Returns whether the later statement says yes where the earlier one says no of the same, or no where it says yes.

    Args:
        earlier: A statement.
        later: A later one of the same speaker, which must say that it is new.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX:
        return False
    if _takes_again(earlier, later):
        return True
    first, second = _read(earlier), _read(later)
    if first.lacks and first.lacks == second.gets:
        return True
    return any(_are_opposed(a, b) for a in first.clauses for b in second.clauses)


def _takes_again(earlier: str, later: str) -> bool:
    """As in "the API refuses all writes until Monday", "the API takes writes again"."""
    refuses = _REFUSES.search(earlier)
    admits = _ADMITS.search(later) if refuses is not None else None
    if refuses is None or admits is None or _WILL.search(later) or UNSURE.search(later):
        return False
    who, what = ([nouns_of(match[name]) for match in (refuses, admits)] for name in ("who", "what"))
    return bool(who[0] and what[0]) and who[0] == who[1] and what[0] == what[1]


@text_cache(4_096)
def _read(text: str) -> _Stated:
    plain = " ".join(text.replace("\u2019", "'").split()).rstrip(".! ")
    lacks, gets = _LACKS.match(plain), _GETS.match(plain)
    for pattern, form in _REWRITES:
        plain = pattern.sub(form, plain)
    return _Stated(
        clauses=read_statement(plain).clauses,
        lacks=nouns_of(lacks["what"]) if lacks is not None else frozenset(),
        gets=nouns_of(gets["what"] or gets["own"]) if gets is not None and not OTHERS.search(text) else frozenset(),
    )


def _are_opposed(a: Clause, b: Clause) -> bool:
    if a.negated == b.negated or not (is_plain(a) and is_plain(b)) or a.past or b.past or b.temporary:
        return False
    if not (b.changed or _says_so(a, b)) or _BRIEF & {*b.words} or a.possessors != b.possessors:
        return False
    if a.verb != b.verb and not {a.verb, b.verb} <= _DEEDS:
        return False
    first, second = _whose(a), _whose(b)
    things = [[str(item) for item in clause.rest if item != "now"] for clause in (a, b)]
    return bool(first and things[0]) and first == second and things[0] == things[1]


def _says_so(a: Clause, b: Clause) -> bool:
    """Whether somebody's coming or having is denied outright, so that no word must say that it is new."""
    return b.negated and a.verb in {"come", "attend"} and not set(map(str, a.subject)) <= _SPEAKERS


def _whose(clause: Clause) -> frozenset[str]:
    words = frozenset(map(str, clause.subject))
    return frozenset({"i"}) if words <= _SPEAKERS and words else words

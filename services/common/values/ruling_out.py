"""Why neither of two statements takes the place of the other: another time, another person, hearsay. Pure functions."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from services.common.values.comparison.bonds import outlasts_the_move
from services.common.values.comparison.complements import are_contrasted, are_two_relatives
from services.common.values.comparison.namesakes import are_namesakes
from services.common.values.comparison.owners import are_of_two_owners
from services.common.values.lives.passing import is_for_a_while
from services.common.values.model import Relation
from services.common.values.partings.items import leaves_another_group
from services.common.values.reading.occasions import happened_once, is_usual
from services.common.values.reading.people import FIRST
from services.common.values.replacement.ages import is_another_age
from services.common.values.replacement.days import is_another_time, is_same_day
from services.common.values.replacement.periods import are_of_two_periods, is_left_out_once, is_of_some_days
from services.common.values.replacement.ranges import are_of_two_ranges
from services.common.values.words.nouns import nouns_of
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.unsure import HEARSAY, REPORTED

CHARS_MAX: Final = 400
"""In longer sentences only what they are about is compared: their clauses belong together in too many ways."""
_GOES_ON: Final = CachedPattern(
    r"\bbut\s(?:it|he|she|they)\s(?:still\s(?:works?|runs?|goes|lives?)|survived|(?:is|are)\s(?:fine|unhurt)|came\sback)\b|"
    r"\bbut\s(?:[\w']{1,15}\s){0,3}(?:works|worked|survived|saved\sit|lives|lived)[.!\s]*$",
    re.IGNORECASE,
)
"""It is as it was after all: "I dropped the phone, but it still works"."""
_KEPT: Final = CachedPattern(
    r"\b(?:left|leave|leaving|kept|keep|keeping)\s(?P<what>[\w'\s-]{2,60}?)\s(?:as\s(?:it|they)\s(?:is|was|are|were)|unchanged|the\ssame|untouched|alone)\b",
    re.IGNORECASE,
)
"""Nothing becomes of it: "we left the old tool as it is"."""
_SLIP: Final = CachedPattern(
    r"\bby\s(?:mistake|accident)\b|\b(?:accidentally|unknowingly|inadvertently)\b|\bwithout\s(?:knowing|noticing|realising|realizing)\b",
    re.IGNORECASE,
)
"""It was not meant, so it says nothing of what holds: "I ate meat by mistake"."""
_FOR_A_WHILE: Final = CachedPattern(r"\b(?:during|while)\s+(?:the|my|our|his|her|i'm|we're|[A-Z])", re.IGNORECASE)
"""Under these the later one holds for a while, and takes nothing back."""
_OCCASIONS: Final = CachedPattern(
    r"\b(?:weekends?|weekdays?|holidays|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|summers?|winters?|spring|autumn|mornings?|evenings?|nights?|school\sdays|term\stime)\b",
    re.IGNORECASE,
)
_OCCASION: Final = CachedPattern(
    r"(?:at|on|in|during)\s(?:the\s)?(?:weekends?|weekdays|holidays|(?:mon|tues|wednes|thurs|fri|satur|sun)days|summer|winter|spring|autumn|school\sdays|term\stime)\b,?\s",
    re.IGNORECASE,
)
"""Opens what holds at some times only."""
_OF_OTHER_TIMES: Final = (is_another_time, is_same_day, are_of_two_periods, is_another_age)
_BOTH_HOLD: Final = (
    are_two_relatives,
    are_namesakes,
    are_of_two_owners,
    are_of_two_ranges,
    is_left_out_once,
    is_of_some_days,
    outlasts_the_move,
)


def are_of_two_times(earlier: str, said: date | None, later: str, told: date | None) -> bool:
    """Returns whether both statements may hold, each at its own time, or name one day in two ways.

    Args:
        earlier: A statement.
        said: When it was said.
        later: A later one.
        told: When that was said.
    """
    return any(rule(earlier, said, later, told) for rule in _OF_OTHER_TIMES)


def ruled_out(earlier: str, later: str, *, is_same_speaker: bool) -> Relation | None:
    """Returns what two statements are to each other where neither can take the place of the other; None where one may.

    Args:
        earlier: A statement.
        later: A later one.
        is_same_speaker: Whether one person made both.
    """
    if len(earlier) > CHARS_MAX or len(later) > CHARS_MAX:
        return Relation.UNKNOWN
    if are_contrasted(earlier, later) or _is_kept(earlier, later) or leaves_another_group(earlier, later):
        return Relation.COMPATIBLE
    occasion = _OCCASION.match(later)
    if occasion is not None and not _OCCASIONS.search(earlier):
        return Relation.COMPATIBLE  # "at weekends my alarm is at nine"
    if any(rule(earlier, later) for rule in _BOTH_HOLD) or (happened_once(later) and is_usual(earlier)):
        return Relation.COMPATIBLE
    if (REPORTED.match(later) or HEARSAY.search(later)) and not (REPORTED.match(earlier) or HEARSAY.search(earlier)):
        return Relation.UNKNOWN
    if _GOES_ON.search(later) or _SLIP.search(later):
        return Relation.UNKNOWN
    if not is_same_speaker and (FIRST.search(earlier) or FIRST.search(later)):
        return Relation.UNRELATED  # what one says of themselves another cannot take back
    is_brief = [_FOR_A_WHILE.search(text) is not None or is_for_a_while(text) for text in (earlier, later)]
    return Relation.COMPATIBLE if is_brief == [False, True] else None


def _is_kept(earlier: str, later: str) -> bool:
    """Whether the later one says that what the earlier one is about stays as it is."""
    match = _KEPT.search(later)
    return match is not None and bool(kept := nouns_of(match["what"])) and kept <= nouns_of(earlier)

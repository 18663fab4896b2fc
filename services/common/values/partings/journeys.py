"""A journey to something that does not take place: "the Lisbon conference is off" ends "I fly to Lisbon on 11 May".

SPEC 3.5. Pure functions. Where somebody lives, or goes again and again, has its own reasons.
"""

from __future__ import annotations

import re
from typing import Final

from services.common.values.words.lexicon import MONTHS, WEEKDAYS
from services.common.values.words.patterns import CachedPattern

_CHARS_MAX: Final = 200
_PLACE: Final = r"(?P<place>(?-i:[A-Z])[\w'-]{2,30})"
_PLACE_TOO: Final = _PLACE.replace("place", "place2")
_EVENT: Final = (
    r"(?:conference|congress|summit|convention|meeting|meet-?up|workshop|seminar|course|training|retreat|offsite|off-site|kick-?off|"
    r"fair|trade\sfair|exhibition|expo|show|festival|concert|gig|match|race|marathon|regatta|tournament|competition|wedding|"
    r"reunion|party|trip|holiday|vacation|tour|cruise|visit|job|assignment|project|interview|audit|trial|talk|lecture)"
)
_OF_PLACE: Final = re.compile(
    rf"\b(?:the|my|our|that)\s(?:{_PLACE}\s(?:[\w-]{{2,20}}\s)?{_EVENT}|"
    rf"(?:[\w-]{{2,20}}\s)?{_EVENT}\s(?:in|to)\s{_PLACE_TOO})(?=$|\s|[.,;!])",
    re.IGNORECASE,
)
_OFF: Final = CachedPattern(
    r"\b(?:called\soff|cancell?ed|scrapped|axed|(?:not|isn't|ain't)\s(?:happening|taking\splace|going\sahead)|(?:won't|will\snot)\s(?:happen|take\splace|go\sahead)|"
    r"fell\sthrough|fallen\sthrough|(?:is|was|'s)\soff(?!\s(?:to|on)\b)|pulled\sthe\splug|pulled\sout\sof|withdrew\sfrom|withdrawn\sfrom|dropped\sout\sof|"
    r"(?:have|had)\sto\s(?:cancel|skip|miss)|online\s(?:only|now|instead)|(?:moved|gone|went)\sonline)\b",
    re.IGNORECASE,
)
_OPEN: Final = CachedPattern(
    r"\b(?:if|might|may|maybe|perhaps|would|could|should|almost|nearly|unless|last\s(?:year|month)|ago)\b|n't\s(?:called|cancel)|\?",
    re.IGNORECASE,
)
_JOURNEY: Final = re.compile(
    rf"^(?:(?:i|we)(?:'m|'re|'ll|\sam|\sare|\sshall|\swill)?\s(?:fly|flying|travel|travelling|traveling|drive|driving|go|going|sail|sailing|head|heading|"
    rf"leave|leaving|take\s(?:the|a)\s[\w-]{{2,15}}|taking\s(?:the|a)\s[\w-]{{2,15}})\s(?:out\s|over\s|down\s|up\s)?(?:to|for)\s{_PLACE}|"
    rf"(?:my|our|the)\s(?:flights?|trains?|tickets?|ferry|coach|hotel|room|hostel|rental\scar|hire\scar|b&b)\s"
    rf"(?:[\w-]{{2,20}}\s){{0,2}}?(?:to|for|in)\s{_PLACE_TOO})\b",
    re.IGNORECASE,
)
_DAY: Final = re.compile(
    rf"\b(?:\d{{1,2}}|{'|'.join(sorted({*MONTHS, *WEEKDAYS}))}|tomorrow|next\sweek)\b", re.IGNORECASE
)
_AGAIN: Final = re.compile(r"\b(?:every|each|twice|often|usually|always|home)\b|\w{3,6}days\b", re.IGNORECASE)
_HOTEL: Final = re.compile(r"^(?:my|our|the)\s(?:hotel|room|hostel|b&b)\b", re.IGNORECASE)


def is_for_nothing(earlier: str, later: str) -> bool:
    """Returns whether an earlier statement tells of a journey to a place where something is called off.

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX or _OFF.search(later) is None or _OPEN.search(later):
        return False
    event, journey = _OF_PLACE.search(later), _JOURNEY.match(earlier)
    if event is None or journey is None or _AGAIN.search(earlier):
        return False
    place = event["place"] or event["place2"]
    if place.casefold() != (journey["place"] or journey["place2"]).casefold():
        return False
    return _DAY.search(earlier) is not None or _HOTEL.match(earlier) is not None

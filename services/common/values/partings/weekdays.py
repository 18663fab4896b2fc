"""One of several weekdays that is used otherwise: "Thursdays are home office now" (SPEC 3.5). Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.values.reading.people import OTHERS
from services.common.values.words.lexicon import WEEKDAYS

_CHARS_MAX: Final = 200
_DAY: Final = rf"(?:{'|'.join(sorted(WEEKDAYS))})"
_DAYS: Final = re.compile(rf"\b({_DAY})s?\b", re.IGNORECASE)
_FREED: Final = (
    r"(?:home\soffice|homeoffice|off|free|gone|out|over|history|remote|mine|ours|(?:spent\s|days\s)?at\shome|from\shome|for\sthe\s(?:kids|children|family)|"
    r"my\s(?:day\soff|free\sday|home\s(?:office\s)?day)|no\slonger\s\w+|family\s(?:day|time))"
)
_OTHERWISE: Final = re.compile(
    rf"(?:^|\b(?:now|on|later|week|month|january|february|march|april|may|june|july|august|september|october|november|december|so|and|but|that),?\s)"
    rf"(?:(?:the|my|our)\s)?(?P<day>{_DAY})s\s(?:are|is|will\sbe|have\sbecome)\s(?:now\s|all\s|always\s)?{_FREED}\b|"
    rf"\b(?:no\smore|dropped|drop|gave\sup|lost|cut(?:\sout)?|stopped)\s(?:(?:the|my|our)\s)?(?P<day2>{_DAY})s\b(?!\s(?:morning|evening)s?\b)|"
    rf"\b(?:(?:i|we)(?:'ve|'m|'re)?\s(?:now\s)?(?:have|got|get|take|taking|work|working|am|are|stay|spend)|(?:i'm|we're))\s"
    rf"(?:my\s|the\s)?(?:(?P<day3>{_DAY})s\s(?:off|free|from\shome|at\shome)|(?:from\shome|at\shome|off|free|remote|remotely)\s(?:on\s)?(?P<day4>{_DAY})s)\b|"
    rf"^(?:on\s)?(?P<day5>{_DAY})s\s(?:i|we)(?:'m|'re|\sam|\sare)?\s(?:now\s)?(?:work\s|working\s|stay\s)?(?:from\shome|at\shome|off|free|remote)\b",
    re.IGNORECASE,
)
"""A weekday on which the speaker is not where they were."""
_OPEN: Final = re.compile(
    r"\b(?:if|might|may|maybe|perhaps|would|could|should|want|wish|hope|also|too|except|this|next|last|tomorrow|never|not|"
    r"until|till|during|while|for\s(?:a|the|now)|in\s(?:summer|winter|spring|autumn|august|july))\b|n't\b|\?",
    re.IGNORECASE,
)
_AT_HOME: Final = re.compile(r"\b(?:home|remote\w{0,2}|off|free)\b", re.IGNORECASE)
_PRESENT: Final = re.compile(
    r"^(?:i|we|i'm|we're)\s|^(?:my|our)\s(?:office\sdays|work(?:ing)?\s?days|days|shifts)\b", re.IGNORECASE
)


def frees_a_weekday(earlier: str, later: str) -> bool:
    """Returns whether an earlier statement names several weekdays of which the speaker uses one otherwise now.

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX or OTHERS.match(earlier) or OTHERS.match(later):
        return False
    if _PRESENT.match(earlier) is None or _AT_HOME.search(earlier) or _OPEN.search(later):
        return False
    days = {day.casefold() for day in _DAYS.findall(earlier)}
    match = _OTHERWISE.search(later) if len(days) > 1 else None
    if match is None:
        return False
    named = {day.casefold() for day in match.groupdict().values() if day}
    return bool(named & days)

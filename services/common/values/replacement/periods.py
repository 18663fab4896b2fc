"""Statements that hold in two periods: "this week I am on nights", "next week I am on earlies". Pure functions.

What holds in one period does not end by what holds in another one, before its own time is over. The same goes for times
that come again: "on Mondays I work from home", "on Fridays I work from the office". Where the statements differ in
nothing but the period, it is what they say, and the later one may be a change of it.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta
from typing import Final, NamedTuple

from services.common.values.words.fields import CHANGED
from services.common.values.words.lexicon import WEEKDAYS
from services.common.values.words.patterns import CachedPattern

_NO_DAY: Final = date(2001, 1, 1)
"""Stands for the day of statements whose day nobody knows: it counts as one."""
_STEPS: Final = {"last": -1, "this": 0, "current": 0, "next": 1, "coming": 1, "following": 1}
_UNITS: Final = (
    "weekend|week|fortnight|month|quarter|(?:school\\s|financial\\s)?year|term|trimester|semester|season|spring|summer|autumn|"
    "winter|block|rotation|round|sprint|cycle"
)
_RELATIVE: Final = CachedPattern(
    rf"(?P<open>^(?:(?:and|but|so|then)\s)?(?P<since>(?:from|as\sof|starting|beginning)\s)?)?(?:\b(?:for|in|during)\s)?(?:\bthe\s)?\b(?P<which>{'|'.join(_STEPS)})\s(?P<unit>{_UNITS})"
    r"(?P<over>\safter\snext)?(?![\w'-])(?P<end>,?\s|(?=\s?[,;:.!?])|$)",
    re.IGNORECASE,
)
_DAYS: Final = "|".join(sorted(WEEKDAYS))
_RECURRING: Final = CachedPattern(
    r"^(?:(?:and|but|so|then)\s)?(?:(?:on|at|in|during)\s)?(?:the\s)?(?:"
    rf"(?P<days>(?:{_DAYS})s|weekends?|weekdays|school\sdays)|(?P<parts>mornings|afternoons|evenings|nights?)|"
    r"(?P<seasons>(?:spring|summer|autumn|winter)s?|term\stime|(?:school\s)?holidays)),?\s"
    r"(?=(?:i|i'm|i've|we|we're|we've|my|our|the|he|she|they|it|(?-i:[A-Z])[\w'-]+)\s)",
    re.IGNORECASE,
)
"""Opens what holds at a time that comes again."""
_TIMED: Final = re.compile(
    r"(?:\b(?:is|are|was|were|be|am|to|until|till|from|since|by|for|starts?|begins?|ends?)|'s)\s?$", re.IGNORECASE
)
"""Before a period that is what is said, and no frame of it: "the inspection is next week"."""
_CUT: Final = re.compile(r"[,;:.!?]\s|\s[\u2013\u2014-]{1,3}\s")
_WORD: Final = re.compile(r"\w++(?:['.:%-]++\w++)*+")
_FILLERS: Final = frozenset("now again instead too also still always the a an".split())  # noqa: SIM905 - words
_HABIT: Final = CachedPattern(
    rf"\b(?:every|each|usually|always|normally|regularly|daily|weekly|monthly|twice\sa|once\sa|(?:{_DAYS})s|weekends|mornings|evenings|nights)\b",
    re.IGNORECASE,
)
_LEFT_OUT: Final = CachedPattern(
    r"\b(?:no|not|won't|can't|isn't|aren't|don't|skip\w*|miss(?:ing|ed)?|cancell?ed|off|without)\b",
    re.IGNORECASE,
)
_ONE_TIME: Final = CachedPattern(
    rf"\b(?:this|next|last|coming)\s(?:{_DAYS}|week|weekend|time|once|morning|afternoon|evening|month)\b|\b(?:today|tonight|tomorrow|yesterday)\b",
    re.IGNORECASE,
)
_ANY_DAY: Final = CachedPattern(rf"\b(?:{_DAYS})s?\b|\bevery\b|\bweek(?:ends?|days?)\b", re.IGNORECASE)
_ON_SOME_DAYS: Final = re.compile(
    rf"\bat\s(?:\d{{1,2}}(?:[:.]\d\d)?|[a-z]{{2,10}})(?:\s?[ap]m)?\s(?:on\s(?:{_DAYS})s|(?:at|on)\sweekends)[.!]?$",
    re.IGNORECASE,
)
"""As in "comes at 11 on Sundays"."""
_CALLED_OFF: Final = CachedPattern(
    r"\b(?:orchestra|choir|band|rehearsals?|practice|practise|training|class|lesson|course|seminar|club|group|circle|yoga|pilates|zumba|gym|swimming|football|"
    r"netball|hockey|rugby|tennis|badminton|ballet|judo|karate|church|mass|school|nursery|stand-?up|surgery|market|quiz|bingo|physio|therapy|tutoring|session|dance|dancing|service|bus|train|ferry)"
    rf"\s(?:(?:is|was|got|has\sbeen)|'s)\s(?:cancell?ed|called\soff|off|not\son)\s(?:(?:for\s)?(?:tonight|today|tomorrow)|(?:for\s)?(?:this|next)\s(?:{_DAYS}|week|weekend|time|once|morning|afternoon|evening|month)|(?:for|on)\s(?:{_DAYS}))\b",
    re.IGNORECASE,
)
"""What comes again and is called off a single time: "orchestra is cancelled tonight"."""
_FOR_GOOD: Final = CachedPattern(
    r"\b(?:from|since|starting|as\sof|beginning|until\sfurther|for\sgood|any\s?more|any\slonger|no\slonger|for\sever|forever|ever\sagain|never|now|quit|gave\sup|given\sup)\b",
    re.IGNORECASE,
)
_TERM_DAYS: Final = 60
"""Terms and seasons have no calendar: within so many days, "this term" is the same one."""
_MONTHS: Final = 12
_QUARTER: Final = 3
_WEEK: Final = 7


class _Period(NamedTuple):
    begin: date
    end: date


class _Framed(NamedTuple):
    """A statement with the period in which it holds."""

    unit: str
    step: int
    said: date
    is_since: bool  # from then on: "from next week"
    words: frozenset[str]  # what it says besides


def are_of_two_periods(earlier: str, said: date | None, later: str, told: date | None) -> bool:
    """Returns whether two statements hold in two periods, of which that of the earlier one is not over.

    Args:
        earlier: A statement.
        said: When it was said.
        later: A later one.
        told: When that was said.
    """
    first, second = _RECURRING.match(earlier), _RECURRING.match(later)
    if first is not None and second is not None:
        times = [(one.lastgroup, one[str(one.lastgroup)].casefold().rstrip("s")) for one in (first, second)]
        is_other_time = times[0][0] == times[1][0] and times[0][1] != times[1][1]
        return is_other_time and _words(earlier[first.end() :]) != _words(later[second.end() :])
    one, other = _framed(earlier, said or _NO_DAY), _framed(later, told or _NO_DAY)
    if one is None or other is None or one.is_since or (one.words == other.words and one.step >= 0):
        return False
    periods = _period(one), _period(other)
    if periods[0] is not None and periods[1] is not None:
        are_apart = periods[0].end < periods[1].begin or periods[1].end < periods[0].begin
        return are_apart and (periods[0].end >= other.said or one.step < 0)  # what was last week stays so
    is_near = abs((other.said - one.said).days) <= _TERM_DAYS
    return one.unit == other.unit and one.step != other.step and one.step >= 0 and is_near


def is_of_some_days(earlier: str, later: str) -> bool:
    """Returns whether a later statement holds on some days, and the earlier one names none: "at 11 on Sundays".

    Args:
        earlier: A statement.
        later: A later one, which tells of no change.
    """
    if _ANY_DAY.search(earlier) or CHANGED.search(later):
        return False
    return _ON_SOME_DAYS.search(later) is not None


def is_left_out_once(earlier: str, later: str) -> bool:
    """Returns whether what is done again and again is left out a single time: "no running this Sunday".

    Args:
        earlier: A statement.
        later: A later one.
    """
    if _HABIT.search(later) or _FOR_GOOD.search(later):
        return False
    if _CALLED_OFF.search(later) is not None and _ONE_TIME.search(earlier) is None:
        return True
    if not _HABIT.search(earlier):
        return False
    return _LEFT_OUT.search(later) is not None and _ONE_TIME.search(later) is not None


def _framed(text: str, said: date) -> _Framed | None:
    match = _RELATIVE.search(text)
    if match is None or (match["open"] is None and _TIMED.search(text[: match.start()])):
        return None
    if match["open"] is None and not (text[match.end() :].strip() == "" or match["end"].strip() == ""):
        return None
    rest = f"{_CUT.split(text[: match.start()])[-1]} {_CUT.split(text[match.end() :])[0]}"
    step = _STEPS[match["which"].casefold()] + (match["over"] is not None)
    return _Framed(match["unit"].casefold(), step, said, match["since"] is not None, _words(rest))


def _words(text: str) -> frozenset[str]:
    """What a statement says besides its period, without the remarks behind it."""
    words = frozenset(match[0].casefold() for match in _WORD.finditer(_CUT.split(text.strip())[0]))
    return words - _FILLERS


def _period(framed: _Framed) -> _Period | None:
    """The days of a week, a month, a quarter or a year; None for periods that no calendar has."""
    said, step = framed.said, framed.step
    if framed.unit in {"week", "weekend"}:
        begin = said - timedelta(days=said.weekday()) + timedelta(weeks=step)
        return _Period(begin + timedelta(days=5 * (framed.unit == "weekend")), begin + timedelta(days=_WEEK - 1))
    if framed.unit == "year":
        return _Period(date(said.year + step, 1, 1), date(said.year + step, _MONTHS, 31))
    months = {"month": 1, "quarter": _QUARTER}.get(framed.unit)
    if months is None:
        return None
    first = (said.year * _MONTHS + said.month - 1) // months * months + step * months
    last = first + months - 1
    return _Period(
        date(first // _MONTHS, first % _MONTHS + 1, 1),
        date(last // _MONTHS, last % _MONTHS + 1, monthrange(last // _MONTHS, last % _MONTHS + 1)[1]),
    )

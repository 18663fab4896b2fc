"""The day from which a statement holds, where that day is still to come: "from January 2027 I work at Nordbank".

Until then what it supersedes holds. A day that is itself what is said, as in "the exam is moved to Friday", is no such
day, and what changes within a week counts as changed: "I'm moving to Rome on Sunday" answers where somebody lives.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from services.common.text_cache import text_cache
from services.semantic.facts.extraction.dates import ResolvedDate, find_date

_CHARS_MAX: Final = 800
NEAR: Final = timedelta(days=7)
"""What changes within this time counts as changed."""
_INSTANT: Final = timedelta(microseconds=1)
"""By so much what ends by a change within a week ends later than one that was called off."""
_FROM: Final = frozenset({"from"})
"""Has "from January", said in April, mean this year's."""
_SINCE: Final = re.compile(
    r"\b(?:as\s(?:of|from)|with\seffect\sfrom|from|starting|beginning|effective)(?:\s(?:on|in))?\s", re.IGNORECASE
)
"""Before the day from which something is so."""
_AUXILIARY: Final = (
    r"(?:'ll|\s(?:will|shall)|(?:'m|'re|'s|\s(?:am|are|is))(?:\s(?:going|about|due|set)\sto)?)"
    r"(?:\s(?:also|then|soon|finally|probably))?\s"
)
_BASE: Final = (
    r"move|relocate|start|begin|join|switch|change|migrate|leave|retire|become|marry|get\smarried|take\sover|hand\sover|"
    r"return|go\sback|come\sback"
)
_OTHER_FORMS: Final = (
    r"moving|relocating|starting|beginning|joining|switching|changing|migrating|leaving|retiring|becoming|marrying|"
    r"getting\smarried|taking\sover|handing\sover|returning|going\sback|coming\sback|quit(?:ting)?"
)
_THIRD: Final = (
    r"moves|relocates|starts|begins|joins|switches|changes|migrates|leaves|retires|becomes|marries|gets\smarried|"
    r"takes\sover|hands\sover|returns|goes\sback|comes\sback"
)
_CHANGE: Final = re.compile(
    rf"{_AUXILIARY}(?:{_BASE}|{_OTHER_FORMS})\b|\b(?:I|we|they)\s(?:{_BASE})\b|\w\s(?:{_THIRD})\b", re.IGNORECASE
)
"""A change in the present or future tense: "I move", "I will move". With a later day it has not happened yet."""
_GOAL: Final = re.compile(r"\b(?:to|until|till|for)\s(?:the\s)?$", re.IGNORECASE)
_LEADS_TO: Final = re.compile(r"(?:to|until|till|for)\b", re.IGNORECASE)
"""Before a day at which something is put, or until which it holds."""
_UNTIL: Final = re.compile(r"\b(?:until|till)\s[^,;.]{1,40}$", re.IGNORECASE)
_END_OF: Final = re.compile(r"\b(?:at|by|from)\sthe\send\sof\s(?=\w)", re.IGNORECASE)
_ENDS_THERE: Final = re.compile(r"\s{0,3}(?:to|until|till|through|-|\u2013)\s", re.IGNORECASE)
"""After a day that begins a range: "from June to September"."""


def begins_after(text: str, said: datetime) -> datetime | None:
    """The first instant, UTC, of the day from which a statement says that something is so.

    Args:
        text: A statement.
        said: When it was said; aware.

    Returns:
        None where it names no such day, or one that has come or comes within a week.
    """
    if len(text) > _CHARS_MAX:
        return None
    begin = _begin(text, said)
    return begin if begin is not None and begin > said + NEAR else None


@text_cache(2_048)
def _begin(text: str, said: datetime) -> datetime | None:
    plain = text.replace("\u2019", "'")
    return _since(plain, said) or _at_change(plain, said)


def end_of(earlier: str, said: datetime, later: str, told: datetime) -> datetime:
    """Since when an earlier statement does not hold, which a later one supersedes.

    Since the later one was said, or from the day to come that it names. A plan or an appointment that is still to come
    ends at once: plans change. What is said to be so "from" a day holds from then on, until the next such day. A change
    within a week that is called off before its day ends when it was told: it never held, and what it superseded, which
    ends an instant later, goes on.

    Args:
        earlier: The statement that was made first.
        said: When; aware.
        later: The other one.
        told: When that was made; aware.
    """
    begin = begins_after(later, told)
    if begin is None:
        if _is_called_off(earlier, said, later, told):
            return said
        return told + _INSTANT if _is_near(later, told) else told
    planned = _day_named(earlier, said)
    if planned is None or planned <= told:
        return begin
    return begin if planned < begin and _since(earlier[:_CHARS_MAX], said) is not None else told


def _is_called_off(earlier: str, said: datetime, later: str, told: datetime) -> bool:
    """Whether a change that was to come within a week is off before its day, and is put on no other day."""
    if not said < told or len(later) > _CHARS_MAX:
        return False
    begin = _begin(earlier, said) if _is_near(earlier, said) else None
    return begin is not None and told < begin and find_date(later, told, past=False) is None


def _is_near(text: str, said: datetime) -> bool:
    """Whether a statement tells of a change within a week."""
    begin = _begin(text, said) if len(text) <= _CHARS_MAX else None
    return begin is not None and said < begin <= said + NEAR


@text_cache(2_048)
def _day_named(text: str, said: datetime) -> datetime | None:
    """The day that a statement speaks of; None where it only holds until then."""
    found = find_date(text[:_CHARS_MAX], said, past=False)
    return None if found is None or _UNTIL.search(text[: found.end]) else found.start


def _since(text: str, said: datetime) -> datetime | None:
    for match in _SINCE.finditer(text):
        rest = f"from {text[match.end() :]}"
        found = find_date(rest, said, past=False, goals=_FROM)
        if found is not None and found.begin <= len("from ") and not _ENDS_THERE.match(rest, found.end):
            return found.start
    return None


def _at_change(text: str, said: datetime) -> datetime | None:
    if not _CHANGE.search(text):
        return None
    at_start = _END_OF.sub("in ", text)
    found = find_date(at_start, said, past=False)
    if found is None or _GOAL.search(at_start[: found.begin]) or _LEADS_TO.match(at_start, found.begin):
        return None
    return found.start if at_start == text else _after(found)


def _after(found: ResolvedDate) -> datetime:
    """The first instant after a month, a year or a day."""
    start = found.start
    if len(found.iso) == len("2027"):
        return start.replace(year=start.year + 1)
    if len(found.iso) == len("2027-06"):
        return (start + timedelta(days=31)).replace(day=1)
    return start + timedelta(days=1)

"""Reads the times that a question names, as ranges: "7 July 2023", "last June", "two weeks ago".

English expressions, the Gregorian calendar, days in UTC, seasons of the northern hemisphere. In recalls a range is
only a soft filter: an expression that is missed, or wrongly understood, costs a little order and no result.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, timedelta
from typing import Final, TypeAlias

YEARS_BACK: Final = 10
"""A month or a season without a year is looked for in this year and in so many before it."""

_MONTH_NAMES: Final = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_MONTHS: Final = {
    spelling: number
    for number, name in enumerate(_MONTH_NAMES, 1)
    for spelling in ((name, name[:3], "sept") if number == 9 else (name, name[:3]))
}
_SEASON_STARTS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_FEASTS: Final = {
    "christmas eve": (12, 24, 1),
    "christmas": (12, 24, 3),
    "boxing day": (12, 26, 1),
    "new year's eve": (12, 31, 1),
    "new year's day": (1, 1, 1),
    "valentine's day": (2, 14, 1),
    "halloween": (10, 31, 1),
}
"""Days that are the same in each year: month, day, and how many."""
_FEAST: Final = "|".join(sorted(_FEASTS, key=len, reverse=True)).replace("'", "['\N{RIGHT SINGLE QUOTATION MARK}]")
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_COUNTS: Final = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "couple": 2,
    "a couple": 2,
    "couple of": 2,
    "a couple of": 2,
    "few": 3,
    "a few": 3,
    "several": 4,
}


def _any_of(words: Iterator[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_MONTH: Final = rf"(?P<month>{_any_of(iter(_MONTHS))})\b\.?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)\b"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b"
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{_any_of(iter(_COUNTS))})\s+(?P<unit>day|week|month|year)s?"
_SEASON: Final = rf"(?P<season>{_any_of(iter(_SEASON_STARTS))})\b"
# Words that distinguish the month "May" and the season "fall" from the verbs.
_LEAD: Final = (
    r"\b(?P<lead>in|during|of|over|since|until|till|by|before|after|between|from|last|this|past"
    r"|early|late|mid)(?P<gap>[\s-]+(?:the\s+)?)"
)
_YEAR_LEADS: Final = "in|during|of|since|until|till|by|before|after|between|from|to|and|through|year|early|late"
_UNMISTAKABLE: Final = _any_of(name for name in _MONTH_NAMES if name not in {"march", "may"})

_CONNECTED: Final = re.compile(r"\s*(?:and|to|until|till|through|-|–)\s*(?:the\s+)?", re.IGNORECASE)  # noqa: RUF001
_SPANNING: Final = re.compile(r"\b(?:between|from)\s+(?:the\s+)?$", re.IGNORECASE)
_SINCE: Final = re.compile(r"\bsince\s+(?:the\s+)?(?:last\s+)?$", re.IGNORECASE)
_LEAD_CHARS_MAX: Final = 20
_ANY_HINT: Final = re.compile(
    rf"\d|day|tonight|morning|afternoon|evening|night|week|month|year|{'|'.join(_SEASON_STARTS)}|christmas|halloween"
    rf"|\b(?:{'|'.join(name[:3] for name in _MONTH_NAMES)})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A time from `start` to `end`, both in seconds since the epoch; `end` is not part of it."""

    start: float
    end: float

    @classmethod
    def of(cls, start: datetime, end: datetime) -> "TimeRange":
        """Return the range between two aware times."""
        return cls(start.timestamp(), end.timestamp())


@dataclass(frozen=True, slots=True)
class NamedTime:
    """An expression in the text: where it stands, without words such as "in" and "last", and the ranges it may mean."""

    begin: int
    end: int
    ranges: tuple[TimeRange, ...]


_Match: TypeAlias = re.Match[str]
_Reader: TypeAlias = Callable[[_Match, datetime], tuple[TimeRange, ...]]


def read_time_ranges(text: str, now: datetime) -> tuple[TimeRange, ...]:
    """Return the times that a text names; none if it names none.

    A month or season without a year may mean any of several, and gives a range for each; "between" and
    "from ... to ..." join two times to one range, "since" lasts until now. Of overlapping readings the
    longer expression counts. Dates that do not exist ("31 June"), or lie outside of the years 1 to 9999, are
    ignored.

    Args:
        text: A question, of any length (about 0.1 ms for 100 characters).
        now: What "yesterday" is counted from; aware.
    """
    return tuple(dict.fromkeys(one for named in find_times(text, now) for one in named.ranges))


def find_times(text: str, now: datetime) -> tuple[NamedTime, ...]:
    """Return the expressions of `read_time_ranges`, in their order; two that are joined to one range are one."""
    if not _ANY_HINT.search(text):
        return ()
    try:
        today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    except OverflowError:  # the first or last hours of the calendar, in another time zone
        return ()
    found: list[NamedTime] = []
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            begin = match.end("gap") if "gap" in pattern.groupindex else match.start()
            if all(match.end() <= other.begin or begin >= other.end for other in found):
                ranges = _readable(read, match, today)
                if ranges:
                    found.append(NamedTime(begin, match.end(), ranges))
    found.sort(key=lambda one: one.begin)
    return tuple(_joined(text, found, today))


def _readable(read: _Reader, match: _Match, today: datetime) -> tuple[TimeRange, ...]:
    try:
        return read(match, today)
    except (OverflowError, ValueError):  # before the year 1 or after 9999
        return ()


def _joined(text: str, found: list[NamedTime], today: datetime) -> Iterator[NamedTime]:
    index = 0
    while index < len(found):
        this = found[index]
        following = found[index + 1] if index + 1 < len(found) else None
        index += 1
        before = text[max(0, this.begin - _LEAD_CHARS_MAX) : this.begin]
        if following is not None and _CONNECTED.fullmatch(text, this.end, following.begin) and _SPANNING.search(before):
            index += 1
            yield NamedTime(this.begin, following.end, tuple(_spans(this.ranges, following.ranges)))
        elif _SINCE.search(before):
            yield NamedTime(this.begin, this.end, tuple(_since(this.ranges, today)))
        else:
            yield this


def _since(ranges: tuple[TimeRange, ...], today: datetime) -> Iterator[TimeRange]:
    """Count from the latest of the possible times that has begun."""
    starts = [one.start for one in ranges if one.start <= today.timestamp()]
    if starts and today.date() < date.max:  # else there is no tomorrow in the calendar
        yield TimeRange(max(starts), (today + timedelta(days=1)).timestamp())


def _spans(first: tuple[TimeRange, ...], last: tuple[TimeRange, ...]) -> Iterator[TimeRange]:
    """Join each end to the nearest start before it: "between August 11 and August 15 2023"."""
    for end in last:
        starts = [one.start for one in first if one.start <= end.start]
        if starts:
            yield TimeRange(max(starts), end.end)


def _day(year: int, month: int, day: int) -> tuple[TimeRange, ...]:
    try:
        start = datetime(year, month, day, tzinfo=UTC)
        return (TimeRange.of(start, start + timedelta(days=1)),)
    except (OverflowError, ValueError):
        return ()


def _months(year: int, month: int, count: int = 1) -> TimeRange:
    index = year * 12 + month - 1
    start, end = (datetime(at // 12, at % 12 + 1, 1, tzinfo=UTC) for at in (index, index + count))
    return TimeRange.of(start, end)


def _years(match: _Match, today: datetime) -> range:
    """Return the named year, or those that an expression without a year may mean, newest first."""
    if match["year"]:
        return range(int(match["year"]), int(match["year"]) + 1)
    return range(today.year, today.year - YEARS_BACK - 1, -1)


def _read_date(match: _Match, today: datetime) -> tuple[TimeRange, ...]:
    month, day = _MONTHS[match["month"].lower()], int(match["day"])
    return tuple(one for year in _years(match, today) for one in _day(year, month, day))


def _read_numeric(match: _Match, _today: datetime) -> tuple[TimeRange, ...]:
    """Read 7/8/2023 both ways: nothing in a question says which country's format it is."""
    year, one, two = int(match["year"]), int(match["one"]), int(match["two"])
    return tuple(dict.fromkeys((*_day(year, one, two), *_day(year, two, one))))


def _read_iso(match: _Match, _today: datetime) -> tuple[TimeRange, ...]:
    year, month = int(match["year"]), int(match["number"])
    if match["day"]:
        return _day(year, month, int(match["day"]))
    return (_months(year, month),) if 1 <= month <= 12 else ()


def _read_month(match: _Match, today: datetime) -> tuple[TimeRange, ...]:
    month = _MONTHS[match["month"].lower()]
    return _periods(match, today, month=month, count=1)


def _read_season(match: _Match, today: datetime) -> tuple[TimeRange, ...]:
    return _periods(match, today, month=_SEASON_STARTS[match["season"].lower()], count=3)


def _periods(match: _Match, today: datetime, *, month: int, count: int) -> tuple[TimeRange, ...]:
    lead = match["lead"].lower() if "lead" in match.re.groupindex else ""
    ranges = tuple(_months(year, month, count) for year in _years(match, today) if MINYEAR <= year < MAXYEAR)
    if match["year"] or lead not in {"last", "past", "this"}:
        return ranges
    if lead == "this":
        return ranges[:1]
    return tuple(one for one in ranges if one.end <= today.timestamp())[:1]


def _read_year(match: _Match, _today: datetime) -> tuple[TimeRange, ...]:
    return (_months(int(match["year"]), 1, 12),)


def _read_quarter(match: _Match, _today: datetime) -> tuple[TimeRange, ...]:
    return (_months(int(match["year"]), 3 * int(match["quarter"]) - 2, 3),)


def _read_feast(match: _Match, today: datetime) -> tuple[TimeRange, ...]:
    month, day, days = _FEASTS[" ".join(match["feast"].lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())]
    ranges = tuple(
        TimeRange.of(start := datetime(year, month, day, tzinfo=UTC), start + timedelta(days=days))
        for year in _years(match, today)
        if MINYEAR <= year < MAXYEAR
    )
    if match["year"] or (match["which"] or "").lower() != "last":
        return ranges
    return tuple(one for one in ranges if one.end <= today.timestamp())[:1]


def _read_half_year(_match: _Match, today: datetime) -> tuple[TimeRange, ...]:
    return (_months(today.year, today.month - 7, 3),)


def _read_fortnight(_match: _Match, today: datetime) -> tuple[TimeRange, ...]:
    middle = today - timedelta(weeks=2)
    return (TimeRange.of(middle - timedelta(days=3), middle + timedelta(days=4)),)


def _read_weekdays_ago(match: _Match, today: datetime) -> tuple[TimeRange, ...]:
    written = " ".join(match["count"].lower().split())
    count = int(written) if written.isdigit() else _COUNTS[written]
    back = (today.weekday() - _WEEKDAYS.index(match["weekday"].lower())) % 7 or 7
    start = today - timedelta(days=back, weeks=max(count - 1, 0))
    return (TimeRange.of(start, start + timedelta(days=1)),)


def _read_near_day(match: _Match, today: datetime) -> tuple[TimeRange, ...]:
    word = match["word"].lower()
    back = 2 if "before" in word else 1 if word in {"yesterday", "last night"} else 0
    start = today - timedelta(days=back)
    return (TimeRange.of(start, start + timedelta(days=1)),)


def _read_near_period(match: _Match, today: datetime) -> tuple[TimeRange, ...]:
    back = 0 if match["which"].lower() == "this" else 1
    unit = match["unit"].lower()
    if unit == "year":
        return (_months(today.year - back, 1, 12),)
    if unit == "month":
        return (_months(today.year, today.month - back),)
    monday = today - timedelta(days=today.weekday(), weeks=back)
    first, days = (5, 2) if unit == "weekend" else (0, 7)
    start = monday + timedelta(days=first)
    return (TimeRange.of(start, start + timedelta(days=days)),)


def _read_weekday(match: _Match, today: datetime) -> tuple[TimeRange, ...]:
    back = (today.weekday() - _WEEKDAYS.index(match["weekday"].lower())) % 7
    if back == 0 and match["which"].lower() == "last":
        back = 7
    start = today - timedelta(days=back)
    return (TimeRange.of(start, start + timedelta(days=1)),)


def _read_ago(match: _Match, today: datetime) -> tuple[TimeRange, ...]:
    """Read "three weeks ago" as precisely as it is meant: within that week, that month, that year."""
    count, unit = _count(match), match["unit"].lower()
    if unit == "year":
        return (_months(max(1, today.year - count), 1, 12),)
    if unit == "month":
        return (_months(today.year, today.month - count),)
    if unit == "week":
        middle = today - timedelta(weeks=count)
        return (TimeRange.of(middle - timedelta(days=3), middle + timedelta(days=4)),)
    start = today - timedelta(days=count)
    return (TimeRange.of(start, start + timedelta(days=1)),)


def _read_past(match: _Match, today: datetime) -> tuple[TimeRange, ...]:
    days = _count(match) * {"day": 1, "week": 7, "month": 30, "year": 365}[match["unit"].lower()]
    return (TimeRange.of(today - timedelta(days=days), today + timedelta(days=1)),)


def _count(match: _Match) -> int:
    written = " ".join(match["count"].lower().split())
    return int(written) if written.isdigit() else _COUNTS[written]


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# The longest and most certain expressions first: what they cover is not read again.
_READERS: Final[tuple[tuple[re.Pattern[str], _Reader], ...]] = (
    (_compiled(rf"\b{_YEAR}-(?P<number>\d\d)(?:-(?P<day>\d\d))?\b"), _read_iso),
    (_compiled(rf"\b(?P<one>\d{{1,2}})/(?P<two>\d{{1,2}})/{_YEAR}"), _read_numeric),
    (_compiled(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?"), _read_date),
    (_compiled(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}(?:,?\s+{_YEAR})?"), _read_date),
    (_compiled(rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}"), _read_month),
    (_compiled(rf"\b{_SEASON}\s+(?:of\s+)?{_YEAR}"), _read_season),
    (_compiled(rf"\bq(?P<quarter>[1-4])\s+(?:of\s+)?{_YEAR}"), _read_quarter),
    (_compiled(rf"\b(?P<feast>{_FEAST})\s+(?:(?:of|in)\s+)?{_YEAR}(?P<which>(?!))?"), _read_feast),
    (
        _compiled(
            r"\b(?P<which>last|this|at|on|over|during|around|for|since|until|before|after|by)(?P<gap>\s+)"
            rf"(?P<feast>{_FEAST})\b(?!\s+(?:tree|card|gift|present|light|decoration|song|carol|costume|ornament)s?\b)"
            r"(?P<year>(?!))?"
        ),
        _read_feast,
    ),
    (_compiled(rf"{_LEAD}{_MONTH}(?P<year>(?!))?"), _read_month),
    (_compiled(rf"{_LEAD}{_SEASON}(?P<year>(?!))?"), _read_season),
    (_compiled(rf"\b(?P<month>{_UNMISTAKABLE})\b(?P<year>(?!))?"), _read_month),
    (_compiled(rf"\b(?:{_YEAR_LEADS})(?P<gap>\s+){_YEAR}(?![-/])"), _read_year),
    (
        _compiled(
            r"\b(?P<word>(?:the\s+)?day\s+before\s+yesterday|yesterday|last\s+night|today|tonight"
            r"|this\s+(?:morning|afternoon|evening))\b"
        ),
        _read_near_day,
    ),
    (
        _compiled(r"\b(?P<which>last|this|past|previous)\s+(?P<unit>weekend|week|month|year)\b"),
        _read_near_period,
    ),
    (
        _compiled(
            rf"\b(?P<which>last|on|this|since)(?P<gap>\s+)"
            rf"(?P<weekday>{'|'.join(_WEEKDAYS)})\b"
        ),
        _read_weekday,
    ),
    (_compiled(r"\bhalf\s+a\s+year\s+ago\b"), _read_half_year),
    (_compiled(r"\ba\s+fortnight\s+ago\b"), _read_fortnight),
    (
        _compiled(rf"\b(?P<count>\d{{1,2}}|{_any_of(iter(_COUNTS))})\s+(?P<weekday>{'|'.join(_WEEKDAYS)})s?\s+ago\b"),
        _read_weekdays_ago,
    ),
    (_compiled(rf"\b{_COUNT}\s+ago\b"), _read_ago),
    (_compiled(rf"\b(?:last|past|previous)\s+{_COUNT}\b"), _read_past),
)

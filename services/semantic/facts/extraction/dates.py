"""Dates in a statement, counted from when it was said: "next Friday", "in June", "a week ago"."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH_NAMES: Final = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTHS: Final = {
    **{name: i for i, name in enumerate(_MONTH_NAMES, 1)},
    **{name[:3]: i for i, name in enumerate(_MONTH_NAMES, 1) if name != "may"},
    "sept": 9,
}
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # first month, northern
_NUMBERS: Final = {
    word: i
    for i, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 1
    )
} | {"a": 1, "an": 1, "a couple of": 2, "a few": 3, "a fortnight": 2}

_JUST_GONE_DAYS: Final = 60
_BEGUN_DAYS: Final = 182
"""What begins on a day of no year begins on the nearest one: "from March" said in May is this year's."""
_BEGINNING: Final = frozenset({"from", "starting", "effective"})

_WEEKDAY: Final = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})"
_MONTH: Final = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT: Final = r"(?P<unit>day|week|fortnight|month|year)s?"


@dataclass(frozen=True, slots=True)
class ResolvedDate:
    """A time expression and what it means."""

    start: datetime  # its first instant; aware, UTC
    iso: str  # as precise as it is meant: "2026-04-17", "2026-06" or "2026"
    begin: int  # where it stands in the text, with its preposition
    end: int
    is_explicit: bool  # whether the text itself names day, month and year
    is_future: bool  # whether it lies on or after the day of speaking


@dataclass(frozen=True, slots=True)
class _Viewpoint:
    """From where an expression is read."""

    today: datetime  # midnight, UTC
    past: bool  # whether the clause is about the past
    is_goal: bool = False  # whether the clause sets the time: "moved it to May 14"
    gone_days: int = _JUST_GONE_DAYS  # how long ago a day of no year may be that is not read as one of the past


_Match: TypeAlias = re.Match[str]
_Reader: TypeAlias = Callable[[_Match, "_Viewpoint"], tuple[datetime, str] | None]


def find_date(text: str, said: datetime, *, past: bool, goals: Collection[str] = ()) -> ResolvedDate | None:
    """The first time expression of a text; None without one. Dates that do not exist are no dates.

    Args:
        text: A clause.
        said: What "tomorrow" is counted from; aware.
        past: Whether the clause is about the past: "on Friday" then means the last one, else the coming one.
        goals: Prepositions that lead to a time that the clause sets: "moved it to May 14" means the coming one, though
            the move is over.
    """
    if not _HINT.search(text):
        return None
    today = said.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    best: ResolvedDate | None = None
    for pattern, read in _READERS:
        match = pattern.search(text)
        if match is None or (best is not None and match.start() >= best.begin):
            continue
        try:
            found = read(match, _view(text, match, today, past=past, goals=goals))
        except (ValueError, OverflowError):
            continue
        if found is not None:
            start, iso = found
            explicit = "year" in match.re.groupindex and bool(match["year"]) and len(iso) == 10
            best = ResolvedDate(start, iso, match.start(), match.end(), is_explicit=explicit, is_future=start >= today)
    if best is not None and "to" in goals and _FROM_TO.match(text, best.begin) and _TO.match(text, best.end):
        later = find_date(text[best.end :], said, past=past, goals=goals)  # "moved it from Tuesday to Friday"
        return best if later is None else replace(later, begin=best.begin, end=best.end + later.end)
    return best


def _view(text: str, match: _Match, today: datetime, *, past: bool, goals: Collection[str]) -> _Viewpoint:
    """The viewpoint of an expression, by the preposition before it."""
    words = (text[: match.start()].split()[-1:] or [""])[0].lower(), match.group().split()[0].lower()
    word = next((one for one in words if one in goals or (one in _BEGINNING and "from" in goals)), "")
    if not word:
        return _Viewpoint(today, past=past)
    gone_days = _BEGUN_DAYS if word in _BEGINNING else _JUST_GONE_DAYS
    return _Viewpoint(today, past=False, is_goal=True, gone_days=gone_days)


def _on(moment: datetime) -> tuple[datetime, str]:
    return moment, moment.strftime("%Y-%m-%d")


def _in_month(index: int) -> tuple[datetime, str]:
    moment = datetime(index // 12, index % 12 + 1, 1, tzinfo=UTC)
    return moment, moment.strftime("%Y-%m")


def _iso(match: _Match, _view: _Viewpoint) -> tuple[datetime, str]:
    return _on(datetime(int(match["year"]), int(match["number"]), int(match["day"]), tzinfo=UTC))


def _date(match: _Match, view: _Viewpoint) -> tuple[datetime, str] | None:
    today, past = view.today, view.past
    month, day = _MONTHS[match["month"].lower()], int(match["day"])
    if match["year"]:
        return _on(datetime(int(match["year"]), month, day, tzinfo=UTC))
    if not past:
        # "On May 22" said on May 25 means the one just gone by, whatever the tense.
        recent = today - timedelta(days=view.gone_days)
        today = recent if recent <= _safe_date(today.year, month, day) < today else today
    years = range(today.year, today.year - 5, -1) if past else range(today.year, today.year + 5)
    for year in years:
        if day > calendar.monthrange(year, month)[1]:
            continue  # 29 February exists in some years
        moment = datetime(year, month, day, tzinfo=UTC)
        if moment <= today if past else moment >= today:
            return _on(moment)
    return None


def _safe_date(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, min(day, calendar.monthrange(year, month)[1]), tzinfo=UTC)


def _month(match: _Match, view: _Viewpoint) -> tuple[datetime, str]:
    today, past = view.today, view.past
    month, now = _MONTHS[match["month"].lower()], today.year * 12 + today.month - 1
    groups = match.re.groupindex
    if "year" in groups and match["year"]:
        return _in_month(int(match["year"]) * 12 + month - 1)
    which = (match["which"] or "").strip().lower() if "which" in groups else ""
    index = today.year * 12 + month - 1
    gone = (now - index) % 12
    if view.is_goal and not which and gone <= view.gone_days // 31:
        return _in_month(now - gone)
    return _in_month(_nearest(index, now, 12, past=past, which=which))


def _goal_month(match: _Match, view: _Viewpoint) -> tuple[datetime, str] | None:
    """Read "moved it to June"; "to May" may be to somebody of that name elsewhere."""
    return _month(match, view) if view.is_goal else None


def _season(match: _Match, view: _Viewpoint) -> tuple[datetime, str]:
    today, past = view.today, view.past
    first, now = _SEASONS[match["season"].lower()], today.year * 12 + today.month - 1
    which = (match["which"] or "").lower()
    if match["year"]:
        return _in_month(int(match["year"]) * 12 + first - 1)
    index = today.year * 12 + first - 1
    if which == "this" or (not which and index <= now < index + 3):
        return _in_month(index)
    return _in_month(_nearest(index, now, 12, past=past, which=which))


def _nearest(index: int, now: int, period: int, *, past: bool, which: str) -> int:
    """The occurrence that is meant: `index` is this year's."""
    if which == "this":
        return index
    if which == "last" or (past and which != "next"):
        strictly = which == "last"
        while index > now or (strictly and index == now):
            index -= period
        return index
    while index < now or (which == "next" and index == now):
        index += period
    return index


def _ordinal(match: _Match, view: _Viewpoint) -> tuple[datetime, str] | None:
    """Read "on the 5th": of this month, or the nearest one in the right direction."""
    today, past = view.today, view.past
    day = int(match["day"])
    for step in range(3):
        index = today.year * 12 + today.month - 1 + (-step if past else step)
        year, month = index // 12, index % 12 + 1
        if not 1 <= day <= calendar.monthrange(year, month)[1]:
            continue
        moment = datetime(year, month, day, tzinfo=UTC)
        if moment <= today if past else moment >= today:
            return _on(moment)
    return None


def _weekday(match: _Match, view: _Viewpoint) -> tuple[datetime, str]:
    """Read a weekday: the next one is next week's, the last one lies before today, a plain one is the coming one."""
    today, past = view.today, view.past
    which = (match["which"] or "").lower()
    target = _WEEKDAYS.index(match["weekday"].lower())
    if which == "next":
        return _on(today - timedelta(days=today.weekday()) + timedelta(days=7 + target))
    if which == "last" or (past and which not in {"this", "coming", "this coming"}):
        return _on(today - timedelta(days=(today.weekday() - target) % 7 or 7))
    return _on(today + timedelta(days=(target - today.weekday()) % 7 or 7))


def _near_day(match: _Match, view: _Viewpoint) -> tuple[datetime, str]:
    today = view.today
    word = " ".join(match["word"].lower().split())
    days = {
        "yesterday": -1, "last night": -1, "day before yesterday": -2, "tomorrow": 1, "day after tomorrow": 2,
    }  # fmt: skip
    shift = next((n for name, n in sorted(days.items(), key=lambda i: -len(i[0])) if name in word), 0)
    return _on(today + timedelta(days=shift))


def _near_period(match: _Match, view: _Viewpoint) -> tuple[datetime, str]:
    today = view.today
    shift = {"last": -1, "this": 0, "next": 1}[match["which"].lower()]
    unit = match["unit"].lower()
    if unit == "year":
        moment = datetime(today.year + shift, 1, 1, tzinfo=UTC)
        return moment, f"{moment.year:04d}"
    if unit == "month":
        return _in_month(today.year * 12 + today.month - 1 + shift)
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=shift)
    return _on(monday + timedelta(days=5 if unit == "weekend" else 0))


def _distance(match: _Match, view: _Viewpoint) -> tuple[datetime, str]:
    today = view.today
    written = " ".join(match["count"].lower().split())
    count = int(written) if written.isdigit() else _NUMBERS[written]
    unit = match["unit"].lower()
    if match["direction"] and match["direction"].lower() == "ago":
        count = -count
    if unit == "year":
        moment = datetime(today.year + count, 1, 1, tzinfo=UTC)
        return moment, f"{moment.year:04d}"
    if unit == "month":
        return _in_month(today.year * 12 + today.month - 1 + count)
    return _on(today + timedelta(days=count * {"day": 1, "week": 7, "fortnight": 14}[unit]))


def _of_year(match: _Match, _view: _Viewpoint) -> tuple[datetime, str]:
    return datetime(int(match["year"]), 1, 1, tzinfo=UTC), match["year"]


_FROM_TO: Final = re.compile(r"from\b", re.IGNORECASE)
_TO: Final = re.compile(r"\s{1,8}to\b", re.IGNORECASE)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_PREPOSITION: Final = r"\b(?:(?:on|by|since|from|until|before|for|at)\s+)?(?:the\s+(?:morning|evening|night)\s+of\s+)?"
_HINT: Final = _compiled(
    rf"\d|day|tonight|tomorrow|\b(?:week|fortnight|month|year|night|morning|evening|afternoon|{'|'.join(_SEASONS)}"
    rf"|{'|'.join(name[:3] for name in _MONTH_NAMES)})"
)
# Where two begin at one place, the more precise one is first.
_READERS: Final[tuple[tuple[re.Pattern[str], _Reader], ...]] = (
    (_compiled(rf"{_PREPOSITION}{_YEAR}-(?P<number>\d\d)-(?P<day>\d\d)\b"), _iso),
    (
        _compiled(
            rf"{_PREPOSITION}(?:(?:this\s+|next\s+)?(?:{'|'.join(_WEEKDAYS)}),?\s+)?(?:the\s+)?{_DAY}\s+(?:of\s+)?{_MONTH}"
            rf"\b(?:,?\s+{_YEAR}\b)?"
        ),
        _date,
    ),
    (
        _compiled(
            rf"{_PREPOSITION}(?:(?:{'|'.join(_WEEKDAYS)}),?\s+)?{_MONTH}\s+(?:the\s+)?{_DAY}\b(?!:)(?:,?\s+{_YEAR}\b)?"
        ),
        _date,
    ),
    (_compiled(rf"\b(?:(?:in|by|since|from|until)\s+)?{_MONTH},?\s+(?:of\s+)?{_YEAR}\b"), _month),
    (
        _compiled(
            rf"\b(?:on|by|to|from|until)\s+(?:(?:{'|'.join(_WEEKDAYS)}),?\s+)?the\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)\b"
        ),
        _ordinal,
    ),
    (
        _compiled(rf"\b(?:in|by|since|from|until|during|early|late|mid)\s+(?P<which>(?:next|last)\s+)?{_MONTH}\b"),
        _month,
    ),
    (_compiled(rf"\bto\s+(?P<month>{'|'.join(_MONTH_NAMES)})\b(?!,?\s+(?:the\s+)?\d)"), _goal_month),
    (_compiled(rf"\b(?P<which>next|last|this)\s+{_MONTH}\b"), _month),
    (
        _compiled(
            rf"\b(?:(?:in|by|since|during|from|until)\s+(?:the\s+)?)?(?P<which>next|last|this)\s+"
            rf"(?P<season>{'|'.join(_SEASONS)})\b(?P<year>(?!))?"
        ),
        _season,
    ),
    (
        _compiled(
            rf"\b(?:in|by|since|during|from|until)\s+(?:the\s+)?(?P<which>(?!))?(?P<season>{'|'.join(_SEASONS)})\b"
            rf"(?:\s+(?:of\s+)?{_YEAR}\b)?"
        ),
        _season,
    ),
    (
        _compiled(
            r"\b(?:(?:by|since|until|from|for)\s+)?(?P<word>(?:the\s+)?day\s+before\s+yesterday|yesterday"
            r"(?:\s+(?:morning|afternoon|evening))?|(?:the\s+)?day\s+after\s+tomorrow(?:\s+(?:morning|afternoon|evening))?"
            r"|tomorrow(?:\s+(?:morning|afternoon|evening|night))?|last\s+night|today|tonight"
            r"|this\s+(?:morning|afternoon|evening))\b"
        ),
        _near_day,
    ),
    (
        _compiled(r"\b(?:(?:by|since|until|from)\s+)?(?P<which>last|this|next)\s+(?P<unit>weekend|week|month|year)\b"),
        _near_period,
    ),
    (
        _compiled(
            rf"\b(?:on|by|since|until|from)\s+(?:(?P<which>this\s+coming|coming|next|last|this)\s+)?{_WEEKDAY}\b(?!s)"
            r"(?:\s+(?:morning|afternoon|evening|night))?"
        ),
        _weekday,
    ),
    (
        _compiled(
            rf"\b(?P<which>this\s+coming|next|last|this)\s+{_WEEKDAY}\b(?:\s+(?:morning|afternoon|evening|night))?"
        ),
        _weekday,
    ),
    (_compiled(rf"\b(?P<which>(?!))?{_WEEKDAY}\b(?!s)(?:\s+(?:morning|afternoon|evening|night))?"), _weekday),
    (_compiled(rf"\bin\s+(?:about\s+)?{_COUNT}\s+{_UNIT}(?:['’]s?)?(?:\s+time)?\b(?P<direction>(?!))?"), _distance),  # noqa: RUF001
    (_compiled(rf"\b(?:about\s+|almost\s+|over\s+)?{_COUNT}\s+{_UNIT}\s+(?P<direction>ago)\b"), _distance),
    (_compiled(rf"\b(?:in|since|from|until|by|during)\s+{_YEAR}\b(?!-)"), _of_year),
)

"""The day that a statement speaks of, and that it is another one by now. Pure functions.

"The inspection is tomorrow", said again a day later, is put off; "my exam is in two weeks", said long after the day of
"my exam is in ten days", is about another exam.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

from services.common.values.comparison.slots import has_same_subject, is_plain
from services.common.values.model import Value, ValueKind
from services.common.values.reading.clauses import Clause
from services.common.values.reading.pieces import read_statement
from services.common.values.words.tokens import lemma

_JOURNEYS: Final = frozenset({"fly", "leave", "depart", "return", "move", "marry", "arrive", "travel"})
_OCCASIONS: Final = _JOURNEYS | {"be", "come", "start", "begin", "open", "deliver", "happen", "ship", "visit"}
_ONCE: Final = frozenset({"this", "next", "today", "tonight", "tomorrow"})
"""Words that name one day, so that what is then happens once: "compiler exam is on this Saturday"."""
_DAYS_AHEAD: Final = {"today": 0, "tonight": 0, "tomorrow": 1}
_WEEK: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY_SECONDS: Final = 86_400
_MONTHS_AHEAD: Final = 3
_ORDINAL: Final = re.compile(r"(?P<day>[1-9]|[12]\d|3[01])(?:st|nd|rd|th)")


def day_named(clause: Clause, said: date) -> date | None:
    """Returns the day that a clause speaks of; None where it names none.

    Args:
        clause: The clause.
        said: When it was said.
    """
    named = [item for item in clause.rest if isinstance(item, Value) and item.kind is ValueKind.DATE]
    for value in named:
        if value.unit == "day":
            return _nearest(value.text, said)
    for value in clause.values:
        is_whole = value.kind is ValueKind.QUANTITY and value.unit == "s" and value.low % _DAY_SECONDS == 0
        if is_whole and clause.prepositions.get(value) == "in":
            return said + timedelta(seconds=value.low)
    ordinal = next((match for word in clause.words if (match := _ORDINAL.fullmatch(word)) is not None), None)
    if ordinal is not None and named:
        return _next(int(ordinal["day"]), said)
    days = [value.text for value in named if value.unit == "weekday"] + [word for word in clause.words if word in _WEEK]
    if days and days[0] in _WEEK:
        ahead = (_WEEK.index(days[0]) - said.weekday() - 1) % 7 + 1
        if "next" in clause.words:
            ahead += 7 if said.weekday() + ahead < len(_WEEK) else 0
        return said + timedelta(days=ahead)
    for word in clause.words:
        if word in _DAYS_AHEAD:
            return said + timedelta(days=_DAYS_AHEAD[word] + (word == "tomorrow" and "after" in clause.words))
    return None


def is_another_time(earlier: str, said: date | None, later: str, told: date | None) -> bool:
    """Returns whether a later statement speaks of another occasion, since the day of the earlier one has passed.

    As in "my exam is in ten days", and three months later "my exam is in two weeks".

    Args:
        earlier: A statement.
        said: When it was said.
        later: A later one.
        told: When that was said.
    """
    if said is None or told is None:
        return False
    first = [clause for clause in read_statement(earlier).clauses if _is_from_today(clause)]
    second = [clause for clause in read_statement(later).clauses if _is_from_today(clause) and not clause.changed]
    for a in first if second else ():
        named = day_named(a, said)
        if named is not None and named < told and any(a.verb == b.verb for b in second):
            return True
    return False


def is_same_day(earlier: str, said: date | None, later: str, told: date | None) -> bool:
    """Returns whether both name one day by how far it is off: "in three weeks", and a week later "in two weeks".

    People count in whole weeks, so that days within half of one are the same.

    Args:
        earlier: A statement.
        said: When it was said.
        later: A later one.
        told: When that was said.
    """
    if said is None or told is None or said == told:
        return False
    second = [clause for clause in read_statement(later).clauses if _is_from_today(clause)]
    first = [clause for clause in read_statement(earlier).clauses if _is_from_today(clause)] if second else []
    return any(
        a.verb == b.verb
        and has_same_subject(a, b)
        and (one := day_named(a, said)) is not None
        and (other := day_named(b, told)) is not None
        and abs((one - other).days) <= min(_rounding(a), _rounding(b))
        for a in first
        for b in second
    )


def _rounding(clause: Clause) -> int:
    """By how many days the day of a clause may be off: three where it is given in weeks."""
    spans = [value.low for value in clause.values if value.kind is ValueKind.QUANTITY and value.unit == "s"]
    is_in_weeks = any(span and span % (len(_WEEK) * _DAY_SECONDS) == 0 for span in spans)
    return len(_WEEK) // 2 if is_in_weeks else 0


def _is_from_today(clause: Clause) -> bool:
    """Whether a clause names a day by how far it is off: "in ten days", "tomorrow"."""
    return any(word in _DAYS_AHEAD for word in clause.words) or any(
        value.kind is ValueKind.QUANTITY and value.unit == "s" and clause.prepositions.get(value) == "in"
        for value in clause.values
    )


def rescheduled(first: Sequence[Clause], second: Sequence[Clause], earlier: date | None, later: date | None) -> bool:
    """Returns whether the same thing is on another day: "the inspection is tomorrow", said again a day later.

    Args:
        first: The clauses of a statement.
        second: Those of the other one.
        earlier: When the first one was said.
        later: When the second one was.
    """
    if earlier is None or later is None:
        return False
    for a in first:
        for b in second:
            old, new = day_named(a, earlier), day_named(b, later)
            if old is None or new is None or old == new or later > old or a.negated or b.negated:
                continue
            if is_plain(a) and is_plain(b) and a.verb == b.verb and has_same_subject(a, b) and _happens_once(a):
                return True
    return False


def _happens_once(clause: Clause) -> bool:
    """Whether a clause speaks of one occasion: "the sofa arrives", "we fly"; not "I swim"."""
    if set(map(str, clause.subject)) <= {"i", "we"}:
        return bool(clause.subject) and clause.verb in _JOURNEYS
    is_definite = bool({"the", "my", "our"}.intersection(clause.words[:1])) or bool(_ONCE & set(clause.words))
    is_occasion = clause.verb in _OCCASIONS or (clause.verb == "take" and "place" in clause.words)
    return bool(clause.subject) and is_occasion and (is_definite or _is_plural(clause))


def _is_plural(clause: Clause) -> bool:
    """Whether it is about people or things without an article: "movers come on Saturday"."""
    word = clause.words[0] if clause.words else ""
    return len(clause.subject) == 1 and word.endswith("s") and word not in clause.names and lemma(word) != word


def _next(number: int, said: date) -> date | None:
    """The next day of that number in a month, from a day on: "the 15th"."""
    for ahead in range(_MONTHS_AHEAD):
        month = said.month - 1 + ahead
        try:
            day = date(said.year + month // 12, month % 12 + 1, number)
        except ValueError:
            continue
        if day >= said:
            return day
    return None


def _nearest(text: str, said: date) -> date | None:
    """The day of a month, of the year in which it is nearest where it names none: "03-24"."""
    try:
        if text.count("-") > 1:
            return date.fromisoformat(text)
        month, day = (int(part) for part in text.split("-"))
        days = [date(said.year + step, month, day) for step in (-1, 0, 1)]
    except ValueError:
        return None
    return min(days, key=lambda day: abs(day - said))

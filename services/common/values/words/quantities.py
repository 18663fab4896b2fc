"""Numbers, quantities, money, dates, times and identifiers in a row of tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from services.common.values.model import Value, ValueKind
from services.common.values.words.lexicon import (
    GROUP_NUMBERS,
    MONTHS,
    ORDINALS,
    SCALES,
    SMALL_NUMBERS,
    TENS,
    WEEKDAYS,
)
from services.common.values.words.units import CURRENCIES, UNITS

Item: TypeAlias = "str | Value"
_NUMBER: Final = re.compile(r"([£$€¥]?)(\d{1,12}(?:,\d{3}){0,4}(?:\.\d{1,6})?)([a-zA-Z%£€$]{0,11})")
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d\d)(am|pm)?")
_ISO_DATE: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_SCORE: Final = re.compile(r"(\d{1,2})[-:](\d{1,2})")
_ORDINAL: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_DIGITS: Final = re.compile(r"\d{2,5}")
_CODE: Final = re.compile(r"(?=[^\d]{0,40}\d)(?=[\d.\-_:/]{0,40}[A-Za-z])[\w.\-:/#]{2,40}")
_DOTTED: Final = re.compile(r"v?\d{1,5}(?:\.\d{1,5}){2,5}|\d{2,6}(?:-\d{1,6}){1,5}|0\d{1,14}|v\d{1,3}\.\d{1,5}")
_PREFIX: Final = re.compile(r"[A-Z]{1,3}")
_YEAR_BEFORE: Final = frozenset(["in", "since", "until", "till", "from", "to", "by", "before", "after", "of"])
_FRACTIONS: Final = {"half": 0.5, "quarter": 0.25}
_POINT_CLOCK: Final = re.compile(r"(\d{1,2})\.([0-5]\d)")
_CLOCK_BEFORE: Final = frozenset({"at", "until", "till", "by", "from", "before", "after"})
_MINUTES: Final = {"five": 5, "ten": 10, "twenty": 20, "twenty-five": 25}
_TIMES: Final = {"once": 1, "twice": 2, "thrice": 3}
_PER: Final = frozenset({"a", "per", "every", "each"})
_RISING: Final = frozenset({"went", "go", "goes", "gone", "going", "am", "are", "'m", "now"})
_RAISING: Final = frozenset({"put", "puts", "bumped", "raised", "raise", "pushed", "brought"})
_AFTER_HOUR: Final = frozenset(
    {"", "on", "in", "from", "now", "and", "these", "instead", "sharp", "today", "tomorrow", "every", "again"}
)
_MAGNITUDES: Final = {"k": 1e3, "m": 1e6, "bn": 1e9}
_BEGINNINGS: Final = frozenset(
    {"the", "a", "an", "noon", "midnight", "half", "quarter", "every", *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS)}
).union(MONTHS, ORDINALS, SMALL_NUMBERS, TENS, GROUP_NUMBERS, _MINUTES, _TIMES)
"""Words of letters that a value can begin with, but for capital letters: "AB 12"."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word as it stands and in lower case."""

    text: str
    lower: str


class ValueReader:
    """Reads the values of one clause from left to right."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        """Take the tokens of one clause."""
        self._tokens = tokens
        self._place = 0

    def read(self) -> list[Item]:
        """Returns words in lower case and values, in order."""
        items: list[Item] = []
        while self._place < len(self._tokens):
            value = self._value()
            if value is None:
                items.append(self._tokens[self._place].lower)
                self._place += 1
            else:
                items.append(value)
        return _with_bounds(items)

    def _lower(self, offset: int = 0) -> str:
        place = self._place + offset
        return self._tokens[place].lower if 0 <= place < len(self._tokens) else ""

    def _taken(self, count: int, value: Value) -> Value:
        self._place += count
        return value

    def _value(self) -> Value | None:
        token = self._tokens[self._place]
        if token.text.isalpha() and token.lower not in _BEGINNINGS and (token.lower == "i" or not token.text.isupper()):
            return None  # most words: trying each way of reading them would be most of the work
        return self._date() or self._time() or self._frequency() or self._identifier() or self._quantity()

    def _date(self) -> Value | None:
        word = self._lower()
        iso = _ISO_DATE.fullmatch(word)
        if iso:
            return self._taken(1, _text(ValueKind.DATE, "day", word))
        if word in WEEKDAYS:
            return self._taken(1, _text(ValueKind.DATE, "weekday", word))
        if word.removesuffix("s") in WEEKDAYS:
            return self._taken(1, _text(ValueKind.DATE, "weekdays", word.removesuffix("s")))
        if word == "the" and _day_number(self._lower(1)) and self._lower(2) == "of" and self._lower(3) in MONTHS:
            return self._day_of_month(_day_number(self._lower(1)), MONTHS[self._lower(3)], 4)
        day = _day_number(word)
        if day and self._lower(1) == "of" and self._lower(2) in MONTHS:
            return self._day_of_month(day, MONTHS[self._lower(2)], 3)
        if day and self._lower(1) in MONTHS:
            return self._day_of_month(day, MONTHS[self._lower(1)], 2)
        if self._is_month() and _day_number(self._lower(1)) and not _is_word_number(self._lower(1)):
            return self._day_of_month(_day_number(self._lower(1)), MONTHS[word], 2)
        if self._is_month() and (word not in {"may", "march", "june", "april"} or self._lower(-1) in _YEAR_BEFORE):
            return self._taken(1, _text(ValueKind.DATE, "month", word))
        if _YEAR.fullmatch(word) and (self._lower(-1) in _YEAR_BEFORE or self._lower(-1) in MONTHS):
            return self._taken(1, _text(ValueKind.DATE, "year", word))
        return None

    def _is_month(self) -> bool:
        return self._lower() in MONTHS and self._tokens[self._place].text[0].isupper()

    def _day_of_month(self, day: int, month: int, count: int) -> Value:
        year = self._lower(count)
        if _YEAR.fullmatch(year):
            return self._taken(count + 1, _text(ValueKind.DATE, "day", f"{year}-{month:02}-{day:02}"))
        return self._taken(count, _text(ValueKind.DATE, "day", f"{month:02}-{day:02}"))

    def _time(self) -> Value | None:
        word = self._lower()
        if word in {"noon", "midnight"}:
            return self._taken(1, _number(ValueKind.TIME, "24h", 720.0 if word == "noon" else 0.0))
        clock = _CLOCK.fullmatch(word)
        if clock and int(clock[1]) < 24 and int(clock[2]) < 60 and len(clock[2]) == 2:
            half = clock[3] or self._half_day(1)
            minutes = 60 * int(clock[1]) + int(clock[2])
            count = 2 if half and not clock[3] else 1
            return self._taken(count, _clock(minutes, half, is_full=word[0] == "0" or int(clock[1]) >= 12))
        point = _POINT_CLOCK.fullmatch(word)
        if point and int(point[1]) < 24 and (self._half_day(1) or self._lower(-1) in _CLOCK_BEFORE):
            half = self._half_day(1)
            minutes = 60 * int(point[1]) + int(point[2])
            return self._taken(1 + bool(half), _clock(minutes, half, is_full=int(point[1]) > 12))
        if self._is_spoken_time():
            return self._spoken_time()
        number = SMALL_NUMBERS.get(word) or (int(word) if word.isdecimal() and len(word) < 3 else 0)
        if 0 < number < 13 and self._half_day(1):
            return self._taken(2, _clock(60 * number, self._half_day(1), is_full=False))
        if 0 < number < 13 and self._lower(-1) in {"at", "till", "until"} and self._lower(1) in _AFTER_HOUR:
            return self._taken(1, _clock(60 * number, "", is_full=False))
        joined = re.fullmatch(r"(\d{1,2})(am|pm)", word)
        if joined and int(joined[1]) < 13:
            return self._taken(1, _clock(60 * int(joined[1]), joined[2], is_full=False))
        return None

    def _half_day(self, offset: int) -> str:
        word = self._lower(offset).replace(".", "")
        return word if word in {"am", "pm"} else ""

    def _is_spoken_time(self) -> bool:
        return self._lower() in {"a", "quarter", "half"} or self._lower(1) in {"past", "to"}

    def _spoken_time(self) -> Value | None:
        """As in "half past seven", "a quarter to eight", "twenty past five", "at half eight"."""
        offset = 1 if self._lower() == "a" else 0
        word, side = self._lower(offset), self._lower(offset + 1)
        minutes = {"half": 30, "quarter": 15, **_MINUTES}.get(word, 0)
        is_short = word == "half" and side in SMALL_NUMBERS and not offset
        hour = SMALL_NUMBERS.get(side if is_short else self._lower(offset + 2), 0)
        end = offset + (2 if is_short else 3)
        is_at = is_short and self._lower(-1) in {*_CLOCK_BEFORE, "is"}
        is_time = is_at or side == "past" or (side == "to" and minutes < 30)
        if not minutes or not is_time or not 0 < hour < 13 or self._lower(end) in UNITS:
            return None
        shift = -minutes if side == "to" else minutes
        half = self._half_day(end)
        return self._taken(end + bool(half), _clock(60 * hour + shift, half, is_full=False))

    def _frequency(self) -> Value | None:
        """As in "twice a week", "three times per month", "once a fortnight": how often in a second."""
        word, count = self._lower(), 1
        number = float(_TIMES.get(word, 0))
        if not number and self._lower(1) == "times":
            number, count = float(SMALL_NUMBERS.get(word) or (int(word) if word.isdecimal() else 0)), 2
        if word == "every":
            return self._every()
        if not number or self._lower(count) not in _PER:
            return None
        base, seconds = UNITS.get(self._lower(count + 1), ("", 0.0))
        if base != "s":
            return None
        return self._taken(count + 2, _number(ValueKind.QUANTITY, "frequency", number / seconds))

    def _every(self) -> Value | None:
        """As in "every hour", "every two hours", "every other week"."""
        following = self._lower(1)
        number = 2.0 if following == "other" else _plain_number(following)
        count = 2 if number else 1
        base, seconds = UNITS.get(self._lower(count), ("", 0.0))
        if base != "s" or not (number or self._lower(count) in {"hour", "minute"}):
            return None
        return self._taken(count + 1, _number(ValueKind.QUANTITY, "frequency", 1 / (max(number, 1.0) * seconds)))

    def _identifier(self) -> Value | None:
        token = self._tokens[self._place]
        text, before = token.text, self._lower(-1)
        if "@" in text or "://" in text or (text.startswith("/") and len(text) > 2):
            return self._taken(1, _text(ValueKind.IDENTIFIER, "", text))
        span = _SCORE.fullmatch(text)
        if span and self._lower(1) in UNITS and float(span[1]) < float(span[2]):
            return self._taken(2, _range(float(span[1]), float(span[2]), self._lower(1)))
        if span and before not in {"order", "code", "number", "at"} and text[0] != "0":
            low, high = re.split("[-:]", text)
            return self._taken(1, _text(ValueKind.NUMBER, "score", f"{low}-{high}"))
        following = self._lower(1)
        is_prefix = _PREFIX.fullmatch(text) and text.lower() not in {"i", "a", "am", "pm", *CURRENCIES}
        if is_prefix and following.isdecimal():
            return self._taken(2, _text(ValueKind.IDENTIFIER, "", text + following))
        if _DIGITS.fullmatch(text) and following.isdecimal() and (text[0] == "0" or len(following) > 2):
            count = 1
            while self._lower(count).isdecimal():
                count += 1
            digits = "".join(self._lower(offset) for offset in range(count))
            return self._taken(count, _text(ValueKind.IDENTIFIER, "", digits))
        if _DOTTED.fullmatch(text):
            return self._taken(1, _text(ValueKind.IDENTIFIER, "", text.removeprefix("v")))
        number = _NUMBER.fullmatch(text)
        if _CODE.fullmatch(text) and not (number and _is_unit(number[3])) and not _ORDINAL.fullmatch(text):
            return self._taken(1, _text(ValueKind.IDENTIFIER, "", text))
        return None

    def _quantity(self) -> Value | None:
        number = _NUMBER.fullmatch(self._tokens[self._place].text)
        if number:
            return self._written(number)
        word = self._lower()
        if word in {"a", "an"} and self._lower(1) in UNITS and UNITS[self._lower(1)][0] == "s":
            if self._lower(2) == "and" and self._lower(3) == "a" and self._lower(4) == "half":
                return self._taken(5, _quantity(1.5, self._lower(1)))
            if self._lower(-1) in {"for", "takes", "take", "lasts", "last", "most", "least", "than", "over"}:
                return self._taken(2, _quantity(1.0, self._lower(1)))
        if word == "half":
            return self._half()
        offset = 1 if word == "a" and self._lower(1) in GROUP_NUMBERS else 0
        group = GROUP_NUMBERS.get(self._lower(offset))
        if group is not None and (offset or self._lower(-1) not in {"the", "my"}):
            return self._taken(offset + 1 + (self._lower(offset + 1) == "of"), _number(ValueKind.NUMBER, "", group))
        return self._spoken()

    def _half(self) -> Value | None:
        if self._lower(1) in {"a", "an"} and self._lower(2) in UNITS:
            return self._taken(3, _quantity(0.5, self._lower(2)))
        if self._lower(1) in {"of", "the"}:
            return self._taken(1, _number(ValueKind.QUANTITY, "share", 0.5))
        return None

    def _written(self, number: re.Match[str]) -> Value | None:
        amount, suffix = float(number[2].replace(",", "")), number[3].lower()
        count = 1
        if suffix in _MAGNITUDES and (suffix != "m" or number[1]):
            amount, suffix = amount * _MAGNITUDES[suffix], ""
        elif not suffix and self._lower(1) in SCALES:
            amount, count = amount * SCALES[self._lower(1)], 2
        if number[1]:
            return self._taken(count, _number(ValueKind.MONEY, CURRENCIES[number[1]], amount))
        if suffix:
            return self._taken(count, _with_unit(amount, suffix)) if _is_unit(suffix) else None
        before = self._lower(-1)
        if before in CURRENCIES:
            return self._taken(count, _number(ValueKind.MONEY, CURRENCIES[before], amount))
        return self._followed(amount, count)

    def _followed(self, amount: float, count: int) -> Value:
        """A number with the unit that follows it: "40 hours", "four and a half kilos"."""
        if self._lower(count) == "and" and self._lower(count + 1) == "a" and self._lower(count + 2) in _FRACTIONS:
            amount, count = amount + _FRACTIONS[self._lower(count + 2)], count + 3
        if self._lower(count) in {"to", "or"} and self._lower(-1) not in {"from", "than", "between", *CURRENCIES}:
            high = _plain_number(self._lower(count + 1))
            if high > amount and self._lower(count + 2) in UNITS:
                return self._taken(count + 3, _range(amount, high, self._lower(count + 2)))
        unit = self._lower(count)
        if unit == "square" and UNITS.get(self._lower(count + 1), ("", 0.0))[0] == "m":
            side = UNITS[self._lower(count + 1)][1]
            return self._taken(count + 2, _number(ValueKind.QUANTITY, "area", round(amount * side * side, 9)))
        if unit in {"degrees", "degree"} and self._lower(count + 1) in {"celsius", "fahrenheit", "c", "f"}:
            is_celsius = self._lower(count + 1)[0] == "c"
            celsius = amount if is_celsius else (amount - 32) / 1.8
            return self._taken(count + 2, _number(ValueKind.QUANTITY, "degree", round(celsius, 6) + 0.0))
        if unit in UNITS or unit in CURRENCIES:
            return self._taken(count + 1, _with_unit(amount, unit))
        if unit in {"c", "f", "\u00b0c", "\u00b0f"} and self._is_temperature(count):
            celsius = amount if unit[-1] == "c" else (amount - 32) / 1.8
            return self._taken(count + 1, _number(ValueKind.QUANTITY, "degree", round(celsius, 6) + 0.0))
        return self._taken(count, _number(ValueKind.NUMBER, "", amount))

    def _is_temperature(self, count: int) -> bool:
        """Whether a letter behind a number is that of a scale: "at 68 F", "20 \u00b0C", and not "flat 20 C"."""
        letter = self._tokens[self._place + count].text
        return letter[0] == "\u00b0" or (letter in {"C", "F"} and self._lower(-1) in {"at", "to", "is", "about", "of"})

    def _spoken(self) -> Value | None:
        total, current, count = 0, 0, 0
        last = ""
        while True:
            word = self._lower(count)
            parts = word.split("-")
            if all(part in SMALL_NUMBERS or part in TENS for part in parts) and word:
                value = sum(SMALL_NUMBERS.get(part, TENS.get(part, 0)) for part in parts)
                if last and not (last in SCALES or (last in TENS and value < 10)):
                    break
                current += value
            elif word in SCALES and count:
                current = max(1, current) * SCALES[word]
                if SCALES[word] > 100:
                    total, current = total + current, 0
            else:
                break
            last, count = word, count + 1
        if not count:
            return None
        nil = self._lower(count)
        if count == 1 and nil in SMALL_NUMBERS and last in SMALL_NUMBERS:
            return self._taken(2, _text(ValueKind.NUMBER, "score", f"{SMALL_NUMBERS[last]}-{SMALL_NUMBERS[nil]}"))
        if last == "one" and self._lower(count) not in UNITS and count == 1 and not current - 1:
            return None if self._lower(count) in {"is", "isn't", "of", ""} or self._place == 0 else self._followed(1, 1)
        return self._followed(float(total + current), count)


def _with_bounds(items: list[Item]) -> list[Item]:
    """Join "at least", "more than", "at most" and "up to" with the value that follows."""
    result: list[Item] = []
    for item in items:
        if isinstance(item, Value) and item.text == "" and len(result) >= 2:
            words = f"{result[-2]} {result[-1]}"
            if words in {"at least", "more than"}:
                step = 1e-9 if words == "more than" else 0.0
                result[-2:] = [item._replace(low=item.low + step, high=float("inf"))]
                continue
            is_rise = words == "up to" and _rises(result)
            if not is_rise and words in {"at most", "up to", "less than", "fewer than"}:
                result[-2:] = [item._replace(low=float("-inf"))]
                continue
        result.append(item)
    return result


def _rises(before: list[Item]) -> bool:
    """Whether "up to" says where something rises: "I'm up to 35", "they put the fee up to 12"."""
    is_moving = len(before) > 2 and before[-3] in _RISING
    return is_moving or bool(_RAISING & set(map(str, before[-8:])))


def _is_unit(word: str) -> bool:
    return word.lower() in UNITS or word.lower() in CURRENCIES or word.lower() in _MAGNITUDES


def _is_word_number(word: str) -> bool:
    return word in ORDINALS or word in SMALL_NUMBERS


def _day_number(word: str) -> int:
    ordinal = _ORDINAL.fullmatch(word)
    number = ORDINALS.get(word) or (int(ordinal[1]) if ordinal else int(word) if re.fullmatch(r"\d{1,2}", word) else 0)
    return number if 0 < number < 32 else 0


def _with_unit(amount: float, unit: str) -> Value:
    if unit.lower() in CURRENCIES:
        return _number(ValueKind.MONEY, CURRENCIES[unit.lower()], amount)
    return _quantity(amount, unit.lower()) if unit.lower() in UNITS else _number(ValueKind.NUMBER, unit, amount)


def _quantity(amount: float, unit: str) -> Value:
    base, factor = UNITS[unit]
    return _number(ValueKind.QUANTITY, base, round(amount * factor, 9))


def _range(low: float, high: float, unit: str) -> Value:
    """As in "three to four weeks", "3-4 weeks"."""
    return _quantity(low, unit)._replace(high=_quantity(high, unit).high)


def _plain_number(word: str) -> float:
    if word.isdecimal():
        return float(word)
    return float(SMALL_NUMBERS.get(word, TENS.get(word, 0)))


def _clock(minutes: int, half: str, *, is_full: bool) -> Value:
    if half:
        minutes = minutes % 720 + (720 if half == "pm" else 0)
    return _number(ValueKind.TIME, "24h" if half or is_full else "12h", float(minutes % 1440))


def _number(kind: ValueKind, unit: str, amount: float) -> Value:
    return Value(kind, unit, float(amount), float(amount), "")


def _text(kind: ValueKind, unit: str, text: str) -> Value:
    return Value(kind, unit, 0.0, 0.0, text)

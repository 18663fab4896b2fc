"""The same sentence with another end: "Our team sits on the third floor", "Our team sits on the sixth floor now"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.comparison.complements import are_exclusive, ends_differ
from services.common.values.comparison.sameness import Match, match_values
from services.common.values.model import Value
from services.common.values.reading.splitting import DETERMINERS, PREPOSITIONS, verb_place
from services.common.values.restatement.opposites import is_the_opposite
from services.common.values.words.newness import plainly
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.quantities import ValueReader
from services.common.values.words.tokens import tokenize

_MONTHS_AND_DAYS: Final = (
    "january|february|march|april|may|june|july|august|september|october|november|december|"
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
)
_SINCE: Final = re.compile(
    rf"^(?:as\sof|from|since|starting|effective)\s(?:now|today|tomorrow|this\s\w+|next\s\w+|the\sfirst|"
    rf"{_MONTHS_AND_DAYS})(?:\son(?:wards?)?)?,?\s(?=(?:my|our|the|i|we)\b)",
    re.IGNORECASE,
)
_NOW: Final = re.compile(
    r"\s(?:now|nowadays|these\sdays|by\snow|again|instead|from\s(?:now|today|this|next)\b.{0,20}|"
    rf"since\s(?:the|this|last|{_MONTHS_AND_DAYS})\b.{{0,20}})$",
    re.IGNORECASE,
)
_NOT: Final = re.compile(r",?\s(?:and\s)?(?:not|no\slonger|instead\sof|rather\sthan)\s(?P<old>.{2,60})$", re.IGNORECASE)
_ASIDE: Final = re.compile(r"[;:]|\s-{1,3}\s|\bbecause\b", re.IGNORECASE)
_AND: Final = re.compile(r"\band\b", re.IGNORECASE)
_FOR_A_WHILE: Final = CachedPattern(
    r"\b(?:until|till|while(?!\s\w+ing\b)|during|tonight|today|tomorrow|for\s(?:now|the\s(?:next|moment|time)|a\s(?:few|while))|"
    r"this\s(?:week|weekend|month|morning|afternoon|evening)|temporarily|filling\sin)\b",
    re.IGNORECASE,
)
_UNTIL_NOTICE: Final = re.compile(r",?\suntil\sfurther\snotice\b", re.IGNORECASE)
"""Says that something holds from now on, for nobody knows how long."""
_AGAIN: Final = re.compile(r"\bagain\b", re.IGNORECASE)
_AT_PRESENT: Final = re.compile(r"\b(?:now|these\sdays|nowadays)\b", re.IGNORECASE)
_ALSO: Final = CachedPattern(r"\b(?:too|also|as\swell|another|besides|both)\b", re.IGNORECASE)
_DENIED: Final = re.compile(r"\b(?:not|never|no)\b|n't\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[\w'.:%/-]+")
_MANY: Final = frozenset(
    """
    learn learns learning have has had got like likes love loves enjoy enjoys hate hates know knows speak speaks
    play plays eat eats drink drinks buy buys own owns see sees visit visits met meet read reads watch watches want
    wants need needs collect collects
    """.split()  # noqa: SIM905 - words
)
"""Verbs of which a person has many objects at a time: another one takes nothing back."""
_WITH_OBJECT: Final = frozenset({"have", "has", "get", "buy", "buys", "play", "eat", "drink", "watch"})
"""Of these one occasion or thing with an object of its own stays the same: "we have our lunch at ..."."""
_SERVED: Final = frozenset(
    (who, verb) for who in ("i", "we") for verb in ("drink", "eat", "have", "take", "order", "make", "cook")
)
_MEALS: Final = frozenset(
    "morning mornings evening evenings noon breakfast lunch dinner supper brunch bed night weekend weekends".split()  # noqa: SIM905
)
_PRONOUNS: Final = frozenset(
    {"i", "we", "he", "she", "it", "they", "you", "i'm", "we're", "it's", "there", "this", "that"}
)
_PARTS_OF_DAY: Final = frozenset("morning mornings afternoon afternoons evening evenings night nights noon".split())  # noqa: SIM905
_LIGHT: Final = frozenset({"in", "at", "the", "during"})
_COPULAS: Final = frozenset({"is", "are", "am", "was", "were"})
_KEPT_AT: Final = frozenset({"keep", "store", "park", "stay", "sit", "hide", "live"})
"""What the speaker does at one place at a time."""
_SINGLE: Final = frozenset(
    """
    is are wears wear place costs cost weighs weigh sits sit stands stand hangs hang lies lie lives live sleeps sleep
    stays stay lasts last
    """.split()  # noqa: SIM905 - words
)
"""Verbs of which a thing or a person has one end at a time."""
_SCOPED_BY: Final = frozenset({"for", "on", "during"})
_END_MAX: Final = 8
_FRAME_MIN: Final = 3


def is_negation(earlier: str, later: str) -> bool:
    """Returns whether one of two statements says no and the other does not: "I like coffee", "I don't any more"."""
    return (_DENIED.search(earlier) is None) is not (_DENIED.search(later) is None)


def takes_another_end(earlier: str, later: str) -> bool:
    """Returns whether the later statement repeats the earlier one with another end, and says that this is new.

    What holds for a while ("this week"), beside something else ("too") or under a condition takes nothing back.
    """
    found = _other_end(earlier, later)
    return (found is not None and found.is_new) or is_the_opposite(earlier, later)


def has_another_value(earlier: str, later: str) -> bool:
    """Returns whether the later statement gives a thing another amount, place or state than the earlier one.

    It need not say that this is new, since a thing has one of these at a time: "the range of my bike is 80 km". What
    the speaker does, and when, is not read: that may be both.
    """
    found = _other_end(earlier, later)
    if found is None:
        return False
    is_of_thing = bool(_COPULAS & set(found.frame[-2:])) and found.frame[0] not in _PRONOUNS
    is_order = found.frame[0] == "make"  # "make your answers short"
    if not (is_of_thing or is_order):
        return False
    return are_exclusive(*found.ends)


def is_stated_anew(earlier: str, later: str) -> bool:
    """Returns whether a later statement says of the same thing or person that it is somewhere else, or another amount.

    For statements of two days, of which the later one need not say that this is new: "my passport is in the desk", "my
    passport is in the safe". Of the speaker only what stays at one place is read: "I keep the key at Nora's".
    """
    found = _other_end(earlier, later)
    if found is None:
        return False
    frame = found.frame
    known = _KEPT_AT if frame[0] in {"i", "we"} else _SINGLE
    begin = next((place + 1 for place, word in enumerate(frame) if word in known), 0)
    end = len(frame)
    while end > begin and (frame[end - 1] in DETERMINERS or frame[end - 1] in PREPOSITIONS):
        end -= 1
    head, tail = frame[:begin], frame[end:] or frame[begin:]
    first, second = ((*tail, *end) for end in found.ends)
    if (
        _are_in_two_units(first, second)
        or not head
        or head[0] in _PRONOUNS - {"i", "we"}
        or {"was", "were", "not", "no"} & set(head)
    ):
        return False
    if head[0] in {"i", "we"}:
        return len(head) < _FRAME_MIN and are_exclusive(first, second)
    if "for" in second and "for" not in first:
        return False  # "my hair is pink for carnival"
    if {*head[:2]} & {"only", "best", "favourite", "favorite"} and head[-1] in _COPULAS:
        return True
    return are_exclusive(first, second)


def is_at_another_part_of_day(earlier: str, later: str) -> bool:
    """Returns whether the same is done at another part of the day: "I train in the mornings", "in the evenings".

    The later statement need not say that this is new: its sentence gives the reason.
    """
    if is_the_opposite(earlier, later, is_new=True):
        return True  # "I train early", "I train late"
    found = _other_end(earlier, later)
    return found is not None and all(set(end) - _LIGHT <= _PARTS_OF_DAY for end in found.ends)


def _are_in_two_units(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether each end is a number of another unit: "10 kg", "22 pounds"."""
    units = [{word for word in end if not word[:1].isdigit()} for end in (first, second)]
    return all(any(word[:1].isdigit() for word in end) for end in (first, second)) and units[0] != units[1]


def share_frame(earlier: str, later: str) -> bool:
    """Returns whether two statements have one subject and verb, and another end: "Ben drives a Volvo", "a Saab"."""
    found = _other_end(earlier, later)
    if found is None or verb_place(found.frame) is None:
        return False
    return "for" in found.ends[0] or "for" not in found.ends[1]  # "my hair is pink for carnival"


class _OtherEnd(NamedTuple):
    """Two statements with the same beginning."""

    frame: tuple[str, ...]
    ends: tuple[tuple[str, ...], tuple[str, ...]]
    is_new: bool


@text_cache(4_096)
def _plain(text: str) -> tuple[str, bool]:
    return plainly(_UNTIL_NOTICE.sub("", text))


@text_cache(4_096)
def _is_brief(text: str) -> bool:
    return _FOR_A_WHILE.search(_SINCE.sub("", text)) is not None


@text_cache(2_048)
def _other_end(earlier: str, later: str) -> _OtherEnd | None:
    """What two statements share and in what they differ; None where both may hold."""
    earlier, (later, is_dated) = _plain(earlier)[0], _plain(later)
    if _is_brief(later) or _ALSO.search(later) or _FOR_A_WHILE.search(earlier):
        return None
    old, _ = _read(earlier)
    new, is_new = _read(later)
    is_new = is_new or is_dated
    place = 0
    while place < min(len(old), len(new)) and old[place] == new[place]:
        place += 1
    frame = old[:place]
    ends = _without_common_end(old[place:], new[place:])
    if not all(0 < len(end) <= _END_MAX for end in ends):
        return None
    is_back = _AGAIN.search(later) is not None and _AT_PRESENT.search(earlier) is not None
    if (
        (not is_back and ends_differ(frame, *ends))
        or _are_two_objects(frame, ends)
        or _is_cut_before_the_verb(frame, ends)
    ):
        return None
    if _have_other_scopes(*ends):
        return None
    said_not = _NOT.search(later.rstrip(".! "))
    if said_not is not None:
        is_new = _words(said_not["old"])[-len(ends[0]) :] == ends[0]
    tail = old[len(frame) + len(ends[0]) :]
    if not (_is_slot(frame, is_back=is_back) or _is_meal(frame, tail)) or any(
        _DENIED.search(" ".join(side)) for side in (old, new)
    ):
        return None
    # Reads values, which takes longer than all the rest.
    return None if _are_equal(*ends) else _OtherEnd(frame, ends, is_new)


def _are_equal(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether both ends name the same value: "half past seven", "7.30 pm"."""
    values = [
        [item for item in ValueReader(tokenize(" ".join(end))).read() if isinstance(item, Value)]
        for end in (("at", *first), ("at", *second))
    ]
    return bool(values[0] and values[1]) and any(
        match_values(x, y) in {Match.EQUAL, Match.OVERLAPPING} for x in values[0] for y in values[1]
    )


def _without_common_end(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Both without the words in which they end alike, as long as something is left: "spotify [for music]"."""
    while len(old) > 1 and len(new) > 1 and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return old, new


def _have_other_scopes(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether each end holds for something else: "forty loaves for Saturdays", "sixty loaves for Sundays"."""
    places = [
        next((n for n, word in enumerate(end) if n and word in {"for", "on", "during"}), 0) for end in (first, second)
    ]
    if not all(places) or first[places[0]] != second[places[1]]:
        return False
    return first[: places[0]] != second[: places[1]] and first[places[0] :] != second[places[1] :]


def _are_two_objects(frame: tuple[str, ...], ends: Sequence[Sequence[str]]) -> bool:
    """Whether the objects differ, each with a place of its own: "I keep the spare key at Nora's"."""
    is_cut = bool(frame) and frame[-1] in {"the", "my", "our"} and (len(frame) < 2 or frame[-2] not in PREPOSITIONS)
    return is_cut and all(any(word in PREPOSITIONS for word in end[1:]) for end in ends)


def _is_cut_before_the_verb(frame: tuple[str, ...], ends: Sequence[Sequence[str]]) -> bool:
    """Whether the subjects differ: "the printer on the second floor takes A3", "... on the third floor takes A4"."""
    if not _COPULAS & set(frame) and all(_COPULAS & set(end[1:]) for end in ends):
        return True  # "my order into the trust is", "my order into the account is"
    return verb_place(frame) is None and all(verb_place(end) is not None for end in ends)


def _is_meal(frame: tuple[str, ...], tail: tuple[str, ...]) -> bool:
    """Whether what differs is taken at the same time of day, or with the same thing.

    As in "I drink [tea] in the morning", "I have [oat] milk in my tea".
    """
    place = next((n for n, word in enumerate(tail[:2]) if word in PREPOSITIONS), None)
    if frame not in _SERVED or place is None or len(tail) <= place + 1:
        return False
    return (place == 0 and bool(_MEALS & set(tail))) or (place == 1 and tail[2] in {"my", "our"})


def _is_slot(frame: tuple[str, ...], *, is_back: bool) -> bool:
    """Whether the shared beginning names a slot with one value: more than "I am", and no verb with many objects.

    Where the earlier one says "now" and the later one "again", a verb of the speaker is enough: "I wear ...".
    """
    if not frame or _is_one_of_many(frame):
        return False
    if is_back and frame[0] in {"i", "we"} and len(frame) == _FRAME_MIN - 1 and not _COPULAS & set(frame):
        return True
    if frame[0] in _PRONOUNS:
        return len(frame) >= _FRAME_MIN and not (_COPULAS & set(frame) and len(frame) <= _FRAME_MIN)
    return len(frame) >= _FRAME_MIN and frame[0] not in {"on", "in", "at", "for", "when", "if", "during", "every"}


def _is_one_of_many(frame: tuple[str, ...]) -> bool:
    """Whether what differs is the object of a verb that has many: "I like jazz", not "we have lunch at the pub"."""
    place = next((n for n, word in enumerate(frame) if word in _MANY), None)
    if place is None:
        return False
    between = [word for word in frame[place + 1 :] if word not in DETERMINERS]
    if frame[place] in {"like", "prefer"} and between[:1] == ["to"] and between[1:] and frame[-1] in PREPOSITIONS:
        return False  # "I like to read on [paper]"
    return not (
        frame[place] in _WITH_OBJECT
        and between
        and frame[-1] not in DETERMINERS - {"the", "my", "our"}
        and any(word in PREPOSITIONS for word in between)
    )


@text_cache(4_096)
def _read(text: str) -> tuple[tuple[str, ...], bool]:
    """The words of a statement without what says that it is new, and whether something did."""
    plain = text.rstrip(".! ")
    opened = _SINCE.sub("", plain)
    body = _without_aside(opened)
    bare = _NOW.sub("", body)
    said_not = _NOT.sub("", bare)
    return _words(said_not), opened != plain or bare != body


@text_cache(4_096)
def main_part(text: str) -> str:
    """Returns a statement without a remark behind a comma that has no verb: "I can't drive, sprained wrist"."""
    main, comma, remark = text.partition(", ")
    words = [[word.casefold().strip(".,!") for word in part.split()] for part in (main, remark)]
    return main if comma and verb_place(words[0]) is not None and verb_place(words[1]) is None else text


def _without_aside(text: str) -> str:
    """A statement up to what is said beside it: behind a dash, a colon, "because", or a comma that begins no list."""
    list_end = max((found.end() for found in _AND.finditer(text)), default=0)
    comma = text.find(",", list_end)
    aside = _ASIDE.search(text)
    ends = [end for end in (comma, aside.start() if aside else -1) if end >= 0]
    return text[: min(ends)].rstrip() if ends else text


def _words(text: str) -> tuple[str, ...]:
    found = (word.casefold().rstrip("'.:%/-") for word in _WORD.findall(text))
    return tuple(word for word in found if word)

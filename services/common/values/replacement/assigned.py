"""Numbered things that somebody is given, of which they have one: a plot, a locker, a desk. Pure functions.

"I've got plot 14 down at the allotments" ends with "they've shuffled us all about and I've got plot 27 now". Where both
name a place, it must be the same one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.words.fields import CHANGED
from services.common.values.words.newness import plainly
from services.common.values.words.nouns import nouns_of
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.tokens import lemma

_CHARS_MAX: Final = 250
_KINDS: Final = (
    "plot|locker|pitch|seat|room|desk|bay|berth|mooring|space|slot|table|stall|stand|lane|gate|pen|box|shelf|unit|flat|"
    "apartment|peg|hook|bed|cabin|cell|tent|site|court|booth|counter|station|workstation|platform|parking\\sspace|"
    "parking\\sspot|spot|group|team|heat|queue|wave|list|line|floor|ward|house|hut|chalet|kennel|stable|hive|drawer|tray"
)
_CODE: Final = r"(?:number\s|no\.?\s|#)?(?P<code>[A-Z]?\d{1,4}[a-z]?|(?-i:[B-Z])\d?|[a-z]\d{1,3})(?!\w)"
_HELD: Final = re.compile(
    rf"(?:^|[\s,(])(?P<who>i|we|(?:the|our|my)\s[\w'-]{{2,20}}(?:\s[\w'-]{{2,20}})?)(?:'ve|'m|'re|\shave|\shas|\sam|\sare|\sis)?"
    rf"(?:\s(?:now|still|just|currently|been))?(?:\s(?:got|given|have|get|use|allotted|assigned|moved|put|in|at|on|to|into))*\s(?:the\s)?(?P<kind>{_KINDS})\s{_CODE}(?![\w:.,]*\d)",
    re.IGNORECASE,
)
"""As in "I've got plot 14", "we're in cabin 3", "the band has slot 3"."""
_CLASS: Final = re.compile(
    r"(?:^|[\s,(])(?P<who>i|my\s(?:son|daughter|brother|sister))(?:'m|'s|\sam|\sis)\s(?:now\s)?in\s(?:(?:class|form|year|group)\s)?"
    r"(?P<kind>)(?P<code>\d{1,2}[a-z])\b",
    re.IGNORECASE,
)
"""As in "I'm in 9b"."""
_IS: Final = re.compile(
    rf"(?:^|[\s,(])(?P<who>my|our)\s(?:[\w'-]{{2,20}}\s)??(?P<kind>{_KINDS})(?:\s(?:at|in|on|for)\s[\w'\s-]{{2,40}}?)?\s(?:is|'s)\s"
    rf"(?:now\s)?(?:the\s)?(?:(?:{_KINDS})\s)?{_CODE}(?![\w:.,]*\d)",
    re.IGNORECASE,
)
"""As in "my parking space is number 7"."""
_PLACE: Final = re.compile(
    r"\b(?:at|in|to|for|of|down\sat|on)\s(?P<place>(?:the\s|our\s|my\s)?[\w'.-]{2,25}(?:\s(?!(?:and|but|so|i|we|is|has|now|at|in|to|for|of|on)\b)[\w'.-]{2,25}){0,2})",
    re.IGNORECASE,
)
_BESIDE: Final = CachedPattern(
    r"\b(?:too|also|as\swell|both|another|second|extra|left\sto|besides|not|never|no)\b|n't\b", re.IGNORECASE
)
_LIGHT: Final = frozenset({"plot", "locker", "number", "row", "top", "bottom", "corner", "side", "end"})


class _Held(NamedTuple):
    who: str
    kind: str
    code: str
    places: frozenset[str]


def is_given_another(earlier: str, later: str, *, is_told: bool) -> bool:
    """Returns whether somebody has another one now of the numbered things of which they have one.

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
        is_told: Whether the turn of the later one announces a change.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX or _BESIDE.search(later) or _BESIDE.search(earlier):
        return False
    if not (is_told or CHANGED.search(later) is not None or plainly(later)[1]):
        return False
    return any(
        a.who == b.who and a.kind == b.kind and a.code != b.code and (a.places <= b.places or b.places <= a.places)
        for a in _held(earlier)
        for b in _held(later)
    )


def assigned_keys(text: str) -> frozenset[str]:
    """Returns the kinds of numbered things that a statement gives somebody: so are two of one kind found."""
    return frozenset(f"assigned:{held.kind}" for held in _held(text)) if len(text) <= _CHARS_MAX else frozenset()


@text_cache(4_096)
def _held(text: str) -> tuple[_Held, ...]:
    return tuple(_read(" ".join(text.replace("\u2019", "'").split())))


def _read(text: str) -> Iterator[_Held]:
    for pattern in (_HELD, _CLASS, _IS):
        for match in pattern.finditer(text):
            who = match["who"].casefold()
            kind = lemma((match["kind"] or "class").casefold().split()[-1])
            outside = text if pattern is _IS else f"{text[: match.start()]} {text[match.end() :]}"
            places = (
                frozenset(noun for found in _PLACE.finditer(outside) for noun in nouns_of(found["place"]))
                - _LIGHT
                - {kind}
            )
            is_speaker = who in {"i", "we", "my", "our"}
            yield _Held("i" if is_speaker else who, _SAME_KINDS.get(kind, kind), match["code"].casefold(), places)


_SAME_KINDS: Final = {"spot": "space", "stand": "stall", "mooring": "berth", "workstation": "desk", "apartment": "flat"}

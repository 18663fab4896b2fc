"""Yes and no of the same by the words alone: "the tap drips", "the tap doesn't drip any more". Pure functions.

The subject and the verb must be the same to the word, so that no list of verbs is needed. The one that denies may say
less than the other one: who does not sing any more does not sing on Sundays either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from services.common.text_cache import text_cache

_CHARS_MAX: Final = 200
_SPLIT: Final = re.compile(r"[,;:.!]\s?|\s(?:and|but|so|because)\s")
_DENIED: Final = re.compile(
    r"^(?P<who>(?:[\w'-]{1,30}\s){1,7}?)(?P<how>doesn't|does\snot|don't|do\snot|isn't|is\snot|aren't|are\snot|can't|cannot|can\snot|must\snot|mustn't|may\snot|'m\snot|am\snot|"
    r"doesnt|dont|isnt|arent|cant|no\slonger)\s(?P<what>[\w'-]{2,30})(?P<rest>(?:\s[\w'-]{1,30}){0,12})$",
    re.IGNORECASE,
)
_CHANGED: Final = re.compile(
    r"\s(?:any\s?more|any\slonger|no\slonger|now|again|at\slast|finally|these\sdays|after\sall)\b|^(?:now|finally|at\slast)\s",
    re.IGNORECASE,
)
_SINCE: Final = re.compile(r"\s(?:since|until|till|because|for\snow)\s.*$", re.IGNORECASE)
"""Since when or how long it is so. A condition ("when it rains") belongs to what is said."""
_COPULAS: Final = {
    "isn't": "is",
    "isnt": "is",
    "is": "is",
    "aren't": "are",
    "arent": "are",
    "are": "are",
    "'m": "am",
    "am": "am",
}
_CAN: Final = frozenset({"can't", "cannot", "can", "cant", "must", "mustn't", "may"})
_MAY: Final = frozenset({"can", "may"})
_FORMS: Final = {"have": "has", "do": "does", "go": "goes"}
_ADVERBS: Final = frozenset("still also always usually often now really only just".split())  # noqa: SIM905 - words
_NO_SUBJECTS: Final = frozenset("please if when you nobody who which that it they he she this there".split())  # noqa: SIM905
_ARTICLES: Final = frozenset({"the", "my", "our"})


class _Denial(NamedTuple):
    """What is denied."""

    who: tuple[str, ...]
    verb: str  # in its base form; "is", "are" or "am" of what somebody is
    can: bool
    rest: tuple[str, ...]
    is_new: bool  # says that it was not so before


def denies_plainly(earlier: str, later: str) -> bool:
    """Returns whether one of two statements denies the other one by its own words, and the later one says it is new."""
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX:
        return False
    for denial, plain in _news(later):
        for one in _parts(earlier):
            if denial is not None:
                rest = _rest_of(denial, one)
                if rest is not None and rest[: len(denial.rest)] == denial.rest:
                    return True
            elif (was := _denial(one)) is not None and _rest_of(was, plain) == was.rest:
                return True
    return False


@text_cache(4_096)
def _news(text: str) -> tuple[tuple[_Denial | None, str], ...]:
    """What the parts of a statement deny anew, or say to be so by now, without the words that say so."""
    return tuple(
        (denial, _CHANGED.sub("", part))
        for part in _parts(text)
        if (denial := _denial(part)) is None or denial.is_new
        if denial is not None or _CHANGED.search(part) is not None
    )


@text_cache(4_096)
def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in _SPLIT.split(text.rstrip(".! ")) if part and part.strip())


@text_cache(4_096)
def _denial(part: str) -> _Denial | None:
    match = _DENIED.match(
        _SINCE.sub("", _CHANGED.sub("", part)) if "no longer" not in part.casefold() else _SINCE.sub("", part)
    )
    if match is None:
        return None
    who = _subject(match["who"].split())
    if not who:
        return None
    how = match["how"].casefold().split()[0]
    what, rest = match["what"].casefold(), tuple(word.casefold() for word in match["rest"].split())
    is_new = _CHANGED.search(part) is not None or how == "no"
    if how in _COPULAS:
        return _Denial(who, _COPULAS[how], can=False, rest=(what, *rest), is_new=is_new)
    if how == "no" and what.endswith("s"):
        what = next((base for base, form in _FORMS.items() if form == what), what.removesuffix("s"))
    return _Denial(who, what, can=how in _CAN, rest=rest, is_new=is_new)


def _subject(words: Sequence[str]) -> tuple[str, ...]:
    found = tuple(_plain(word) for word in words)
    return () if not found or found[0] in _NO_SUBJECTS else found


def _plain(word: str) -> str:
    return "the" if word.casefold() in _ARTICLES else word.casefold()


def _rest_of(denial: _Denial, part: str) -> tuple[str, ...] | None:
    """What a part says behind the same subject and verb without a denial; None where it says something else."""
    words = [_plain(word) for word in _SINCE.sub("", part).split()]
    if tuple(words[: len(denial.who)]) != denial.who:
        return None
    behind = [word for place, word in enumerate(words[len(denial.who) :]) if place or word not in _ADVERBS]
    while behind and behind[0] in _ADVERBS:
        behind = behind[1:]
    if denial.can:
        return tuple(behind[2:]) if behind[:1] and behind[0] in _MAY and behind[1:2] == [denial.verb] else None
    return tuple(behind[1:]) if behind and behind[0] in set(_forms(denial.verb)) else None


def _forms(verb: str) -> Iterator[str]:
    yield verb
    if verb not in _COPULAS.values():
        yield _FORMS.get(verb, f"{verb}s")
        yield f"{verb}es"

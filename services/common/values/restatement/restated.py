"""The same statement or order with another number: "The tank holds 60 litres", "The tank holds 55". Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.comparison.sameness import Match, match_values
from services.common.values.model import Value, ValueKind
from services.common.values.reading.splitting import DETERMINERS, verb_place
from services.common.values.words.lexicon import AUXILIARIES, HEDGES, IRREGULAR, PRONOUNS, STOP, VERBS
from services.common.values.words.newness import plainly
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.quantities import Item, ValueReader
from services.common.values.words.tokens import PUNCTUATION, lemma, tokenize

_CHARS_MAX: Final = 200
_BREAK: Final = re.compile(
    r"\s?[,;:!]\s|\s-{1,3}\s|\s(?:and|but|so|because|as|since|which|now|instead|today|already|by\snow|again)\b",
    re.IGNORECASE,
)
"""Behind these stands something beside what is said."""
_MORE: Final = CachedPattern(
    r"\b(?:more|fewer|less|another|extra|additional|only|instead|now|by\snow|already)\b", re.IGNORECASE
)
"""Says that a number is another one than before."""
_YOURS: Final = CachedPattern(r"\byour\b", re.IGNORECASE)
_DENIED: Final = CachedPattern(r"\b(?:not|never|no|if|unless|would|used\sto)\b|n't\b", re.IGNORECASE)
_FILLERS: Final = (DETERMINERS - {"first", "second"}) | frozenset(
    ["now", "already", "just", "exactly", "please", "about", "around", "only", "again", ","]
)
_HOURS_MAX: Final = 24
_COUNTED: Final = frozenset({ValueKind.NUMBER, ValueKind.QUANTITY, ValueKind.MONEY, ValueKind.TIME})
_BEFORE_HOUR: Final = frozenset({"at", "until", "till", "before", "after", "by"})
_SPEAKERS: Final = frozenset({"i", "we"})
_OTHERS: Final = frozenset({"he", "she", "it", "they", "you", "this", "that", "there"})
_PAST: Final = frozenset({"was", "were", "had", "did", "been", "ago"})
_PARTS_MAX: Final = 6
_WORDS_MIN: Final = 2

_LABEL: Final = re.compile(r"^(?P<what>(?:(?:the|my|our)\s)?[\w'-]{2,20}(?:\s[\w'-]{2,20})?):\s", re.IGNORECASE)


_BACK_TO: Final = re.compile(
    r"^(?:(?:so|and|right|ok(?:ay)?|well),?\s)?(?:(?:we're|i'm|we\sare|i\sam|it's|let's\s(?:go|get))\s)?(?:now\s)?back\s(?:down\s|up\s)?to\s"
    r"(?P<what>[^,;:.!?]{2,80}?)(?:,?\s(?:again|now|please|then|from\s(?:now|today|tomorrow|next\s\w+)(?:\son)?))*(?:[,;:.!]|$)",
    re.IGNORECASE,
)


def goes_back_to_another_number(earlier: str, later: str) -> bool:
    """Returns whether one goes back to what the earlier statement says with another number: "back to dinners for four".

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
    """
    match = _BACK_TO.match(later)
    if match is None or len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX or _DENIED.search(later):
        return False
    second = tuple(_items(match["what"]))
    named = [item for item in second if isinstance(item, str) and item not in STOP]
    return bool(named) and any(
        _is_other_number(first[-len(second) :], second) for first in _readings(earlier) if len(first) >= len(second)
    )


def gives_another_number(earlier: str, later: str, *, is_told: bool) -> bool:
    """Returns whether the later statement repeats the earlier one with another number of the same measure.

    What the speaker does ("I run five kilometres") can be done in another measure on another day: of that the later
    statement must say that it is new. What somebody did is over and stays as it is.

    Args:
        earlier: A statement.
        later: The other one.
        is_told: Whether the turn of the later one announces a change.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX or _DENIED.search(earlier) or _DENIED.search(later):
        return False
    if (_YOURS.search(earlier) is None) is not (_YOURS.search(later) is None):
        return False
    labels = [_LABEL.match(text) for text in (earlier, later)]
    if labels[0] and labels[1] and labels[0]["what"].casefold() != labels[1]["what"].casefold():
        return False  # "the scarf: 30 stitches a row", "the hat: 34 stitches a row"
    is_new = is_told or plainly(later)[1] or _MORE.search(later) is not None
    return any(
        _differ_in_number(first, second, is_new=is_new) for first in _readings(earlier) for second in _readings(later)
    )


@text_cache(4_096)
def _readings(text: str) -> tuple[tuple[Item, ...], ...]:
    """The statement up to each of its breaks, and what stands behind each."""
    return tuple(dict.fromkeys(tuple(_items(part)) for part in _parts(plainly(text)[0])))


def _parts(text: str) -> Iterator[str]:
    yield text
    start, subject = 0, _subject(text)
    for match, _ in zip(_BREAK.finditer(text), range(_PARTS_MAX), strict=False):
        yield _with_subject(text[start : match.start()], subject) if start else text[: match.start()]
        start = match.end()
    if start:
        yield _with_subject(text[start:], subject)


def _subject(text: str) -> str:
    """The words before the first verb of a statement."""
    words = text.split()
    place = verb_place([word.casefold().strip(".,!") for word in words])
    return " ".join(words[:place]) if place else ""


def _with_subject(part: str, subject: str) -> str:
    """A part without a subject of its own, with that of its statement: "[server falke] sits in rack 7"."""
    words = [word.casefold().strip(".,!") for word in part.split()]
    if not subject or not words:
        return part
    word = words[0]
    is_third_person = word.endswith("s") and word != lemma(word) and lemma(word) in VERBS
    return f"{subject} {part}" if is_third_person or verb_place(words) is None else part


def _items(text: str) -> Iterator[Item]:
    tokens = [token for token in tokenize(text) if token.lower not in PUNCTUATION]
    before = ""
    for item in ValueReader(tokens).read():
        if isinstance(item, Value):
            is_hour = item.kind is ValueKind.NUMBER and before in _BEFORE_HOUR and 0 < item.low <= _HOURS_MAX
            yield Value(ValueKind.TIME, "12h", item.low * 60, item.high * 60, "") if is_hour else item
            before = ""
            continue
        if item not in _FILLERS:
            is_past = item.endswith("ed") or (IRREGULAR.get(item) in VERBS and not item.endswith(("s", "ing")))
            yield item if item in AUXILIARIES or is_past else lemma(item)
        before = item


def _differ_in_number(first: tuple[Item, ...], second: tuple[Item, ...], *, is_new: bool) -> bool:
    if not _is_other_number(first, second):
        return False
    words = [item for item in first if isinstance(item, str)]
    return _is_slot(words, is_new=is_new)


def _is_other_number(first: tuple[Item, ...], second: tuple[Item, ...]) -> bool:
    """Whether two rows of words differ in one number of the same measure and in nothing else."""
    if len(first) != len(second) or set(map(str, first)) & (HEDGES - {"may"}):
        return False
    differing = [(x, y) for x, y in zip(first, second, strict=True) if x != y]
    if len(differing) != 1:
        return False
    ((x, y),) = differing
    if not isinstance(x, Value) or not isinstance(y, Value):
        return False
    return {x.kind, y.kind} <= _COUNTED and x.kind is y.kind and match_values(x, y) is Match.DIFFERENT


def _is_slot(words: list[str], *, is_new: bool) -> bool:
    """Whether what surrounds a number names one thing of which it is said, as a rule and not once."""
    named = [word for word in words if word not in STOP and word not in PRONOUNS and word not in VERBS]
    has_verb = any(word in AUXILIARIES or word in VERBS for word in words)
    if not words or words[0] in _OTHERS or not named or _is_over(words):
        return False
    if words[0] in _SPEAKERS:
        return is_new and has_verb
    is_order = words[0] in VERBS or not has_verb
    return has_verb or (is_order and len(named) >= _WORDS_MIN)


def _is_over(words: list[str]) -> bool:
    return any(word in _PAST or (word not in VERBS | AUXILIARIES and lemma(word) in VERBS) for word in words)

"""What was so before and is so again: "the weekly digest again", after "send it daily from now on". Pure functions.

A statement that says "again" or "back" and names what an earlier, superseded one said takes the place of what had
superseded it, in whatever words.
"""

from __future__ import annotations

import re
from typing import Final

from services.common.values.lives.passing import is_for_a_while
from services.common.values.reading.parts import split_parts
from services.common.values.reading.people import OTHERS, THIRD
from services.common.values.restatement.cores import cores
from services.common.values.words.lexicon import KIN, VERBS
from services.common.values.words.nouns import nouns_of

_CHARS_MAX: Final = 250
_BACK_TO: Final = re.compile(
    r"\b(?:back\s(?:to|on|onto|in|into|at|with)|(?:revert|return)(?:s|ed|ing)?\sto)\s(?P<what>[^,.;!]{2,80})",
    re.IGNORECASE,
)
_AGAIN: Final = re.compile(
    r"\b(?:again|once\smore|(?:as|like)\s(?:before|always|in\sthe\spast|it\s(?:was|used\sto)|i\sdid|we\sdid)|returned\sto|"
    r"(?:gone|went|going)\sback\sto)\b",
    re.IGNORECASE,
)
_UNSURE: Final = re.compile(
    r"\b(?:if|might|maybe|perhaps|probably|would|could|wish|hope|almost|nearly|never|not|no|today|tonight|yesterday|whether|"
    r"once\sin\sa\swhile|sometimes|too(?!\s\w)|also|was|were)\b|n't\b|\?",
    re.IGNORECASE,
)
"""Under these nothing has returned, or beside the other."""
_NO_MORE: Final = re.compile(
    r",\s(?:and\s|so\s)?(?:no\smore|enough\sof|goodbye\sto|so\slong)\s[^,.;!?]{2,60}", re.IGNORECASE
)
"""What is left behind, said beside what is so again: "English again, no more German"."""
_WORDS_MIN: Final = 2
_PLEASE_IF: Final = re.compile(
    r",?\s(?:if\s(?:you\splease|you\sdon't\smind|you\swould|i\smay|possible|that's\s(?:ok|okay|fine|alright))|would\syou)\b",
    re.IGNORECASE,
)
"""Courtesy, and no condition."""
_IS_BACK: Final = re.compile(
    r"^(?P<what>(?!i\b|we\b)[\w' -]{2,40}?)\s?(?:\sis|\sare|'s)\s(?:\w+\s)?back\b", re.IGNORECASE
)
_SCOPE: Final = re.compile(
    r"\b(?:in|for|on|at)\s(?:the|my|our)\s(?P<what>[\w'-]{2,30}(?:\s[\w'-]{2,30})?)", re.IGNORECASE
)
_COURTESIES: Final = frozenset({"thank", "thanks", "sorry", "it", "all", "old"})
_NO_TOPICS: Final = frozenset({"again", "back", "before", "more", "day", "time", "please", "now"})


def returns_to(former: str, standing: str, later: str) -> bool:
    """Returns whether a statement says that what a former one said is so again.

    Args:
        former: A statement that was superseded.
        standing: What superseded it.
        later: A statement after both, of the same speaker.
    """
    later = _PLEASE_IF.sub("", later)
    if max(map(len, (former, standing, later))) > _CHARS_MAX or is_for_a_while(later):
        return False
    if _UNSURE.search(_NO_MORE.sub("", later)):
        return False
    said = [
        part
        for part in split_parts(later)
        if (_BACK_TO.search(part) or _AGAIN.search(part)) and not OTHERS.search(part) and not THIRD.search(part)
    ]
    known = nouns_of(former) | nouns_of(standing)
    return any(
        _names(part, other, nouns_of(text) - _NO_TOPICS, named=_named(text))
        for text in said
        if not _is_of_another(text, known)
        for part in _parts(former)
        for other in _parts(standing)
    )


def _is_of_another(text: str, known: frozenset[str]) -> bool:
    """Whether something else is back, or it is so somewhere else: "the sync is back at nine", "in the editor again"."""
    subject = _IS_BACK.match(text)
    known = known | _NO_TOPICS | _COURTESIES
    if subject is not None and nouns_of(subject["what"]) - known:
        return True
    return any(nouns_of(match["what"]) - known for match in _SCOPE.finditer(_BACK_TO.sub("", text)))


def _named(text: str) -> frozenset[str]:
    """What one is "back on" or "back to"; empty where nothing is named so."""
    match = _BACK_TO.search(text)
    return frozenset() if match is None else nouns_of(match["what"]) - _NO_TOPICS


def _names(part: frozenset[str], standing: frozenset[str], said: frozenset[str], *, named: frozenset[str]) -> bool:
    """Whether what only the former statement says is named, nothing of what only the other one says, and the topic.

    One of its words is enough where one is "back on" that, two where nothing of the topic is in between.
    """
    value, topic = part - standing - _NO_TOPICS, (part & standing) - _NO_TOPICS
    value = value - VERBS or value
    if not value or said & (standing - part) or said & KIN - part:
        return False
    if value <= said:
        is_all = not said - value - _COURTESIES  # "Celsius again, please"
        return bool(named) or not topic or is_all or bool(topic & said)
    return (bool(named & value) and named <= part) or (not topic and len(value & said) >= _WORDS_MIN)


def _parts(text: str) -> list[frozenset[str]]:
    """The words of a statement as a whole, and of its parts without what is said beside them."""
    return [nouns_of(text), *(nouns_of(core.text) for core in cores(text))]

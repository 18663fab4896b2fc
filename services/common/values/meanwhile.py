"""What holds only while something else does, and that it is over: "while I'm ill", "I'm well". Pure functions.

Beside `until.py`, where the earlier statement names its end, these name what has to be over: somebody is away or ill, a
thing is being repaired. What is done each time ("the neighbour feeds the cat while I'm away") does not end with one of
them, so that the earlier statement must say what is going on.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.parts import split_parts
from services.common.values.tokens import lemma
from services.common.values.unsure import UNSURE

_CHARS_MAX: Final = 250
_WHO: Final = r"(?P<who>i|we|(?:the|my|our|his|her)\s[\w-]{2,20}(?:\s[\w-]{2,20})?|(?-i:[A-Z])[\w-]{1,20}|mum|dad|mom)"
_AWAY: Final = (
    r"away|abroad|out\sof\s(?:town|order|action|use)|off(?:\s(?:sick|work))?|ill|sick|poorly|down|closed|shut|broken|unwell|"
    r"(?:in|at)\s(?:the\s)?(?:hospital|rehab|garage|workshop|repair|repairs|shop|vet's|mender's|clinic)|on\s(?:holiday|leave|tour|parental\sleave|maternity\sleave|strike|crutches)|"
    r"in\s(?-i:[A-Z])[\w-]+|recovering|convalescing|travelling|traveling"
)
_WHILE: Final = re.compile(
    rf"\b(?:while|whilst|as\slong\sas)\s{_WHO}(?:'s|'m|'re|\sis|\sam|\sare)\s(?:still\s)?"
    rf"(?P<state>{_AWAY}|(?:being\s)?(?P<deed>(?!need|tir|bor|interest)[a-z]{{2,20}}ed|built|rebuilt|redone|mended|dug\sup|torn\sup))(?=[,;.!]|\s|$)",
    re.IGNORECASE,
)
_GOING_ON: Final = re.compile(
    r"(?:\b(?:is|are|am)|\w'(?:s|m|re))\s(?:still\s|all\s|now\s|currently\s)?(?:not\s)?[\w-]+", re.IGNORECASE
)
"""Says what is going on, and not what is done each time."""
_OVER: Final = re.compile(
    rf"^(?:(?:and|but|so|well|finally|ok|okay),?\s)?{_WHO}(?:'s|'m|'re|\s(?:is|am|are|has|have|was|were|got|came|went))(?:\sbeen)?\s"
    r"(?:(?:now|finally|all|already|fully|completely|just|safely)\s){0,2}(?P<end>[a-z-]+)",
    re.IGNORECASE,
)
_DID: Final = re.compile(
    rf"^(?:(?:and|but|so|well|finally),?\s)?{_WHO}\s(?P<end>re-?opened|returned|recovered)\b", re.IGNORECASE
)
_ENDS: Final = frozenset(
    """
    back home better well recovered returned open reopened re-opened up working running fixed repaired mended done
    finished over ready complete completed discharged
    """.split()  # noqa: SIM905 - words
)
_DENIED: Final = re.compile(
    r"\b(?:not|never|soon|when|if|until|till|hope|want|will|would|should|almost|nearly|tomorrow|next|half|going\sto|(?:on|from|by)\s\w{3,6}day)\b|n't\b|'ll\b|\?",
    re.IGNORECASE,
)
_ELSEWHERE: Final = re.compile(
    r"\b(?:back|home)\s(?:in|at|to|on|for)\s(?:the\s)?(?:hospital|garage|workshop|clinic|bed)\b"
)
"""Somebody who is "back in hospital" is not back."""
_SPEAKER: Final = frozenset({"i", "we"})


class _Meanwhile(NamedTuple):
    who: str
    deed: str  # what is being done to it, in base form; may be empty


def is_meanwhile_over(earlier: str, later: str) -> bool:
    """Returns whether that is over for which the earlier statement holds: "while the hall is painted".

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
    """
    found = _meanwhile(earlier)
    if not found or len(later) > _CHARS_MAX or UNSURE.search(later):
        return False
    for part in split_parts(later):
        if _DENIED.search(part) or _ELSEWHERE.search(part):
            continue
        over = _OVER.match(part) or _DID.match(part)
        if over is None:
            continue
        end = over["end"].casefold()
        if any(one.who == _who(over["who"]) and (end in _ENDS or lemma(end) == one.deed) for one in found):
            return True
    return False


@text_cache(4_096)
def _meanwhile(text: str) -> tuple[_Meanwhile, ...]:
    if len(text) > _CHARS_MAX or text.rstrip().endswith("?"):
        return ()
    plain = text.replace("\u2019", "'")
    return tuple(
        _Meanwhile(_who(match["who"]), lemma((match["deed"] or "").casefold()))
        for match in _WHILE.finditer(plain)
        if _GOING_ON.search(plain[: match.start()])
    )


def _who(text: str) -> str:
    """Who or what it is, whether the speaker says "the" or "my" of it."""
    words = text.casefold().split()
    if words[0] in _SPEAKER:
        return "i"
    return " ".join(words[1:] if words[0] in {"the", "my", "our", "his", "her"} else words)

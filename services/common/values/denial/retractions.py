"""What the speaker takes back by saying so: "scratch what I said about dairy". Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.words.lexicon import PRONOUNS, STOP
from services.common.values.words.tokens import lemma, tokenize

_CHARS_MAX: Final = 400
_SAID: Final = (
    r"(?:i|we)(?:'ve|\shave)?\s(?:just\s)?(?:said|told\syou|wrote|written|mentioned|claimed)"
    r"(?:\s(?:earlier|before|yesterday|last\s\w{3,9}|the\sother\sday|this\smorning|above))?\s(?:about|on|re|regarding|concerning)\s"
)
_WHAT: Final = r"(?:what|everything|anything|all|whatever|the\s(?:thing|bit|part|stuff))\s(?:that\s)?"
_UNTRUE: Final = (
    r"(?:(?:is|was)\s(?:all\s)?(?:a\sjoke|wrong|nonsense|rubbish|untrue|made\sup|outdated|false|not\s(?:true|right)|"
    r"no\slonger\s(?:true|right))|(?:isn't|wasn't)\s(?:true|right))"
)
_TAKES_BACK: Final = (
    re.compile(
        r"^(?:[\w']{1,12},?\s){0,3}(?:scratch|forget|ignore|disregard|strike|discard|cancel|never\s?mind|take\sback|took\sback)\s"
        rf"{_WHAT}{_SAID}(?P<what>[^,;:.!?]{{2,60}})",
        re.IGNORECASE,
    ),
    re.compile(rf"\b{_WHAT}{_SAID}(?P<what>[^,;:.!?]{{2,60}}?)\s{_UNTRUE}\b", re.IGNORECASE),
    re.compile(
        r"^(?:(?:ok|okay|oh|haha|lol|no|wait),?\s)?(?:i'm\s|i\swas\s)?(?:just\s|only\s)?(?:kidding|joking)\sabout\s"
        r"(?P<what>[^,;:.!?]{2,60})",
        re.IGNORECASE,
    ),
)
_LIGHT: Final = PRONOUNS | STOP | frozenset({"my", "our", "the", "being", "a", "an", "having", "not", "going", "thing"})


def is_retracted(earlier: str, later: str) -> bool:
    """Returns whether a later statement takes back what its speaker said about the matter of the earlier one.

    Args:
        earlier: A statement.
        later: A later one of the same speaker. Everything that it says to be about must stand in the earlier one.
    """
    matter = _retracted(later)
    return bool(matter) and matter <= _words(earlier)


@text_cache(4_096)
def _retracted(text: str) -> frozenset[str]:
    """The words of what a statement takes back; empty where it takes back nothing."""
    if len(text) > _CHARS_MAX:
        return frozenset()
    plain = " ".join(text.replace("\u2019", "'").split())
    for pattern in _TAKES_BACK:
        match = pattern.search(plain)
        if match is not None:
            return _words(match["what"])
    return frozenset()


@text_cache(4_096)
def _words(text: str) -> frozenset[str]:
    if len(text) > _CHARS_MAX:
        return frozenset()
    return frozenset(lemma(token.lower) for token in tokenize(text) if token.lower.isalpha()) - _LIGHT

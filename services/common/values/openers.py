"""What stands before a statement and is no part of it: a greeting, thanks, the answer to a question. Pure functions."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.splitting import verb_place

_CHARS_MAX: Final = 60
"""Longer openers are no openers."""
_WORDS_MIN: Final = 3
_SUBJECT: Final = r"(?=(?:i|im|ive|we|he|she|they|it|there|my|our|his|her|their)(?:'\w{1,2})?\b)"
_GREETING: Final = re.compile(
    r"^(?:(?:hey|hi|hiya|hello|hallo|dear|good\s(?:morning|afternoon|evening|day)|morning|evening|many\sthanks|thanks|thank\syou|cheers)"
    r"(?:\s(?!(?:for|to|from|that|because)\b)[\w.'-]{1,20}){0,3}\s?[,:!-]\s{1,3})(?=\w)",
    re.IGNORECASE,
)
"""As in "Hello, my cat goes to doctor Weiss", "Dear movers, we live on the third floor"."""
_ANSWER: Final = re.compile(
    r"^(?:(?:ye+s+|yeah+|yep|yup|no+|nope|nah|ok|okay|oki|well|oh|ah|hm+|ugh|haha|lol)[,.!]?\s{1,3}(?:(?:ok|okay|yes|no|well|so|then|done|sorted)[,.!]?\s{1,3})?)"
    + _SUBJECT,
    re.IGNORECASE,
)
"""As in "no i'm not a member": the "no" answers, and denies nothing of what follows."""
_SAID_FIRST: Final = re.compile(
    r"^(?:(?:ok|okay|well|so|and)\s)?(?:done|sorted|fixed|right|fine|anyway|btw|by\sthe\sway|true|(?:big|good|bad|great|sad|quick|happy)\s(?:day|news|update)|"
    r"(?:quick\s)?(?:update|heads[\s-]up)(?:\s(?:all|everyone|everybody|folks|team|guys))?|(?:all|everyone|everybody|folks|team|guys))\s?[,:!-]\s{1,3}(?=\w)",
    re.IGNORECASE,
)
_BESIDE: Final = re.compile(
    r"^(?:fyi|btw|ps|nb|psa|for\sthe\srecord)\s?[,:!-]?\s{1,3}(?=(?:the|our|my|i|we|i'm|we're)\b)", re.IGNORECASE
)
_NO_SUBJECT: Final = re.compile(
    r"^(?:haven't|have\snot|hadn't)\s(?:yet\s)?[a-z]+(?:ed|en|ne|nt|de|ld|ght|et)\s", re.IGNORECASE
)
"""As in "haven't signed the contract"."""
_NEWS: Final = re.compile(r"\b(?:update|heads|news)\b", re.IGNORECASE)
"""Openers that say that what follows is new."""


class Opened(NamedTuple):
    """A statement without its opener."""

    text: str
    is_new: bool  # the opener announces something new


@text_cache(4_096)
def without_opener(text: str) -> Opened:
    """Returns a statement without the greeting, the thanks or the answer before it.

    "Hello, my cat goes to doctor Weiss" is "my cat goes to doctor Weiss", and "no i'm not a member" is "i'm not a
    member".
    """
    rest, is_new = text, False
    if _NO_SUBJECT.match(text):
        rest = f"I {text[:1].lower()}{text[1:]}"
    for pattern in (_GREETING, _ANSWER, _SAID_FIRST, _BESIDE, _ANSWER):
        match = pattern.match(rest)
        if match is None or match.end() > _CHARS_MAX or len(rest[match.end() :].split()) < _WORDS_MIN:
            continue
        is_new = is_new or _NEWS.search(match[0]) is not None
        rest = rest[match.end() :]
    return Opened(rest, is_new)


def is_only_greeting(sentence: str) -> bool:
    """Returns whether a sentence greets or thanks and states nothing behind it: "Hi Ben, thanks!"."""
    rest = without_opener(sentence).text
    words = [word.casefold().strip(".,!") for word in rest.split()]
    return rest == sentence or len(words) < _WORDS_MIN or verb_place(words) is None

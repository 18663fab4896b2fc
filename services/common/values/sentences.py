"""Which sentences state something, and the words by which statements about the same thing are found. Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.values.lives.asked import slots_of
from services.common.values.lives.life import life_fields
from services.common.values.lives.passing import passing_states
from services.common.values.reading.openers import is_only_greeting
from services.common.values.words.fields import ANNOUNCED, FIELDS
from services.common.values.words.nouns import LIGHT
from services.common.values.words.tokens import lemma, tokenize

_ASKED: Final = re.compile(
    r"(?:[,;]|\s-)\s*(?:so\s+|and\s+|but\s+|or\s+)?(?:can|could|would|should|how|what|which|do|does|is|are|will|where|when|"
    r"why|got|have\s+you)\b[^,;]*\?$|(?:[,;]|\s-)\s*(?:so\s+|and\s+)?(?:can|could|should|how|what)\s+(?:you|i|can|do)\b.*$",
    re.IGNORECASE,
)
_REQUESTED: Final = re.compile(
    r"^(?:(?:and|so|but|ok|okay|hey|also),?\s)?(?:please,?\s)?(?:can|could|would|will)\syou\s(?:please\s|kindly\s)?"
    r"(?P<order>(?!(?:remind|recommend|suggest|help|walk|guide|take|think|imagine|believe|see|be|have|like|say)\b)[a-z]{2,20}\s[^?]{3,160}?),?(?:\splease)?\s?(?:\?|\.)?$",
    re.IGNORECASE,
)
_FOR_GOOD: Final = re.compile(
    r"\b(?:from\snow\son|from\stoday(?:\son)?|in\s(?:the\s)?future|going\sforward|any\s?more|as\sbefore|like\sbefore)\b|\bstop\s\w+ing\b|"
    r"^(?:please\s)?go\sback\sto\s\w+ing\b|"
    r"^(?!(?:explain|tell|send|show|repeat|check|try|run|read|look|list|do|give|go|write\sit|print|open|start|share|post)\b).*\bagain\b",
    re.IGNORECASE,
)
"""Says that a request holds from now on, and is not for once: "could you write to me in English again?"."""
_GRANTED: Final = re.compile(
    r"\b(?:the\s+fact\s+that|remind\s+me\s+that|given\s+that|considering\s+that)\s+"
    r"(?P<said>(?:i|we|it|it's|my|our|the|there)\b[^?]{3,200})\?$",
    re.IGNORECASE,
)
_TAKEN: Final = re.compile(
    r"\b(?:how|why|can\s+you|could\s+you)\b[^?]*?\b(?P<said>(?:the|my|our)\s(?=[^,;?]{0,120}\b(?:my|our)\b)[^,;?]{0,120}\d)",
    re.IGNORECASE,
)
_QUESTION_CHARS_MAX: Final = 1_000
"""Longer questions are not read."""
_NEXT_PART: Final = re.compile(r"[,;]\s*(?!\d)")
_OPEN_QUESTION: Final = re.compile(r"\b(?:if|would|should|could\s+be|what\s+about|instead|than)\b", re.IGNORECASE)
"""In such questions things are named that need not be so."""
_CODE: Final = re.compile(
    r"[{}\[\]<>=`\\|]|\w\(|^[^a-z]{0,3}\S{0,60}\w_\w|^\s*(?:import|def|class|const|let|var|return|from\s\w+\simport)\b|;$"
)
_GREETING: Final = re.compile(
    r"(?:hey|hi|hello|good\s+(?:morning|evening|to\s+\w+)|thanks|thank\s+you|great|nice|wow|bye|long\s+time|congrat\w*)\b",
    re.IGNORECASE,
)


_BULLET: Final = re.compile(r"^\s*(?:[-*\u2022\u2013]|\d{1,2}\))\s+(?=\w)")


def stated_part(sentence: str) -> str:
    """Returns a sentence without its bullet and the questions behind it: "I have 45 sources, how can I sort them?".

    What a question takes for granted is stated: "can you remind me that it's rescheduled to Monday?". A request that
    holds from now on is an order: "could you write to me in English again?".
    """
    sentence = _BULLET.sub("", sentence)
    requested = _REQUESTED.match(sentence)
    if requested is not None and _FOR_GOOD.search(requested["order"]):
        return f"Please {requested['order']}"
    granted = _GRANTED.search(sentence)
    if granted is not None:
        before = sentence[: granted.start()]
        asked = _ASKED.search(sentence)
        before = before[: asked.start()] if asked is not None and asked.start() else before
        return f"{before.rstrip(' ,;')}, {granted['said'].rstrip('?! ')}".lstrip(", ")
    for _ in range(3):
        match = _ASKED.search(sentence)
        if match is None or not match.start():
            break
        sentence = sentence[: match.start()]
    return sentence


def presupposed_part(sentence: str) -> str:
    """Returns what a question takes for granted by naming it with a number, else nothing.

    "How can I handle the limit of 1,000 calls for my key?" states that there is such a limit; what is asked by "is",
    "does" or "what if" is not granted.
    """
    if not sentence.endswith("?") or len(sentence) > _QUESTION_CHARS_MAX:
        return ""
    stated = stated_part(sentence)
    asked = sentence if stated == sentence else sentence.removeprefix(stated)
    match = _TAKEN.search(asked)
    if match is None or _OPEN_QUESTION.search(asked):
        return ""
    said = _NEXT_PART.split(asked[match.start("said") : -1])[0].strip()
    return said if any(char.isdigit() for char in said) else ""


def is_statement(sentence: str) -> bool:
    """Returns whether a sentence may state something: no question, no mere greeting, no line of code."""
    if sentence.endswith("?") or _CODE.search(sentence):
        return False
    if _GREETING.match(sentence) and is_only_greeting(sentence):
        return False
    return any(char.isalpha() for char in sentence)


def announces(turn: str) -> bool:
    """Returns whether a turn says that something in it replaces what was said before."""
    return ANNOUNCED.search(turn) is not None


def content_words(text: str) -> frozenset[str]:
    """Returns the words of a statement by which others about the same thing are found, in base form."""
    words = {lemma(token.lower) for token in tokenize(text)}
    named = {f"field:{name}" for name, patterns in FIELDS.items() if any(p.search(text) for p in patterns)}
    named |= {f"slot:{name}" for name in slots_of(text)}
    named |= {f"life:{number}" for number in life_fields(text)}
    named |= {f"passing:{number}" for number in passing_states(text)}
    return frozenset(word for word in words if word not in LIGHT) | named

# ruff: noqa: E501 - a pattern reads best on one line
"""Standing orders and requests to remember, distinguished from what is asked for once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

_SPEAKING: Final = (
    r"(?:answer|reply|respond|write|use|call|include|add|give|show|explain|keep|format|avoid|cite|ask|suggest|recommend|"
    r"send|remind|speak|talk|address|refer|mention|put|start|begin|end|make|provide|quote|translate|summari[sz]e|return|convert|"
    r"check|confirm|offer|treat|assume|round|sign|apologi[sz]e|repeat|share|schedule|book|tell|spell|stick|be)"
)
_PLAINLY_SPEAKING: Final = (
    r"(?:answer|reply|respond|write|use|call|include|add|show|explain|keep|format|avoid|cite|ask|suggest|recommend|provide|"
    r"share|cc|copy|store|save|delete|contact|confirm|convert|round|translate|summari[sz]e|quote|address|mention|apologi[sz]e)"
)
_REMEMBER: Final = re.compile(
    r"^(?:(?:please|can you|could you|would you|will you)\s+){0,2}(?:(?:remember|note|keep in mind|bear in mind|make a note|take note|don't forget|do not forget|for the record)"
    r"(?:\s+that\b|\s*:)|(?:remember|note|don't forget)\s+(?=(?:I|my|we|our)\b))\s*(?P<text>.{5,300})$",
    re.IGNORECASE,
)
_NAME: Final = re.compile(
    r"^(?:(?:please|you can|can you|could you|just|everyone|everybody|people|my friends|friends|do)\s+)*(?:calls? me|refer to me as|address me as)\s+"
    r"(?P<text>(?!(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|When|If|Tomorrow|Back|Later|Mad|Crazy)\b)"
    r"(?-i:(?:Dr\.? |Mr\.? |Ms\.? |Mrs\.? |Professor )?[A-Z][\w'-]+(?: [A-Z][\w'-]+)?))(?=$|[,.]| instead| from now on| for short| please)",
    re.IGNORECASE,
)
_STANDING: Final = (
    re.compile(
        rf"^(?:please |from now on,? (?:please )?)(?P<text>(?:always|never) {_SPEAKING}\b.{{3,240}})$", re.IGNORECASE
    ),
    re.compile(rf"^(?P<text>(?:always|never) {_PLAINLY_SPEAKING}\b.{{3,240}})$", re.IGNORECASE),
    re.compile(
        rf"^from now on,? (?:please |could you |can you )?(?P<text>(?:do not |don't )?{_SPEAKING}\b.{{3,240}})$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^(?:please )?(?P<text>(?:do not |don't )?{_SPEAKING}\b.{{3,200}}\b(?:from now on|in (?:the )?future|going forward|every time|"
        r"in all (?:your )?(?:answers|replies|responses)|whenever i ask.{0,80}|when i ask.{0,80}|at all times|by default))$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?:please )?(?P<text>(?:do not |don't |stop )(?:ever )?(?:use|using|include|including|add|adding|suggest|suggesting|recommend|"
        r"recommending|call me|calling me|mention|mentioning|give me|giving me|apologi[sz]e|apologi[sz]ing|write|writing|"
        r"start|starting|end|ending|put|putting)\b.{3,200})$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^(?:I want you to|I'd like you to|I would like you to|I need you to) (?P<text>(?:always|never) {_SPEAKING}\b.{{3,240}})$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^I(?:'d| would)? prefer (?:it )?(?:if|that) you(?:r)? (?P<text>.{3,200})$|^I(?:'d| would)? prefer your (?P<text2>.{3,200})$",
        re.IGNORECASE,
    ),
)


@dataclass(frozen=True, slots=True)
class Order:
    """What somebody tells the agent to do, always."""

    kind: Literal["remember", "name", "instruction"]
    text: str


def read(clause: str) -> Order | None:
    """The order in a clause; None for any other clause and for what is asked for only once."""
    first = clause[:1].lower()
    if first not in _FIRST_LETTERS:
        return None
    match = _REMEMBER.match(clause)
    if match is not None:
        return Order("remember", match["text"].strip())
    match = _NAME.match(clause)
    if match is not None:
        return Order("name", match["text"].strip())
    for pattern in _STANDING:
        match = pattern.match(clause)
        if match is not None:
            text = match["text"] or match.groupdict().get("text2") or ""
            return Order("instruction", " ".join(text.split()).rstrip(" ,.!"))
    return None


_FIRST_LETTERS: Final = frozenset("abcdefgikmnopqrstuwy")


def read_sentence(sentence: str) -> Order | None:
    """The order in a sentence, behind greetings and the like."""
    text = _GREETING.sub("", sentence).rstrip(".!?… \"')]*")
    return read(text)


_GREETING: Final = re.compile(
    r"^(?:(?:hi|hey|hello|ok|okay|oh|and|also|so|well|btw|one more thing|by the way|fyi)\b[,!:.]? ){1,3}", re.IGNORECASE
)

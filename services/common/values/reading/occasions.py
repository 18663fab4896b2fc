"""What was done another way on one occasion: "the tram was full, so I walked instead" (SPEC 3.5). Pure functions.

A deed of every day, told of in the past with what stood in the way or with the one day on which it was done, says
nothing of what is usual. Deeds that change something ("so I sold it", "so I switched") are no such deeds.
"""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache

_CHARS_MAX: Final = 300
_DEEDS: Final = (
    "walked|cycled|biked|drove|rode|ran|jogged|swam|flew|sailed|hitchhiked|hitched|ate|drank|cooked|baked|fried|grilled|"
    "paid|ordered|used|slept|stayed|sat|stood|wore|watched|read|listened|played|trained|worked|practised|practiced|met|"
    "borrowed|called|rang|phoned|texted|typed|wrote|sent|printed|shopped|camped|parked|studied|taught|sang|"
    "had(?!\\sto\\b)|took(?!\\s(?:up|over|on|out|down)\\b)|caught|went(?=\\s(?:by|on|with|to|there|in|for|home|elsewhere|without)\\b)"
)
"""Past forms of what is done day by day."""
_BASES: Final = (
    "walk|cycle|bike|drive|ride|run|jog|swim|fly|sail|hitchhike|eat|drink|cook|bake|fry|grill|pay|order|use|sleep|stay|sit|"
    "stand|wear|watch|read|listen|play|train|work|practise|practice|meet|borrow|call|ring|phone|text|type|write|send|"
    "print|shop|camp|park|study|teach|sing|have|take(?!\\s(?:up|over|on|out|down)\\b)|catch|"
    "go(?=\\s(?:by|on|with|to|there|in|for|home|elsewhere|without)\\b)"
)
_GOING: Final = (
    "walking|cycling|driving|riding|running|swimming|flying|eating|drinking|cooking|paying|ordering|using|sleeping|"
    "staying|sitting|standing|wearing|watching|reading|playing|training|working|having|taking|catching|calling|sending"
)
_DEED: Final = (
    rf"(?:i|we)\s(?:just\s|simply\s|quickly\s)?(?:(?:{_DEEDS})|(?:had\sto|decided\sto|chose\sto|needed\sto)\s(?:{_BASES})|"
    rf"ended\sup\s(?:{_GOING}))\b"
)
_HINDERED: Final = (
    r"\b(?:was|were|wasn't|weren't|had|hadn't|got|did|didn't|wouldn't|couldn't|broke|crashed|failed|froze|rained|snowed|"
    r"poured|came|ran|hurt|forgot|missed|lost|left|ached|blocked|jammed|overslept)\b"
)
_SO: Final = re.compile(rf"{_HINDERED}[^.;:?]{{0,80}}?(?:,?\sso|,?\sand\sso|;\sso)\s{_DEED}", re.IGNORECASE)
"""What stood in the way, and then the deed."""
_BECAUSE: Final = re.compile(
    rf"^(?:so\s|and\s|well,?\s)?{_DEED}[^.;:?]{{0,80}}?\s(?:because|since|as|when)\s[^.;:?]{{0,60}}?{_HINDERED}",
    re.IGNORECASE,
)
_ON_ONE_DAY: Final = (
    r"(?:today|yesterday|tonight|this\s(?:morning|afternoon|evening|time|once)|last\snight|for\sonce|the\sother\sday|just\sonce|"
    r"last\s(?:mon|tues|wednes|thurs|fri|satur|sun)day|on\s(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
)
_ONCE: Final = re.compile(
    rf"^(?:so\s|and\s|well,?\s)?(?:{_ON_ONE_DAY},?\s)?{_DEED}[^.;:?]{{0,80}}?\b{_ON_ONE_DAY}\b|^{_ON_ONE_DAY},?\s{_DEED}",
    re.IGNORECASE,
)
_LASTING: Final = re.compile(
    r"\b(?:now|since|from\s(?:now|then|today|tomorrow|this)|these\sdays|for\s(?:good|ever|life|the\s(?:first|last)\stime)|forever|permanently|"
    r"any\s?more|any\slonger|no\slonger|never|ever|every|always|again|first|last\s(?!night|\w{3,6}day)\w+|finally|new|changed|switched|moved|sold|bought|cancell?ed|"
    r"stolen|nicked|scrapped|totall?ed|written\soff|(?:closed|shut|burn(?:ed|t))\sdown|bust|bankrupt|demolished|discontinued|fired|sacked|dead|died|divorced|"
    r"quit|stopped|started|joined|swapped|replaced|will|'ll)\b",
    re.IGNORECASE,
)
"""With these it is more than one occasion."""
_HABIT: Final = re.compile(
    r"^(?:(?:i|we)\s(?:usually\s|always\s|normally\s|mostly\s|often\s|generally\s|only\s|never\s)?(?!am\b|'m|was\b|were\b|will\b|did\b|had\b|have\s(?:to|not|never|yet)\b|haven't\b|want\b|plan\b|live\b|own\b|love\b|like\b|know\b|have\s(?:an?|the|my|our|one|two|three|four|five|some|got)\b)[a-z]{2,15}\b|"
    r"(?:on|in|at|every|each|most)\s[^,]{2,40},?\s(?:i|we)\s)",
    re.IGNORECASE,
)
"""Opens what somebody does again and again; what they have not done so far is no habit."""
_PLANNED: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|this\s\w+|next\s\w+|on\s(?:mon|tues|wednes|thurs|fri|satur|sun)day(?!s)|\d{1,2}\s(?:january|february|march|"
    r"april|may|june|july|august|september|october|november|december))\b",
    re.IGNORECASE,
)


_ROUTINE: Final = re.compile(rf"^(?:i|we)\s(?:{_DEEDS})\b", re.IGNORECASE)


def is_routine(text: str) -> bool:
    """Returns whether a sentence in the past tells of a deed of every day of the speaker: "I paid cash"."""
    return _ROUTINE.match(text) is not None


@text_cache(2_048)
def happened_once(text: str) -> bool:
    """Returns whether a statement tells of a deed of every day that was done another way on one occasion.

    Args:
        text: A statement.
    """
    if len(text) > _CHARS_MAX:
        return False
    plain = " ".join(text.replace("\u2019", "'").split())
    if _LASTING.search(plain):
        return False
    return any(pattern.search(plain) for pattern in (_SO, _BECAUSE, _ONCE))


@text_cache(2_048)
def is_usual(text: str) -> bool:
    """Returns whether a statement tells of what is done again and again, and of no plan of one day."""
    return len(text) <= _CHARS_MAX and _HABIT.match(text) is not None and _PLANNED.search(text) is None

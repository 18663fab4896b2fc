"""Sentences that mean the opposite of what they say. Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache

_CHARS_MAX: Final = 400
_MARKED: Final = re.compile(
    r"\byeah,?\sright\b|^oh,?\ssure,|^oh,?\saye\b|^(?:oh\s)?sure,?\sand\s(?:tomorrow|next|then|after|pigs|i'm|the\spope)\b|\bas\sif\b(?!\s(?:it|he|she|they|we|i|you|the)\s(?:was|were|had)\b)|"
    r"^(?:oh\s|yeah,?\s|ah\s)?(?:sure|yeah|yes|right|of\scourse),?\s(?:because|cause|cos|'cause|since)\b|"
    r"\bjust\swhat\s(?:i|we)\s(?:always\s|really\s)?(?:needed|wanted|ordered)\b|\bliving\sthe\sdream\b|"
    r"^(?:oh|ah),?\s(?:yeah|yes|sure),?\s(?:i|we)\s(?:absolutely|totally|really|just|simply)\s(?:love|adore|enjoy)\b|"
    r"\bwho\s(?:doesn't|wouldn't)\s(?:love|like|enjoy|want)\b|\bladies\sand\sgentlemen\b|\bas\sthe\swhole\sworld\sknows\b|"
    r"^(?:oh,?\s)?(?:wonderful|great|brilliant|lovely|perfect|marvellous|fantastic|splendid)[,!]\s[^.!?]{3,80}\b(?:dead|broken|cancell?ed|late|delayed|leaking|flooded|stuck|crashed|ruined)\b|"
    r"\b(?:totally|absolutely|just|really|simply|so|do)\s(?:love|adore|enjoy)s?\s(?:waiting|queuing|queueing|being\s(?:woken|ignored|stuck|late|on\shold)|sitting\sin\straffic|cleaning\sup)\b|[.!,]\snot[.!]{0,3}$|\s/s$|"
    r"\b(?:love|enjoy|adore)s?\sit\swhen\b.{3,80}\b(?:again|fail\w*|break\w*|crash\w*|late|wrong|wakes?\sme)\b",
    re.IGNORECASE,
)
_BOASTED: Final = re.compile(
    r"\bi(?:'m|\sam|\sspeak|\sknow|\sdo|\swrite|\shave)\s[^.:!?]{0,20}\b(?:perfect|fluent|flawless|impeccable|world-class|famous)\b[^.:!?]{2,40}:\s[\"\u201c\u00ab']|"
    r"^(?:yes,?\syes|yeah,?\syeah|sure,?\ssure|ja,?\sja)[,.!]?\s.{0,60}\b(?:perfect|fluent|flawless|impeccable|world-class|famous|genius|champion|millionaire)\b",
    re.IGNORECASE,
)
"""A boast that its own proof takes back, or that a doubled "yes" does: 'I speak perfect Finnish: "kiitos"'."""
_NEVER_SO: Final = re.compile(
    r"\bsaid\s(?:nobody|no\sone|no-one)\b|\b(?:and|when)\spigs\s(?:can\s|will\s)?fly\b|^lucky\sme\b|,\slucky\sme\W*$|\bin\smy\sdreams\b|"
    r"\bdream\son\b|\bpull\sthe\sother\sone\b|^(?:oh\s)?what\sa\s(?:joy|treat|delight|pleasure)[,:!]\s(?:i|we)\s(?:get|have|got)\sto\b",
    re.IGNORECASE,
)
_GUSHING: Final = re.compile(
    r"^(?:(?:oh|ah)\s)?(?:sure|yes|great|brilliant|wonderful|fantastic|perfect|lovely|joy|yippee|yeah),?!?\s(?:i|we|another|yet|just)\b|"
    r"^oh,?\s(?:joy|goody|another|yet\sanother)\b",
    re.IGNORECASE,
)
_EMPHATIC: Final = re.compile(
    r"\b(?:i|we)\s(?:adore|love|enjoy)\b[^.!?]{2,50},\s(?:truly|honestly|really)\b|\b(?:another|joy|goody)\b|\b(?:just|simply|absolutely)\s(?:love|adore|enjoy|cannot\swait|can't\swait)\b",
    re.IGNORECASE,
)
_CAPITALS: Final = re.compile(
    r"\b(?:just|so|simply|absolutely|really)\s(?:LOVE|ADORE|ENJOY|THRILLED|DELIGHTED)\b|\bSO\s(?:fond|happy|glad|rich|lucky|thrilled|keen)\b"
)


def goes_on_ironically(sentence: str) -> bool:
    """Returns whether a sentence behind an ironic one goes on in its tone: "I just adore candlelight at work"."""
    return _EMPHATIC.search(sentence[:_CHARS_MAX]) is not None


@text_cache(4_096)
def is_ironic(sentence: str) -> bool:
    """Returns whether a sentence shows by its words that it is not meant: "yeah right, I adore being on call".

    Irony without such words is not seen.
    """
    text = " ".join(sentence[:_CHARS_MAX].split())
    if any(pattern.search(text) for pattern in (_MARKED, _CAPITALS, _BOASTED, _NEVER_SO)):
        return True
    return _GUSHING.match(text) is not None and _EMPHATIC.search(text) is not None

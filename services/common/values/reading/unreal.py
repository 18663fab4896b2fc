"""What is said and not meant as true: irony, play, fiction, and what the next words take back. Pure functions.

Irony is in a sentence (`irony.py`). A game of pretence goes on to the end of a turn: after "let's do a role-play", "I
have three dogs" says nothing of the speaker. And "I love Mondays" is not meant where "Not." comes next.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.reading.irony import is_ironic

_CHARS_MAX: Final = 400
_WORLD: Final = (
    r"(?:(?:(?:video|computer|board|role-?playing|card)\s)?game|novel|story|dreams?|scene|play|screenplay|film|movie|sketch|script|campaign|simulation|"
    r"role-?play|fantasy|daydream|imagination|head|fan-?fic(?:tion)?|skit|improv)"
)
_IN_FICTION: Final = re.compile(
    rf"^(?:(?:and|but|so|well|oh|ok|okay),?\s)?(?:in|inside)\s(?:the|my|our|this|that|her|his)\s(?:\w+\s)?{_WORLD},?:?\s"
    r"(?=(?:i|we)\s(?:live|work|have|own|am|are|run|drive|speak|can)\b|(?:i'm|i've|we're|we've|my|our|you|you're)\b)|"
    r"\bin\s(?:that|my)\s(?:dreams?|fantasy|daydream)\W*$|"
    r"^(?:(?:and|but|so|well),?\s)?(?:in|on)\s(?:an|another|a\s(?:past|previous|former|different|parallel|perfect|better))\s(?:ideal\s)?(?:life|world|universe|timeline|planet)\b|"
    r"^in\s(?:dog|cat)\syears\b",
    re.IGNORECASE,
)
"""As in "in the game I live in a castle", "in another life I'm a pastry chef"; what happened "in the game" did."""
_OPENS_PLAY: Final = re.compile(
    r"^(?:(?:ok|okay|right|so|now|hey),?\s)?(?:(?:for|in)\s(?:this|the|our|a)\s)?role-?play(?:\stime)?\s?(?:[:,.!]|-\s|$)|"
    r"\b(?:let's|let\sus|shall\swe|can\swe|could\swe|i'd\slike\sto|i\swant\sto)\s(?:\w+\s){0,3}?(?:role-?play|pretend|make-?believe)\b|"
    r"^(?:(?:ok|okay|right|so|now),?\s)?(?:please\s)?pretend\s(?:that\s)?(?:i|i'm|we|we're|you|you're|my|it)\b|"
    r"\byou\s(?:be|play)\s(?:the|an?|my)\s[\w\s-]{2,30}?,?\s(?:and\s)?(?:i'm|i'll\s(?:be|play)|i\sam|i\splay|i\sbe)\s(?:the|an?|your)\s|"
    r"(?:^|:\s)(?:(?:ok|okay|right|so|now),?\s)?you(?:'re|\sare)\s(?:the|an?)\s[\w-]{2,20},?\s(?:and\s)?i(?:'m|\sam)\s(?:the|an?|your)\s|"
    r"^(?:(?:ok|okay|right|so|now),?\s)?i'll\s(?:be|play)\s(?:the|an?|your)\s[\w-]+(?:\s[\w-]+)?:|"
    r"\b(?:let's|shall\swe|can\swe|could\s(?:you|we)|here's|here\sis|write|draft)\s[\w\s']{0,30}?\b"
    r"(?:mock|practi[cs]e|sample|pretend|made-up|fictional)\s(?:interview|dialogue|conversation|phone\scall|scenario|bio|biography|profile|persona)\b|"
    r"^(?:practi[cs]e|sample|made-up|fictional)\s(?:dialogue|conversation|bio|persona|text)\s?:|"
    r"\bfrom\sthe\s(?:point\sof\sview|perspective)\sof\s[\w\s'-]{2,40}:|\bin\sthe\svoice\sof\s[\w\s'-]{2,40}:",
    re.IGNORECASE,
)
"""From here to the end of the turn somebody else may speak."""
_ENDS_PLAY: Final = re.compile(
    r"\b(?:in\sreal\slife|irl|out\sof\scharacter|ooc|back\sto\sreality|end\s(?:of\s)?(?:scene|role-?play|game)|for\sreal|seriously|joking\saside)\b",
    re.IGNORECASE,
)
_TAKES_BACK: Final = re.compile(
    r"^(?:(?:ha(?:ha)*|lol|oh|well|yeah),?\s)?(?:not|as\sif|yeah,?\sright|(?:i'm\s|i\sam\s)?(?:just\s|only\s)?(?:kidding|joking)|just\sa\sjoke|jk|j/k|psych|i\swish|"
    r"if\sonly|(?:only\s)?in\smy\sdreams|dream\son|said\sno(?:body|\sone|-one)\s?(?:ever)?|no,?\sseriously\snot|/s|obviously\snot|of\scourse\snot|"
    r"i\sdon't,?\sof\scourse)[\s.!:)]{0,5}$",
    re.IGNORECASE,
)
"""A sentence that says of the one before it that it was not meant."""
_JOKED: Final = re.compile(
    r"(?:[,;:]|\s[-\u2013\u2014]|\bhaha|\blol)\s(?:(?:ha(?:ha)*|lol|hehe),?\s)?(?:i'm\s|i\sam\s|am\s)?(?:(?:just|only|totally)\s)?(?:kidding|joking|jk|j/k)[\s.!:)]{0,5}$|"
    r"[,;]\s(?:just\s)?(?:a\s)?joke[\s.!:)]{0,5}$",
    re.IGNORECASE,
)
"""Ends a sentence that was not meant: "... right now, haha, just kidding"."""
_FIGURE: Final = re.compile(
    r"\b(?:live|living|moved|moving|flat|house|home)\s(?:\w+\s)?(?:on|to)\s(?:the\s(?:moon|sun)|mars|venus|jupiter|saturn|pluto|cloud\snine|another\splanet)\b|"
    r"\b(?:i|we)(?:'m|'ve|'re)?\s(?:practically|virtually|as\sgood\sas|all\sbut|might\sas\swell)\s\w+|\b(?:i|we)\s(?:basically|pretty\smuch|more\sor\sless)\s(?:live|sleep|own|run)\b|"
    r"\bmarried\sto\s(?:my|his|her|the)\s(?:job|work|desk|phone|career|sea)\b|"
    r"\ballergic\sto\s(?:mondays?|mornings?|work|meetings|exercise|housework|people|small\stalk|nonsense|stupidity|responsibility|effort)\b|"
    r"\b(?:and|then|or)\s(?:i'm|i\sam|my\s\w+\sis)\s(?:the\s)?(?:queen|king|pope|emperor|empress|tooth\sfairy|easter\sbunny|santa|father\schristmas|batman|"
    r"superman|napoleon|cleopatra|mother\steresa|dalai\slama|shakespeare|einstein)\b",
    re.IGNORECASE,
)
"""Figures of speech that nobody takes at their word: "I practically live at the gym", "and I'm the Queen of Sheba"."""


@text_cache(4_096)
def is_unreal(sentence: str) -> bool:
    """Returns whether a sentence shows by its own words that it is not meant as true of the speaker."""
    text = " ".join(sentence[:_CHARS_MAX].replace("\u2019", "'").split())
    return is_ironic(sentence) or any(pattern.search(text) is not None for pattern in (_IN_FICTION, _JOKED, _FIGURE))


def unreal_places(sentences: Sequence[str]) -> frozenset[int]:
    """Returns the places of the sentences of a turn that are not meant as true of the speaker.

    Args:
        sentences: All of them, in order.
    """
    found: set[int] = set()
    is_play = False
    for place, sentence in enumerate(sentences):
        text = " ".join(sentence[:_CHARS_MAX].replace("\u2019", "'").split())
        if _TAKES_BACK.match(text) is not None:
            found |= {place - 1, place}
        if is_play and _ENDS_PLAY.search(text) is not None:
            is_play = False
        elif _OPENS_PLAY.search(text) is not None:
            is_play = True
        if is_play or is_unreal(sentence):
            found.add(place)
    return frozenset(found - {-1})

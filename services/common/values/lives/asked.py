"""Questions about a person that have one answer at a time, and the sentences that answer them. Pure functions.

"My account is with Lowland Bank", "I bank at Harbour" and "my money has been moved to Harbour" answer one question,
though they share no verb. Each slot has the patterns of its answers; the answer is what stands at `v`.
"""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.comparison.sameness import Match, match_values
from services.common.values.model import Value
from services.common.values.reading.splitting import DETERMINERS
from services.common.values.words.lexicon import STOP
from services.common.values.words.newness import plainly
from services.common.values.words.quantities import ValueReader
from services.common.values.words.tokens import PUNCTUATION, lemma, tokenize

_CHARS_MAX: Final = 200
_ADVERB: Final = r"(?:\s(?:now|currently|still|always|usually|mostly|just|all))?"
_I: Final = rf"\b(?:i|we)(?:'m|'re|'ve|\sam|\sare|\shave)?{_ADVERB}\s"
_MY: Final = r"\b(?:my|our)\s"
_V: Final = r"\s(?P<v>.{2,60})$"
_AT: Final = r"\s(?P<v>(?:at|in|on|with|by|near|under|next\sto|opposite|behind|beside|above|to)\s.{2,60})$"
_NAMED: Final = r"\s(?:(?:at|with|by|to|for|from)\s)?(?P<v>(?:the\s)?(?-i:[A-Z0-9]).{1,60})$"
_CLOCK: Final = r"\s(?:at|for|by|till|until|before|around|from)\s(?P<v>.{1,30})$"
_AMOUNT: Final = (
    r"\s(?:me\s|us\s)?(?:up\sto\s|down\sto\s|to\s|at\s)?(?P<v>[^\w\s]?\d.{0,40}|"
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|half|a)\s.{2,40})$"
)


def _slot(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


_SLOTS: Final[dict[str, tuple[re.Pattern[str], ...]]] = {
    "seat": _slot(
        rf"{_MY}(?:desk|office|workplace|workstation|seat|cubicle)\s(?:is|sits){_AT}",
        rf"{_I}(?:sit|sitting|seated|work|working)\s(?P<v>(?:on|at|by|in|next\sto)\sthe\s(?:\w+\s){{0,3}}(?:floor|window|corner|wing|annexe|annex|basement|attic|building|reception|entrance|printers?)\b.{{0,40}})$",
        rf"\bmoved\s(?:me|us|my\sdesk|our\sdesks|my\soffice|our\soffice)(?:\sup|\sdown|\sover)?{_AT}",
    ),
    "bank": _slot(
        rf"{_MY}(?:bank|account|current\saccount|money|savings)\s(?:is|are)(?:\s(?:at|with))?{_NAMED}",
        rf"{_I}(?:bank|banking|keep\s(?:my|our)\smoney){_NAMED}",
        rf"\b(?:everything|all|money|accounts?|savings)\b.{{0,20}}\b(?:moved|transferred|switched|gone|went)(?:\sover)?\sto{_NAMED}",
    ),
    "rising": _slot(
        rf"{_I}(?:get\sup|wake(?:\sup)?|rise|sleep(?:\sin)?|sleeping|getting\sup|waking\sup|up){_CLOCK}",
        rf"{_MY}alarm\s(?:is\sset|is|goes(?:\soff)?|rings){_CLOCK}",
    ),
    "bedtime": _slot(
        rf"{_I}(?:go\sto\s(?:bed|sleep)|turn\sin|going\sto\sbed|in\sbed|asleep|hit\sthe\s(?:sack|hay)){_CLOCK}",
        rf"{_MY}bedtime\sis(?:\sat)?\s(?P<v>.{{2,30}})$",
    ),
    "gym": _slot(
        rf"{_MY}gym\sis{_NAMED}",
        rf"{_I}(?:train|training|work\sout|working\sout|exercise|lift){_NAMED}",
        rf"{_I}(?:a\smember|members?)\s(?:of|at){_NAMED}",
        rf"{_I}(?:joined|signed\sup\s(?:at|with|for)|go\sto|going\sto)\s(?P<v>(?:the\s)?(?-i:[A-Z]).{{1,40}}\b(?:gym|fitness|climbing|crossfit|health\sclub|leisure\scentre)\b.{{0,20}})$",
    ),
    "employer": _slot(
        rf"{_I}(?:work|working|employed)\s(?:at|for|by|with)\s(?P<v>(?:the\s)?(?-i:[A-Z]).{{1,60}})$",
        rf"{_MY}(?:employer|company|firm)\sis{_NAMED}",
        rf"{_I}(?:joined|hired\sby|started\s(?:at|with)|start\s(?:at|with))\s(?P<v>(?-i:[A-Z]).{{1,60}})$",
    ),
    "manager": _slot(
        rf"{_MY}(?:\w+\s)?(?:manager|boss|supervisor|team\slead|lead)\sis\s(?P<v>.{{2,40}})$",
        rf"{_I}(?:report|reporting|answer)\s(?:\w+ly\s)?to{_NAMED}",
    ),
    "doctor": _slot(
        rf"{_MY}(?:doctor|gp|family\sdoctor|physician|doc|surgery|practice)\sis{_NAMED}",
        rf"{_I}(?:registered|a\spatient|patients?)\s(?:with|at|of){_NAMED}",
    ),
    "home": _slot(
        rf"{_I}(?:live|living|based|reside|residing|settled|moved|relocated)\s(?P<v>(?:in|to|on|at)\s.{{2,60}})$",
        rf"{_MY}(?:home|place|flat|apartment|house|address)\sis\s(?P<v>(?:in|at|on)\s.{{2,60}})$",
    ),
    "lunch": _slot(
        rf"{_I}(?:(?:have|eat|get|grab|take)\s(?:my\s|our\s)?)?(?:lunch|eat|lunching|eating)\s(?P<v>(?:at|in|from)\s.{{2,60}})$",
    ),
    "phone number": _slot(
        rf"{_MY}(?:(?:phone|telephone|mobile|cell)\s)?(?:number|mobile|cell|extension|phone)\sis(?:\snow)?\s(?P<v>\+?\d[\d\s-]{{2,20}})$",
        r"\b(?:reach|call|ring|text|phone)\sme\s(?:on|at)\s(?P<v>\+?\d[\d\s-]{2,20})$",
        r"\bto\sbe\scalled:?\s(?:on\s|at\s)?(?P<v>\+?\d[\d\s-]{2,20})$",
        rf"{_I}on\s(?:extension\s)?(?P<v>\+?\d[\d\s-]{{2,20}})$",
    ),
    "email": _slot(
        rf"{_MY}(?:e-?mail|mail)(?:\saddress)?\sis\s(?P<v>\S+@\S+)$",
        r"\b(?:write|mail|e-?mail|reach)\s(?:to\s)?me\s(?:at|on|via)\s(?P<v>\S+@\S+)$",
    ),
    "car": _slot(
        rf"{_I}drive\s(?P<v>an?\s.{{2,40}})$",
        rf"{_MY}car\sis\s(?P<v>(?:an?|the)\s.{{2,40}})$",
    ),
    "subject": _slot(
        rf"{_I}(?:study|studying|reading\sfor|majoring\sin|major\sin|doing\sa\sdegree\sin)\s(?P<v>[\w\s-]{{2,40}})$",
        rf"{_MY}(?:major|degree|subject|course)\sis(?:\sin)?\s(?P<v>[\w\s-]{{2,40}})$",
    ),
    "hourly pay": _slot(
        rf"{_I}(?:make|earn|get|paid|making|earning|getting|on){_AMOUNT[:-1]}(?<=an\shour)$",
        rf"{_MY}(?:wage|hourly\srate|rate|pay)\sis{_AMOUNT}",
    ),
    "rent": _slot(
        rf"{_MY}rent\sis{_AMOUNT}",
        rf"\bthe\srent\s(?:is|costs|went\sup|goes\sup|has\sgone\sup|rises){_AMOUNT}",
        rf"{_I}pay(?:ing)?{_AMOUNT[:-1]}\s(?:in\s|of\s)?rent$",
    ),
    "provider": _slot(
        rf"{_MY}(?:internet|broadband|wifi|mobile\scontract|phone\scontract|electricity|power|gas|energy|insurance)\s(?:is|comes)\s(?:with|from|by){_NAMED}",
        rf"{_I}(?:get|buy)\s(?:my|our)\s(?:internet|broadband|wifi|electricity|power|gas|energy|insurance)\s(?:from|with){_NAMED}",
    ),
}
"""By question: the sentences that answer it."""
_HELD_ONCE: Final = frozenset(
    {"seat", "phone number", "email", "manager", "rent", "hourly pay", "bedtime", "doctor", "rising"}
)
"""Whose second answer on another day takes the place of the first, whether or not it says that it is new."""
_TAIL: Final = re.compile(
    r"(?:,|\s-{1,2}\s|;|\s(?:and|but|because|so|since|every|each|when|while|instead|these\sdays|now|nowadays|again|again,|if|as)\b).*$",
    re.IGNORECASE | re.DOTALL,
)
_SCOPE: Final = re.compile(
    r"\b(?:(?:on|at)\s(?:weekends?|the\sweekend|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)|in\s(?:summer|winter|spring|autumn)|"
    r"sometimes|for\s(?:now|a\s(?:while|few|couple)|the\s(?:moment|time|week|weekend|summer|winter|next)|two|three|\d)|until|till\s(?:then|next)|this\s(?:week|month|morning)|today|tonight|"
    r"tomorrow|next\s(?!to\b)\w+|during|visiting|holidays?|too|also|as\swell|second\s(?:job|home|phone|car|flat|gym|account|number|desk)|other|both)\b",
    re.IGNORECASE,
)
_NOT_SO: Final = re.compile(
    r"\b(?:not|never|no|would|could|might|may|want|hope|if|used\sto|had)\b|n't\b", re.IGNORECASE
)
_BREAK: Final = re.compile(
    r"[,;.!]\s|\s(?:and|but|so|because)\s(?=(?:i|we|my|our|i'm|we're|everything|the)\b)", re.IGNORECASE
)
_LIGHT: Final = STOP | DETERMINERS | {"o'clock", "next", "my", "our"}
_GENERIC: Final = frozenset(
    "floor street road lane avenue building room bank gym office school company firm club the place".split()  # noqa: SIM905 - words
)
"""Words that two values of one kind share."""
_BEGUN: Final = re.compile(
    r"\b(?:moved|transferred|switched|joined|registered|signed\sup|enrolled|started|settled|relocated|hired)\b",
    re.IGNORECASE,
)
"""Says by itself that it is new."""


def answers_anew(earlier: str, later: str, *, is_new: bool, is_other_day: bool) -> bool:
    """Returns whether both answer the same question of the speaker's life, and the later one otherwise.

    Args:
        earlier: A statement of the speaker.
        later: Another one.
        is_new: Whether the later one says that something changed.
        is_other_day: Whether it was made on another day.
    """
    first, second = _answers(earlier), _answers(later)
    return any(
        name == other
        and _differ(old, new)
        and (is_new or _BEGUN.search(later) is not None or (is_other_day and name in _HELD_ONCE))
        for name, old in first
        for other, new in second
    )


@text_cache(4_096)
def _answers(text: str) -> tuple[tuple[str, str], ...]:
    if len(text) > _CHARS_MAX:
        return ()
    return tuple(
        (name, match["v"].strip())
        for part in _BREAK.split(plainly(text)[0])
        if not (_NOT_SO.search(part) or _SCOPE.search(part))
        for name, patterns in _SLOTS.items()
        if (match := next((m for p in patterns if (m := p.search(_TAIL.sub("", part).strip()))), None)) is not None
    )


def slots_of(text: str) -> frozenset[str]:
    """Returns the questions that a statement answers: so are two answers of one found."""
    return frozenset(name for name, _ in _answers(text))


def _differ(old: str, new: str) -> bool:
    first, second = _read(old), _read(new)
    values = [[item for item in side if isinstance(item, Value)] for side in (first, second)]
    if values[0] and values[1]:
        return not any(match_values(x, y) in {Match.EQUAL, Match.OVERLAPPING} for x in values[0] for y in values[1])
    words = [{item for item in side if isinstance(item, str)} for side in (first, second)]
    first_words, second_words = words[0] - _GENERIC, words[1] - _GENERIC
    return bool(first_words and second_words) and not first_words & second_words


@text_cache(4_096)
def _read(text: str) -> tuple[str | Value, ...]:
    tokens = [token for token in tokenize(text) if token.lower not in PUNCTUATION]
    items = ValueReader(tokens).read()
    return tuple(item if isinstance(item, Value) else lemma(item) for item in items if item not in _LIGHT)

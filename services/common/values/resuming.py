"""What the speaker had given up and does again: "I've quit smoking", "I've started smoking again". Pure functions.

The earlier statement says that something is not done any more, the later one that it is; both must name the same thing,
to the word. What is taken up beside it ("I've taken up rowing again") and what others do says nothing of it. Here the
deed and its thing are read in their places; `restoring` looks for the words of the thing anywhere in a clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.lexicon import VERBS
from services.common.values.people import OTHERS, THIRD
from services.common.values.sentences import nouns_of
from services.common.values.splitting import DETERMINERS
from services.common.values.tokens import lemma

_CHARS_MAX: Final = 250
_ADVERBS: Final = r"(?:\s(?:finally|just|now|also|already|all|both|even|actually|recently|completely|happily))?"
_I: Final = rf"^(?:(?:i|we)(?:'ve|\shave)?{_ADVERBS}\s)"
_I_OR_ORDER: Final = rf"^(?:(?:(?:i|we)(?:'ve|\shave|'d\slike|'m|\sam|'re|\sare)?{_ADVERBS}|please|can\syou)\s)?"
_WHAT: Final = r"\s(?P<what>[\w'\s-]{2,50}?)"
_UP_TO: Final = (
    r"(?=\s(?:any\s?more|any\slonger|for\snow|for\sgood|for\sthe\stime\sbeing|these\sdays|at\sthe\smoment|nowadays|last|this|in\s(?!my|our|the)|since|"
    r"because|when|after|on\s(?!my|our|the)|a\s(?:week|month|year)|(?:two|three|four|five|six|\d+)\s\w+\sago|yesterday|today|again|back|once\smore|"
    r"though|from|as)\b|[,.;!]|$)"
)
_CEASED: Final = (
    re.compile(
        rf"{_I}(?:given\sup|gave\sup|quit|stopped|dropped|cancell?ed|gone\soff|went\soff|sworn\soff|kicked|ditched|abandoned|paused|"
        r"suspended|deleted|left|sold|got\srid\sof|retired\sfrom|withdrawn\sfrom|withdrew\sfrom|broken\sup\swith|broke\sup\swith|"
        r"split\sup\swith|closed|uninstalled|unsubscribed\sfrom|packed\sin|had\senough\sof|lost|switched\soff|turned\soff|"
        rf"cut\sout|let\sgo\sof|put\saside|shelved|lapsed\sfrom){_WHAT}{_UP_TO}",
        re.IGNORECASE,
    ),
    re.compile(rf"^(?:i'm|i\sam|we're|we\sare){_ADVERBS}\soff{_WHAT}{_UP_TO}", re.IGNORECASE),
    re.compile(
        rf"^(?:(?:i|we){_ADVERBS}\s)?(?:don't|do\snot|no\slonger)\s(?P<verb>\w+)(?:{_WHAT})?{_UP_TO}", re.IGNORECASE
    ),
    re.compile(rf"^no\smore{_WHAT}(?:\sfor\s(?:me|us))?{_UP_TO}", re.IGNORECASE),
)
"""What is not done any more, at `what`, and where it is said, the deed at `verb`."""
_AGAIN: Final = r"\s(?:again|once\smore)\b"
_RESUMED: Final = (
    re.compile(
        rf"{_I}(?:resumed|renewed|reinstated|reactivated|rejoined|reinstalled|re-?subscribed\sto|re-?opened|restarted|revived|"
        r"rediscovered|gone\sback\sto|went\sback\sto|returned\sto|got\sback\s(?:into|to|on|together\swith)|gotten\sback\sinto|"
        rf"come\sback\sto|relapsed\sinto|fallen\sback\sinto){_WHAT}{_UP_TO}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^(?:i'm|i\sam|we're|we\sare){_ADVERBS}\sback\s(?:on|to|into|at|with|together\swith){_WHAT}{_UP_TO}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_I}(?:taken\sup|took\sup|picked\sup|started|begun|began|signed\sup\sfor|enrolled\sin|got|bought|opened|joined|"
        rf"switched\son|turned\son|found){_WHAT}(?:{_AGAIN}|\sback(?=[\s,.;!]|$))",
        re.IGNORECASE,
    ),
    re.compile(rf"{_I_OR_ORDER}(?P<verb>[a-z]+)(?:{_WHAT})?{_AGAIN}", re.IGNORECASE),
    re.compile(r"^(?P<what>[\w'-]{2,30})\sand\s(?:i|me)\sare\sback\stogether\b", re.IGNORECASE),
)
"""What is done again, at `what`, and where it is said, the deed at `verb`."""
_UNSURE: Final = re.compile(
    r"\b(?:if|might|maybe|perhaps|would|want\sto|hope|wish|planning|thinking|never|not|almost|nearly|old|yesterday|today|tonight|once(?!\smore))\b|"
    r"n't\b|\?",
    re.IGNORECASE,
)
"""Under these nothing is resumed: it is not sure, denied, or happened on one day."""
_LIMITED: Final = re.compile(r"\bon\s\w{3,6}days?\b|\b(?:before|after|during|while|at\snight)\b", re.IGNORECASE)
"""What is not done on some days or occasions is done on others."""
_ANY_DEED: Final = frozenset(
    """
    do have get want need send give show use take play go make keep receive practise practice read eat drink wear
    ride attend like be love enjoy
    """.split()  # noqa: SIM905 - words
)
"""Deeds that go with their thing: what is taken up again is played, eaten, used as before."""
_BREAK: Final = re.compile(r"\s-{1,2}\s|[;:!.]\s|,\s(?:and|but|so)\s|,\s")
_NO_THING: Final = DETERMINERS | frozenset(
    "completely now me us it them any all myself ourselves to up well".split()  # noqa: SIM905 - words
)


_BACK_TO: Final = re.compile(
    r"^(?P<who>I|We)(?:'m|'re|\sam|\sare|'ve\sgone|\shave\sgone|\swent|'ve\sgot|\sgot)(?:\s\w+ly)?\sback\s(?:to|into)\s"
    r"(?P<deed>[a-z]{2,20}ing)\b(?P<rest>[^.!]{0,200})",
    re.IGNORECASE,
)
"""As in "I'm back to taking the train": what is done now is said by the gerund."""


class _Deed(NamedTuple):
    verb: str  # "" where any will do
    things: frozenset[str]


def is_resumed(earlier: str, later: str) -> bool:
    """Returns whether the speaker does again what the earlier statement says is not done any more.

    Args:
        earlier: A statement of the speaker.
        later: A later one of the same speaker.
    """
    ceased = _deeds(earlier, is_later=False)
    return bool(ceased) and any(_is_same(one, other) for one in ceased for other in _deeds(later, is_later=True))


@text_cache(4_096)
def in_present(text: str) -> str:
    """Returns "I take the train now" for "I'm back to taking the train", and other statements as they are."""
    match = _BACK_TO.match(text.replace("\u2019", "'"))
    if match is None or lemma(match["deed"].casefold()) not in VERBS:
        return text
    return f"{match['who']} {lemma(match['deed'].casefold())}{match['rest'].rstrip()} now"


def _is_same(one: _Deed, other: _Deed) -> bool:
    if one.things != other.things:
        return False
    if not one.things:
        return bool(one.verb) and one.verb == other.verb
    return one.verb == other.verb or not other.verb or (not one.verb and other.verb in _PLAYED)


@text_cache(4_096)
def _deeds(text: str, *, is_later: bool) -> tuple[_Deed, ...]:
    if len(text) > _CHARS_MAX:
        return ()
    plain = " ".join(text.replace("\u2019", "'").split())
    return tuple(
        deed
        for part in _BREAK.split(plain)
        if not (is_later and _UNSURE.search(part)) and not OTHERS.search(part) and not THIRD.search(part)
        if is_later or not _LIMITED.search(part)
        for deed in _read(part, _RESUMED if is_later else _CEASED)
    )


def _read(part: str, patterns: tuple[re.Pattern[str], ...]) -> Iterator[_Deed]:
    for pattern in patterns:
        match = pattern.search(part.strip())
        if match is None:
            continue
        verb = lemma((match.groupdict().get("verb") or "").casefold())
        what = (match["what"] or "").casefold().split()
        while what and what[0] in _NO_THING:
            what = what[1:]
        if not verb and what and what[0].endswith("ing") and lemma(what[0]) in VERBS:
            verb, what = lemma(what[0]), what[1:]
        things = nouns_of(" ".join(what)) - _NO_THING
        is_any = verb in _ANY_DEED and bool(things)
        if things or verb:
            yield _Deed("" if is_any and verb not in _PLAYED else verb, things)
            return


_PLAYED: Final = frozenset({"play", "eat", "drink", "read", "wear", "ride", "practise", "practice", "attend"})
"""These are compared where both are said: "I watch tennis again" is no tennis played."""

"""Conditions that pass: broken and repaired, closed and open, away and back. Pure functions.

A condition is read of one thing or person, named before it or as what somebody has back; the thing must be the same to
the word, places included: the heating in the nursery says nothing of the heating in the loft.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.reading.splitting import DETERMINERS
from services.common.values.words.lexicon import AUXILIARIES
from services.common.values.words.tokens import PUNCTUATION, lemma, tokenize

_CHARS_MAX: Final = 200
_IS: Final = r"(?:\s(?:is|are|am)|'s|'m|'re)"
_HAS: Final = r"(?:\s(?:has|have)|'s|'ve)"
_NOW: Final = r"(?:\s(?:now|again|finally|already|still|all|currently|completely|totally|temporarily))*"
_AGAIN: Final = r"(?:\s(?:now|again|finally|already|as\snormal|at\slast|like\snew))*"


_NO_HOURS: Final = r"(?!\s(?:on|from|at|until|till|between|in|only|every)\b)"
"""Hours are no condition: "closed on Mondays"."""


def _of(predicates: str) -> re.Pattern[str]:
    return re.compile(rf"(?P<be>{predicates})(?![\w-])", re.IGNORECASE)


_STATES: Final[tuple[tuple[str, bool, re.Pattern[str]], ...]] = (
    (
        "working",
        False,
        _of(
            rf"{_IS}{_NOW}\s(?:(?:turned|switched|cut|shut)\soff|gone(?=$|[,.!])|off(?!\s(?:to|work|sick|on))|down|offline|broken|faulty|dead|jammed|blocked|leaking|flooded|icy|snowed\sin|under\swater|out(?=$)|on\sstrike|"
            r"out\sof\s(?:order|service|action|use)|on\sthe\sblink|being\srepaired|in\sfor\srepairs?|in\srepair|"
            r"(?:at|in)\sthe\s(?:garage|workshop|repair\sshop)|(?:isn't|not)\s(?:working|running))|"
            r"\s(?:isn't|aren't|is\snot|are\snot)\s(?:working|running|usable)|\s(?:doesn't|don't|does\snot)\swork|"
            rf"{_HAS}\s(?:broken\sdown|packed\sup|stopped\sworking|conked\sout|died)|\s(?:leaks|broke\sdown|packed\sup)"
        ),
    ),
    (
        "working",
        True,
        _of(
            rf"{_IS}{_NOW}\s(?:back(?!\s(?:at|in\s(?:for|the)|to))(?:\s(?:on|up|online|in\s(?:service|order|action|use)))?|"
            r"on|up(?:\sand\srunning)?|running|clear|alive|working|online|fixed|repaired|mended|sealed|unblocked)"
            rf"|\sworks?(?=$|[,.!;]|\s(?:again|now|fine))|\sruns?\sagain|{_HAS}\sbeen\s(?:fixed|repaired|mended|restored|replaced)|"
            r"\s(?:came|come)\sback(?:\son)?|\s(?:was|were|got)\s(?:fixed|repaired|mended)"
        ),
    ),
    (
        "open",
        False,
        _of(
            rf"{_IS}{_NOW}\s(?:closed|shut|cordoned\soff|fenced\soff|under\srenovation|being\srenovated|a\sbuilding\ssite)"
            rf"{_NO_HOURS}"
        ),
    ),
    (
        "open",
        True,
        _of(
            rf"{_IS}{_NOW}\s(?:open|back\sopen|reopened|passable|finished|done|ready){_NO_HOURS}|(?:{_HAS})?\s(?:re-?opened|re-?opens)|"
            rf"\sopened\sagain{_NO_HOURS}"
        ),
    ),
    (
        "well",
        False,
        _of(
            rf"{_IS}{_NOW}\s(?:ill|sick|unwell|poorly|injured|in\shospital|off\ssick|on\ssick\sleave|bedridden|on\scrutches|"
            r"in\s(?:a\s)?(?:cast|plaster|sling)|in\squarantine|sprained)"
        ),
    ),
    (
        "well",
        True,
        _of(
            rf"{_IS}{_NOW}\s(?:well|healthy|recovered|better|cured|fit|discharged|out\sof\s(?:hospital|quarantine)|"
            rf"back\son\s(?:my|his|her|their)\sfeet|back\sfrom\shospital|home\sfrom\s(?:the\s)?hospital|healed){_AGAIN}|"
            rf"{_HAS}\s(?:recovered|healed|mended)"
        ),
    ),
    (
        "away",
        False,
        _of(
            rf"{_IS}{_NOW}\s(?:away|abroad|on\s(?:holiday|leave|vacation|sabbatical|a\s(?:trip|course|business\strip)|parental\sleave|"
            r"maternity\sleave)|out\sof\s(?:the\soffice|town)|staying\s(?:at|with|in)|(?:house|flat|cat|dog|pet)-?\s?sitting)"
        ),
    ),
    (
        "away",
        True,
        _of(
            rf"{_IS}{_NOW}\s(?:back(?:$|\s(?:from|at|home|in\sthe\soffice|in\stown))|home\sagain|returned)|{_HAS}\s(?:returned|come\s(?:back|home)|moved\s(?:back\s)?(?:in|home))|\smoved\s(?:back\s)?(?:in|home)(?:$|\s(?:on|last|this|yesterday|today))|"
            r"\s(?:returned|came\s(?:back|home))\sfrom"
        ),
    ),
)
"""By dimension and whether it is the usual value: what says so behind its thing."""
_MISSED: Final = re.compile(
    r"^(?:there(?:'s|\sis|\sare)\sno|(?:i|we)(?:'ve|\shave)?\slost|(?:i|we)\s(?:have|'ve\sgot|have\sgot)\sno)\s(?P<thing>[\w\s-]{2,40})$",
    re.IGNORECASE,
)
_BACK: Final = re.compile(
    r"^(?:(?:i|we|i've|we've|i\shave|we\shave)\s)?(?:just\s|finally\s|already\s)?(?:got|have|picked|collected|fetched|brought)\s(?:up\s)?"
    r"(?P<thing>[\w\s-]{2,40}?)\s(?:back(?:\sfrom\b[\w\s]{0,30})?|up\sfrom\b[\w\s]{0,30}|from\sthe\s(?:garage|workshop|repair\sshop))$",
    re.IGNORECASE,
)
_MENDED: Final = re.compile(
    r"^(?:i|we|i've|we've|i\shave|we\shave)\s(?:got|had|gotten)\s(?P<thing>[\w\s-]{2,40}?)\s(?:repaired|fixed|mended|serviced|working|running)(?:\sagain)?$|"
    r"^(?:i|we)(?:'ve|\shave)?\s(?:picked|collected|fetched)\s(?P<thing2>(?:the|my|our)\s[\w\s-]{2,40}?)\sup$",
    re.IGNORECASE,
)
_OPENED: Final = re.compile(
    r"^(?:i|we|they)(?:'ve|\shave)?\s(?P<deed>re-?opened|fixed|repaired|mended)\s(?P<thing>[\w\s-]{2,40})$",
    re.IGNORECASE,
)
_OVER: Final = re.compile(
    r"^(?:i'm|i\sam|we're)\s(?:finally\s)?(?:over|rid\sof|done\swith)\s(?P<thing>[\w\s-]{2,40})$|"
    r"^(?:no\smore|goodbye(?:\sto)?|bye(?:\sbye)?|rid\sof|done\swith)\s(?P<thing2>[\w\s-]{2,40}?)(?:\s(?:for\s(?:me|us)|any\smore))?$",
    re.IGNORECASE,
)
_SUFFERED: Final = re.compile(
    r"^(?:i've|we've|i|we|i'm|we're)\s(?:have|had|got|caught|use|on|am\son|still\suse|go\son|use)\b\s?(?P<thing>[\w\s-]{2,40}?)"
    r"(?:\s(?:since|again|at\sthe\smoment)\b[\w\s]{0,40})?$",
    re.IGNORECASE,
)
_UNSURE: Final = re.compile(
    r"\b(?:if|when|until|hope|might|may|will|would|should|soon|tomorrow|probably|not\s(?:yet|back))\b", re.IGNORECASE
)
_PLACE: Final = re.compile(r"\s(?:in|on|at|to|of|near|under|behind)\s", re.IGNORECASE)
_PARTS: Final = re.compile(r"[,;:]\s")
_LIGHT: Final = DETERMINERS - {"his", "her", "their", "your", "no", "first", "second"} | {
    "now", "so", "and", "but", "finally", "just", "up", "back", "a", "i", "we", "okay", "ok",
}  # fmt: skip
_THING_WORDS_MAX: Final = 6


class _Condition(NamedTuple):
    dimension: str
    is_usual: bool
    thing: frozenset[str]
    head: frozenset[str]  # the thing without its place


def passes_over(earlier: Iterable[str], later: Iterable[str]) -> bool:
    """Returns whether a thing is in another condition than before: "the lift is out of order", "the lift is back".

    Args:
        earlier: The clauses of a statement.
        later: Those of the other one.
    """
    old = [found for piece in earlier for found in _conditions(piece)]
    new = [found for piece in later for found in _conditions(piece)]
    return any(
        a.dimension == b.dimension and a.is_usual is not b.is_usual and b.thing in (a.thing, a.head)
        for a in old
        for b in new
    )


@text_cache(4_096)
def _conditions(piece: str) -> tuple[_Condition, ...]:
    text = " ".join(piece.split()).rstrip(".!,; ")
    if len(text) > _CHARS_MAX or _UNSURE.search(text):
        return ()
    return tuple(found for part in _PARTS.split(text) for found in _read(part))


def _read(text: str) -> Iterator[_Condition]:
    for dimension, is_usual, pattern in _STATES:
        match = pattern.search(text)
        thing = _thing(text[: match.start()]) if match is not None else None
        if match is not None and thing is not None:
            head = _thing(_PLACE.split(text[: match.start()])[0]) or thing
            yield _Condition(dimension, is_usual, thing, head)
            if dimension == "working":  # what is back is there again
                yield _Condition("there", is_usual, thing, head)
    for pattern, dimension, is_usual in (
        (_MISSED, "there", False),
        (_BACK, "working", True),
        (_MENDED, "working", True),
        (_OPENED, "open", True),
        (_OPENED, "working", True),
        (_OVER, "had", True),
        (_SUFFERED, "had", False),
    ):
        match = pattern.match(text)
        named = (
            next((name for name in match.groupdict().items() if name[0] != "deed" and name[1]), None) if match else None
        )
        thing = _thing(named[1]) if named is not None else None
        if thing:
            yield _Condition(dimension, is_usual, thing, thing)


def _thing(text: str) -> frozenset[str] | None:
    """The words that name a thing; none for the speaker; None where it is no name of a thing."""
    words = [token.lower for token in tokenize(text) if token.lower not in PUNCTUATION]
    if len(words) > _THING_WORDS_MAX or any(word in AUXILIARIES for word in words):
        return None
    if not words:
        return None
    return frozenset(lemma(word) for word in words if word not in _LIGHT)

"""Members of a group and guests of an occasion who are not among them any more, and what somebody pays for no more.

"Birgit has flu so she's out for supper" ends "supper on Saturday: Hamza, Birgit and Wen", "finally cancelled Disney+"
ends "our streaming subs: Mubi and Disney+". The group must be the one that the list is of, and the list the speaker's
own; who is away once has not left a group. Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.reading.people import OTHERS
from services.common.values.words.lexicon import KIN, PRONOUNS, STOP
from services.common.values.words.nouns import MEALS, meal_in, nouns_of

_CHARS_MAX: Final = 250
ITEM_ENDS: Final = re.compile(r",\s(?:and\s|or\s)?|\sand\s|:\s|\s&\s", re.IGNORECASE)
_WHO: Final = (
    r"^(?:(?:so|and|but|sadly|unfortunately|ok|oh),?\s)?(?:(?:mr|mrs|ms|dr|prof)\.?\s)?(?P<who>[^\W\d_][\w'-]{1,30}?)"
    r"(?:(?:\shas|'s)?(?:\sjust)?\s(?:texted|rang|called|messaged|wrote|emailed|phoned|let\s(?:me|us)\sknow)(?:\s(?:me|us|in|that|to\ssay)){0,3},?\s(?:that\s)?(?:he|she|they))?"
)
_BE: Final = r"(?:'s|\sis|\swas|\shas\sbeen|s)(?:\s(?:now|just|finally|sadly|officially))?"
_THE: Final = r"(?:(?:the|our|my|this)\s)?"
_WHAT: Final = (
    r"(?P<what>[\w-]{2,30}(?:\s(?!(?:and|but|so|last|this|because|for|until|till|from|now|after|as|at|on|in|tonight|today)\b)"
    r"[\w-]{2,30})?)"
)
_STAYS: Final = r"(?:can't|cannot|can\snot|cant|won't|wont|will\snot|isn't|isnt|is\snot)"
_OUT_OF: Final = re.compile(
    rf"{_WHO}(?:(?:{_BE})\s(?:out\sof|off|no\slonger\s(?:in|on|part\sof))|(?:\shas|'s)?\s(?:bailed\son|dropped\sout\sof|pulled\sout\sof|backed\sout\sof|"
    rf"cried\soff|quit|left|(?:stepped|stood)\s(?:down|back)\sfrom|(?:resigned|retired|withdrew|withdrawn)\sfrom)|\s(?:bails\son|drops\sout\sof|pulls\sout\sof|backs\sout\sof)|\s{_STAYS}\s(?:make|come\sto|coming\sto|be\sat|joining|join))"
    rf"\s{_THE}{_WHAT}(?![\w'-])",
    re.IGNORECASE,
)
"""As in "priscilla is out of the band", "Wen can't come to the supper"."""
_REASON: Final = re.compile(
    rf"{_WHO}(?:'s)?\s(?P<reason>[^.;:!?]{{2,60}}?),?\s(?:so|and)\s(?:he|she|they)(?:'s|'re|\sis|\sare)\s"
    rf"(?:(?P<bare>out|off|not\scoming|staying\shome|staying\sin)(?=$|[.,;!])|(?:out|off)\s(?:for|of)\s{_THE}{_WHAT}(?![\w'-]))",
    re.IGNORECASE,
)
"""As in "Birgit has flu so she's out for supper"."""
_BAILED: Final = re.compile(
    rf"{_WHO}(?:(?:\shas|'s)?\s(?:just\s|already\s)?(?:bailed|cried\soff|dropped\sout|pulled\sout|backed\sout|bowed\sout|cancelled|canceled)(?:\son\sus|\son\sme)?"
    rf"|\s(?:bails|drops\sout|pulls\sout)(?:\son\sus)?|\s{_STAYS}\s(?:make\sit|come|coming|be\sthere|join|joining)(?:\sus)?(?:\safter\sall|\sany\s?more)?"
    r"|\s(?:has\sto|had\sto)\s(?:cancel|drop\sout|pull\sout))(?:\s(?:on\s|this\s|for\s)?(?P<day>\w{3,6}day))?(?=$|[.,;!]|\s(?:because|since|due|as|-)\b)",
    re.IGNORECASE,
)
"""As in "Paolo bailed", "wen can't make it": of what, the list must tell."""
_AWAY_ONCE: Final = re.compile(
    r"\b(?:tonight|today|tomorrow|this\s\w+|next\s\w+|on\s\w{3,6}day|for\s(?:a|an|one|two|three|four|six|some|\d+)\s|for\s(?:now|the\s\w+)|until|till|(?<!stepped\s)(?<!stood\s)back\s(?:in|on|by|from))\b",
    re.IGNORECASE,
)
_OCCASION: Final = re.compile(
    r"\b(?:\w{3,6}day|tonight|tomorrow|guests?|invit\w+|come|coming|attend\w*|party|dinner|supper|lunch|brunch|barbecue|bbq|picnic|trip|wedding|join\w*)\b",
    re.IGNORECASE,
)
"""Said of the people of one occasion."""
_STANDING: Final = re.compile(
    r"\b(?:team|band|club|group|choir|quartet|trio|quintet|orchestra|crew|squad|committee|board|rota|line-?up|kids|children)\b",
    re.IGNORECASE,
)
"""Said of people who belong together at all times."""
_UNSURE: Final = re.compile(
    r"\b(?:never|almost|nearly|if|might|may|maybe|perhaps|wants?|would|should|could|thinks?|says|said|joked?|unless|not\sout|not\soff)\b|n't\s(?:out|off|bailed|left|quit)\b|\?",
    re.IGNORECASE,
)
_TELLING: Final = re.compile(r"\b(?:told|tells|rang|asked|with|of|for|met|saw)\s", re.IGNORECASE)
"""In a reason these name somebody else, who may be "she"."""
_OTHER_GROUP: Final = re.compile(r"^(?:the|that)\s(?:other|old|second|first)\s", re.IGNORECASE)
_GROUP_IS: Final = re.compile(
    r"^(?:[\w'-]{1,30}\s){0,7}?[\w'-]{1,30}(?::|\s(?:is|are|has|have|includes?|consists\sof|comprises)\b)",
    re.IGNORECASE,
)
_PAID: Final = re.compile(
    r"\b(?:subs|subscriptions?|subscrib\w+|memberships?|pay(?:ing)?\sfor|newsletters?|streaming|magazines?|apps)\b",
    re.IGNORECASE,
)
_STOPPED: Final = re.compile(
    r"^(?:(?:so|and|ok|right),?\s)?(?:(?:i|we)(?:'ve|\shave)?\s)?(?:(?:[a-z]{2,12}ly|just|also|now)\s){0,2}"
    r"(?:cancell?ed|dropped|ditched|binned|axed|killed|ended|quit|left|got\srid\sof|gave\sup|stopped\spaying\sfor|unsubscribed\sfrom|let)\s"
    r"(?:(?:the|my|our)\s)?(?P<what>[\w'&.-]{2,30}\+{0,2}(?:\s[\w'&-]{1,30}\+{0,2}){0,2}?)(?:\s(?:lapse|expire|run\sout|go))?(?=$|[.,;!]|\s(?:sub|subscription|membership|because|since|as|last|this|for|and|today|yesterday|in|on|after)\b)",
    re.IGNORECASE,
)
"""As in "finaly cancelled Disney+, kids only watch one channel"."""
_OWN: Final = re.compile(r"\b(?:i|i'm|i've|we|we're|we've|my|our)\b", re.IGNORECASE)
_NO_NAMES: Final = KIN | PRONOUNS | STOP


@text_cache(4_096)
def items_of(text: str) -> tuple[str, ...]:
    """Returns the parts of a text between its commas, colons and "and"; nothing of a long one."""
    if len(text) > _CHARS_MAX:
        return ()
    return tuple(part for part in (part.strip() for part in ITEM_ENDS.split(text.rstrip(".! "))) if part)


def is_out(earlier: str, later: str) -> bool:
    """Returns whether somebody whom a list names is out, or something that the speaker pays for is cancelled.

    Args:
        earlier: A list, with or without a verb.
        later: A later statement of the same speaker.
    """
    items = items_of(earlier)
    if len(items) < 2 or len(later) > _CHARS_MAX or OTHERS.match(earlier) or _OTHER_GROUP.match(earlier):
        return False
    plain = " ".join(later.split()).rstrip(".! ")
    if _is_paid_no_more(earlier, items, plain):
        return True
    if _UNSURE.search(plain) or _GROUP_IS.match(earlier) is None:
        return False
    is_occasion = _OCCASION.search(earlier) is not None and _STANDING.search(earlier) is None
    if _AWAY_ONCE.search(plain) and not is_occasion:
        return False
    known = nouns_of(earlier) | MEALS & set(earlier.casefold().replace(":", " ").split())
    for who, what, between in _gone(plain, earlier.casefold()):
        if not any(_is_member(who, item) for item in items):
            continue
        if any(_is_member(word, item) for word in between for item in items):
            continue  # "Birgit has seen Paolo, so he's out for supper"
        named = nouns_of(what) | meal_in(what)
        if named and named <= known - {who} if what else is_occasion:
            return True
    return False


def _gone(plain: str, known: str) -> Iterator[tuple[str, str, list[str]]]:
    """Who is out, of what (nothing where that is not said), and the words of the reason."""
    for pattern in (_OUT_OF, _REASON, _BAILED):
        match = pattern.match(plain)
        if match is None or match["who"].casefold() in _NO_NAMES:
            continue
        groups = match.groupdict()
        reason = (groups.get("reason") or "").casefold()
        if _TELLING.search(reason) or (groups.get("day") or "").casefold() not in known:
            continue  # of another day
        yield match["who"].casefold(), groups.get("what") or "", reason.split()


def _is_member(who: str, item: str) -> bool:
    """Whether an item opens or ends with a name: "Priscilla bass", "our guests are Hamza"."""
    words = [word.strip("()").casefold() for word in item.split()]
    return who in {words[0], words[-1]}


def _is_paid_no_more(earlier: str, items: tuple[str, ...], plain: str) -> bool:
    match = _STOPPED.match(plain)
    if match is None or _PAID.search(earlier) is None:
        return False
    opening = items[0] if ":" in earlier else earlier
    if _OWN.search(opening) is None and not (":" in earlier and _PAID.search(items[0])):
        return False  # "moms got Disney+ and Hulu"
    what = match["what"].casefold()
    return any(item.casefold() == what or item.casefold().endswith(f" {what}") for item in items)

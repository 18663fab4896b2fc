"""Lists that are stated again with other items, and groups that exchange a member. Pure functions.

"Browsers for the portal: Chrome, Firefox, Safari" ends with "Browsers for the portal: Chrome, Firefox": what stands
before the items must be the same, some of the items must come back, and a list of what was done on a day is none.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.lives.passing import is_for_a_while
from services.common.values.reading.splitting import DETERMINERS, verb_place
from services.common.values.words.fields import CHANGED
from services.common.values.words.lexicon import PARTS_OF_DAY
from services.common.values.words.nouns import TIMES, nouns_of
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.tokens import lemma, tokenize
from services.common.values.words.unsure import UNSURE

_CHARS_MAX: Final = 250
_LABEL: Final = re.compile(r"^(?P<label>[^:,;.]{5,60}):\s(?P<items>\S[^:]{2,180})$")
_SPLIT: Final = re.compile(r"\s?[,;]\s(?:and\s|or\s|plus\s)?|\s(?:and|or|plus|&)\s", re.IGNORECASE)
_BESIDE: Final = CachedPattern(r"\b(?:too|also|as\swell|besides|another|additionally|plus)\b", re.IGNORECASE)
_DENIED: Final = CachedPattern(r"\b(?:not|never|no|only\sif|unless)\b|n't\b|\?", re.IGNORECASE)
_ASIDE: Final = re.compile(r"\s?(?:[;(]|\s-{1,3}\s|,\s(?:so|since|because|as|which|who)\s).*$", re.IGNORECASE)
_NOW: Final = re.compile(r"\s(?:now|from\snow\son|these\sdays|nowadays|at\spresent|as\sof\s\w+)\W*$", re.IGNORECASE)
_COPULAS: Final = frozenset({"is", "are", "includes", "include", "consists", "consist", "comprises"})
"""Behind these stand all items; behind other verbs there may be more."""
_DAILY: Final = (
    PARTS_OF_DAY
    | TIMES
    | frozenset(
        "breakfast lunch dinner supper snack meal weather mood today done bought seen met eaten watched".split()  # noqa: SIM905
    )
)
"""In what stands before the items these make it a list of one day, or of what happened."""
_ITEM_WORDS_MAX: Final = 4
_LABEL_NOUNS_MIN: Final = 2
_KEPT_MIN: Final = 0.5

_GROUP: Final = re.compile(
    r"^(?:(?:the|my|our)\s)?(?:[\w'-]+\s){0,2}[\w'-]+\s?(?::\s|\s(?:is|are|consists\sof|includes|has)\s)", re.IGNORECASE
)
_NAME: Final = r"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s)?(?-i:[A-Z])[\w'-]{1,30}?"
_IS: Final = r"(?:'s|\sis|\shas\sbeen|\swas|\sgot)"
_OUT: Final = re.compile(
    rf"(?:^|[,;:]\s|\b(?:and|so|but)\s)(?P<who>{_NAME})(?:{_IS}\s(?:now\s)?(?:out|off)|(?:\shas)?\s(?:dropped\sout|left|quit))(?=$|[,.;:!]|\sand\b|\sbut\b|\sfor\sgood\b|\sas\sof\b|\ssince\b|\sof\s(?:the|our)\s)",
    re.IGNORECASE,
)
_IN: Final = re.compile(
    rf"(?:^|[,;:]\s|\b(?:and|so|but|with)\s)(?P<who>{_NAME})(?:(?:'s|\sis)\s(?:now\s)?in\b(?!\s(?:the\s(?:hospital|kitchen|garden|shower)|bed|hospital|town)\b)|"
    r"\s(?:takes|has\staken|took)\s(?:his|her|their|the)\s(?:\w+\s)?(?:place|seat|chair|spot|part|slot)\b|\s(?:joins|has\sjoined|joined|"
    r"plays\s(?:with|for|in)\s(?:them|us|it)\b|replaces|replaced|takes\sover|took\sover|steps\sin|stepped\sin|comes\sin|came\sin|fills\sin)\b)",
    re.IGNORECASE,
)
_REST_STAYS: Final = re.compile(
    r"\b(?:every(?:one|body)\selse|the\s(?:rest|others?)|all\s(?:the\s)?others|otherwise)\b.{0,30}\b(?:stays?|remains?|same|"
    r"as\s(?:it\swas|before|they\swere)|no\schanges?|unchanged)\b|\b(?:now\sit's|it's\snow)\b",
    re.IGNORECASE,
)
_BRIEF: Final = CachedPattern(
    r"\b(?:today|tonight|tomorrow|yesterday|this\s(?:week|evening|morning|time|once|match|game)|just\s(?:this\s)?once|sick|ill|until|till|"
    r"for\s(?:now|the\s(?:day|week|night|evening|weekend)|a\s(?:while|week|run|walk))|on\s(?:holiday|leave|vacation))\b",
    re.IGNORECASE,
)


_KINDS: Final = (
    re.compile(
        r"\bon\s(?:the\s)?(?:drums|bass|keys|keyboards?|guitar|viola|violin|cello|piano|horn|trumpet|sax\w*|flute|vocals|percussion)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:band|duo|trio|quartet|quintet|sextet|orchestra|ensemble|choir|combo|group|musicians|players|line-?up)\b",
        re.IGNORECASE,
    ),
)
"""What one plays, and the groups in which one does."""
_SEAT: Final = re.compile(
    r"\b(?:seat|place|chair|spot|part|post)\s(?:in|on|at)\s(?:the|our|my)\s(?P<what>[\w-]{3,20})", re.IGNORECASE
)
_GROUPS: Final = frozenset(
    "band quartet trio choir team squad crew committee jury board club class course panel".split()  # noqa: SIM905
)
_NO_ITEM: Final = CachedPattern(
    r"(?:i|we|he|she|it|they|you)(?:'\w+)?\s|(?:on|at|in|by|until|since|from)\s", re.IGNORECASE
)
"""Begins no thing: "my test is [on Thursday] and [I feel sick]"."""


class _Listed(NamedTuple):
    label: frozenset[str]  # the words before the items
    items: frozenset[str]
    is_whole: bool  # nothing else belongs to it


def is_listed_anew(earlier: str, later: str) -> bool:
    """Returns whether a list of the earlier statement is said again with other items.

    Args:
        earlier: A statement.
        later: A later one of the same speaker. Where more could belong to a list than is said, it must say so itself.
    """
    if _BESIDE.search(later) or is_for_a_while(later) or any(map(UNSURE.search, (earlier, later))):
        return False
    old, new = _listed(earlier), _listed(later)
    if old is None or new is None or old.label != new.label or old.items == new.items:
        return False
    if not (old.is_whole and new.is_whole) and CHANGED.search(later) is None:
        return False
    kept = len(old.items & new.items)
    return (
        kept >= _KEPT_MIN * min(len(old.items), len(new.items)) and kept >= _KEPT_MIN * len(old.items) - 1 and kept > 0
    )


def is_exchanged(earlier: str, later: str) -> bool:
    """Returns whether the later statement says that a member of the group in the earlier one has left it.

    As in "the band is me, Pekka and Saara", "Pekka is out, Ines is in on drums". "Pekka is out" alone does not count:
    the later one must also say who comes in, or that the others stay.
    """
    if max(len(earlier), len(later)) > _CHARS_MAX or _GROUP.match(earlier) is None or _BRIEF.search(later):
        return False
    if UNSURE.search(later) or _DENIED.search(_REST_STAYS.sub("", later)) or _BESIDE.search(later):
        return False
    members = {part.strip().casefold() for part in _SPLIT.split(_GROUP.sub("", earlier.rstrip(".! ")))}
    gone = [match["who"].casefold() for match in _OUT.finditer(later)]
    come = [match["who"].casefold() for match in _IN.finditer(later)]
    if _KINDS[0].search(later) and not _KINDS[1].search(earlier):
        return False  # "on viola" is of no quiz team
    where = _SEAT.search(later)
    if where is not None and not any(where["what"].casefold() in word for word in earlier.casefold().split()):
        return False  # "his seat in the boat" is none on the board
    if {word for word in nouns_of(later) if word in _GROUPS} - nouns_of(earlier):
        return False
    if len(members) < 2 or not any(who in members for who in gone):
        return False
    return any(who not in members for who in come) or _REST_STAYS.search(later) is not None


@text_cache(4_096)
def _listed(text: str) -> _Listed | None:
    plain = " ".join(text.replace("\u2019", "'").split()).rstrip(".! ")
    if len(plain) > _CHARS_MAX or _DENIED.search(plain):
        return None
    match = _LABEL.match(plain)
    if match is not None:
        label, behind, is_whole = match["label"], match["items"], True
    else:
        words = plain.split()
        place = verb_place([word.casefold().strip(".,!") for word in words])
        if not place or "," in " ".join(words[: place + 1]):
            return None
        verb = words[place].casefold()
        label, behind = " ".join(words[: place + 1]), " ".join(words[place + 1 :])
        is_whole = verb in _COPULAS and words[0].casefold() in {"the", "my", "our"}
        behind = re.sub(r"^of\s", "", behind)
    items = [_item(part) for part in _SPLIT.split(_NOW.sub("", _ASIDE.sub("", behind)))]
    if len(items) < 2 or not all(items) or any(len(item.split()) > _ITEM_WORDS_MAX for item in items):
        return None
    if any(_NO_ITEM.match(item) for item in items):
        return None
    named = nouns_of(label)
    before = {lemma(token.lower) for token in tokenize(label)} | {token.lower for token in tokenize(label)}
    if before & _DAILY or len(named) < (_LABEL_NOUNS_MIN if match is not None else 1):
        return None
    return _Listed(frozenset(before - DETERMINERS), frozenset(items), is_whole)


def _item(text: str) -> str:
    words = [word for word in text.casefold().split() if word not in DETERMINERS]
    return " ".join(words)

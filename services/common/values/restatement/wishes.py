"""What the speaker wants at some time or in some way, and then otherwise: "I want the digest at eight". Pure functions.

"I want the digest at 17:30" takes its place on a later day. Of something that is returned to, the other choice ends:
"read to me in the fast voice", "let us return to the slow voice".
"""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.comparison.sameness import Match, match_values
from services.common.values.model import Value, ValueKind
from services.common.values.reading.splitting import DETERMINERS
from services.common.values.restatement.orders import as_order, is_one_off
from services.common.values.words.nouns import nouns_of
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.quantities import ValueReader
from services.common.values.words.tokens import tokenize

_CHARS_MAX: Final = 200
_WAY: Final = r"(?P<link>at|in|on|by|via|as|with|through)\s(?:the\s|my\s)?"
_WISH: Final = re.compile(
    rf"^(?:(?:and|so|but|please|now),?\s)?(?:i|we)(?:'d|\swould)?\s(?:now\s)?(?:want|need|prefer|(?<=d\s)like)\s(?P<what>(?:the|my|our|your|all)\s[\w'-]{{2,30}}(?:\s[\w'-]{{2,30}}){{0,3}}?)\s{_WAY}"
    r"(?P<how>[\w:.'-]{1,20}(?:\s(?!so\b|because\b|and\b|but\b|now\b)[\w:.'-]{1,20}){0,4})",
    re.IGNORECASE,
)
_LIKED: Final = re.compile(
    r"^(?:(?:these\sdays|now|nowadays),?\s)?(?:i|we)\s(?:now\s)?(?:like|love|prefer)\s(?P<what>[a-z]{3,15}ing(?:\s[a-z]{2,15})?)\s"
    r"(?:in\sthe|at)\s(?P<how>mornings?|afternoons?|evenings?|night|noon|weekends?)(?![\w-])",
    re.IGNORECASE,
)
"""As in "I like running in the evening"."""
_SINCE: Final = re.compile(r"\b(?:after\sall|again|now|nowadays|these\sdays|instead|once\smore)\b", re.IGNORECASE)
_REASON_FIRST: Final = re.compile(r"^[^,;:.]{5,100},\s(?:so|hence|therefore)\s(?=(?:i|we)(?:'d)?\s)", re.IGNORECASE)
_AGAIN: Final = r"(?:return|(?:go|get|switch|come|change)\sback|revert|back)\sto\s"
_RETURN: Final = re.compile(
    rf"^(?:(?:please|ok|okay|so|and|let's|let\sus|can\swe|could\swe|i'd\slike\sto|i\swant\sto|i'd\srather|we),?\s){{0,3}}{_AGAIN}(?:the\s|my\s|our\s)?"
    r"(?P<which>[a-z-]{2,20})\s(?P<what>[a-z-]{3,20})\b(?!\s(?:in|at|on|for)\b)",
    re.IGNORECASE,
)
_OLD_ONE: Final = re.compile(
    rf"^(?:(?:please|ok|okay|so|and|let's|let\sus|we\sare|we're),?\s){{0,3}}{_AGAIN}(?:the|our|my)\s(?:old|usual|former|previous|original|normal|first|earlier)\s"
    r"(?:time|day|hour|date|place|room|setting|format|one|schedule|version|limit|number|amount|rate|size)\s(?:for|of|with)\s(?P<what>[^,;:.!?]{3,50})[,;:]\s(?P<value>[^;!?]{1,60})",
    re.IGNORECASE,
)
"""As in "back to the old time for the daily digest, 8 in the morning"."""
_ASIDE: Final = re.compile(r"[,;:]\s|\s(?:because|since|so)\s", re.IGNORECASE)
_IN_A_WAY: Final = frozenset({"in", "with", "as", "by"})
_BESIDE: Final = CachedPattern(
    r"\b(?:also|too(?!\s\w)|as\swell|both|another|sometimes|if|when|unless|not|never)\b|n't\b|\?", re.IGNORECASE
)
_COUNTED: Final = frozenset({ValueKind.TIME, ValueKind.NUMBER, ValueKind.QUANTITY, ValueKind.MONEY, ValueKind.DATE})


def is_wanted_otherwise(earlier: str, later: str, *, is_other_day: bool) -> bool:
    """Returns whether the speaker wants the same at another time or in another way, or returns to another choice.

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
        is_other_day: Whether it was said on a later day.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX or _BESIDE.search(earlier) or not is_other_day:
        return False
    one, other = (_wish(text) for text in (earlier, later))
    if one is not None and other is not None and not _BESIDE.search(later):
        is_same = (
            one["what"].casefold() == other["what"].casefold() and one["link"].casefold() == other["link"].casefold()
        )
        return is_same and not _are_one(one["how"], other["how"])
    liked, preferred = _LIKED.match(earlier), _LIKED.match(later)
    if liked is not None and preferred is not None and _SINCE.search(later) and not _BESIDE.search(later):
        return liked["what"].casefold() == preferred["what"].casefold() and not _are_one(liked["how"], preferred["how"])
    orders = as_order(earlier), as_order(later)
    if all(orders) and not is_one_off(later) and _is_in_another_way(*orders):
        return True
    is_choice = one is not None or bool(orders[0])
    return is_choice and (_returns_to_another(earlier, later) or _is_old_value(earlier, later))


@text_cache(4_096)
def _wish(text: str) -> re.Match[str] | None:
    return _WISH.match(_REASON_FIRST.sub("", text))


def _is_in_another_way(earlier: str, later: str) -> bool:
    """Whether two orders differ in one word behind "in the" or "with the": "in the [slow] voice"."""
    old, new = ([word.strip(".,!").casefold() for word in _ASIDE.split(text)[0].split()] for text in (earlier, later))
    differing = [place for place, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]]
    if len(old) != len(new) or len(differing) != 1 or not 1 < differing[0] < len(old) - 1:
        return False
    place = differing[0]
    before = old[place - 2] if old[place - 1] in DETERMINERS else old[place - 1]
    return before in _IN_A_WAY and not (old[place][:1].isdigit() or new[place][:1].isdigit())


def _returns_to_another(earlier: str, later: str) -> bool:
    back = _RETURN.match(later)
    if back is None or _BESIDE.search(later[: back.end()]):
        return False
    what, which = back["what"].casefold(), back["which"].casefold()
    words = [word.strip(".,;:!").casefold() for word in earlier.split()]
    if what not in words or which in words:
        return False
    place = words.index(what)
    return (
        place > 1
        and words[place - 1].isalpha()
        and bool({"the", "a", "an", "my", "in", "with"} & set(words[place - 3 : place - 1]))
    )


def _is_old_value(earlier: str, later: str) -> bool:
    old = _OLD_ONE.match(later)
    if old is None:
        return False
    about = nouns_of(old["what"])
    return (
        bool(about)
        and about <= nouns_of(earlier)
        and bool(_values(earlier))
        and not _share_value(earlier, old["value"])
    )


def _are_one(first: str, second: str) -> bool:
    if first.casefold() == second.casefold() or _share_value(f"at {first}", f"at {second}"):
        return True
    return bool(nouns_of(first) & nouns_of(second)) and not (_values(f"at {first}") and _values(f"at {second}"))


def _share_value(first: str, second: str) -> bool:
    return any(
        match_values(one, other) in {Match.EQUAL, Match.OVERLAPPING}
        for one in _values(first)
        for other in _values(second)
    )


@text_cache(2_048)
def _values(text: str) -> tuple[Value, ...]:
    return tuple(
        item for item in ValueReader(tokenize(text)).read() if isinstance(item, Value) and item.kind in _COUNTED
    )

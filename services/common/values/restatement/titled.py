"""What something is called, in quotation marks: "the working title is 'Brine'" after "... is 'Salt'". Pure functions.

Quotation marks hide a name from the rules that compare words, since what stands in them is mostly what somebody said.
Behind "is" or "called" they hold a name, and a thing has one at a time.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.words.unsure import UNSURE

_CHARS_MAX: Final = 400
_CALLED: Final = re.compile(
    r"(?:^|[,;:.]\s|\bthat\s|\b(?:and|so|but)\s)"
    r"(?P<what>(?:the|my|our|(?-i:[A-Z])[\w-]{1,20}'s)\s[\w' -]{2,60}?)(?:\s(?:is|are)|(?<=\w)'s)"
    r"(?:\s(?:now|currently|called|named|titled|entitled)){0,2}:?\s"
    r"(?:\"(?P<double>[^\"]{1,80})\"|\u201c(?P<curved>[^\u201d]{1,80})\u201d|[\u2018'](?P<single>(?:[^'\u2019]|['\u2019](?=\w)){1,80})['\u2019](?!\w))"
    r"(?!\s?(?:,\s|and\s|or\s|,\sand\s)[\"'\u2018\u201c])",
    re.IGNORECASE,
)
_ONCE: Final = re.compile(r"\b(?:not|never|no\slonger|also|too|another|second|other|next|first)\b|n't\b", re.IGNORECASE)
"""Words of a thing's description beside which there are others of the kind, or a denial."""
_MANY: Final = re.compile(
    r"\b(?:favou?rite\s\w+s|motto|answer|reply|question|line|message|note|joke|advice|reaction)$", re.IGNORECASE
)
"""Of these there are many, or what stands in quotation marks was said once."""


class _Title(NamedTuple):
    what: str
    name: str


def is_titled_anew(earlier: str, later: str) -> bool:
    """Returns whether a thing has another name in quotation marks than in the earlier statement.

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
    """
    if UNSURE.search(earlier) or UNSURE.search(later):
        return False
    known = dict(_titles(earlier))
    return any(known.get(title.what, title.name) != title.name for title in _titles(later))


@text_cache(4_096)
def _titles(text: str) -> tuple[_Title, ...]:
    if len(text) > _CHARS_MAX:
        return ()
    found = ((match["what"], match["double"] or match["curved"] or match["single"]) for match in _CALLED.finditer(text))
    return tuple(
        _Title(_plain(what), " ".join(name.casefold().split()).rstrip(".,!"))
        for what, name in found
        if not _ONCE.search(what) and not _MANY.search(what)
    )


def _plain(what: str) -> str:
    """What is called so, whether the speaker says "the" or "our" of it."""
    return re.sub(r"^(?:the|my|our)\s", "", " ".join(what.casefold().split()))

"""What a thing of the speaker's is called: "my car" by "I drive a red Mazda", "my boat" by "my boat is called Ilse".

Once it is known, what the speaker says of "the Mazda" is of the car; another one's Mazda stays. Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from services.common.values.words.tokens import lemma
from services.gateway.erasure.queries import Wanted
from services.gateway.erasure.wording import FIRST, words_of

_CALLED: Final = re.compile(
    r"^(?:my|our)\s(?:\w+\s)?(?P<thing>[a-z-]{2,20})\s(?:is\s(?:called|named)|is|was\scalled)\s(?P<rest>[^.,;]{2,40})",
    re.IGNORECASE,
)
_DRIVES: Final = re.compile(r"^(?:i|we)\s(?:now\s)?(?:drive|ride|own)\s(?P<rest>an?\s[^.,;]{2,40})", re.IGNORECASE)
_DRIVEN: Final = frozenset({"car", "van", "motorbike", "scooter", "bike", "bicycle", "boat", "camper", "caravan"})
_KNOWN: Final = frozenset({"the", "my", "our"})


def name_of_thing(wanted: Wanted, texts: Sequence[str]) -> Wanted | None:
    """Returns a query by the name that the speaker gives to a thing of theirs: "my car" by "I drive a red Mazda".

    None where the texts give it no name, or several.
    """
    if wanted.names or wanted.is_of_other or wanted.own_words != FIRST or len(wanted.topics) != 1:
        return None
    (topic,) = wanted.topics
    found = {name for text in texts for name in _names_in(text, topic)}
    return replace(wanted, names=((found.pop(),),), own_words=frozenset(), about_name=True) if len(found) == 1 else None


def is_said_of(wanted: Wanted, text: str) -> bool:
    """Returns whether a text speaks of the speaker's own thing by its name: "the Mazda needs brakes", "my Mazda"."""
    words = list(words_of(text))
    names = {part for name in wanted.names for part in name}
    return any(
        word.bare in names and words[place - 1].lower in _KNOWN | FIRST for place, word in enumerate(words) if place
    )


def names_it(wanted: Wanted, text: str) -> bool:
    """Returns whether a text is the one that gives the thing its name."""
    return any((name,) in wanted.names for topic in wanted.topics for name in _names_in(text, topic))


def _names_in(text: str, topic: str) -> Iterator[str]:
    match = _CALLED.match(text)
    if match is None or lemma(match["thing"].casefold()) != topic:
        match = _DRIVES.match(text) if topic in _DRIVEN else None
    if match is None:
        return
    names = [word for word in words_of(match["rest"]) if word.is_capital]
    if names and names[0].bare == names[0].lower:
        yield names[0].bare

"""What has been so for some time is so now: "I've been vegan for six years" is "I'm vegan". Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.words.lexicon import IRREGULAR, VERBS
from services.common.values.words.tokens import lemma

_CHARS_MAX: Final = 250
_SPAN: Final = (
    r"\s(?:for|since)\s(?P<span>(?:[\w'-]{1,20}\s){0,4}?(?:years?|months?|weeks?|decades?|ages|ever|school|college|university|uni|birth|childhood|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|christmas|easter|(?:19|20)\d\d|"
    r"(?:the|my|our|his|her)\s[\w-]{2,20}(?:\s[\w-]{2,20})?))(?=$|[,;:.!?]|\s(?:now|and|but|so|already|next|this|last)\b)"
)
_WHO: Final = (
    r"^(?P<who>I|We|(?:My|Our)\s[\w-]{2,20}|(?!He\b|She\b|It\b|They\b|That\b|There\b|Who\b|What\b)[A-Z][\w-]{1,20})"
)
_BEEN: Final = re.compile(
    rf"{_WHO}(?:'ve|'s|\shave|\shas)(?:\s(?:now|always|also))?\sbeen\s(?!to\b|told\b|asked\b|back\b|there\b|here\b)(?P<what>[^,;:.!?]{{2,80}}?){_SPAN}",
    re.IGNORECASE,
)
"""As in "I've been with Acme since 2015"."""
_DONE: Final = re.compile(
    rf"{_WHO}(?:'ve|'s|\shave|\shas)(?:\s(?:now|always|also))?\s(?P<verb>[a-z]{{2,15}})\s(?P<what>[^,;:.!?]{{2,80}}?){_SPAN}",
    re.IGNORECASE,
)
"""As in "we've lived in Leeds for six years"."""
_STATES: Final = frozenset(
    """
    live work teach play smoke have own drive use rent study bank run sing keep share take eat drink wear ride learn
    train coach lead manage chair belong subscribe pay commute cycle swim shop store host park speak
    """.split()  # noqa: SIM905 - words
)
"""What goes on when it has gone on for a time; "I've finished it since May" is done."""


@text_cache(4_096)
def as_present(text: str) -> str:
    """Returns a statement of what has been so for a time as one of what is so, and others as they are.

    Args:
        text: A statement.
    """
    if len(text) > _CHARS_MAX:
        return text
    plain = text.replace("\u2019", "'")
    been = _BEEN.match(plain)
    if been is not None:
        who = been["who"]
        be = {"i": "am", "we": "are"}.get(who.casefold(), "is")
        return f"{who} {be} {been['what']}{plain[been.end() :]}"
    done = _DONE.match(plain)
    if done is None:
        return text
    verb = lemma(done["verb"].casefold())
    if verb not in _STATES or not (verb in VERBS or done["verb"].casefold() in IRREGULAR):
        return text
    who = done["who"]
    if who.casefold() not in {"i", "we"}:
        verb = "has" if verb == "have" else f"{verb}s"
    return f"{who} {verb} {done['what']}{plain[done.end() :]}"

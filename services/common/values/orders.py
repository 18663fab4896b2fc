"""Orders and permissions in plain form, and what is taken off something. Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.fields import OPPOSED
from services.common.values.patterns import CachedPattern
from services.common.values.sentences import nouns_of
from services.common.values.tokens import lemma, tokenize

_PLEASE: Final = re.compile(r"(?:^please,?\s|,?\splease$)", re.IGNORECASE)
_YOU_MAY: Final = re.compile(
    r"^(?:yes,?\s)?you\s(?:can|may|could|should|must|shall|are\sto|have\sto|need\sto)\s(?:always\s)?(?!not\b|no\b)(?=\w)",
    re.IGNORECASE,
)
_NO_NEED: Final = re.compile(
    r"^(?:(?:you\s)?(?:don't|do\snot|needn't|need\snot|no\slonger)\s(?:have\sto\s|need\sto\s|need\s)?(?:to\s)?|there's\sno\sneed\sto\s|"
    r"no\sneed\sto\s|(?:you\s)?(?:may|can|must|should)\s?(?:not|n't|no\slonger)\s|you\scan't\s|never\s)(?=\w)",
    re.IGNORECASE,
)
_KEEP: Final = re.compile(r"^keep\s(?=(?:your|my|our|the|all)\s)", re.IGNORECASE)
"""As in "keep your answers short": another order says "make them long"."""
_STOP: Final = re.compile(r"^(?:you\scan\s)?(?:stop|quit)\s(?P<verb>\w{2,20}ing)\b", re.IGNORECASE)
_ANY_MORE: Final = re.compile(r"\s(?:any\s?more|any\slonger|no\slonger)\b", re.IGNORECASE)
_MAY: Final = CachedPattern(r"\bmay\s(?:not\s|no\slonger\s)?(?P<verb>[a-z]+)\b", re.IGNORECASE)
_OFF: Final = CachedPattern(
    r"\b(?P<deed>take|takes|took|taken|remove|removes|removed|strike|struck|drop|dropped|cross|crossed|leave|left|cut|kick|kicked|"
    r"withdraw|withdrew|pull|pulled|throw|threw|delete|deleted)\s(?P<what>[\w'-]+(?:\s[\w'-]+){0,4}?)\s(?:off|from|out\sof)\s"
    r"(?P<whole>[\w'-]+(?:\s[\w'-]+){0,4})",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(r"(?:\b(?:not|never|without|would|could|might|if)\b|n't\b)", re.IGNORECASE)
_HAD_TO: Final = re.compile(
    r"\b(?:i|we)(?:'ve|\shave)?\s(?:had\sto|decided\sto|were\sforced\sto|was\sforced\sto|chose\sto)\s(?P<deed>cancel|drop|sell|stop|quit|give\sup|return|remove|call\soff|"
    r"scrap|delete|put\sdown|let|close\sdown|shut\sdown|uninstall|give\saway)\b",
    re.IGNORECASE,
)
_PAST: Final = {
    "cancel": "cancelled", "drop": "dropped", "sell": "sold", "stop": "stopped", "quit": "quit", "give up": "gave up",
    "return": "returned", "remove": "removed", "call off": "called off", "scrap": "scrapped", "delete": "deleted",
    "put down": "put down", "let": "let", "close down": "closed down", "shut down": "shut down",
    "uninstall": "uninstalled", "give away": "gave away",
}  # fmt: skip
_NO_ORDERS: Final = frozenset(
    """
    i we you he she it they my our the a an his her their there this that i'm we're it's i've we've on in at for when if
    during every no not never yes
    """.split()  # noqa: SIM905 - words
)
_SELF: Final = frozenset({"me", "us"})


def in_plain_form(earlier: str, later: str) -> tuple[str, str]:
    """Returns two statements with permissions and orders in one form, where both are such.

    "You can call me after eight" is "call me after eight", "no need to call me" is "do not call me"; "the lorry may
    carry three tonnes" is a limit and no guess where both statements say it in the same way.
    """
    earlier, later = (_HAD_TO.sub(_did, text) for text in (earlier, later))
    first, second = _MAY.search(earlier), _MAY.search(later)
    if first is not None and second is not None and lemma(first["verb"].casefold()) == lemma(second["verb"].casefold()):
        earlier, later = (re.sub(r"\bmay\b", "can", text, flags=re.IGNORECASE) for text in (earlier, later))
    plain = [as_order(text) for text in (earlier, later)]
    return (plain[0], plain[1]) if all(plain) else (earlier, later)


def is_taken_off(earlier: str, piece: str) -> bool:
    """Returns whether a clause takes something off what the earlier statement names together with it.

    Args:
        earlier: A statement: "Invite Ada and Ben to the review".
        piece: A clause of a later one: "take Ben off the review".
    """
    match = _OFF.search(piece)
    if match is None or _DENIED.search(piece[: match.start()]):
        return False
    words = {lemma(token.lower) for token in tokenize(earlier)}
    what, whole = nouns_of(match["what"]), nouns_of(match["whole"])
    is_self = match["what"].casefold() in _SELF and bool(words & _SELF)
    return bool(whole) and whole <= words and (is_self or (bool(what) and what <= words))


def are_opposed(earlier: str, later: str) -> bool:
    """Returns whether orders about the same thing take each other back: "hold all letters", "forward the letters"."""
    first, second = _orders(earlier)[0], _orders(later)[1]
    for place in first.keys() & second.keys():
        things = nouns_of(earlier[first[place] :]) & nouns_of(later[second[place] :])
        if things and not re.search(r"\b(?:not|never|don't)\b", later, re.IGNORECASE):
            return True
    return False


@text_cache(4_096)
def _orders(text: str) -> tuple[dict[int, int], dict[int, int]]:
    """Which of `OPPOSED` a statement orders, as the earlier and as the later one, and where each order ends."""
    pairs = [(one.search(text), other.search(text)) for one, other in OPPOSED]
    return (
        {place: one.end() for place, (one, _) in enumerate(pairs) if one is not None},
        {place: other.end() for place, (_, other) in enumerate(pairs) if other is not None},
    )


def _did(match: re.Match[str]) -> str:
    return f"we {_PAST[' '.join(match['deed'].casefold().split())]}"


@text_cache(4_096)
def as_order(text: str) -> str:
    """Returns a statement as an order, with permissions and prohibitions in one form; empty where it is none."""
    plain = _PLEASE.sub("", text)
    stopped = _STOP.match(plain)
    if stopped is not None:
        return f"do not {lemma(stopped['verb'].casefold())}{plain[stopped.end() :]}"
    permitted = _YOU_MAY.sub("", plain)
    if permitted != plain:
        return _KEEP.sub("make ", permitted)
    denied = _NO_NEED.sub("", plain)
    if denied != plain:
        return f"do not {_ANY_MORE.sub('', denied)} any more"
    plain = _KEEP.sub("make ", plain)
    words = plain.split(maxsplit=1)
    is_order = (
        bool(words) and lemma(words[0].casefold()) == words[0].casefold() and words[0].casefold() not in _NO_ORDERS
    )
    return plain if is_order else ""

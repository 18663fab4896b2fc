"""Orders and permissions in plain form, and what is taken off something. Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.reading.splitting import PREPOSITIONS
from services.common.values.words.fields import OPPOSED
from services.common.values.words.nouns import nouns_of
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.tokens import lemma, tokenize

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
_OWNED: Final = re.compile(r"^my\b", re.IGNORECASE)
_OTHERS_OWN: Final = re.compile(r"(?<![\w-])[\w-]{1,40}'s\s\w|\b(?:his|her|their)\s\w")
_MAY_BE: Final = re.compile(
    r"^(?:the\s|my\s|our\s)?(?P<what>[\w-]{2,30}(?:\s[\w-]{2,30})?)\s(?:may|can|should|must|shall)\s(?:always\s)?be\s(?P<verb>[a-z]{3,20})\s(?P<rest>[^,;:]{2,80})$",
    re.IGNORECASE,
)
"""As in "deliveries may be left with the neighbours"."""
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
_MANNERS: Final = (
    frozenset({"short", "brief", "concise", "terse", "succinct"}),
    frozenset({"long", "longer", "detailed", "full", "lengthy", "thorough"}),
    frozenset({"large", "big", "bold"}),
    frozenset({"small", "normal"}),
)
_OPPOSITE: Final = {0: 1, 1: 0, 2: 3, 3: 2}
"""Of each group of manners the one that takes it back."""
_REPLIES: Final = frozenset({"answer", "reply", "response", "message"})
_ASKED: Final = re.compile(
    r"\b(?:keep|make|write|send|give|use|want|prefer)\s(?:me\s|us\s)?(?:(?:in|with)\s)?(?:(?:your|the|my|our|all)\s)?"
    r"(\w+)\s(\w+)",
    re.IGNORECASE,
)
_ALLOWED: Final = CachedPattern(
    r"\b(?:you\s(?:may|can|could)\s(?:now\s)?(?:write|give|send|make|use)\s(?:me\s|us\s)?(?:(?:in|with)\s)?(?:(?:your|the|my|our)\s)?"
    r"(?P<one>\w+)\s(?P<what>\w+)|"
    r"(?P<two>\w+)\s(?P<what2>\w+)\s(?:are|is)\s(?:fine|ok|okay|welcome|allowed|good)|"
    r"back\sto\s(?P<three>\w+)\s(?P<what3>\w+))(?P<rest>[^,.;!]{0,40})",
    re.IGNORECASE,
)
_ENDS_MAX: Final = 4
_ONCE_MORE: Final = CachedPattern(r"\b(?:again|once\smore|as\sbefore|back\sto|from\snow\son)\b", re.IGNORECASE)
_LIMITED: Final = re.compile(r"\b(?:for|in|on|at|when|if|about)\s", re.IGNORECASE)
_NO_ORDERS: Final = frozenset(
    """
    i we you he she it they my our the a an his her their there this that i'm we're it's i've we've on in at for when if
    during every no not never yes
    """.split()  # noqa: SIM905 - words
)
_SELF: Final = frozenset({"me", "us"})
_ONE_OFF: Final = re.compile(
    r"^(?:please\s|just\s)?(?:(?:let|tell|show|give|send|remind|help|keep|get|bring|hand)\s(?:me|us)|take|bring|check|look|find|see|try)\b",
    re.IGNORECASE,
)


def is_one_off(order: str) -> bool:
    """Returns whether something is asked for once: on another day "let me know how it goes" is another request."""
    return _ONE_OFF.match(order) is not None


def in_plain_form(earlier: str, later: str) -> tuple[str, str]:
    """Returns two statements with permissions and orders in one form, where both are such.

    "You can call me after eight" is "call me after eight", "no need to call me" is "do not call me"; "the lorry may
    carry three tonnes" is a limit and no guess where both statements say it in the same way.
    """
    earlier, later = _as_done(earlier), _as_done(later)
    first, second = _MAY.search(earlier), _MAY.search(later)
    if first is not None and second is not None and lemma(first["verb"].casefold()) == lemma(second["verb"].casefold()):
        earlier, later = (re.sub(r"\bmay\b", "can", text, flags=re.IGNORECASE) for text in (earlier, later))
    plain = [as_order(text) for text in (earlier, later)]
    return (plain[0], plain[1]) if all(plain) else (earlier, later)


@text_cache(4_096)
def _as_done(text: str) -> str:
    return _HAD_TO.sub(_did, text)


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
    owner = _OWNED.search(match["what"])
    if owner is not None and owner[0].casefold() == "my" and _OTHERS_OWN.search(earlier):
        return False  # "put Ana's name on the list", "take my name off the list"
    return bool(whole) and whole <= words and (is_self or (bool(what) and what <= words))


def are_opposed(earlier: str, later: str) -> bool:
    """Returns whether orders about the same thing take each other back: "hold all letters", "forward the letters"."""
    first, second = _orders(earlier)[0], _orders(later)[1]
    for place in first.keys() & second.keys():
        things = nouns_of(earlier[first[place] :]) & nouns_of(later[second[place] :])
        if things and not re.search(r"\b(?:not|never|don't)\b", later, re.IGNORECASE):
            return True
    return False


def is_ordered_otherwise(earlier: str, later: str) -> bool:
    """Returns whether an order is given for the same object in another way: "book me aisle seats", "window seats".

    Args:
        earlier: An order.
        later: A later one, which is said to be new.
    """
    old, new = ([word.casefold().strip(".,!") for word in text.split()] for text in (earlier, later))
    begin = end = 0
    while begin < min(len(old), len(new)) and old[begin] == new[begin]:
        begin += 1
    while end < min(len(old), len(new)) - begin and old[-end - 1] == new[-end - 1]:
        end += 1
    ends = [words[begin : len(words) - end] for words in (old, new)]
    if not begin or not all(0 < len(one) <= _ENDS_MAX for one in ends):
        return False
    if (ends[0][0] in PREPOSITIONS | {"as"}) is not (ends[1][0] in PREPOSITIONS | {"as"}):
        return False  # "brief", "in French"
    named = [nouns_of(" ".join(one)) for one in ends]
    shared = nouns_of(" ".join((*old[1:begin], *old[len(old) - end :])))
    if not shared or not all(named) or named[0] & named[1] or _DENIED.search(later):
        return False
    return not end or not any(one[0] in PREPOSITIONS for one in ends)


def is_lifted(earlier: str, later: str) -> bool:
    """Returns whether an order how to write is taken back: "keep answers short", "you may write long ones once more".

    Args:
        earlier: A statement.
        later: A later one of the same speaker, which must say that it is so again.
    """
    allowed = _ALLOWED.search(later)
    if allowed is None or not _ONCE_MORE.search(later) or _LIMITED.search(allowed["rest"]):
        return False
    if _DENIED.search(later):
        return False
    wanted = _manner(allowed["one"] or allowed["two"] or allowed["three"])
    what = lemma((allowed["what"] or allowed["what2"] or allowed["what3"]).casefold())
    for asked in _ASKED.finditer(earlier):
        for one, other in (asked.groups(), asked.groups()[::-1]):
            manner, thing = _manner(one), lemma(other.casefold())
            if manner is None or wanted is None or _OPPOSITE[manner] != wanted:
                continue
            if thing == what or {thing, what} <= _REPLIES or what == "one":
                return True
    return False


def _manner(word: str) -> int | None:
    return next((place for place, words in enumerate(_MANNERS) if word.casefold() in words), None)


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
    passive = _MAY_BE.match(plain.rstrip(".! "))
    if passive is not None:
        return f"{lemma(passive['verb'].casefold())} {passive['what'].lower()} {passive['rest']}"
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

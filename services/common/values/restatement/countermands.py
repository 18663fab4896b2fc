"""Orders that are taken back or changed by their own words. Pure functions.

"Tag me when you close a ticket" ends with "no need to tag me when you close a ticket", and "use British spelling in
letters" with "use American spelling in letters from now on". The condition of an order is part of it, in front or
behind: what is ordered for another case stays.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.reading.splitting import DETERMINERS
from services.common.values.restatement.orders import as_order
from services.common.values.words.newness import plainly
from services.common.values.words.nouns import TIMES
from services.common.values.words.tokens import PUNCTUATION, lemma, tokenize

_CHARS_MAX: Final = 200
_REMARK: Final = re.compile(r"[,;:](?:\s|$)|\s[\u2013\u2014-]{1,3}\s|\s(?:because|since|so)\s", re.IGNORECASE)
_SCOPE_FIRST: Final = re.compile(
    r"^(?P<scope>(?:for|in|on|with)\s(?:the\s|our\s|my\s)?[\w-]{2,20}(?:\s[\w-]{2,20})?),?\s"
    r"(?=(?:please\s)?(?:ping|ask|call|ring|contact|email|message|use|write|speak|send|add|tag)\s)",
    re.IGNORECASE,
)
"""As in "for deploys ping Oskar"."""
_CASE_FIRST: Final = re.compile(
    r"^(?P<case>(?:when|whenever|if|before|after|while|once|every\stime|as\ssoon\sas|each\stime)\s[\w'\s-]{2,60}?)(?:,|,?\sthen)\s"
    r"(?:then\s)?(?:please\s|always\s|just\s)?(?=\w)",
    re.IGNORECASE,
)
"""As in "when I'm driving, read me my emails"."""
_PLACE_FIRST: Final = re.compile(
    r"^(?P<case>(?:in|on|at)\s(?:the\s|my\s)[\w-]{2,20}(?:\s[\w-]{2,20})?),?\s"
    r"(?=(?:please\s)?(?:read|play|show|remind|wake|tell|warn|mute|turn)\s(?:me\s|us\s|my\s|the\s|all\s|off\s|on\s))",
    re.IGNORECASE,
)
"""As in "in the car, read me my emails"."""
_NAMED_AS: Final = re.compile(r"^(?:address|refer\sto|speak\sto)\sme\sas\s", re.IGNORECASE)
_LIMITED: Final = re.compile(
    r"^(?:and\s|but\s|so\s)?(?:if|when|whenever|while|unless|until|till|once|in|at|on|for|with|during)\s(?!(?:second|further|(?:the\s)?future|general|short|fact|last|good)\b)",
    re.IGNORECASE,
)
"""Opens a case to which the order behind it is limited: "if I fly to Paris, write to me in French"."""
_JOINED: Final = re.compile(r"^(?:so|and|but|then|hence|therefore)\s", re.IGNORECASE)
_NOT: Final = re.compile(r"^(?:do\snot|don't|dont|never)\s(?:ever\s)?(?=[a-z])", re.IGNORECASE)
_CONDITION: Final = re.compile(
    r"\b(?:when|whenever|if|before|after|while|once|unless|every\stime|as\ssoon\sas|each\stime)\b", re.IGNORECASE
)
_NEW: Final = re.compile(r"\b(?:now|from\snow\son|instead|from\stoday|any\s?more|any\slonger|again)\b", re.IGNORECASE)
_FILLERS: Final = DETERMINERS - {"first", "second", "no"} | frozenset(
    """
        please always just also too again now instead any more anymore longer ever from on kindly still already only
        """.split()  # noqa: SIM905 - words
)
_ONE_CHOICE: Final = frozenset(
    """
    us writ ping ask cal ring contact email messag tag speak answer sign format spel reply addres indent nam
    """.split()  # noqa: SIM905 - words
)
"""Orders, by their stems, that name one way of several: another way takes the place of the first."""
_CASES: Final = tuple(
    frozenset(words.split())
    for words in (
        "drive driving car van wheel road",
        "cook cooking kitchen bake baking stove",
        "sleep sleeping asleep bed bedroom nap",
        "work working office desk job",
        "train training exercise workout gym",
        "shower bath bathroom",
        "travel travelling trip journey train plane",
        "eat eating table dinner lunch breakfast meal",
    )
)
"""Words that name one situation: who is driving is in the car."""
_PLACES: Final = frozenset({"in", "at", "on", "behind", "about"})
_TO_THE_SPEAKER: Final = frozenset({"read", "show", "play", "remind", "wak", "tel", "warn"})
"""Orders, by their stems, that go without "me" as well."""
_SELF: Final = frozenset({"me", "us"})
_NAME_WORDS_MAX: Final = 3
_TIMED: Final = TIMES | {"on", "at", "after", "back", "later", "if", "when", "up", "in"}
_WORDS_MIN: Final = 2
_GERUND_MIN: Final = 5


class _Order(NamedTuple):
    deed: tuple[str, ...]
    condition: tuple[str, ...]
    is_denied: bool


def is_countermanded(earlier: str, later: str, *, is_other_day: bool = False) -> bool:
    """Returns whether a later statement takes an order back, or gives it with another way to follow it.

    Args:
        earlier: An order, or what is not to be done.
        later: A later statement of the same speaker.
        is_other_day: Whether it was made on a later day: then another way need not be said to be new.
    """
    first = _order(earlier)
    if first is None:
        return False
    parts = [part for part in _REMARK.split(later) if part] if is_other_day and not _LIMITED.match(later) else []
    return any(
        second is not None and _takes_back(first, second, is_new=is_other_day or _NEW.search(later) is not None)
        for second in (_order(later), *(_order(_JOINED.sub("", part)) for part in parts[1:]))
    )


def _takes_back(first: _Order, second: _Order, *, is_new: bool) -> bool:
    if first.deed[:1] != second.deed[:1]:
        return False
    if first.is_denied is not second.is_denied:
        if first.is_denied:
            return first.deed == second.deed and first.condition == second.condition
        is_whole = not second.condition or first.condition == second.condition
        ordered, denied = _without_self(first.deed), _without_self(second.deed)
        return is_whole and (_opens_with(ordered, denied) or _is_for_its_case(ordered, denied, first.condition))
    is_other_way = first.deed[0] in _ONE_CHOICE and not first.is_denied and first.condition == second.condition
    return is_other_way and is_new and (_differ_in_one(first.deed, second.deed) or _names_anew(first.deed, second.deed))


def _names_anew(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether the speaker is to be called by another name: "call me Dr Ferrante", "call me Giulia"."""
    is_call = first[:_WORDS_MIN] == second[:_WORDS_MIN] == ("cal", "me")
    names = [set(deed[_WORDS_MIN:]) for deed in (first, second)]
    return (
        is_call
        and all(0 < len(name) <= _NAME_WORDS_MAX for name in names)
        and not _TIMED & (names[0] | names[1])
        and names[0] != names[1]
    )


def _opens_with(ordered: tuple[str, ...], denied: tuple[str, ...]) -> bool:
    return ordered == denied or (len(denied) >= _WORDS_MIN and ordered[: len(denied)] == denied)


def _without_self(deed: tuple[str, ...]) -> tuple[str, ...]:
    """The words of an order without the "me" that some orders go without."""
    return tuple(word for word in deed if word not in _SELF) if deed[0] in _TO_THE_SPEAKER else deed


def _is_for_its_case(ordered: tuple[str, ...], denied: tuple[str, ...], condition: tuple[str, ...]) -> bool:
    """Whether an order is denied at a place that is the case for which it was given: "in the car", when driving."""
    where, case = {*denied[len(ordered) :]} - _PLACES, {*condition}
    if not case or not where or denied[: len(ordered)] != ordered:
        return False
    return where <= case or (len(where) == 1 and any(where & same and case & same for same in _CASES))


def _differ_in_one(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    is_long = len(first) > _WORDS_MIN
    return is_long and len(first) == len(second) and sum(a != b for a, b in zip(first, second, strict=True)) == 1


@text_cache(4_096)
def _order(text: str) -> _Order | None:
    plain = " ".join(text.replace("\u2019", "'").split()).rstrip(".! ")
    if len(plain) > _CHARS_MAX:
        return None
    plain = _with_case_last(plain)
    plain = plainly(_REMARK.split(plain, maxsplit=1)[0])[0]
    plain = re.sub(r"^(?:please|always|kindly|just|from\snow\son,?|now)\s", "", plain, flags=re.IGNORECASE)
    plain = _NAMED_AS.sub("call me ", plain)
    scoped = _SCOPE_FIRST.match(plain)
    plain = f"{plain[scoped.end() :]} {scoped['scope']}" if scoped is not None else plain
    is_denied = _NOT.match(plain) is not None
    order = plain if is_denied else as_order(plain)
    if not order:
        return None
    is_denied = is_denied or _NOT.match(order) is not None
    order = _NOT.sub("", order)
    match = _CONDITION.search(order)
    deed, condition = (order[: match.start()], order[match.start() :]) if match is not None else (order, "")
    words = _words(deed)
    is_told = len(words) >= _WORDS_MIN or (bool(words) and bool(condition))
    return _Order((_stem(words[0]), *words[1:]), _words(condition), is_denied) if is_told else None


def _with_case_last(text: str) -> str:
    """An order with the case for which it is given behind it, without the remarks."""
    match = _CASE_FIRST.match(text) or _PLACE_FIRST.match(text)
    if match is None:
        return text
    order = _REMARK.split(text[match.end() :], maxsplit=1)[0]
    return f"{order} {match['case']}" if _NOT.match(order) or as_order(order) else text


def _stem(verb: str) -> str:
    """The first word of an order without the ending of "stop adding"."""
    stem = verb.removesuffix("ing") if len(verb) > _GERUND_MIN else verb
    stem = stem[:-1] if stem[-1:] == stem[-2:-1] else stem
    return stem.rstrip("e")


def _words(text: str) -> tuple[str, ...]:
    tokens = (token.lower for token in tokenize(text))
    return tuple(lemma(word) for word in tokens if word not in PUNCTUATION and word not in _FILLERS)

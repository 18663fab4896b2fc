"""Of which kind the end of a statement is. "In the cellar" takes the place of "in the attic", never of "wet".

Values of two kinds of one thing hold beside each other, however much the later one says "now". Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.comparison.sameness import unshared
from services.common.values.model import Value, ValueKind
from services.common.values.reading.clauses import Clause, Item
from services.common.values.reading.splitting import DETERMINERS, PREPOSITIONS
from services.common.values.words.lexicon import (
    AUXILIARIES,
    KIN,
    MONTHS,
    PARTS_OF_DAY,
    SEASONS,
    SMALL_NUMBERS,
    STATES,
    TENS,
    VERBS,
    WEEKDAYS,
)
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.tokens import lemma

PASSING: Final = frozenset(
    """
    tired ill sick busy ready late early hungry thirsty cold hot here there back home away happy sad angry bored afraid
    sure fine ok okay good great better worse sorry glad wet dry lovely nice beautiful awful terrible quiet quieter loud
    member citizen fan guest owner
    """.split()  # noqa: SIM905 - words
)
"""What somebody or something can be beside anything else."""
_PLACES: Final = frozenset(
    "in on at by near under over behind beside above below opposite outside inside next upstairs downstairs".split()  # noqa: SIM905 - words
)
_DAYS: Final = WEEKDAYS | frozenset(MONTHS) | {f"{day}s" for day in WEEKDAYS} | {"tomorrow", "today", "weekend"}
_PARTS: Final = PARTS_OF_DAY | SEASONS | {f"{part}s" for part in PARTS_OF_DAY} | {"night", "nights", "noon"}
_NO_NOUNS: Final = frozenset("and or as now again instead after before".split())  # noqa: SIM905 - words
_CLOCK: Final = re.compile(r"^\d{1,2}(?::\d\d|(?::\d\d)?[ap]m)$|^(?:noon|midnight)$")
_WHICH: Final = re.compile(
    r"^(?:the|my|our)\s(?P<which>old|former|previous|first|last|new|current|second|third|fourth|next|other|left|right|upper|lower|front|back|"
    rf"north|south|east|west|{'|'.join(sorted(WEEKDAYS | PARTS_OF_DAY | SEASONS))})\s(?P<what>[a-z]{{2,20}})\b",
    re.IGNORECASE,
)
_NUMBER_WORDS: Final = "|".join(sorted(SMALL_NUMBERS))
_NUMBERED: Final = re.compile(
    rf"^(?:(?:the|my|our)\s)?(?P<what>[a-z]{{3,20}})\s(?P<which>\d{{1,4}}[a-z]?|{_NUMBER_WORDS}|[a-f](?=\s(?:is|has|are|was)))\s(?=[a-z])",
    re.IGNORECASE,
)
_NAMED_FROM: Final = re.compile(
    r"^(?P<name>[A-Z][\w-]{1,20})\sfrom\s(?:(?:the|my|our|his|her)\s)?(?P<origin>[\w-]{2,30})\b"
)
_NAMED_WITH: Final = (
    re.compile(
        r"^(?P<name>[A-Z][\w-]{1,20}),?\s(?P<which>[Ss]enior|[Jj]unior|[Ss]r|[Jj]r|[Tt]he\s(?:[Ee]lder|[Yy]ounger|[Ff]irst|[Ss]econd|[Tt]hird)|"
        r"next\sdoor|upstairs|downstairs|I{1,3}(?=\s))\b"
    ),
    re.compile(
        r"^(?:(?:[Tt]he|[Mm]y|[Oo]ur)\s)?(?P<which>[Bb]ig|[Ll]ittle|[Oo]ld|[Yy]oung|[Oo]lder|[Yy]ounger|[Tt]all|[Ss]mall|[Ss]hort|[Uu]ncle|[Aa]unt|[Aa]untie|"
        r"[Cc]ousin|[Gg]randpa|[Gg]randma|[Bb]rother|[Ss]ister|[Mm]r|[Mm]rs|[Mm]s|[Dd]r)\.?\s(?P<name>[A-Z][\w-]{1,20})\b"
    ),
)
"""One name that two people have: "John senior", "Little Tom", "Uncle Ben"."""
_POSTMODIFIED: Final = re.compile(
    r"^(?P<name>[A-Z][\w-]{1,20})\s(?:(?:from|at|in|with|across|round)\s(?:(?:the|my|our|his|her|number)\s)?(?P<origin>[\w-]{1,30})|(?P<door>next\sdoor|upstairs|downstairs))"
    r"\s(?P<next>[\w']+)(?:\s(?P<then>[\w']+))?"
)
"""As in "Emma at number 9 has left university": which Emma it is."""
_OUR_OWN: Final = re.compile(rf"^(?:[Oo]ur|[Mm]y)\s(?:(?:{'|'.join(sorted(KIN))})\s)?(?P<name>[A-Z][\w-]{{1,20}})\b")
_OF_KIN: Final = re.compile(
    rf"^(?:(?:my|our)\s)?(?P<kin>{'|'.join(sorted(KIN))})\s(?P<name>(?-i:[A-Z])[\w-]{{1,20}})\b", re.IGNORECASE
)
_BESIDE_OURS: Final = re.compile(
    r"^(?:the|that|a|another)\s[\w\s-]{2,40}?\s(?:next\sto|beside|opposite|near|behind|above|below|across\sfrom|like)\s"
    r"(?:ours|mine|us|me|my\sown)\b",
    re.IGNORECASE,
)
"""As in "the stall next to ours", which is another one."""
_SIDES: Final = re.compile(
    r"\b(?:the|my|our|his|her)\s(?P<side>left|right|upper|lower|inner|outer|northern|southern|eastern|western)\s(?P<what>[a-z]{3,20})\b",
    re.IGNORECASE,
)
_OF_WHICH: Final = CachedPattern(
    r"^(?:the|my|our)\s(?P<what>[a-z]{2,20})\s(?:of|for)\s(?:the\s|my\s|our\s)?(?P<which>[\w-]{2,20})\s(?=(?:is|are|has|was|costs?|starts?|ends?|takes?)\b)",
    re.IGNORECASE,
)
"""As in "the invoice of March is"."""
_REMIND: Final = CachedPattern(
    r"\bremind\sme\sto\s(?P<deed>[a-z]+(?:\s(?:my|the|our)\s?)?(?:\s?[a-z]+)?)", re.IGNORECASE
)
_COPULAS: Final = frozenset({"be", "is", "are", "am", "was", "were", "i'm", "we're", "it's"})
_COUNTED: Final = frozenset({ValueKind.NUMBER, ValueKind.QUANTITY, ValueKind.MONEY})
_TIMED: Final = frozenset({ValueKind.DATE, ValueKind.TIME})
_FETCHED: Final = frozenset({"buy", "get", "order", "fetch"})
_WORK_FOR: Final = frozenset({"at", "for", "with"})
_STAYING: Final = frozenset(
    """
    be park sit stand sleep meet hang lie wait eat lunch practise practice rehearse play train
    """.split()  # noqa: SIM905 - words
)
"""Verbs with which somebody or something is at one place."""
_WANTED: Final = frozenset({"want", "need", "buy", "look"})
"""Wishes: another one takes nothing back."""


def ends_differ(frame: Sequence[str], first: Sequence[str], second: Sequence[str]) -> bool:
    """Returns whether two ends of the same beginning are of different kinds.

    Args:
        frame: The shared beginning, in lower case.
        first: The words behind it in the earlier statement.
        second: Those in the later one.
    """
    begin = len(frame)
    while begin and (frame[begin - 1] in DETERMINERS or frame[begin - 1] in PREPOSITIONS):
        begin -= 1
    head, tail = frame[:begin], frame[begin:]
    old, new = _kinds((*tail, *first)), _kinds((*tail, *second))
    if not old & new:
        if old | new == {"from", "place"} and _FETCHED & set(frame[1:2]):
            return False  # "we buy our eggs from the Hubers", "at the market"
        if old | new == {"place", "with"} and head and head[-1] in _COPULAS and head[0] in DETERMINERS:
            return False  # "the key is under the mat", "the key is with Mrs Duarte"
        return not ({"thing", "word"} >= old | new and not (head and head[-1] in _COPULAS))
    if old & new == {"word"} and head and head[-1] in _COPULAS:
        return _states_differ(first[0], second[0]) or second[-1] in PASSING
    if old == new == {"thing"}:
        return _destination(first) != _destination(second) and bool(_destination(first) and _destination(second))
    return False


def are_exclusive(first: Sequence[str], second: Sequence[str]) -> bool:
    """Returns whether two ends of the same beginning are two amounts, places or states of one kind.

    Args:
        first: The words of the earlier one, in lower case.
        second: Those of the later one.
    """
    kinds = _kinds(first), _kinds(second)
    if kinds[0] == kinds[1] and kinds[0] in ({"amount"}, {"place"}):
        return True
    one, other = STATES.get(first[0]), STATES.get(second[0])
    return one is not None and other is not None and one[0] == other[0] and one != other


def are_contrasted(earlier: str, later: str) -> bool:
    """Returns whether two statements open with two things of one kind, or two people of one name.

    As in "my old laptop" and "my new laptop", "truck 12" and "truck 21", "Tom from the choir" and "Tom from the bank".
    """
    if _BESIDE_OURS.match(later) and not _BESIDE_OURS.match(earlier):
        return True
    if _are_of_two_sides(earlier, later) or _are_two_deeds(earlier, later):
        return True
    numbered = [_NUMBERED.match(text) for text in (earlier, later)]
    if numbered[0] is not None and numbered[1] is not None:
        kinds = {lemma(match["what"].casefold()) for match in numbered if match is not None}
        numbers = {match["which"].casefold() for match in numbered if match is not None}
        return len(kinds) == 1 and len(numbers) == 2
    for pattern in _NAMED_WITH:
        one, other = pattern.match(earlier), pattern.match(later)
        if one is not None and other is not None and one["name"] == other["name"]:
            return one["which"].casefold() != other["which"].casefold()
    if _is_another_of_the_name(earlier, later) or _is_another_of_the_name(later, earlier):
        return True
    origins = [_NAMED_FROM.match(text) for text in (earlier, later)]
    if origins[0] is not None and origins[1] is not None and origins[0]["name"] == origins[1]["name"]:
        return origins[0]["origin"].casefold() != origins[1]["origin"].casefold()
    first, second = _WHICH.match(earlier), _WHICH.match(later)
    if first is None or second is None or first["what"].casefold() != second["what"].casefold():
        return False
    return first["which"].casefold() != second["which"].casefold()


def _are_of_two_sides(earlier: str, later: str) -> bool:
    """Whether each is about another one: "the right molar", "the left molar", "the invoice of March", "of April"."""
    first, second = _sides(earlier), _sides(later)
    if first and second and not first & second and {what for _, what in first} & {what for _, what in second}:
        return True
    one, other = _OF_WHICH.match(earlier), _OF_WHICH.match(later)
    return (
        one is not None
        and other is not None
        and one["what"].casefold() == other["what"].casefold()
        and one["which"].casefold() != other["which"].casefold()
    )


@text_cache(2_048)
def _sides(text: str) -> frozenset[tuple[str, str]]:
    return frozenset((match["side"].casefold(), lemma(match["what"].casefold())) for match in _SIDES.finditer(text))


def _are_two_deeds(earlier: str, later: str) -> bool:
    """Whether each asks to be reminded of something else: "to feed the cat", "to take the pills"."""
    one, other = _REMIND.search(earlier), _REMIND.search(later)
    if one is None or other is None:
        return False
    deeds = [{lemma(word.casefold()) for word in match["deed"].split()} - DETERMINERS for match in (one, other)]
    return not deeds[0] & deeds[1]


def are_two_relatives(earlier: str, later: str) -> bool:
    """Returns whether two statements open with two relatives of one kind: "Grandad Joe has", "Grandad Bill got".

    Where both do the same, the one may do now what the other did: "Aunt Vi minds the kids now".
    """
    one, other = _OF_KIN.match(earlier), _OF_KIN.match(later)
    if one is None or other is None or one["kin"].casefold() != other["kin"].casefold():
        return False
    deeds = [match.string[match.end() :].split(maxsplit=1)[:1] for match in (one, other)]
    return one["name"] != other["name"] and deeds[0] != deeds[1]


def _is_another_of_the_name(own: str, text: str) -> bool:
    """Whether one text is about "our Emma", and the other one about "Emma at number 9"."""
    ours, other = _OUR_OWN.match(own), _POSTMODIFIED.match(text)
    if ours is None or other is None or ours["name"] != other["name"]:
        return False
    return any(lemma(word.casefold()) in VERBS | AUXILIARIES for word in (other["next"], other["then"]) if word)


def _kinds(words: Sequence[str]) -> set[str]:
    """The kinds of an end: those of its times, else one."""
    times = {
        kind
        for place, word in enumerate(words)
        for kind, known in (("day", _DAYS), ("part", _PARTS))
        if word in known and not _is_before_noun(words, place)
    } | {"clock" for word in words if _CLOCK.match(word)}  # fmt: skip
    if len(words) == 1 and words[0] in {"that", "it", "this"}:
        return {"word"}
    opening = words[0] if words else ""
    if opening == "alone":
        return {"with"}  # "with my parents"
    body = [word for word in words if word not in DETERMINERS and word not in PREPOSITIONS]
    number = bool(body) and (body[0][0].isdigit() or body[0] in SMALL_NUMBERS or body[0] in TENS)
    if number and opening in {"at", "until", "till", "by", "before", "after"} and len(body) == 1:
        times.add("clock")
    if times:
        return times
    if number and opening not in PREPOSITIONS:
        return {"amount"}
    if len(words) == 1 and opening in STATES:
        return {"word"}  # "on", "off"
    if opening in _PLACES:
        return {"place"}
    if opening in PREPOSITIONS:
        return {opening}
    return {"thing"} if opening in DETERMINERS else {"word"}


def _is_before_noun(words: Sequence[str], place: int) -> bool:
    """Whether a time stands before another word of its noun: "on the night table"."""
    following = words[place + 1] if place + 1 < len(words) else ""
    is_light = following in PREPOSITIONS or following in DETERMINERS or following in _DAYS | _PARTS
    return (
        "the" in words[max(0, place - 1) : place]
        and following.isalpha()
        and not is_light
        and following not in _NO_NOUNS
    )


def _states_differ(one: str, other: str) -> bool:
    dimensions = [STATES[word][0] if word in STATES else "" for word in (one, other)]
    return dimensions[0] != dimensions[1]


def _destination(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(words[words.index("to") + 1 :]) if "to" in words else ()


def items_differ(a: Clause, b: Clause, x: Item, y: Item) -> bool:
    """Returns whether two items of two clauses of one verb cannot be values of one slot.

    Args:
        a: The earlier clause.
        b: The later one.
        x: What only the earlier one has.
        y: What only the later one has.
    """
    if isinstance(x, Value) or isinstance(y, Value):
        return _value_kind(x) != _value_kind(y)
    before, after = a.prepositions.get(x, ""), b.prepositions.get(y, "")
    is_renewed = "again" in b.words and "" in {before, after}
    if before != after and not is_renewed and not _is_same_relation(a.verb, before, after):
        return True
    if (y in KIN) != (x in KIN) or ("you" in b.rest and "you" not in a.rest):
        return True
    if a.verb in _WANTED and x != y:
        return not set(map(str, a.rest)) & set(map(str, b.rest))
    if a.verb == "live" and _is_name(a, x) != _is_name(b, y):
        return True
    if a.verb == "be" and not before:
        return _is_passing(b, y) or (x in STATES) != (y in STATES)
    return a.verb not in {"be", "live", "work"} and _many_differ(a, b)


def _is_same_relation(verb: str, before: str, after: str) -> bool:
    if verb == "live" and "" in {before, after}:
        return True  # "alone"
    if verb == "work":
        return {before, after} <= _WORK_FOR
    return verb in _STAYING and before in _PLACES and after in _PLACES


def _value_kind(item: Item) -> str:
    if isinstance(item, Value):
        return "counted" if item.kind in _COUNTED else "timed" if item.kind in _TIMED else "word"
    return "word"


def _is_name(clause: Clause, item: str) -> bool:
    return set(item.split()) <= clause.names


def _is_passing(clause: Clause, item: str) -> bool:
    words = item.split()
    if item.endswith("ing") and not _is_name(clause, item):
        return True
    is_action = any(word.endswith("ing") and word not in clause.names for word in clause.words) and not clause.renewed
    return bool(PASSING & set(words)) or (is_action and not any(word in clause.words for word in words))


def _many_differ(a: Clause, b: Clause) -> bool:
    """Whether what is done and how it is done both differ: "tea with lemon", "coffee with milk"."""
    only_a, only_b = unshared(list(a.rest), list(b.rest))
    sides = [
        [item for item in side if not isinstance(item, Value)] for side in (only_a, only_b)
    ]  # fmt: skip
    return all(len(side) > 1 for side in sides) and all(
        any(clause.prepositions.get(item) for item in side) and any(not clause.prepositions.get(item) for item in side)
        for clause, side in ((a, sides[0]), (b, sides[1]))
    )

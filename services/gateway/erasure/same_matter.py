"""Turns about a thing that another one names in full: "the surprise party", where one says "a surprise party for Bo".

A query that names one thing among others of its kind ("the party for Bo", "the trip to Lisbon") means these turns too,
though they lack the name. A turn that says which other one it speaks of ("the party for Ed", "my trip to Rome") stays,
and so does what is said of that one behind it. Pure functions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from services.common.values.words.lexicon import AUXILIARIES, MONTHS, SEASONS
from services.common.values.words.tokens import lemma
from services.gateway.erasure.followups import Line
from services.gateway.erasure.queries import Wanted
from services.gateway.erasure.relations import canonical
from services.gateway.erasure.wording import ARTICLES, FIRST, LINKS, OF_THIRD, Word, is_form, words_of

_OWN: Final = frozenset({"my", "our"})
_KNOWN: Final = frozenset({"the", "this", "that"}) | _OWN
_SPECIFYING: Final = frozenset({"for", "to", "in", "of", "at", "with", "from"})
"""Between a thing and the name that says which one it is."""
_WHOSE: Final = frozenset({"for", "of"})
_PLAIN: Final = frozenset(
    "big whole little small great next last first second third final entire actual famous".split()  # noqa: SIM905 - words
)
"""Before a thing they do not say of which kind it is."""
_REPEATED: Final = frozenset(
    "meeting appointment lesson class session call chat talk game match dinner lunch breakfast visit date shift practice rehearsal training email letter".split()  # noqa: SIM905, E501 - words
)
"""There are many of them: in another conversation another one may be spoken of."""
_BEFORE_MAX: Final = 4
_DAYS: Final = frozenset(f"{day}day" for day in ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun", "to"))
_TIMES: Final = (
    frozenset(MONTHS) | SEASONS | _DAYS | {"week", "month", "year", "weekend", "morning", "evening", "night"}
)
"""Behind a preposition they say when it is: "the party in May"."""


class Sameness(Enum):
    """Whether a text speaks of the thing that a query names."""

    SAME = "same"
    ANOTHER = "another"  # it says which other one
    OTHER_KIND = "other kind"  # "the company party"
    KNOWN = "known"  # it takes for known which one it is
    KIND = "kind"  # of no certain one: "I need a hat for a wedding"


_ORDER: Final = (Sameness.SAME, Sameness.KNOWN, Sameness.ANOTHER, Sameness.OTHER_KIND, Sameness.KIND)
"""Which of several mentions decides for a text."""


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing among others of its kind."""

    head: str  # the noun, in base form: "party"
    kinds: frozenset[str]  # words before it: "surprise"
    marks: frozenset[str]  # what says which one it is: names and words behind it
    links: Mapping[str, frozenset[str]]  # the marks behind each preposition
    told: frozenset[str] = frozenset()  # what texts that are meant say of where and when it is
    is_own: bool = False  # "my surgery at St Jude": not my mother's there


@dataclass(frozen=True, slots=True)
class Matter:
    """Ids of turns by what they speak of."""

    same: frozenset[str]  # of the thing, beside those that its name chose
    unsure: frozenset[str]  # perhaps of the thing
    another: frozenset[str]  # of one that another name or owner marks
    apart: frozenset[str]  # the same, and those of another kind of thing


def thing_of(query: str, wanted: Wanted) -> Thing | None:
    """Returns the thing that a query names among others; None where it names a person, a number or a kind."""
    if wanted.about_name or wanted.is_talk or wanted.numbers or not wanted.head:
        return None
    words = list(words_of(query))
    place = next((p for p, word in enumerate(words) if lemma(word.bare) == wanted.head), -1)
    first = place
    while first > 0 and lemma(words[first - 1].bare) in wanted.topics and not words[first - 1].is_possessive:
        first -= 1
    if place < 0 or (first and not (words[first - 1].lower in _KNOWN | ARTICLES or words[first - 1].is_possessive)):
        return None  # "that I failed the test in Rome"
    names = {part for name in wanted.names for part in name} | set(wanted.owners)
    kinds = frozenset(lemma(word.bare) for word in words[first:place])
    links: dict[str, frozenset[str]] = {}
    link = ""
    for word in words[place + 1 :]:
        if word.lower in _SPECIFYING:
            link = word.lower
        elif link and (word.bare in names or lemma(word.bare) in wanted.topics):
            links[link] = links.get(link, frozenset()) | {word.bare if word.bare in names else lemma(word.bare)}
    if wanted.owners:
        links["of"] = links.get("of", frozenset()) | set(wanted.owners)
    marks = frozenset().union(*links.values()) if links else frozenset[str]()
    is_own = first > 0 and words[first - 1].lower in _OWN
    return Thing(wanted.head, kinds - marks, marks, links, is_own=is_own) if marks else None


def same_matter(thing: Thing, chosen: Collection[str], texts: Mapping[str, str], lines: Sequence[Line]) -> Matter:
    """Returns which turns speak of the thing too, and which of another one.

    Args:
        thing: What the query names.
        chosen: Ids of what the query means by its words.
        texts: All texts with the noun, by id.
        lines: The turns among them.
    """
    read_texts = {one: list(words_of(text)) for one, text in texts.items()}
    kinds = thing.kinds | _kinds_of(thing, [read_texts[one] for one in chosen if one in read_texts])
    place_marks = _marks_of(thing, [read_texts[one] for one in chosen if one in read_texts])
    thing = replace(thing, told=place_marks)
    seen = {one: said for one, words in read_texts.items() if (said := sameness(thing, kinds, words)) is not None}
    anchors = {one for one in chosen if seen.get(one, Sameness.ANOTHER) is not Sameness.ANOTHER}
    seen |= dict.fromkeys(anchors, Sameness.SAME)
    another = frozenset(one for one in seen if seen[one] is Sameness.ANOTHER)
    apart = another | {one for one in seen if seen[one] is Sameness.OTHER_KIND and one not in chosen}
    others = [one for one in seen if seen[one] in {Sameness.ANOTHER, Sameness.OTHER_KIND, Sameness.KIND}]
    are_whole = [one for one in others if _has_kinds(thing, read_texts[one])]
    same, unsure = set[str](), set[str]()
    by_line = {line.turn_id: line for line in lines}
    homes = {by_line[one].conversation_id for one in anchors if one in by_line}
    if not homes:
        return Matter(frozenset(), frozenset(), another, apart)
    for line in lines:
        if seen.get(line.turn_id) is not Sameness.KNOWN:
            continue
        before = _last_before(line, lines, seen, same)
        is_whole = bool(thing.kinds) and _has_kinds(thing, read_texts[line.turn_id])
        is_alone = not (are_whole if is_whole else others)
        is_certain = line.conversation_id in homes or is_whole or not (thing.kinds or thing.head in _REPEATED)
        # The noun alone is of what this conversation names in full: "the car is in the workshop".
        is_told_here = is_whole or not thing.kinds or line.conversation_id in homes
        if (before is Sameness.SAME and is_told_here) or (before is None and is_alone and is_certain):
            same.add(line.turn_id)
        else:
            unsure.add(line.turn_id)
    return Matter(frozenset(same), frozenset(unsure), another, apart)


def _last_before(
    line: Line, lines: Sequence[Line], seen: Mapping[str, Sameness], same: Collection[str]
) -> Sameness | None:
    """Of which one the conversation spoke last before a turn."""
    found: Sameness | None = None
    for one in lines:
        if one.conversation_id != line.conversation_id or one.position >= line.position:
            continue
        said = seen.get(one.turn_id)
        if said in {Sameness.SAME, Sameness.ANOTHER}:
            found = said
        elif said is Sameness.OTHER_KIND:
            found = Sameness.ANOTHER
        elif one.turn_id in same:
            found = Sameness.SAME
    return found


def sameness(thing: Thing, kinds: Collection[str], words: Sequence[Word]) -> Sameness | None:
    """Returns of which one a text speaks; None where it speaks of none of the kind."""
    found = [_said(thing, kinds, words, place) for place, word in enumerate(words) if _is_head(thing, word)]
    return next((said for said in _ORDER if said in found), None)


def _is_head(thing: Thing, word: Word) -> bool:
    return is_form(word.bare, thing.head) and lemma(word.bare) == thing.head


def _said(thing: Thing, kinds: Collection[str], words: Sequence[Word], place: int) -> Sameness:
    """What one mention says of which one it is."""
    marks = _marks_behind(words, place)
    if _differs(thing, marks):
        return Sameness.ANOTHER
    if thing.is_own and any(_is_of_another(thing, word) for word in _before(words, place)):
        return Sameness.ANOTHER  # "my mother's surgery at St Jude"
    if any(found & thing.marks for found in marks.values()):
        return Sameness.SAME
    for word in _before(words, place):
        if word.is_possessive:
            return Sameness.SAME if word.bare in thing.marks else Sameness.ANOTHER
        if word.lower in OF_THIRD:
            return Sameness.KIND  # "their party": of whom is not said
        if word.lower in _KNOWN:
            if words[place].bare != thing.head and lemma(words[place].bare) == words[place].bare:
                return Sameness.KIND
            return Sameness.KNOWN if _is_only_known(thing, words, place, marks) else Sameness.OTHER_KIND
        if word.lower in ARTICLES | {"another", "other", "no", "any", "some", "every", "each", "two", "three"}:
            return Sameness.KIND
        if lemma(word.bare) not in kinds and word.lower not in _PLAIN:
            return Sameness.OTHER_KIND if _is_kind(word) else Sameness.KIND
    return Sameness.KIND


def _is_only_known(thing: Thing, words: Sequence[Word], place: int, marks: Mapping[str, frozenset[str]]) -> bool:
    """Whether nothing says that another one may be meant: not "the shower in the bathroom", for "the baby shower"."""
    if not thing.kinds or {lemma(word.bare) for word in _before(words, place)} & thing.kinds:
        return True
    return all(found & (thing.told | thing.marks) for found in marks.values())


def _is_of_another(thing: Thing, word: Word) -> bool:
    return word.lower in OF_THIRD or (
        word.is_possessive and word.bare not in thing.marks and bool(canonical(word.bare))
    )


def _is_kind(word: Word) -> bool:
    """Whether a word before a thing says of which other kind it is: "the company party"."""
    return word.lower not in LINKS | FIRST and word.bare not in AUXILIARIES


def _before(words: Sequence[Word], place: int) -> Iterator[Word]:
    """Words before a thing from the nearest on, with no mark between."""
    for back in range(1, min(place, _BEFORE_MAX) + 1):
        if words[place].index - words[place - back].index != back:
            return
        yield words[place - back]


def _marks_behind(words: Sequence[Word], place: int) -> dict[str, frozenset[str]]:
    """Names and first nouns behind prepositions right behind a thing: "for Bo", "to Lisbon with my sister"."""
    found: dict[str, frozenset[str]] = {}
    at = place + 1
    while at + 1 < len(words) and words[at].lower in _SPECIFYING and words[at].index == words[at - 1].index + 1:
        link, at = words[at].lower, at + 1
        if words[at].lower in _KNOWN | ARTICLES:
            at += 1
        named = set[str]()
        while at < len(words) and words[at].index == words[at - 1].index + 1 and words[at].lower not in LINKS:
            if named and not words[at].is_capital:
                break
            named.add(words[at].bare if words[at].is_capital else lemma(words[at].bare))
            named.add(words[at].bare)
            at += 1
        if named - _TIMES:
            found[link] = found.get(link, frozenset()) | named
    return found


def _differs(thing: Thing, marks: Mapping[str, frozenset[str]]) -> bool:
    """Whether a mention says which other one it is: by the same preposition, "to Rome" where "to Lisbon" is meant."""
    for link in thing.links:
        links = _WHOSE if link in _WHOSE else {link}
        named = frozenset[str]().union(*(marks.get(one, frozenset()) for one in links))
        if named and not named & thing.marks:
            return link != "with" or not any(found & thing.marks for found in marks.values())
    return False


def _has_kinds(thing: Thing, words: Sequence[Word]) -> bool:
    return thing.kinds <= {lemma(word.bare) for word in words}


def _marks_of(thing: Thing, texts: Sequence[Sequence[Word]]) -> frozenset[str]:
    """Names and nouns that stand behind the thing in texts that are meant: "at the bowling alley"."""
    return frozenset(
        mark
        for words in texts
        for place, word in enumerate(words)
        if _is_head(thing, word)
        for found in _marks_behind(words, place).values()
        for mark in found
    )


def _kinds_of(thing: Thing, texts: Sequence[Sequence[Word]]) -> frozenset[str]:
    """Words of the kind by which texts that are meant call it: "a surprise party for Bo", asked for as "the party"."""
    found: set[str] = set()
    for words in texts:
        for place, word in enumerate(words):
            if _is_head(thing, word) and any(part & thing.marks for part in _marks_behind(words, place).values()):
                for before in _before(words, place):
                    if not _is_kind(before) or before.lower in _KNOWN | ARTICLES or before.is_possessive:
                        break
                    found.add(lemma(before.bare))
    return frozenset(found)

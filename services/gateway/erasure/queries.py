"""What a query in plain words names: names, numbers and topics, and whose they are. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from services.common.values.sentences import content_words
from services.common.values.words.lexicon import PRONOUNS, VERBS
from services.common.values.words.tokens import lemma
from services.gateway.erasure.names import with_capitals
from services.gateway.erasure.relations import mentions
from services.gateway.erasure.times import RELATIVE, time_at
from services.gateway.erasure.topics import beginnings_of, is_apart, names_matter
from services.gateway.erasure.word_names import ALSO_WORDS
from services.gateway.erasure.wording import (
    DETERMINERS,
    FIRST,
    GENERIC,
    LINKS,
    OF_THIRD,
    SELF,
    Word,
    forms_of,
    words_of,
)

_LEADING: Final = re.compile(
    r"^\s*(?:please\s+)?(?:(?:forget|delete|erase|remove|drop)\s+)?"
    r"(?:(?:everything|all|anything|whatever|things?|stuff|what)\s+)?"
    r"(?:(?:the|that|this)\s+(?:(?:whole|entire)\s+)?(?:(?:stuff|things?|business|matter|story)\s+)?"
    r"(?=(?:about|on|with|around|regarding|concerning|to\s+do\s+with)\s))?"
    r"(?:(?:that\s+)?(?:i|we|you)\s+(?:have\s+|ever\s+)*(?:said|say|told|tell|mentioned|know|remember|wrote)\s+"
    r"(?:you\s+|to you\s+)*)?"
    r"(?:(?:about|of|on|with|around|regarding|concerning|to\s+do\s+with)\s+)?(?:(?:the fact\s+)?that\s+)?",
    re.IGNORECASE,
)
_TALK: Final = re.compile(
    r"^\s{0,9}(?:please\s)?(?:(?:forget|delete|erase|remove|drop)\s)?(?:(?:the|our|that|this|my)\s)(?:whole\s|entire\s|last\s|little\s)?"
    r"(?:conversation|chat|talk|discussion|exchange)\s(?:that\s)?(?:(?:we|i)\s(?:just\s)?had\s)?"
    r"(?=(?:about|on|over|regarding|concerning)\s)",
    re.IGNORECASE,
)
"""Opens a query that means a conversation as a whole: "our conversation about the brooch"."""
_AND: Final = re.compile(
    r"(?:,?\s(?:and|or)\s(?=(?:the|(?:that|where|when)\s(?:i|we))\s)|(?:,\s(?:and\s|or\s)?|\s(?:and|or)\s)"
    r"(?=(?:my|our|(?:what|how\s(?:much|many|often|long))\s(?:i|we))\s))(?!(?:what|how|that|where|when)\b.*\b(?:it|them|him|her|that)$)",
    re.IGNORECASE,
)
"""Between things; not where the next one speaks of the one before: "my knee and what I paid for it"."""
_HOW: Final = re.compile(r"^(?:how\s(?:much|many|often|long)|what|where|when)\s(?=(?:i|we)\s)", re.IGNORECASE)
_OWN: Final = re.compile(r"^(?:my|our)\s", re.IGNORECASE)
_TOGETHER: Final = re.compile(r"\b(?:between|both|with|from)\b", re.IGNORECASE)
_PARTS_MAX: Final = 6
_COMMON: Final = LINKS | FIRST | PRONOUNS | GENERIC | DETERMINERS
"""A capital makes no name of these."""
_AIMS: Final = frozenset({"want", "need", "plan", "hope", "intend", "wish", "decide", "decision", "intention", "wait"})
OFFICES_OF: Final = frozenset(
    """
    council bank school office clinic hospital surgery practice shop bakery pharmacy library gym club church garage firm
    company agency authority nursery kindergarten university college market allotments choir desk reception ward
    """.split()  # noqa: SIM905 - words
)
"""Where somebody works or belongs: "Mr Ito at the bank"; not "Mr Ito at the party"."""
_KNOWN: Final = frozenset({"the", "my", "our", "his", "her", "their"})
_WHO: Final = frozenset({"from", "who", "whom"})
"""Behind a name they say who is meant: "Ron from the allotments"."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a query means."""

    names: tuple[tuple[str, ...], ...]  # of people and things in the query: lower case, one tuple of words a name
    owners: tuple[str, ...]  # named with a possessive: "Dana's surgery"
    numbers: frozenset[str]
    topics: frozenset[str]  # content words in base form, without names
    about_name: bool  # everything of the name is meant, and the other words only describe it
    singular: frozenset[str]  # those of the topics that stand in the singular
    is_of_other: bool  # of a relative or another: "my brother's divorce"
    is_talk: bool  # the conversations about it, as a whole
    pairs: frozenset[tuple[str, str]]  # topics that stand next to each other: "bar exam"
    origin: frozenset[str]  # words for where somebody of the name is from: "Ron from the allotments"
    is_of_self: bool  # what the speaker does: "that I'm learning Welsh"
    head: str  # the topic that names the thing itself: "password" of "my password for the bank"
    places: tuple[tuple[str, ...], ...]  # those of the names that say where it is: "the weekend in Bruges for Mum"
    own_words: frozenset[str]  # "my X", "that I smoke": one of them makes a text the speaker's own; empty: anybody's
    times: frozenset[str] = frozenset()  # months and weekdays that say when: "my surgery in October"

    @property
    def is_empty(self) -> bool:
        """Whether it names nothing; a time alone is nothing."""
        return not (self.names or self.owners or self.numbers or self.topics)

    @property
    def terms(self) -> frozenset[str]:
        """Words of which a text that is meant by its words has one, as beginnings of words."""
        parts = {part for name in self.names for part in name} | set(self.owners) | self.numbers
        return frozenset(parts | {word[: max(4, len(word) - 2)] for word in self.topics | forms_of(self.topics)})

    @property
    def matters(self) -> frozenset[str]:
        """The topics by which private matters are named: not what the speaker pays for, nor "speech therapy"."""
        topics = self.topics - {"pay"} if self.is_of_self else self.topics
        return topics - {thing for kind, thing in self.pairs if is_apart({thing}, f"{kind} {thing}")}

    @property
    def told_terms(self) -> frozenset[str]:
        """How words begin that people use for the private matters among the topics: "owe" for "my debts"."""
        return frozenset() if self.is_of_other else beginnings_of(self.matters)


def read_all(query: str) -> tuple[tuple[str, Wanted], ...]:
    """Reads a query that may name several things: "my poker losses and the poker debt".

    Returns:
        The words for each thing, at most six, and what they mean.
    """
    parts = tuple(_HOW.sub("", part) for part in _AND.split(query)[:_PARTS_MAX])
    if any(_TOGETHER.search(part) for part in parts[:-1]):
        parts = ()  # "dinner with Ana and my boss"
    read_parts = tuple((part, read(part)) for part in parts)
    if len(read_parts) > 1 and all(
        one.topics and (_is_clause(part, one) if one.names else _is_enough(one) or _OWN.match(part))
        for part, one in read_parts
    ):
        is_own = bool(read_parts[0][1].own_words)
        return tuple((part, _of_same_owner(part, one) if is_own else one) for part, one in read_parts)
    return ((query, read(query)),)


def _is_enough(wanted: Wanted) -> bool:
    """Whether a part of a query says what it means by itself: "I earn", not "I said"."""
    return bool(wanted.topics - VERBS) or len(wanted.topics) > 1 or names_matter(wanted.matters)


def _is_clause(part: str, wanted: Wanted) -> bool:
    """Whether a part with a name says by itself what is meant: "I owe Sven"."""
    return wanted.is_of_self and not wanted.about_name and part.casefold().startswith(("i ", "we "))


def _of_same_owner(part: str, wanted: Wanted) -> Wanted:
    """In "my doctor and the pills" the pills are the speaker's as well."""
    is_known = not wanted.own_words and part.casefold().startswith("the ")
    return replace(wanted, own_words=FIRST | {"the"}) if is_known else wanted


def read(query: str) -> Wanted:
    """Reads a query."""
    asked, talks = _TALK.subn("", query.strip())
    rest = with_capitals(_HOW.sub("", _LEADING.sub("", asked).strip()))
    words = list(words_of(rest))
    times = {words[place].index: time for place in range(len(words)) if (time := time_at(words, place))}
    of_times = times.keys() | {
        one.index for one, two in pairwise(words) if two.index in times and one.lower in RELATIVE
    }
    names: list[tuple[str, ...]] = []
    owners: list[str] = []
    in_names: set[int] = set()
    for run in _capital_runs([word for word in words if word.index not in of_times]):
        in_names.update(word.index for word in run)
        if run[-1].lower != run[-1].bare and run[-1] is not words[-1]:
            owners.append(run[-1].bare)
        else:
            names.append(tuple(word.bare for word in run))
    numbers = frozenset(word.lower for word in words if any(c.isdigit() for c in word.text))
    topics = frozenset(
        lemma(word.bare)
        for word in words
        if word.index not in in_names | of_times
        and word.lower not in numbers
        and word.bare not in LINKS | FIRST | PRONOUNS
    )
    topics = frozenset(word for word in topics if word in content_words(word) and word not in GENERIC)
    topics = topics - _aims(words) or topics
    if _is_described_by_more(words, in_names):
        numbers = frozenset()  # "Rosemary, the neighbour from number 8": they say who that is
    is_of_origin = _is_first_name_of(words, in_names) and words[len(in_names)].lower == "from"
    return Wanted(
        names=tuple(names),
        owners=tuple(owners),
        numbers=numbers,
        topics=topics,
        singular=topics & {word.bare for word in words},
        is_of_other=any(word.is_possessive and word.index not in in_names for word in words),
        about_name=bool(names)
        and (
            not (topics or times)
            or bool(numbers)
            or _is_described(words, in_names)
            or _is_only_described(rest, names, topics)
        ),
        is_talk=bool(talks),
        origin=topics if is_of_origin else frozenset(),
        is_of_self=bool({word.lower for word in words[:2]} & SELF),
        pairs=_pairs(words, topics),
        head=_head(words, topics),
        places=_places(words, names),
        own_words=_own_words(words) if not (names or talks) else frozenset(),
        times=frozenset(times.values()),
    )


def _aims(words: Sequence[Word]) -> frozenset[str]:
    """What only says that something is meant to be done: "when I want to retire", "my plan to emigrate"."""
    return frozenset(lemma(one.bare) for one, two in pairwise(words) if two.lower == "to" and lemma(one.bare) in _AIMS)


def _pairs(words: Sequence[Word], topics: frozenset[str]) -> frozenset[tuple[str, str]]:
    found = ((one, other) for one, other in pairwise(words) if other.index == one.index + 1)
    return frozenset(
        (lemma(one.bare), lemma(other.bare)) for one, other in found if {lemma(one.bare), lemma(other.bare)} <= topics
    )


def _places(words: Sequence[Word], names: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """The names behind "in", "to" and "at", where others stand behind "for" or "with"."""
    before = {word.bare: one.lower for one, word in pairwise(words) if word.index == one.index + 1}
    return tuple(name for name in names if before.get(name[0]) in {"in", "to", "at"})


def _head(words: Sequence[Word], topics: frozenset[str]) -> str:
    """The last topic before a preposition or another small word; empty where there is none."""
    found = ""
    for word in words:
        if lemma(word.bare) in topics:
            found = lemma(word.bare)
        elif found and word.lower in LINKS | FIRST | PRONOUNS:
            break
    return found


def _own_words(words: Sequence[Word]) -> frozenset[str]:
    first = {word.lower for word in words[:2]}
    if first & SELF:
        return SELF
    return FIRST if first & {"my", "our"} else frozenset()


def _is_described(words: Sequence[Word], in_names: set[int]) -> bool:
    """Whether a noun stands right before the name: "my friend Leo"; not "the trip to Rome"."""
    for place, word in enumerate(words):
        if word.index in in_names and place:
            before = words[place - 1]
            if lemma(before.bare) in VERBS and words[0].lower in SELF:
                continue  # "what I owe Sven"
            if before.index == word.index - 1 and before.index not in in_names:
                return before.bare not in LINKS | FIRST | PRONOUNS and not before.bare.endswith("ing")
    if _is_last_behind_comma(words, in_names):
        return True  # "the man who fixes my bike, Tariq"
    # "Ron, our former gardener", "Ron from the allotments": behind the name nothing but who it is.
    if not _is_first_name_of(words, in_names):
        return False
    behind = words[len(in_names)]
    if behind.lower == "and" and any(word.lower in OF_THIRD for word in words[len(in_names) + 1 :][:1]):
        return True  # "Ron and his debts"
    return behind.index > words[len(in_names) - 1].index + 1 or behind.lower in _WHO or _is_placed(words, len(in_names))


def _is_placed(words: Sequence[Word], place: int) -> bool:
    """Whether behind a name of several words stands where they belong: "Mrs Ito of the council"."""
    behind = words[place + 1 :]
    if place < 2 or not behind or behind[0].lower not in _KNOWN:
        return False
    is_office = any(lemma(word.bare) in OFFICES_OF for word in behind[1:4])
    return words[place].lower == "of" or (words[place].lower in {"at", "in"} and is_office)


def _is_only_described(query: str, names: Sequence[tuple[str, ...]], topics: frozenset[str]) -> bool:
    """Whether all words besides the only name say who that is: "Martha next door", "Tom in accounting"."""
    described = mentions(query, names[0]) if len(names) == 1 else ()
    return bool(described) and bool(described[0].relations) and topics <= described[0].words


def _is_last_behind_comma(words: Sequence[Word], in_names: set[int]) -> bool:
    """Whether a query ends with its only name, and says before a comma who that is."""
    named = [place for place, word in enumerate(words) if word.index in in_names]
    is_last = bool(named) and named == list(range(named[0], len(words))) and named[0] > 1
    return is_last and words[0].lower in {"my", "our", "the"} and words[named[0]].index > words[named[0] - 1].index + 1


def _is_described_by_more(words: Sequence[Word], in_names: set[int]) -> bool:
    """Whether a query opens with its only name and says behind a comma who that is."""
    return _is_first_name_of(words, in_names) and words[len(in_names)].index > words[len(in_names) - 1].index + 1


def _is_first_name_of(words: Sequence[Word], in_names: set[int]) -> bool:
    """Whether a query opens with its only name, and goes on."""
    is_first = [word.index for word in words[: len(in_names)]] == sorted(in_names)
    return bool(in_names) and is_first and len(words) > len(in_names)


def _is_described_name(words: Sequence[Word], word: Word) -> bool:
    """Whether a query opens with a name and says who that is: "Will, who does our gutters"."""
    if word is not words[0] or len(words) < 3:
        return False
    if words[1].index == word.index + 1:
        return word.bare in ALSO_WORDS and words[1].lower == "the" and len(words) == 3  # "Will the joiner"
    return words[1].lower in {"who", "whose", "whom", "my", "our", "the"}


def _capital_runs(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Runs of capitalised words; the first word counts unless it is a common one, a possessive ends a run."""
    run: list[Word] = []
    for word in words:
        is_common = word.bare in _COMMON and not _is_described_name(words, word)
        if word is not words[0] and word.bare in ALSO_WORDS:
            is_common = False  # "my friend Will"
        is_part = word.is_capital and not is_common
        follows = bool(run) and run[-1].index == word.index - 1 and run[-1].lower == run[-1].bare
        if run and not (is_part and follows):
            yield run
            run = []
        if is_part:
            run = [*run, word]
    if run:
        yield run

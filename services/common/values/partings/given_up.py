"""Things, habits and plans that are given up, gone or exchanged, in the many ways to say so (SPEC 3.5). Pure functions.

`partings.toml` and `exchanges.toml` list phrases by what they say: something is gone, finished, or exchanged for
something else. What they are said of must be what the earlier statement is about: its own words, or words of one family
("no more running", where somebody trains for a marathon; `families.toml`). Rivals are things of which one is in use at
a time: "I went over to Android" ends "I use an iPhone".
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.lives.beginnings import has_happened
from services.common.values.model import Modality
from services.common.values.partings.families import families, rivals_in
from services.common.values.partings.holders import holder_of, scope_of
from services.common.values.partings.meant import means_something_else
from services.common.values.partings.near import leaves_the_near
from services.common.values.reading.clauses import Clause
from services.common.values.reading.pieces import clauses_up_to, read_statement
from services.common.values.reading.splitting import DETERMINERS, PREPOSITIONS
from services.common.values.reading.whose import RELATIVES, people_in, spoken, turned_to
from services.common.values.words.belongings import PERSONS
from services.common.values.words.nouns import TIMES
from services.common.values.words.phrases import Phrase, compiled, read_phrases, value_words
from services.common.values.words.tokens import lemma, tokenize

_FOLDER: Final = Path(__file__).parent
_FILES: Final = ("partings.toml", "exchanges.toml")
_KINDS: Final = {"gone": "gone", "given_up": "gone", "done": "done", "swapped": "swapped", "taken_up": "taken_up"}
"""By list of phrases what they say."""
_CHARS_MAX: Final = 250
_NOT_THE_THING: Final = frozenset(
    """
    a an one some any another his her their your its i we he she it they you who which that 's both no every each
    other others someone somebody something most many two three them him me us and
    """.split()  # noqa: SIM905 - words
)
"""Among the words of what is given up these say that it is somebody else's, or not all of it."""
_BESIDE: Final = frozenset(
    """
    gear kit stuff membership subscription account collection habit thing class lesson practice old job post role
    contract policy card licence app addiction daily beloved dear poor good little trusty game session morning evening
    all own box club course regime treatment family whole my our the this that day now just finally allergy intolerance
    o'clock tank boiler burner
    """.split()  # noqa: SIM905 - words
)
"""Words beside the name of what is given up."""
_GOES_WITH: Final = frozenset(
    """
    book textbook notebook dictionary folder pass card badge tie uniform shirt jersey scarf key mug component module
    page file server instance cluster plan login profile invoice script pipeline logo sticker form sign parking season
    """.split()  # noqa: SIM905 - words
)
"""What goes with something that has a name, so that it ends with it: "the Portuguese books"."""
_OF_THE_DAY: Final = frozenset("train bus boat trip nursery care school shift centre center ticket bed".split())  # noqa: SIM905
"""With these "day" says which one: "the day train"."""
_LEFT_DAILY: Final = frozenset("house home flat office room shop work building table phone coat jacket light".split())  # noqa: SIM905
_SURVIVES: Final = re.compile(
    r"\bstill\s(?:work|run|go|aliv|use|ha|play|lov)|\b(?:came|come|comes|is|are)\sback\b|\bturned\sup\b|\bsurvived\b|\bfound\s(?:it|him|her)\b|"
    r"\b(?:for\s(?:now|repairs?|the\s(?:day|night|week|weekend|summer|winter)|a\s(?:week|while|service|bath|walk|check-?up))|until|till|today|tonight|"
    r"this\s(?:week|weekend|time|morning|sunday|monday|tuesday|wednesday|thursday|friday|saturday)|almost|nearly|too|also|as\swell)\b",
    re.IGNORECASE,
)
"""It is not gone, or only for a while."""
_FINAL: Final = re.compile(
    r"\b(?:sold|died|dead|scrapped|crushed|stolen|total\sloss|written\soff|wound\sup|disbanded|cremated|buried|cancell?ed|unplugged|decommissioned|shredded|unsubscribed|(?:went|go|gone)\sin(?:to)?\sthe\s(?:bin|skip|shredder))\b(?!\s(?:out|a|the|my)\b)|"
    r"\b(?:buried|mothballed|decommissioned|pulled\sthe\splug\son|laid\s(?:[\w'-]{1,20}\s){1,4}to\srest|put\s(?:[\w'-]{1,20}\s){1,4}out\sof\s(?:its|his|her)\smisery)\s(?!a\b)",
    re.IGNORECASE,
)
"""With these a time is that of the end: "she's sold, she left this morning"."""
_FIRST_ITEMS: Final = 3
_WORDS_OF_ONE_THING_MAX: Final = 7
"""In shorter clauses everything belongs to what they are about."""
_WORDS_MAX: Final = 16
"""In longer clauses a thing is named for many reasons."""
_DIED: Final = re.compile(r"\bi (?:have |has )?(?:died|passed away|passed on)\b")
_LEFT: Final = frozenset({"quit", "left", "leave", "leaving", "resigned"})
_NO_OPENING: Final = PREPOSITIONS | {"since", "after", "because", "before", "until", "when", "while", "as"}
_LASTING: Final = frozenset("know remember meet believe recommend admire trust miss".split())  # noqa: SIM905 - words
_USED: Final = frozenset(
    """
    use play drive ride run study drink be take host deploy have read write store keep work live travel commute go watch
    prefer eat code heat cook own do
    """.split()  # noqa: SIM905 - words
)
_SCOPES: Final = frozenset("work home office laptop desktop phone school uni server tablet weekends".split())  # noqa: SIM905
_AT: Final = frozenset({"for", "in", "on", "at"})
_PERMITTING: Final = frozenset({"allow", "permit", "accept", "tolerate"})
"""What somebody does by these holds for the speaker: "our landlord allows pets"."""
_REACHED: Final = frozenset({"reach", "contact", "call", "find", "get", "ring", "phone", "text", "email", "write"})
_HOUSEHOLD: Final = frozenset({"kids", "kid", "children", "child"})
"""What they use is the speaker's."""
_ALL: Final = frozenset({"everything", "it", "all", "team", "we", "stuff"})


class _Parting(NamedTuple):
    """What a sentence says to be gone, exchanged or taken up."""

    kind: str  # gone, done, swapped or taken_up
    thing: frozenset[str]  # empty: not named
    new: frozenset[str]
    is_left: bool = False  # the speaker left it, and it goes on to be
    opening: frozenset[str] = frozenset()  # what the sentence is about, where "it" has it no more
    holder: frozenset[str] = frozenset()  # words of what has it no more, where that is not the speaker
    scope: frozenset[str] = frozenset()  # words of that for which it is gone, where that is said behind it


@lru_cache(maxsize=1)
def _phrases() -> dict[str, list[tuple[Phrase, str]]]:
    tables = {
        key: table for file in _FILES for key, table in tomllib.loads((_FOLDER / file).read_text("utf-8")).items()
    }
    by_word: dict[str, list[tuple[Phrase, str]]] = defaultdict(list)
    for key, kind in _KINDS.items():
        for phrase in read_phrases(tables[key]):
            for word in phrase.anchors:
                by_word[word].append((phrase, kind))
    return dict(by_word)


def is_given_up(earlier: str, later: str) -> bool:
    """Returns whether a later statement says that what the earlier one is about is gone, done or exchanged.

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX or later.rstrip().endswith("?") or '"' in later:
        return False
    if leaves_the_near(earlier, later):
        return True
    if _SURVIVES.search(later) and _FINAL.search(later) is None:
        return False
    if _ends(earlier, spoken(earlier), spoken(later)):
        return True
    for person in people_in(earlier):
        if re.search(rf"\b(?:my|our)\s\w{{1,20}}'s\s(?:\w{{1,20}}\s)?{re.escape(person)}\b", later, re.IGNORECASE):
            continue  # "my neighbour's Otis died"
        first, second = turned_to(earlier, person), turned_to(later, person)
        if _DIED.search(second) and any(
            _is_of_the_dead(c) for c in read_statement(first.replace(" i ", " I ")).clauses
        ):
            return True
        if first.strip() and second.strip() and _ends(first.replace(" i ", " I "), first, second):
            return True
    return False


def parting_keys(text: str) -> frozenset[str]:
    """Returns words by which a statement is found where it shares none: families of things, and kinds of rivals."""
    if len(text) > _CHARS_MAX:
        return frozenset()
    words = {lemma(token.lower) for token in tokenize(text)}
    found = {f"family:{number}" for number, family in enumerate(families()) if family & words}
    kinds = {
        kind for clause in read_statement(text).clauses if _is_in_use(clause) for kind, _ in rivals_in(clause.words)
    }
    for parting in _partings(spoken(text)):
        if parting.kind == "taken_up":
            kinds |= {kind for kind, _ in rivals_in(tuple(parting.new))}
    return frozenset(found | {f"rival:{kind}" for kind in kinds})


def _ends(earlier: str, said: str, later: str) -> bool:
    partings = _partings(later)
    if not partings:
        return False
    for clause in clauses_up_to(_WORDS_MAX, earlier):
        if any(parting.kind == "gone" and _is_part_of(clause, parting.thing) for parting in partings):
            return True
        if not _is_lasting(clause):
            continue
        is_going_on = any(a in {"am", "are", "is"} and b.endswith("ing") for a, b in pairwise(clause.words))
        known, principal = _known(clause), _principal(clause)
        for parting in partings:
            if not _is_of_holder(clause, parting) or _is_of_another_scope(clause, parting):
                continue  # "it has no Redis any more", "Internet Explorer is history for the shop"
            if parting.kind == "taken_up":
                if _is_in_use(clause) and _is_rival(clause, known, parting, said, later):
                    return True
            elif not _is_own_pursuit(clause, known, parting.thing):
                continue  # "the garden has a bench", where the allotment is sold
            elif _is_of_somebody(clause, parting.thing) or (parting.is_left and _is_of_itself(clause, parting.thing)):
                continue  # "Ravi cycles to work", "the bakery has good rye"
            elif _is_it(parting.thing, principal, clause.names) and (parting.kind != "done" or is_going_on):
                return True
    return False


def _is_of_somebody(clause: Clause, thing: frozenset[str]) -> bool:
    """Whether a clause says what somebody or something else does, which is not the thing itself."""
    subject = {lemma(word) for item in clause.subject for word in str(item).split()}
    opening = clause.words[0] if clause.words else ""
    is_own = (
        bool(subject & ({"i", "we", "it"} | _addressed(clause)))
        or opening in DETERMINERS | {"my", "our"}
        or opening in _HOUSEHOLD
    )
    return clause.verb not in {"", "be"} and bool(subject) and not is_own and not thing & subject


def _is_of_itself(clause: Clause, thing: frozenset[str]) -> bool:
    """Whether a clause says what a place or a company is or has, and nothing of the speaker."""
    subject = {lemma(word) for item in clause.subject for word in str(item).split()}
    is_of_speaker = {"i", "we", "my", "our", "me", "us"} & {*clause.words, *map(str, clause.subject)}
    return bool(thing & subject) and not is_of_speaker


def _is_of_holder(clause: Clause, parting: _Parting) -> bool:
    """Whether a clause is about what has the thing no more: the shop, where "the shop has no Redis any more"."""
    if not parting.holder:
        return True
    subject = {lemma(word) for item in clause.subject for word in str(item).split()} - DETERMINERS
    if subject <= {"i", "we"}:
        return bool((_known(clause) - parting.thing - TIMES - {clause.verb}) & parting.holder)
    return subject - {"i", "we"} <= parting.holder or bool(parting.opening and parting.opening <= subject)


def _is_of_another_scope(clause: Clause, parting: _Parting) -> bool:
    """Whether a clause is about something else than that for which a thing is gone: the kiosk, where it is the shop."""
    if not parting.scope or parting.scope & _known(clause):
        return False
    subject = {lemma(word) for item in clause.subject for word in str(item).split()} - DETERMINERS - {"i", "we"}
    places = {lemma(str(item)) for item in clause.rest if clause.prepositions.get(item) in _AT}
    return bool((subject - parting.thing) | (places - parting.thing - TIMES))


def _is_part_of(clause: Clause, thing: frozenset[str]) -> bool:
    """Whether a clause is about something of a thing: "the Fiesta's spare tyre is in the shed"."""
    owner = {lemma(word) for item in clause.possessors for word in str(item).split()} - DETERMINERS
    is_of_now = not (clause.past or clause.negated or clause.historic) and clause.verb not in _LASTING
    return is_of_now and bool(owner) and owner == thing - _BESIDE


def _is_it(thing: frozenset[str], known: frozenset[str], names: Collection[str] = ()) -> bool:
    own = thing - _BESIDE | (thing & {"day"} if thing & _OF_THE_DAY else frozenset())
    if not own:
        return False
    if own <= known:
        return True
    core = own - _GOES_WITH
    if core and core != own and core <= {lemma(name) for name in names}:
        return True  # "the last Angular component"
    return any(own <= known | family for family in families() if family & known and own & family)


def _is_own_pursuit(clause: Clause, known: frozenset[str], thing: frozenset[str]) -> bool:
    """Whether a clause names the thing itself, or is the speaker's, who spares the word: "I train for a marathon"."""
    subject = {str(item) for item in clause.subject}
    return bool(thing & known) or bool(subject & {"i", "we"})


def _is_lasting(clause: Clause) -> bool:
    if (
        clause.modality not in {Modality.STATED, Modality.HEDGED}
        or clause.historic
        or clause.negated
        or clause.possessors
    ):
        return False
    is_over = (
        clause.past
        and not {"is", "are"} & set(clause.words)
        and not (clause.verb == "get" and clause.words[:1] == ("got",))
    )
    if is_over or clause.verb in _LASTING:
        return False
    if len(clause.tokens) > _WORDS_MAX or (not clause.subject and RELATIVES - _HOUSEHOLD & set(clause.words[:2])):
        return False
    subject = {word for item in clause.subject for word in str(item).split()}
    if subject & PERSONS - _HOUSEHOLD and clause.verb not in {"be", *_PERMITTING}:
        return False  # "my tutor drives a Polo"
    is_of_name = bool(subject & clause.names) and not {"i", "we"} & subject and "the" not in clause.words[:1]
    if (
        clause.verb == "be"
        and subject & {"friend", "mate", "boyfriend", "girlfriend", "partner"}
        and "i" in subject
        and clause.names
    ):
        return True  # "my best friend is Kira"
    return not is_of_name and not subject & (RELATIVES - _HOUSEHOLD | {"he", "she", "they", "you"} - _addressed(clause))


def _addressed(clause: Clause) -> frozenset[str]:
    """You, who reach the speaker by what a clause names: "you can reach me on the landline"."""
    is_own = clause.verb in _REACHED and bool({"me", "us"} & set(clause.words))
    return frozenset({"you"}) if is_own else frozenset()


def _known(clause: Clause) -> frozenset[str]:
    items = [str(item) for item in (*clause.subject, *clause.rest)]
    words = {lemma(word) for item in items for word in item.split()} | {lemma(word) for word in clause.words}
    return frozenset({*words, *(lemma(word) for word in clause.tokens)} - PREPOSITIONS)


def _is_of_the_dead(clause: Clause) -> bool:
    """Whether a clause says of somebody what holds only of the living: "my mother lives in a care home"."""
    is_own = {"i"} & {str(item) for item in clause.subject} and clause.verb not in {"", "call", "like", "love"}
    return bool(is_own) and _is_lasting(clause) and clause.verb != "be"


def _principal(clause: Clause) -> frozenset[str]:
    """What a clause is about: its subject, its verb, and what it says first of them."""
    items = [*clause.subject, clause.verb, *clause.rest[:_FIRST_ITEMS]]
    items += clause.tokens if len(clause.tokens) <= _WORDS_OF_ONE_THING_MAX else ()
    return frozenset({lemma(word) for item in items for word in str(item).split()} - PREPOSITIONS)


def _is_in_use(clause: Clause) -> bool:
    return clause.verb in _USED and _is_lasting(clause)


def _is_rival(clause: Clause, known: frozenset[str], parting: _Parting, said: str, later: str) -> bool:
    if parting.thing and not (parting.thing - _BESIDE <= known | _ALL):
        return False
    scopes = [_SCOPES & set(side.lower().split()) for side in (said, later)]
    if scopes[1] - scopes[0]:
        return False
    olds = set(rivals_in(clause.words + tuple(str(item) for item in clause.rest)))
    news = set(rivals_in(tuple(parting.new)))
    return any(kind == other and old != new and (kind, new) not in olds for kind, old in olds for other, new in news)


@text_cache(8_192)
def _partings(said: str) -> tuple[_Parting, ...]:
    return tuple(_read(said))


def _read(said: str) -> Iterator[_Parting]:
    by_word = _phrases()
    for word in set(said.lower().split()):
        for phrase, kind in by_word.get(word, ()):
            match = compiled(phrase.pattern).search(said)
            if match is None or not has_happened(said, match, phrase, with_groups=True):
                continue
            groups = match.groupdict()
            if means_something_else(said, match, phrase.text):
                continue
            thing = _thing(groups.get("x"), said, match)
            if thing is None:
                continue
            yield _Parting(
                kind,
                thing,
                value_words(groups.get("v") or ""),
                bool(_LEFT & set(match[0].lower().split())),
                *holder_of(said, match),
                scope_of(said, match),
            )


def _without_lead(words: list[str]) -> list[str]:
    """The words of a subject without what stands before it: "after the shots [cats]"."""
    if not words or words[0] not in PREPOSITIONS | {"after", "since", "because"}:
        return words
    place = next((n for n, word in enumerate(words[1:], 1) if word not in DETERMINERS), len(words))
    return words[place + 1 :]


def _thing(text: str | None, said: str, match: re.Match[str]) -> frozenset[str] | None:
    """The words of what is given up; None where it is somebody else's, or not all of a thing."""
    if text is None:
        return frozenset()
    words = _without_lead(text.lower().split()) if match.start("x") == match.start() else text.lower().split()
    if not words or words[0] in _NO_OPENING or _NOT_THE_THING & set(words[:3]) or RELATIVES & set(words):
        return None
    before = said[: match.start("x")].split()
    if (
        match.start("x") == match.start()
        and before
        and before[-1] not in {".", ",", ";", ":", "!", "and", "but", "so", "because", "since"}
    ):
        return None
    found = value_words(" ".join(words))
    return None if not found or found <= _LEFT_DAILY | TIMES else found

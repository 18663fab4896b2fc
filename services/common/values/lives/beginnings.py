"""States of a life, and the many ways to say that another one began (SPEC 3.5). Pure functions.

The files of `data` list fields of life such as home, work or diet. Each has states of which a person has one at a
time, with the phrases that state them and the phrases that tell their beginning: "I'm engaged to Tom" is over with "as
of Saturday I'm a married woman". Both statements must be about the same person, and what is denied, wished, planned, or
holds for some days only tells no beginning.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.comparison.sameness import Match, match_values
from services.common.values.model import Value, ValueKind
from services.common.values.reading.whose import PARTNERS, RELATIVES, is_subject_speaker, people_in, spoken, turned_to
from services.common.values.words.fields import CHANGED
from services.common.values.words.lexicon import MONTHS, PARTS_OF_DAY, WEEKDAYS
from services.common.values.words.nouns import nouns_of
from services.common.values.words.phrases import Phrase, compiled, forms, read_phrases, value_words
from services.common.values.words.quantities import ValueReader
from services.common.values.words.tokens import tokenize

_FOLDER: Final = Path(__file__).with_name("data")
_CHARS_MAX: Final = 250
_HELD_BACK: Final = frozenset(
    """
    not never no n't want wants wanted to will 'll would could can should may might must shall plan plans hope hopes
    nearly almost about going without refuse refused tried cannot if unless until supposed asked told
    """.split()  # noqa: SIM905 - words
)
"""Before an event these say that it has not happened."""
_TOLD: Final = frozenset("say says said think thinks claim claims told tells heard hear reckons writes wrote".split())  # noqa: SIM905
"""What somebody else states is no state yet."""
_FOR_OTHERS: Final = re.compile(
    rf" (?:for|of) (?:my|our|his|her|their) (?:\w+ )?(?:{'|'.join(sorted(RELATIVES))})\b", re.IGNORECASE
)
_FOR_NOW: Final = re.compile(
    r"\bfor\s(?:now|the\s(?:moment|time\sbeing|weekend|summer|winter|week|month|day|night|holidays?)|a\s(?:\w+\s)?(?:days?|weeks?|months?|"
    r"while|bit|nights?)|(?:one|two|three|four|five|six|seven|eight|ten|\d{1,3}|some|several|a\sfew|a\scouple\sof)\s(?:\w+\s)?(?:days?|weeks?|months?|nights?))\b|"
    r"\b(?:until|till|temporar\w+|this\s(?:week|month|time|semester|term)|filling\sin|covering\sfor|standing\sin|on\sholiday|visiting|meanwhile|in\sthe\smeantime|airbnb|hotel|to\s(?:let|rent\sout)|investment|holiday|weekend|for\s(?:my|our)\s(?:son|daughter|parents|mother|father|mum|dad))\b",
    re.IGNORECASE,
)
_GOAL: Final = re.compile(r"\b(?:to|into)\s(?:the\s|my\s|our\s)?(?P<to>\w{2,20})", re.IGNORECASE)
_WORK: Final = frozenset({"work", "office", "job", "commute"})
_LONG_AGO: Final = re.compile(
    r"\b(?:years|decades|months)\sago\b|\bwhen\si\swas\b|\bback\s(?:then|in\s(?:the\sday|my\s|\d))|\bas\sa\s(?:kid|child|student|teenager)\b|"
    r"\bin\s(?:my\s(?:twenties|thirties|youth)|(?:19|20)\d\d)\b|\bused\sto\b|\banniversary\b",
    re.IGNORECASE,
)
_ONE_OFF: Final = re.compile(
    r"\bbefore\s(?:the|my|our|a)\s(?:\w+\s)?(?:holidays?|weekend|break|test|exam|operation|surgery|visit|trip|party|inspection|scan|race|match)\b|"
    r"\b(?:just\sthis|for)\sonce\b",
    re.IGNORECASE,
)
"""It was so on one occasion."""
_TOLD_BY: Final = re.compile(r"[\"“].+[\"”]", re.DOTALL)
_TALES: Final = re.compile(
    r"\b(?:novel|film|movie|series|dream\w*|story|episode)\b|\b(?:in|of|from|about|for)\s(?:\w+\s){0,2}(?:book|show|play|game)\b",
    re.IGNORECASE,
)
_NOW: Final = re.compile(
    r"\b(?:now|nowadays|these\sdays|again|since|as\sof|from\s(?:now|today|next|this|the\s(?:first|\d)|\d|january|february|march|april|may|june|july|august|september|october|november|december|mon|tues|wednes|thurs|fri|satur|sun)\w*|no\slonger|any\s?more|at\slast)",
    re.IGNORECASE,
)
_SAME_FORM: Final = frozenset("quit put cut let shut hit set split shed upset beat sunset".split())  # noqa: SIM905 - words
"""Verbs whose past is their base form."""
_STATIVE: Final = frozenset({"be", "have", "do", "belong", "want", "ask", "say", ""})
"""Verbs that tell in the present what has come."""
_NO_VALUES: Final = WEEKDAYS | frozenset(MONTHS) | PARTS_OF_DAY


@dataclass(frozen=True, slots=True)
class _State:
    """A state of a field."""

    field: str
    name: str
    ends: frozenset[str]  # states of the field that are over with it; empty: all others


@dataclass(frozen=True, slots=True)
class _Field:
    """How the states of a field follow each other."""

    is_renewed: bool  # a beginning without a value ends the same state
    is_passing: bool  # may hold for some days only
    is_shared: bool  # what happens to the speaker happens to the partner as well
    whom: frozenset[str]  # with whom; empty: with nobody in particular
    has_goal: bool  # of one way; "to Ghent" is another way than "to work"
    unit: str | None  # the base unit of its values, where they are numbers: "" of a bare number, "money"


class Told(NamedTuple):
    """A state that a sentence states or lets begin."""

    field: str
    state: str
    has_begun: bool
    value: frozenset[str]
    amount: Value | None  # of a measure
    whom: frozenset[str]  # whom an event names
    is_of_nobody: bool  # the phrase brings its own subject


_AMOUNT_OF: Final = re.compile(
    r"\b\d[\d.,]{0,8}\s?[a-z]{0,12}\sof\s(?:(?:the|my|our)\s)?(?P<what>[a-z]{2,25}(?:\s(?!(?:at|with|in|on|a|per|every|each|from|now|before|after|for)\b)[a-z]{2,25}){0,2})|"
    r"\bow(?:e|es|ed)\s(?:(?:the|my|our)\s)?(?P<whom>[a-z]{2,25}(?:\s[a-z]{2,25})?)\s[^\w\s]?\d",
    re.IGNORECASE,
)
"""As in "14 units of the slow insulin", "I owe my uncle 600"."""


class _Lives(NamedTuple):
    fields: dict[str, _Field]
    states: dict[tuple[str, str], _State]
    by_word: dict[str, list[tuple[Phrase, _State, bool]]]


@lru_cache(maxsize=1)
def _lives() -> _Lives:
    tables = {
        name: table
        for file in sorted(_FOLDER.glob("*.toml"))
        for name, table in tomllib.loads(file.read_text("utf-8")).items()
    }
    fields: dict[str, _Field] = {}
    states: dict[tuple[str, str], _State] = {}
    by_word: dict[str, list[tuple[Phrase, _State, bool]]] = defaultdict(list)
    for name, table in tables.items():
        fields[name] = _Field(
            bool(table.get("renewed")), bool(table.get("passing")), bool(table.get("shared")),
            frozenset(str(table.get("whom", "")).split()), bool(table.get("goal")), table.get("number"),
        )  # fmt: skip
        for state_name, entries in table.items():
            if not isinstance(entries, dict):
                continue
            state = _State(name, state_name, frozenset(str(entries.get("ends", "")).split()))
            states[name, state_name] = state
            for key, has_begun in (("is", False), ("became", True)):
                for phrase in read_phrases(entries.get(key, "")):
                    for word in phrase.anchors:
                        by_word[word].append((phrase, state, has_begun))
    return _Lives(fields, states, dict(by_word))


def lives_on(earlier: str, later: str, *, is_new: bool) -> bool:
    """Returns whether a state of somebody's life that one statement says is over with the other one.

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
        is_new: Whether its turn announces a change.
    """
    if not (fields_told(earlier) & fields_told(later)) or _is_no_event(later) or _LONG_AGO.search(earlier):
        return False
    if _are_amounts_of_two(earlier, later):
        return False
    is_new = is_new or CHANGED.search(later) is not None or _NOW.search(later) is not None
    if _is_over(_told(spoken(earlier)), _told(spoken(later)), earlier, later, is_new=is_new):
        return True
    for person in people_in(earlier):
        first = _told(turned_to(earlier, person))
        if _is_over(first, _told(turned_to(later, person)), earlier, later, is_new=is_new):
            return True
        if person in PARTNERS and _is_over(
            [t for t in first if _lives().fields[t.field].is_shared],
            _told(spoken(later)),
            earlier,
            later,
            is_new=is_new,
        ):
            return True
        is_unnamed = not any(name in RELATIVES for name in people_in(later)) and person in RELATIVES
        is_unnamed = is_unnamed and not later.lower().startswith(("our ", "my "))
        born = [t for t in _told(spoken(later)) if t.field == "child" and t.state == "parent" and t.is_of_nobody]
        if is_unnamed and _is_over(first, born, earlier, later, is_new=is_new):
            return True
    return False


def states_told(said: str) -> tuple[Told, ...]:
    """Returns the states that a spoken sentence states of its speaker, without those that it lets begin."""
    return tuple(told for told in _told(said) if not told.has_begun)


def begins_anew(earlier: str, later: str) -> bool:
    """Returns whether a later statement tells an event that ends a state which the earlier one states.

    Args:
        earlier: A statement of the speaker.
        later: Another one.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX or _is_no_event(later):
        return False
    return lives_on(earlier, later, is_new=False)


def fields_told(text: str) -> frozenset[str]:
    """Returns the fields of life that a statement is about, whose life it may be. They serve to look statements up."""
    if len(text) > _CHARS_MAX:
        return frozenset()
    found = {told.field for told in _told(spoken(text))}
    for person in people_in(text):
        found |= {told.field for told in _told(turned_to(text, person))}
    return frozenset(found)


def _is_no_event(later: str) -> bool:
    return later.rstrip().endswith("?") or any(p.search(later) for p in (_LONG_AGO, _TOLD_BY, _TALES, _ONE_OFF))


def _is_over(first: Sequence[Told], second: Sequence[Told], earlier: str, later: str, *, is_new: bool) -> bool:
    lives = _lives()
    return any(
        a.field == b.field
        and (b.has_begun or is_new or lives.fields[a.field].unit is not None)
        and not (lives.fields[a.field].is_passing and _FOR_NOW.search(later))
        and not (not b.has_begun and _are_on_other_days(earlier, later))
        and not (lives.fields[a.field].has_goal and _are_elsewhere(earlier, later))
        and _follows(a, b, lives)
        for a in first
        for b in second
    )


def _are_on_other_days(earlier: str, later: str) -> bool:
    """Whether each is said of other days of the week: "on Mondays", "on Fridays"."""
    first, second = (
        {word.rstrip("s") for word in spoken(text).lower().split()} & WEEKDAYS for text in (earlier, later)
    )
    return bool(first and second) and not first & second


def _are_amounts_of_two(earlier: str, later: str) -> bool:
    """Whether the two give amounts of two things: "14 units of the slow insulin", "4 units of the fast insulin"."""
    first, second = (
        [nouns_of(match["what"] or match["whom"]) for match in _AMOUNT_OF.finditer(text)] for text in (earlier, later)
    )
    return bool(first and second) and not any(a <= b or b <= a for a in first for b in second)


def _are_elsewhere(earlier: str, later: str) -> bool:
    """Whether the two name other places to go to."""
    first, second = ({match["to"].lower() for match in _GOAL.finditer(text)} for text in (earlier, later))
    first, second = ({"work" if goal in _WORK else goal for goal in goals} for goals in (first, second))
    return bool(first and second) and not first & second


def _follows(a: Told, b: Told, lives: _Lives) -> bool:
    field = lives.fields[a.field]
    if (
        field.whom
        and b.whom
        and not b.whom & (field.whom | a.value)
        and (a.value or b.whom & RELATIVES or not b.has_begun)
    ):
        return False
    if a.state != b.state:
        ends = lives.states[b.field, b.state].ends
        return not ends or a.state in ends
    if a.amount is not None and b.amount is not None:
        return match_values(a.amount, b.amount) is Match.DIFFERENT
    if a.value and b.value:
        return b.has_begun and not a.value & b.value
    return field.is_renewed and b.has_begun and not (a.has_begun and not a.value)


@text_cache(8_192)
def _told(said: str) -> tuple[Told, ...]:
    found = tuple(_read(said))
    valued = {(told.field, told.state, told.has_begun) for told in found if told.value}
    return tuple(t for t in found if t.value or t.amount or (t.field, t.state, t.has_begun) not in valued)


def _read(said: str) -> Iterator[Told]:
    lives = _lives()
    words = set(said.lower().split())
    for word in words:
        for phrase, state, has_begun in lives.by_word.get(word, ()):
            match = compiled(phrase.pattern).search(said)
            if match is None or not (has_happened(said, match, phrase) if has_begun else _is_plain(said, match)):
                continue
            if not has_begun and ".." in phrase.text and " 's " in match[0]:
                continue  # "my sister 's dog"
            groups = match.groupdict()
            value = value_words(groups.get("v") or "")
            amount = _amount(groups.get("v") or "", lives.fields[state.field].unit)
            if lives.fields[state.field].unit is not None and amount is None:
                continue
            if groups.get("v") and not value - _NO_VALUES and amount is None:
                continue
            whom = _people(groups.get("x") or "")
            yield Told(state.field, state.name, has_begun, value, amount, whom, phrase.has_subject)


def _is_plain(said: str, match: re.Match[str]) -> bool:
    """Whether a state is told by the speaker, and not by somebody whom they quote."""
    before = re.split(r" [.,;:!?] ", said[: match.start()].lower())[-1].split()
    return not _TOLD & set(before)


def _amount(text: str, unit: str | None) -> Value | None:
    """The first number of a text; None where it is not of the unit. A bare one is of any."""
    if unit is None:
        return None
    items = ValueReader(tokenize(text)).read()
    found = next((item for item in items if isinstance(item, Value)), None)
    if found is None or found.kind not in {ValueKind.NUMBER, ValueKind.QUANTITY, ValueKind.MONEY}:
        return None
    is_bare = found.kind is ValueKind.NUMBER
    is_of_unit = is_bare or (found.kind is ValueKind.MONEY if unit == "money" else found.unit == unit)
    return Value(ValueKind.QUANTITY, unit, found.low, found.high, "") if is_of_unit else None


def _people(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in text.split()) - {"my", "our", "the", "and", "i"}


def has_happened(said: str, match: re.Match[str], phrase: Phrase, *, with_groups: bool = False) -> bool:
    """Returns whether an event is told of the speaker as one that has come.

    Args:
        said: A spoken sentence.
        match: Where the phrase stands in it.
        phrase: What tells the event.
        with_groups: Whether "the team" is the speaker as well.
    """
    before = re.split(r" [.,;:!?] | (?:and|but|so) (?=i |we )", said[: match.start()].lower())[-1].split()
    denied = {"not", "never"} & set(match[0].lower().split()) - set(phrase.text.split())
    who = (match.groupdict().get("x") or "").lower().split()
    if phrase.has_subject and _HELD_BACK & set(who) - set(phrase.text.split()):
        return False  # "Ben nearly called it off"
    if (phrase.has_subject or not phrase.verbs) and _FOR_OTHERS.match(said[match.end() :]) is not None:
        return False  # "first week back for my husband"
    if denied or _HELD_BACK & set(before[-4:]):
        return False
    if phrase.has_subject:
        if before and before[-1] in {"his", "her", "their", "'s", "your"}:
            return False
    elif not is_subject_speaker(said, match.start(), with_groups=with_groups):
        return False
    return _is_past(said, match[0].lower().split(), phrase)


def _is_past(said: str, words: Sequence[str], phrase: Phrase) -> bool:
    """Whether the verb of an event tells it as one that has come: in the past, or with a word that says "now"."""
    found = ((word, verb) for word in words for verb in phrase.verbs if word in forms(verb))
    opening, verb = next(found, ("", ""))
    if verb in _STATIVE or (verb in _SAME_FORM and opening == verb):
        return True
    is_going_on = opening.endswith("ing") and opening != verb
    is_present = opening in {verb, f"{verb}s", f"{verb}es"}
    return not (is_present or is_going_on) or _NOW.search(said) is not None

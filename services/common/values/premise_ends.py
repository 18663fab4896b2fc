"""What ended with a premise: the value that holds no more, of which thing, and what shows it. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.lives.beginnings import begins_anew
from services.common.values.model import Modality, Value, ValueKind
from services.common.values.reading.clauses import Clause
from services.common.values.reading.pieces import read_statement
from services.common.values.reading.splitting import PREPOSITIONS
from services.common.values.words.belongings import goes_with
from services.common.values.words.fields import ENDED, EVENTS
from services.common.values.words.lexicon import AUXILIARIES, POSSESSIVES, PRONOUNS, STOP
from services.common.values.words.tokens import PUNCTUATION, lemma, tokenize

_LIGHT: Final = frozenset(
    {*STOP, *PRONOUNS, *POSSESSIVES, *PUNCTUATION, *AUXILIARIES, *PREPOSITIONS, "'s", "not", "no", "now", "again", "be",
     "new", "longer", "any", "more", "instead", "days", "have", "too", "also", "and", "as"}
)  # fmt: skip
_SIGNS: Final = {
    "live": "flat house home apartment room garden balcony kitchen street landlord rent neighbour neighbourhood door",
    "work": "office desk job boss colleague shift canteen badge commute lunch employer salary team contract work",
    "study": "course lecture exam seminar class campus professor university",
    "go": "school class teacher homework bus",
    "drive": "garage boot tank seat insurance tyre petrol car",
}
"""Verb of a premise by what shows in other statements that it is taken for granted."""
TITLES: Final = frozenset({"mr", "mrs", "ms", "dr", "frau", "herr", "the"})
_CHANGING: Final = frozenset({"move", "switch", "change", "transfer", "become", "start", "join", "relocate"})
_WORDS_OF_VALUE_MAX: Final = 4
_AIMS: Final = frozenset(
    """
    try want need like make help plan hope start keep get do think know see say look feel
    """.split()  # noqa: SIM905 - words
)
"""Verbs after which no value of a slot stands: "I want to make sure ..."."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What ended with a premise."""

    things: frozenset[str]  # what it was said of: "office"; of the speaker what they do: "live"
    signs: frozenset[str]  # stand for the things
    value: frozenset[str]  # what holds no more: "third", "floor"
    head: str  # the noun of the things, which may stand alone: "the practice"; empty where they are none
    is_name: bool  # the value is a name
    is_denied: bool  # the later statement denies the premise
    was_negated: bool  # the premise denies something
    verb: str
    beside: frozenset[str]  # what else the premise says: "school" beside "Oak"
    is_code: bool = False  # the value is a password or a number of something
    is_renamed: bool = False  # the thing has another name


@text_cache(4_096)
def terms(text: str) -> frozenset[str]:
    """Returns the words of a text that carry meaning, in base form, numbers and days among them."""
    return frozenset(
        word for token in tokenize(text) if (word := lemma(token.lower)) not in _LIGHT and word[:1].isalnum()
    )


@text_cache(1_024)
def ended_of(premise: str, later: str) -> tuple[Ended, ...]:
    """What of a premise ended, by each pair of clauses about the same thing."""
    found: list[Ended] = []
    for a in read_statement(premise).clauses:
        for b in read_statement(later).clauses:
            subject = subject_terms(a)
            same_subject = (
                subject <= subject_terms(b) | clause_terms(b) if subject else bool(set(a.subject) & set(b.subject))
            )
            if not same_subject or a.modality is not Modality.STATED or (not subject and a.verb in _AIMS):
                continue
            if not subject and a.verb != b.verb and b.verb not in _CHANGING:
                continue
            told, kept = clause_terms(a), clause_terms(b)
            if a.negated != b.negated and a.verb == b.verb:
                scoped = {word for item in a.rest if a.prepositions.get(item) for word in str(item).split()}
                value = (scoped or frozenset(told - subject - {a.verb})) & kept
                if not value and a.rest:
                    continue
                found.append(_denied(a, frozenset(value)))
                continue
            value = frozenset(told - subject - {a.verb} - kept)
            if not value or a.negated or b.negated or ENDED.search(" ".join(b.tokens)) or not kept - told:
                continue
            things = subject or frozenset({a.verb} | (told & kept)) - value - {"be"}
            signs = goes_with(subject) if subject else frozenset(_SIGNS.get(a.verb, "").split())
            found.append(
                Ended(
                    things,
                    signs - value,
                    value,
                    _head(a),
                    is_name=_is_named(a, value),
                    is_denied=False,
                    was_negated=a.negated,
                    verb=a.verb,
                    beside=told & kept,
                    is_code=_is_code(a),
                    is_renamed=a.verb == b.verb == "call",
                )
            )
    found = found or list(_ended_by_event(premise, later))
    return tuple(ended for ended in found if len(ended.value) <= _WORDS_OF_VALUE_MAX)


def _ended_by_event(premise: str, later: str) -> Iterator[Ended]:
    """The names of a premise that an event ended without another value: "I'm married to Pia", "we got divorced"."""
    if not (EVENTS.search(later) or begins_anew(premise, later)):
        return
    kept = terms(later)
    for clause in read_statement(premise).clauses:
        is_own = bool(set(clause.subject) & {"i", "we"})
        named = {lemma(name) for name in clause.names if name in clause.tokens} - TITLES
        value = frozenset(named - kept)
        if not value or not is_own or clause.negated or clause.past or clause.modality is not Modality.STATED:
            continue
        subject = subject_terms(clause)
        yield Ended(
            things=subject or frozenset({clause.verb}),
            signs=goes_with(subject) if subject else frozenset(_SIGNS.get(clause.verb, "").split()),
            value=value,
            head=_head(clause),
            is_name=True,
            is_denied=False,
            was_negated=False,
            verb=clause.verb,
            beside=frozenset(),
        )


def _denied(premise: Clause, value: frozenset[str]) -> Ended:
    """What ended with a premise that the later statement denies."""
    return Ended(
        things=frozenset({premise.verb}),
        signs=frozenset(),
        value=value,
        head="",
        is_name=False,
        is_denied=True,
        was_negated=premise.negated,
        verb=premise.verb,
        beside=frozenset(),
    )


def subject_terms(clause: Clause) -> frozenset[str]:
    """Returns the terms of what a clause is about, without the speaker."""
    words = {word for item in clause.subject if isinstance(item, str) for word in item.split()}
    return frozenset(word for word in words if word not in _LIGHT and word not in set(POSSESSIVES.values()))


def _head(clause: Clause) -> str:
    nouns = [item for item in clause.subject if isinstance(item, str) and item not in set(POSSESSIVES.values())]
    return nouns[-1].split()[-1] if nouns and not any(item in clause.names for item in nouns) else ""


def clause_terms(clause: Clause) -> frozenset[str]:
    """Returns the terms of a clause: its words and the text of its values."""
    return frozenset(word for word in map(lemma, clause.tokens) if word not in _LIGHT and word[:1].isalnum())


def _is_code(clause: Clause) -> bool:
    return any(isinstance(item, Value) and item.kind is ValueKind.IDENTIFIER for item in clause.rest)


def _is_named(clause: Clause, value: frozenset[str]) -> bool:
    is_timed = any(isinstance(item, Value) and item.kind in {ValueKind.DATE, ValueKind.TIME} for item in clause.rest)
    return (_is_code(clause) or bool(value & {lemma(name) for name in clause.names})) and not is_timed

"""What rests on a statement that holds no more: it repeats the ended value of the same thing (SPEC 3.5).

"I take the stairs to my office on the third floor" rests on "My office is on the third floor"; once the office is on
the first floor, it holds no more. Words alone do not show what a reader would infer: a statement rests on another one
only where it names the thing and the value that ended, or a name that the premise gave to the speaker's home, work or
helper and that ended with it. Pure functions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from services.common.values.fields import ENDED
from services.common.values.holding import UNSURE, Said
from services.common.values.lexicon import AUXILIARIES, POSSESSIVES, PRONOUNS, STOP
from services.common.values.model import Modality, Value, ValueKind
from services.common.values.people import OTHERS
from services.common.values.pieces import read_statement
from services.common.values.reading import Clause
from services.common.values.splitting import PREPOSITIONS
from services.common.values.tokens import PUNCTUATION, lemma, tokenize

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
_OF_SPEAKER: Final = re.compile(r"\b(?:i|i'm|we|we're|me|us|my|our)\b", re.IGNORECASE)
_OUTLASTING: Final = frozenset(
    """
    be have know like love hate miss remember prefer think believe want wish meet own recommend admire trust fear enjoy
    """.split()  # noqa: SIM905 - words
)
"""Verbs that hold for a person or thing whatever it is to the speaker now: "I like Ben" outlasts "Ben is my boss"."""
_SET_UP: Final = frozenset(
    {
        "open",
        "pin",
        "set",
        "configure",
        "install",
        "reserve",
        "book",
        "block",
        "print",
        "put",
        "label",
        "register",
        "write",
        "save",
        "store",
        "enter",
        "note",
    }
)
"""Deeds of the past whose result stays: "I opened port 5432 in the firewall for the database"."""
_ASIDE: Final = frozenset({"is", "was", "has", "likes", "loves", "thinks", "says", "knows", "works", "lives"})
"""Behind a name these say what somebody is, not what they do for the speaker."""
_TITLES: Final = frozenset({"mr", "mrs", "ms", "dr", "frau", "herr", "the"})
_OF_OTHERS: Final = re.compile(r"\b(?:his|her|their)\s+(?P<what>\w+)", re.IGNORECASE)
_OCCASIONS: Final = frozenset(
    """
    appointment meeting lesson lunch dinner breakfast class call session shift training rehearsal desk locker account
    one-to-one course seminar lecture
    """.split()  # noqa: SIM905 - words
)
"""What the speaker has with somebody or somewhere as long as it is theirs."""
_STILL: Final = re.compile(r"\b(?:still|always\s+will|forever|anyway)\b", re.IGNORECASE)
_CHANGING: Final = frozenset({"move", "switch", "change", "transfer", "become", "start", "join", "relocate"})
_CAUSE: Final = re.compile(r"\b(?:because\s+of|due\s+to|on\s+account\s+of)\b(?P<what>.{2,60})$", re.IGNORECASE)


_CHARS_MAX: Final = 120
_WORDS_OF_VALUE_MAX: Final = 4
_AIMS: Final = frozenset(
    """
    try want need like make help plan hope start keep get do think know see say look feel
    """.split()  # noqa: SIM905 - words
)
"""Verbs after which no value of a slot stands: "I want to make sure ..."."""


@dataclass(frozen=True, slots=True)
class _Ended:
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


def rests_on(statement: Said, premise: Said, later: Said) -> bool:
    """Returns whether a statement takes for granted what a later one ended.

    Args:
        statement: Made before the later one.
        premise: What the later one superseded.
        later: What supersedes the premise.
    """
    if len({said.speaker.casefold() for said in (statement, premise, later)}) > 1 or statement.text == later.text:
        return False
    if UNSURE.search(statement.text) or _STILL.search(statement.text) or not _is_of_speaker(statement, premise):
        return False
    if any(_is_long(text.text) for text in (statement, premise, later)):
        return False  # what ended is not to be found among so much
    said = terms(statement.text)
    clauses = read_statement(statement.text).clauses
    if not clauses or any(clause.modality is not Modality.STATED or _is_over(clause) for clause in clauses):
        return False
    for ended in _ended(premise.text, later.text):
        if not ended.value <= said:
            continue
        if ended.is_denied:
            if _repeats_or_follows(ended, clauses, statement.text):
                return True
            continue
        holder = [clause for clause in clauses if ended.value & _clause_terms(clause)]
        if any(_is_done(clause, ended) or _is_said_of_another(clause, ended) for clause in holder):
            continue
        if _names_things(ended, said, statement.text):
            return True
        if ended.is_name and _deals_with(clauses, ended, statement.text):
            return True
    return False


def _repeats_or_follows(ended: _Ended, clauses: tuple[Clause, ...], text: str) -> bool:
    """As in "I need a lift as I don't drive", "I carry pills because of the walnuts"."""
    cause = _CAUSE.search(text)
    if cause is not None and ended.value and ended.value <= terms(cause["what"]):
        return True
    return any(
        clause.verb == ended.verb
        and clause.negated is ended.was_negated
        and set(clause.subject) <= {"i", "we"}
        and ended.value <= _clause_terms(clause)
        and not clause.past
        for clause in clauses
    )


def _is_over(clause: Clause) -> bool:
    return clause.historic and (clause.past or "when" not in clause.words)


def _is_done(clause: Clause, ended: _Ended) -> bool:
    """Whether a clause tells of a past event, and not of something that was set up and ends with its thing."""
    if not (clause.past or clause.perfect):
        return False
    objects = {word for item in clause.rest if not clause.prepositions.get(item) for word in str(item).split()}
    is_object = ended.is_name and ended.value <= objects
    is_for_it = "for" in clause.words and ended.things <= _clause_terms(clause)
    return not (clause.verb in _SET_UP and set(clause.subject) <= {"i", "we"} and (is_object or is_for_it))


def _is_said_of_another(clause: Clause, ended: _Ended) -> bool:
    """Whether it denies what the premise says, or says it of somebody else: "our client uses Slack"."""
    is_of_speaker = set(clause.subject) <= {"i", "we"} or bool(ended.head) or ended.things <= _subject_terms(clause)
    return clause.verb == ended.verb and clause.verb != "be" and (clause.negated or not is_of_speaker)


def _names_things(ended: _Ended, said: frozenset[str], text: str) -> bool:
    """Whether a statement names what the premise was said of, or what shows that it is taken for granted."""
    if any(lemma(match["what"].casefold()) in ended.things for match in _OF_OTHERS.finditer(text)):
        return False
    if ended.things and (ended.things <= said or bool(ended.signs & said)):
        return True
    return bool(ended.head) and ended.head in said and re.search(rf"\b(?:the|my|our)\s+{ended.head}", text) is not None


def _is_long(text: str) -> bool:
    return len(text) > _CHARS_MAX


def _is_of_speaker(statement: Said, premise: Said) -> bool:
    """Whether a statement is about nobody else than the premise is."""
    of_others = OTHERS.search(statement.text) is not None and OTHERS.search(premise.text) is None
    subjects = {str(item) for clause in read_statement(statement.text).clauses for item in clause.subject}
    return not of_others and not subjects & {"he", "she", "they"}


@lru_cache(maxsize=4_096)
def terms(text: str) -> frozenset[str]:
    """Returns the words of a text that carry meaning, in base form, numbers and days among them."""
    return frozenset(
        word for token in tokenize(text) if (word := lemma(token.lower)) not in _LIGHT and word[:1].isalnum()
    )


@lru_cache(maxsize=1_024)
def _ended(premise: str, later: str) -> tuple[_Ended, ...]:
    """What of a premise ended, by each pair of clauses about the same thing."""
    found: list[_Ended] = []
    for a in read_statement(premise).clauses:
        for b in read_statement(later).clauses:
            subject = _subject_terms(a)
            same_subject = (
                subject <= _subject_terms(b) | _clause_terms(b) if subject else bool(set(a.subject) & set(b.subject))
            )
            if not same_subject or a.modality is not Modality.STATED or (not subject and a.verb in _AIMS):
                continue
            if not subject and a.verb != b.verb and b.verb not in _CHANGING:
                continue
            told, kept = _clause_terms(a), _clause_terms(b)
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
            signs = frozenset(_SIGNS.get(a.verb, "").split()) if not subject else frozenset()
            found.append(
                _Ended(
                    things,
                    signs - value,
                    value,
                    _head(a),
                    is_name=_is_named(a, value),
                    is_denied=False,
                    was_negated=a.negated,
                    verb=a.verb,
                    beside=told & kept,
                )
            )
    return tuple(ended for ended in found if len(ended.value) <= _WORDS_OF_VALUE_MAX)


def _denied(premise: Clause, value: frozenset[str]) -> _Ended:
    """What ended with a premise that the later statement denies."""
    return _Ended(
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


def _subject_terms(clause: Clause) -> frozenset[str]:
    words = {word for item in clause.subject if isinstance(item, str) for word in item.split()}
    return frozenset(word for word in words if word not in _LIGHT and word not in set(POSSESSIVES.values()))


def _head(clause: Clause) -> str:
    nouns = [item for item in clause.subject if isinstance(item, str) and item not in set(POSSESSIVES.values())]
    return nouns[-1].split()[-1] if nouns and not any(item in clause.names for item in nouns) else ""


def _clause_terms(clause: Clause) -> frozenset[str]:
    """The terms of a clause: its words and the text of its values."""
    return frozenset(word for word in map(lemma, clause.tokens) if word not in _LIGHT and word[:1].isalnum())


def _is_named(clause: Clause, value: frozenset[str]) -> bool:
    is_timed = any(isinstance(item, Value) and item.kind in {ValueKind.DATE, ValueKind.TIME} for item in clause.rest)
    is_code = any(isinstance(item, Value) and item.kind is ValueKind.IDENTIFIER for item in clause.rest)
    return (is_code or bool(value & {lemma(name) for name in clause.names})) and not is_timed


def _is_of_own_thing(clause: Clause, ended: _Ended) -> bool:
    """Whether something of the speaker is with, at or from a name: "My prescriptions come from Dr Amsel"."""
    if ended.verb == "live" or not set(clause.subject) & {"i", "we"} or len(set(clause.subject)) < 2:
        return False
    return any(
        clause.prepositions.get(item) in {"at", "with", "from", "by"} and ended.value <= set(str(item).split())
        for item in clause.rest
    )


def _acts(clause: Clause, ended: _Ended) -> bool:
    """Whether a clause says what a name does: "Frau Klein waters my plants"."""
    name = ended.value | ended.beside | _TITLES
    opening = [word for word in clause.tokens if word not in PUNCTUATION]
    place = next((n for n, word in enumerate(opening) if lemma(word) not in name), 0)
    verb = opening[place] if place else ""
    has_own = opening[place + 1 : place + 2] == ["my"]
    return verb.endswith("s") and (verb not in _ASIDE or (verb == "has" and has_own))


def _deals_with(clauses: tuple[Clause, ...], ended: _Ended, text: str) -> bool:
    """Whether the speaker has to do with a name in a way that ends: "I send the rent to Mr Ferro"."""
    if not _OF_SPEAKER.search(text):
        return False
    for clause in clauses:
        if not ended.value <= _clause_terms(clause):
            continue
        if _acts(clause, ended):
            return True
        is_lasting = clause.verb in _OUTLASTING and not (clause.verb == "have" and _OCCASIONS & _clause_terms(clause))
        if _is_of_own_thing(clause, ended):
            return True
        if not clause.verb or is_lasting or not set(clause.subject) <= {"i", "we"}:
            continue
        to_name = any(
            clause.prepositions.get(item) == "to" and ended.value & set(str(item).split()) for item in clause.rest
        )
        if not (ended.verb == "live" and to_name):
            return True
    return False

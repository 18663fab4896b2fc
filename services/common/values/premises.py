"""What rests on a statement that holds no more: it repeats the ended value of the same thing (SPEC 3.5).

"I take the stairs to my office on the third floor" rests on "My office is on the third floor"; once the office is on
the first floor, it holds no more. Words alone do not show what a reader would infer: a statement rests on another one
only where it names the thing and the value that ended, or a name that the premise gave to the speaker's home, work or
helper and that ended with it. Pure functions.
"""

from __future__ import annotations

import re
from typing import Final

from services.common.values.comparison.designated import are_two_designated
from services.common.values.holding import Said
from services.common.values.model import Modality, Value
from services.common.values.premise_ends import TITLES, Ended, clause_terms, ended_of, subject_terms, terms
from services.common.values.reading.clauses import Clause
from services.common.values.reading.people import OTHERS
from services.common.values.reading.pieces import read_statement
from services.common.values.reading.whose import RELATIVES
from services.common.values.replacement.ranges import are_of_two_ranges
from services.common.values.words.belongings import GENERIC_KINDS
from services.common.values.words.tokens import PUNCTUATION, lemma, tokenize
from services.common.values.words.unsure import UNSURE

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
_PREPARED: Final = frozenset({"take", "order", "buy", "hire", "rent", "borrow", "pack", "arrange", "plan", "invite"})
"""Deeds of the past that prepare something: "I took leave until 3 May for the thesis"."""
_SETTINGS: Final = frozenset({"mute", "muted", "unmuted", "silenced", "whitelisted", "enabled", "disabled"})
"""Deeds of the past that set how something behaves from then on."""
_ADAPTING: Final = frozenset({"throttle", "limit", "cap", "restrict", "budget", "stick", "stay", "keep", "ration"})
"""What somebody does to keep to an amount."""
_HANDED: Final = frozenset({"give", "send", "tell", "text", "email"})
"""Deeds of the past after which others have a code: "I gave plum-42 to the guests"."""
_ASIDE: Final = frozenset({"is", "was", "has", "likes", "loves", "thinks", "says", "knows", "works", "lives"})
"""Behind a name these say what somebody is, not what they do for the speaker."""
_OF_OTHERS: Final = re.compile(r"\b(?:his|her|their)\s+(?P<what>\w+)", re.IGNORECASE)
_OCCASIONS: Final = frozenset(
    """
    appointment meeting lesson lunch dinner breakfast class call session shift training rehearsal desk locker account
    one-to-one course seminar lecture
    """.split()  # noqa: SIM905 - words
)
"""What the speaker has with somebody or somewhere as long as it is theirs."""
_RELATIVES_OWN: Final = re.compile(rf"\b(?:my|our)\s({'|'.join(sorted(RELATIVES))})'s\s", re.IGNORECASE)
_STILL: Final = re.compile(
    r"\b(?:still|always\s+will|forever|anyway|too(?!\s\w+(?:ly|y|d)\b)|as\s+well)\b", re.IGNORECASE
)
"""So it is anyway, or of something else besides."""
_COUNTED: Final = re.compile(r"(?<![\w.,:-])(?P<count>\d{1,6})\s(?P<what>[a-z]{3,20})\b", re.IGNORECASE)
_DETERMINED: Final = frozenset({"a", "an", "the", "my", "our", "his", "her", "their", "of"})
_CAUSE: Final = re.compile(r"\b(?:because\s+of|due\s+to|on\s+account\s+of)\b(?P<what>.{2,60})$", re.IGNORECASE)


_CHARS_MAX: Final = 120
_WORDS_OF_DEED_MIN: Final = 3


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
    if are_two_designated(premise.text, statement.text) or are_of_two_ranges(premise.text, statement.text):
        return False  # "Q3 budget is 48k", "Q4 budget is 48k"
    said = terms(statement.text)
    clauses = read_statement(statement.text).clauses
    if not clauses or any(clause.modality is not Modality.STATED or _is_over(clause) for clause in clauses):
        return False
    for ended in ended_of(premise.text, later.text):
        if not ended.value <= said or _counts_others(ended, statement.text, premise.text):
            continue
        if ended.is_denied:
            if _repeats_or_follows(ended, clauses, statement.text):
                return True
            continue
        holder = [clause for clause in clauses if ended.value & clause_terms(clause)]
        if any(_is_done(clause, ended) or _is_said_of_another(clause, ended) for clause in holder):
            continue
        if _names_things(ended, said, statement.text) or _is_kept_to(ended, holder):
            return True
        if ended.is_renamed and _goes_by_name(clauses, ended):
            return True
        if ended.is_name and (_deals_with(clauses, ended, statement.text) or _is_mine(ended, statement.text)):
            return True
    return False


def _counts_others(ended: Ended, text: str, premise: str) -> bool:
    """Whether an ended number counts something else here: "14 people at the depot", "14 vans at the depot"."""
    first, second = (
        {lemma(match["what"].casefold()) for match in _COUNTED.finditer(one) if {match["count"]} == ended.value}
        for one in (premise, text)
    )
    return bool(first and second) and not first & second


def _is_kept_to(ended: Ended, clauses: list[Clause]) -> bool:
    """Whether the speaker keeps to an amount that holds no more: "I throttle the script to 100 requests a minute"."""
    if not any(word[:1].isdigit() for word in ended.value):
        return False
    return any(
        clause.verb in _ADAPTING
        and set(clause.subject) <= {"i", "we"}
        and not clause.negated
        and len((ended.value | ended.beside) & clause_terms(clause)) > 1  # the unit as well
        for clause in clauses
    )


def _goes_by_name(clauses: tuple[Clause, ...], ended: Ended) -> bool:
    """Whether somebody or something is called by a name that it has no more: "Momo sleeps on the sofa"."""
    for clause in clauses:
        tokens = [word for word in clause.tokens if word not in PUNCTUATION]
        if clause.verb in {"be", "call"} or len(tokens) < _WORDS_OF_DEED_MIN:
            continue
        first = tokens[: len(ended.value)]
        last = tokens[-len(ended.value) :]
        before = tokens[-len(ended.value) - 1 : -len(ended.value)]
        is_last = set(map(lemma, last)) == ended.value and not set(before) & _DETERMINED
        if set(map(lemma, first)) == ended.value or is_last:
            return True
    return False


def _is_mine(ended: Ended, text: str) -> bool:
    """Whether a value that ended stands behind "my" or "our": "the lock of my red Gazelle"."""
    words = [lemma(token.lower) for token in tokenize(text)]
    for place, word in enumerate(words):
        if word in {"my", "our"}:
            following = words[place + 1 : place + 1 + len(ended.value)]
            if len(following) == len(ended.value) and set(following) == ended.value:
                return True
    return False


def _repeats_or_follows(ended: Ended, clauses: tuple[Clause, ...], text: str) -> bool:
    """As in "I need a lift as I don't drive", "I carry pills because of the walnuts"."""
    cause = _CAUSE.search(text)
    if cause is not None and ended.value and ended.value <= terms(cause["what"]):
        return True
    return any(
        clause.verb == ended.verb
        and clause.negated is ended.was_negated
        and set(clause.subject) <= {"i", "we"}
        and ended.value <= clause_terms(clause)
        and not clause.past
        for clause in clauses
    )


def _is_over(clause: Clause) -> bool:
    if clause.verb in _PREPARED and {"until", "for"} <= set(clause.words):
        return False  # "I took leave until 3 May for the thesis"
    return clause.historic and (clause.past or "when" not in clause.words)


def _is_done(clause: Clause, ended: Ended) -> bool:
    """Whether a clause tells of a past event, and not of something that was set up and ends with its thing."""
    if not (clause.past or clause.perfect):
        return False
    named = (item for item in clause.rest if not clause.prepositions.get(item))
    objects = {word for item in named for word in (item.text if isinstance(item, Value) else item).split()}
    is_object = ended.is_name and ended.value <= objects
    is_for_it = "for" in clause.words and bool(ended.things) and ended.things <= clause_terms(clause)
    if not set(clause.subject) <= {"i", "we"}:
        return True
    if (clause.verb in _PREPARED and is_for_it) or (clause.verb in _SETTINGS and is_object):
        return False
    if clause.verb in _HANDED and ended.is_code and is_object:
        return False
    return not (clause.verb in _SET_UP and (is_object or is_for_it))


def _is_said_of_another(clause: Clause, ended: Ended) -> bool:
    """Whether it denies what the premise says, or says it of somebody else: "our client uses Slack"."""
    is_of_speaker = set(clause.subject) <= {"i", "we"} or bool(ended.head) or ended.things <= subject_terms(clause)
    return clause.verb == ended.verb and clause.verb != "be" and (clause.negated or not is_of_speaker)


def _names_things(ended: Ended, said: frozenset[str], text: str) -> bool:
    """Whether a statement names what the premise was said of, or what shows that it is taken for granted."""
    if any(lemma(match["what"].casefold()) in ended.things for match in _OF_OTHERS.finditer(text)):
        return False
    if ended.things and (ended.things <= said or bool(ended.signs & said)):
        return True
    own = ended.things - GENERIC_KINDS
    if own and own < ended.things and own <= {token.lower for token in tokenize(text)}:
        return True  # "before yoga", of the yoga class
    return bool(ended.head) and ended.head in said and re.search(rf"\b(?:the|my|our)\s+{ended.head}", text) is not None


def _is_long(text: str) -> bool:
    return len(text) > _CHARS_MAX


def _is_of_speaker(statement: Said, premise: Said) -> bool:
    """Whether a statement is about nobody else than the premise is."""
    of_others = OTHERS.search(statement.text) is not None and OTHERS.search(premise.text) is None
    relatives = {match[1].casefold() for match in _RELATIVES_OWN.finditer(statement.text)}
    if relatives and not any(word in premise.text.casefold() for word in relatives):
        return False  # "my nan's bin day is Tuesday as well"
    subjects = {str(item) for clause in read_statement(statement.text).clauses for item in clause.subject}
    return not of_others and not subjects & {"he", "she", "they"}


def _is_of_own_thing(clause: Clause, ended: Ended) -> bool:
    """Whether something of the speaker is with, at or from a name: "My prescriptions come from Dr Amsel"."""
    if ended.verb == "live" or not set(clause.subject) & {"i", "we"} or len(set(clause.subject)) < 2:
        return False
    return any(
        clause.prepositions.get(item) in {"at", "with", "from", "by"} and ended.value <= set(str(item).split())
        for item in clause.rest
    )


def _acts(clause: Clause, ended: Ended) -> bool:
    """Whether a clause says what a name does: "Frau Klein waters my plants"."""
    name = ended.value | ended.beside | TITLES
    opening = [word for word in clause.tokens if word not in PUNCTUATION]
    place = next((n for n, word in enumerate(opening) if lemma(word) not in name), 0)
    verb = opening[place] if place else ""
    has_own = opening[place + 1 : place + 2] == ["my"]
    return verb.endswith("s") and (verb not in _ASIDE or (verb == "has" and has_own))


def _deals_with(clauses: tuple[Clause, ...], ended: Ended, text: str) -> bool:
    """Whether the speaker has to do with a name in a way that ends: "I send the rent to Mr Ferro"."""
    if not _OF_SPEAKER.search(text):
        return False
    for clause in clauses:
        if not ended.value <= clause_terms(clause):
            continue
        if _acts(clause, ended):
            return True
        is_lasting = clause.verb in _OUTLASTING and not (clause.verb == "have" and _OCCASIONS & clause_terms(clause))
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

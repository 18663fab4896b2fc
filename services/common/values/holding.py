"""Whether a later statement of a conversation ends an earlier one (SPEC 3.5).

`compare` reads two statements as they stand. In a conversation there is more to know: who speaks, whether the turn
announces a change, and that a sentence has more clauses than the one that matters. Every rule demands the same subject
or the thing itself, and none holds for what is hedged, reported, conditional or asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Final

from services.common.values.compare import relation
from services.common.values.fields import ANNOUNCED, CHANGED, ENDED, FIELDS, OPPOSED
from services.common.values.lexicon import (
    MONTHS,
    MULTIPLE_ROLES,
    PARTS_OF_DAY,
    POSSESSIVES,
    PRONOUNS,
    SEASONS,
    SMALL_NUMBERS,
    STOP,
    WEEKDAYS,
)
from services.common.values.model import Modality, Relation, Value, ValueKind
from services.common.values.reading import CHARS_MAX, Clause, Item, read_clauses
from services.common.values.sameness import Match, match_values, unshared
from services.common.values.tokens import PUNCTUATION, lemma, tokenize
from services.common.values.topics import denies, requantifies

_OWNERS: Final = frozenset(POSSESSIVES.values())
_LIGHT: Final = STOP | PRONOUNS | frozenset(POSSESSIVES) | frozenset(PUNCTUATION) | {"not", "no", "be", "have"}
_TIMES: Final = (
    WEEKDAYS | PARTS_OF_DAY | SEASONS | frozenset(MONTHS)
    | {"day", "week", "month", "year", "today", "tomorrow", "yesterday", "before", "after", "hour", "minute", "last",
       "next", "always", "often", "usually", "every", "since", "sunday", "time", "term", "either", "ever", "old"}
)  # fmt: skip
_DAYS_AHEAD: Final = {"today": 0, "tonight": 0, "tomorrow": 1}
_WEEK: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SCOPES: Final = frozenset({"for", "on", "at", "in", "when", "during", "with"})
_SHARED_VERBS: Final = frozenset(
    [
        "like",
        "love",
        "enjoy",
        "hate",
        "know",
        "speak",
        "play",
        "visit",
        "meet",
        "see",
        "go",
        "buy",
        "say",
        "ask",
        "show",
    ]
)
"""Verbs with many objects at a time: another object takes nothing back, unless it is said to be instead."""
_ONE_AT_A_TIME: Final = frozenset(["live", "work", "cost", "weigh", "report", "drive", "bear", "run", "shoot"])
_ROLE_SUBJECTS: Final = re.compile(
    r"^(?:(?:the|my|our)\s+)?(?:vet|doctor|dentist|consultant|nurse|landlord|teacher|school|garage|pharmacist)\s+"
    r"(?:says|said|told\s+me|confirmed|wants)\s+(?:that\s+)?",
    re.IGNORECASE,
)
_COME_TO: Final = re.compile(r"\b(?:I've|I have|i've|i have|we've|we have) (?:come|grown|learned|learnt) to (?=\w)")
_OPENS: Final = r"(?:I|i|i'm|I'm|i've|I've|we|We|my|My|our|please|don't|[A-Z]\w+ (?:is|was|has|are|goes|eats|takes)|the \w+ (?:is|was|has|are|gets|costs|takes|goes|\w+s))\b"  # noqa: E501
_CUT: Final = re.compile(
    rf"\s{{0,9}}[,:;]\s{{0,9}}(?:(?:and|but|so|because)\s{{1,9}})?(?={_OPENS})|\s{{1,9}}(?:and|but|so|because)\s{{1,9}}(?={_OPENS})|\s{{1,9}}-{{1,9}}\s{{1,9}}|"
    r"\s{0,9},\s{0,9}(?=(?:no|not|never)\b)"
)
_SINCE_THEN: Final = re.compile(
    r"^(?:after|since|following|as\s+of|with\s+effect\s+from|starting|beginning)\s+(?:the|our|my|this|next|last)\s+"
    r"\w+(?:\s+\w+)?,?\s+(?=(?:my|our|i|we|the)\b)",
    re.IGNORECASE,
)
_SCOPE_OPENS: Final = re.compile(r"^(?:for|at|on|in|when|if|during|as|unless|while|with|from|until)\b", re.IGNORECASE)
_THIRD: Final = re.compile(r"\b(?:he|she|they|his|her|their|hers|theirs|him)\b", re.IGNORECASE)
_FIRST: Final = re.compile(r"\b(?:i|i'm|i've|i'd|me|my|mine|we|our|us)\b", re.IGNORECASE)
_OTHERS: Final = re.compile(
    r"\bmy\s+(?:wife|husband|brother|sister|mother|father|mum|mom|dad|son|daughter|friend|neighbour|neighbor|colleague|"
    r"cousin|aunt|uncle|flatmate|roommate|boss|partner)\b|\b(?!it's|that's|there's|what's|let's|here's)\w+'s\s+\w",
    re.IGNORECASE,
)
_ONLY_NOW: Final = re.compile(
    r"^(?:it'?s\s+)?(?:only|just)\s+(?:the\s+)?(.+?)\s+(?:now|left|remain\w*)\W*$", re.IGNORECASE
)
_INTRANSITIVE: Final = re.compile(
    r"died|passed|split|broke|separated|lifted|switched|shut|closed|retired|decom|expired|ended|is\s|are\s|fell|discon",
    re.IGNORECASE,
)
_ASKED: Final = re.compile(
    r"(?:[,;]|\s-)\s*(?:so\s+|and\s+|but\s+|or\s+)?(?:can|could|would|should|how|what|which|do|does|is|are|will|where|when|"
    r"why|got|have\s+you)\b[^,;]*\?$|(?:[,;]|\s-)\s*(?:so\s+|and\s+)?(?:can|could|should|how|what)\s+(?:you|i|can|do)\b.*$",
    re.IGNORECASE,
)
_CODE: Final = re.compile(
    r"[{}\[\]<>=`\\|]|\w\(|\w_\w|^\s*(?:import|def|class|const|let|var|return|from\s\w+\simport)\b|;$"
)
_GREETING: Final = re.compile(
    r"(?:hey|hi|hello|good\s+(?:morning|evening|to\s+\w+)|thanks|thank\s+you|great|nice|wow|bye|long\s+time|congrat\w*)\b",
    re.IGNORECASE,
)
_UNSURE: Final = re.compile(
    r"\b(?:if|might|maybe|perhaps|probably|would|wish|dream\w*|imagin\w*|thinking\s+(?:of|about)|considering|hope|"
    r"planning|whether|supposedly|apparently|unless|yeah\s+right|rumou?r|(?<!got\s)(?<!get\s)used\s+to|believes?|claims?|pretend\w*|as\s+if)\b|\?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Said:
    """A statement, and what its turn tells about it."""

    text: str
    speaker: str = ""  # may be empty
    is_announced: bool = False  # its turn says that something changed
    day: date | None = None  # when it was said


@dataclass(frozen=True, slots=True)
class _Read:
    """A statement in clauses."""

    pieces: tuple[str, ...]
    clauses: tuple[Clause, ...]


def stated_part(sentence: str) -> str:
    """Returns a sentence without the questions behind it: "I have 45 sources, how can I sort them?"."""
    for _ in range(3):
        match = _ASKED.search(sentence)
        if match is None or not match.start():
            break
        sentence = sentence[: match.start()]
    return sentence


def is_statement(sentence: str) -> bool:
    """Returns whether a sentence may state something: no question, no greeting, no line of code."""
    return not (sentence.endswith("?") or _CODE.search(sentence) or _GREETING.match(sentence)) and any(
        char.isalpha() for char in sentence
    )


def announces(turn: str) -> bool:
    """Returns whether a turn says that something in it replaces what was said before."""
    return ANNOUNCED.search(turn) is not None


def content_words(text: str) -> frozenset[str]:
    """Returns the words of a statement by which others about the same thing are found, in base form."""
    words = {lemma(token.lower) for token in tokenize(text)}
    named = {f"field:{name}" for name, patterns in FIELDS.items() if any(p.search(text) for p in patterns)}
    return frozenset(word for word in words if word not in _LIGHT) | named


def supersedes(earlier: Said, later: Said) -> Relation:
    """Returns UPDATE or CONTRADICT where the later statement takes the place of the earlier one, else another relation.

    Args:
        earlier: The statement that was made first.
        later: The other one.
    """
    is_same_speaker = earlier.speaker.casefold() == later.speaker.casefold()
    if is_same_speaker and _FIRST.search(later.text) and denies(earlier.text, later.text):
        return Relation.CONTRADICT
    if is_same_speaker and requantifies(earlier.text, later.text):
        return Relation.UPDATE
    if len(earlier.text) > CHARS_MAX or len(later.text) > CHARS_MAX or _UNSURE.search(later.text):
        return Relation.UNKNOWN
    if not is_same_speaker and (_FIRST.search(earlier.text) or _FIRST.search(later.text)):
        return Relation.UNRELATED  # what one says of themselves another cannot take back
    if is_same_speaker:
        found = relation(earlier.text, later.text)
        if found in {Relation.UPDATE, Relation.CONTRADICT}:
            return found
    first, second = _read(earlier.text), _read(later.text)
    is_told = later.is_announced
    for b in second.clauses:
        for a in first.clauses:
            if _flipped(a, b) or _replaced(a, b, is_told=is_told):
                return Relation.UPDATE if b.changed or is_told else Relation.CONTRADICT
    if is_same_speaker and _rescheduled(first, second, earlier.day, later.day):
        return Relation.UPDATE
    if is_same_speaker and (_ended(first, second) or _opposed(earlier.text, later.text) or _only(first, second)):
        return Relation.UPDATE
    if is_same_speaker and _same_field(earlier.text, later.text, is_told=is_told):
        return Relation.UPDATE
    return Relation.UNRELATED


@lru_cache(maxsize=4_096)
def _read(text: str) -> _Read:
    plain = _SINCE_THEN.sub("", _COME_TO.sub("I now ", _ROLE_SUBJECTS.sub("", text)))
    pieces = tuple(_pieces(plain))
    clauses = tuple(clause for piece in pieces for clause in read_clauses(piece) or ())
    return _Read(pieces, clauses)


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for match in _CUT.finditer(text):
        piece = text[start : match.start()]
        if _SCOPE_OPENS.match(piece.strip()) and len(piece.split()) < 8:
            continue  # "at weddings, I ...": the scope belongs to what follows
        if piece.strip():
            yield piece.strip()
        start = match.end()
    if text[start:].strip():
        yield text[start:].strip()


def _is_plain(clause: Clause) -> bool:
    return clause.modality is Modality.STATED and not clause.historic


def _same_subject(a: Clause, b: Clause) -> bool:
    """The same person or thing, named or in the first person; never "she" or "it"."""
    first = [item for item in a.subject if item not in _TIMES]
    second = [item for item in b.subject if item not in _TIMES]
    if a.possessors != b.possessors or set(map(str, first)) != set(map(str, second)):
        return False
    return not first or not set(map(str, first)) <= {"he", "she", "it", "they", "you", "that", "this"}


def _things(clause: Clause) -> list[Item]:
    """What a clause is about beside its subject, without times."""
    return [
        item
        for item in clause.rest
        if item not in _TIMES
        and item not in _OWNERS
        and not (isinstance(item, Value) and item.kind in {ValueKind.DATE, ValueKind.TIME})
    ]


def _scopes(clause: Clause) -> set[Item]:
    return {item for item in _things(clause) if clause.prepositions.get(item) in _SCOPES}


def _flipped(a: Clause, b: Clause) -> bool:
    """One denies what the other says: "I don't drink coffee", "I drink coffee now"."""
    if not (_is_plain(a) and _is_plain(b)) or a.negated == b.negated or a.verb != b.verb or not _same_subject(a, b):
        return False
    if (a.past and not b.past and a.verb != "be") or b.temporary:
        return False
    first: list[Item] = [item for item in _things(a) if not isinstance(item, Value)]
    second: list[Item] = [item for item in _things(b) if not isinstance(item, Value)]
    if not first or not second:
        return not first and not second and bool(a.subject) and bool(a.verb) and a.verb not in {"be", "have", "do"}
    only_a, only_b = unshared(first, second)
    if only_a and only_b:
        # "coffee, three cups before nine": what follows the thing itself does not matter where the change is said.
        return bool(b.changed) and first[0] == second[0] and len(only_a) <= 1 and not _scopes(a) ^ _scopes(b)
    return not any(item in _scopes(a) | _scopes(b) for item in (*only_a, *only_b)) and first[0] == second[0]


def _replaced(a: Clause, b: Clause, *, is_told: bool) -> bool:
    """The same slot has another value: "My manager is Helene", "my manager is Colm"."""
    if not (_is_plain(a) and _is_plain(b)) or a.negated or b.negated or not a.subject or not _same_subject(a, b):
        return False
    if a.verb != b.verb or not a.verb or b.temporary or (b.past and not b.perfect) or a.past != b.past:
        return False
    first, second = _slot(a), _slot(b)
    if not first or not second or _wants_to_do(a) or _wants_to_do(b):
        return False
    only_a, only_b = unshared(first, second)
    if not only_a or not only_b or _scopes_differ(a, b, first, second):
        return False
    return _is_single(a, only_a, only_b) or (
        (b.changed or is_told) and _takes_the_place(a, first, second, only_a, only_b, is_said=b.changed)
    )


def _rescheduled(first: _Read, second: _Read, earlier: date | None, later: date | None) -> bool:
    """The same thing is on another day: "the inspection is tomorrow", said again a day later."""
    if earlier is None or later is None:
        return False
    for a in first.clauses:
        for b in second.clauses:
            old, new = _day_named(a.words, earlier), _day_named(b.words, later)
            if old is None or new is None or old == new or later > old:
                continue
            if _is_plain(a) and _is_plain(b) and a.verb == b.verb == "be" and _same_subject(a, b) and _is_definite(a):
                return True
    return False


def _is_definite(clause: Clause) -> bool:
    return bool(clause.subject) and clause.words[0] in {"the", "my", "our"}


def _day_named(words: Sequence[str], said: date) -> date | None:
    """The day that a clause speaks of, by when it was said."""
    for word in words:
        if word in _DAYS_AHEAD:
            return said + timedelta(days=_DAYS_AHEAD[word])
        if word in _WEEK:
            return said + timedelta(days=(_WEEK.index(word) - said.weekday() - 1) % 7 + 1)
    return None


def _wants_to_do(clause: Clause) -> bool:
    """As in "I want to make sure": a wish to do something, beside which there are others."""
    return any(before == clause.verb and word == "to" for before, word in pairwise(clause.words)) and clause.verb in {
        "want", "prefer", "need", "like", "love", "hope", "plan", "begin", "start", "have",
    }  # fmt: skip


def _takes_the_place(
    a: Clause,
    first: Sequence[Item],
    second: Sequence[Item],
    only_a: Sequence[Item],
    only_b: Sequence[Item],
    *,
    is_said: bool,
) -> bool:
    values = [[item for item in side if isinstance(item, Value)] for side in (only_a, only_b)]
    if values[0] and values[1] and len(first) - len(only_a) == len(second) - len(only_b):
        return any(match_values(x, y) is Match.DIFFERENT for x in values[0] for y in values[1])
    if a.verb in _SHARED_VERBS or (a.verb == "be" and not _has_role(a)) or a.verb == "have":
        return False
    shares_head = first[-1] == second[-1] or bool(set(map(str, first)) & set(map(str, second)))
    return shares_head or a.verb in _ONE_AT_A_TIME or (is_said and len(first) == len(second) == 1)


def _is_single(a: Clause, only_a: Sequence[Item], only_b: Sequence[Item]) -> bool:
    """Whether a second value excludes the first one whatever else is said."""
    if len(only_a) != 1 or len(only_b) != 1:
        return False
    x, y = only_a[0], only_b[0]
    if isinstance(x, Value) and isinstance(y, Value):
        is_number = x.kind in {ValueKind.NUMBER, ValueKind.MONEY, ValueKind.QUANTITY, ValueKind.IDENTIFIER}
        return is_number and a.verb in {"be", "cost", "weigh", "get"} and match_values(x, y) is Match.DIFFERENT
    if {ValueKind.IDENTIFIER} == {v.kind for v in (x, y) if isinstance(v, Value)}:
        return a.verb == "be" and any(str(v)[:1].isdigit() for v in (x, y) if isinstance(v, str))
    if isinstance(x, Value) or isinstance(y, Value):
        return False
    is_name = set(x.split()) <= a.names
    return a.verb == "be" and is_name and _has_role(a) and not set(x.split()) & set(y.split())


def _has_role(a: Clause) -> bool:
    """As in "my manager": a possession of which the owner has one."""
    nouns = [item for item in a.subject if isinstance(item, str) and item not in _OWNERS]
    owned = any(item in _OWNERS for item in a.subject) or bool(a.possessors)
    return owned and bool(nouns) and not any(noun in MULTIPLE_ROLES for noun in nouns)


def _slot(clause: Clause) -> list[Item]:
    """The value of a clause: what has no preposition, else what follows the first one."""
    things = [item for item in clause.rest if item not in _OWNERS and item not in _TIMES]
    bare = [item for item in things if not clause.prepositions.get(item)]
    scoped = [item for item in things if clause.prepositions.get(item)]
    if clause.verb in _ONE_AT_A_TIME and scoped and things[0] == scoped[0]:
        return scoped[:1]
    return bare or scoped[:1]


def _scopes_differ(a: Clause, b: Clause, first: Sequence[Item], second: Sequence[Item]) -> bool:
    """Whether one holds only somewhere where the other need not: "for slides I prefer light"."""
    limits = [
        {item for item in _things(clause) if clause.prepositions.get(item) in {"for", "on", "at", "when", "during"}}
        for clause in (a, b)
    ]
    return limits[0] - set(first) != limits[1] - set(second)


def _ended(first: _Read, second: _Read) -> bool:
    """What the earlier one is about is no more: "Dropped art history", "Bruno died"."""
    for piece in second.pieces:
        match = ENDED.search(piece)
        if match is None or re.search(r"\b(?:not|never|n't|did\s?n't)\b", piece[: match.start()], re.IGNORECASE):
            continue
        gone = _named(piece, match)
        if not gone:
            continue
        for clause in first.clauses:
            if clause.modality not in {Modality.STATED, Modality.HEDGED} or clause.historic or clause.past:
                continue
            if clause.negated and not _INTRANSITIVE.match(match[0]):
                continue
            known = {str(item) for item in (*clause.subject, *clause.rest)}
            known = {word for item in known for word in item.split()} | {*map(lemma, clause.words)}
            if gone <= known and _is_own(clause, piece):
                return True
    return False


def _named(piece: str, match: re.Match[str]) -> frozenset[str]:
    """The nouns that an ending verb is about: its subject where it has a noun, else its object up to a clause end."""
    before = _nouns(piece[: match.start()])
    inner = re.search(r"\blet\b(.{1,20})\bgo\b", match[0], re.IGNORECASE)
    if inner is not None:
        return _nouns(inner[1])
    after = _nouns(
        re.split(r"[,;.!]|\b(?:because|since|on|in|at|and|this|last|for|by|from)\b", piece[match.end() :])[0]
    )
    return before if _INTRANSITIVE.match(match[0]) else after


def _nouns(text: str) -> frozenset[str]:
    words = (lemma(token.lower) for token in tokenize(text))
    return frozenset(
        word
        for word in words
        if word not in _LIGHT
        and word not in _TIMES
        and word not in {"and", "too", "doctor", "consultant", "vet", "had"}
    )


def _is_own(clause: Clause, piece: str) -> bool:
    """Whether both are about the speaker or the thing itself, not about somebody else's."""
    if clause.possessors or _THIRD.search(piece):
        return False
    return not _OTHERS.search(piece) and not any(item in {"he", "she", "they", "you"} for item in clause.subject)


def _opposed(earlier: str, later: str) -> bool:
    """Orders that take each other back about the same thing: "hold all letters", "forward the letters"."""
    for one, other in OPPOSED:
        first, second = one.search(earlier), other.search(later)
        if first is not None and second is not None:
            things = _nouns(earlier[first.end() :]) & _nouns(later[second.end() :])
            if things and not re.search(r"\b(?:not|never|don't)\b", later, re.IGNORECASE):
                return True
    return False


def _only(first: _Read, second: _Read) -> bool:
    """What is left of several things: "only the two cats now" after "two cats and a dog"."""
    for piece in second.pieces:
        match = _ONLY_NOW.match(piece)
        left = _nouns(match[1]) - SMALL_NUMBERS.keys() if match else frozenset()
        if left and any(
            clause.verb == "have" and not clause.negated and left < {str(item) for item in _things(clause)}
            for clause in first.clauses
        ):
            return True
    return False


def _same_field(earlier: str, later: str, *, is_told: bool) -> bool:
    """A state of life that is another one now: "I use Windows", "wiped the disk and put Debian on it"."""
    if (
        not (CHANGED.search(later) or is_told)
        or _UNSURE.search(earlier)
        or _THIRD.search(later)
        or _OTHERS.search(later)
    ):
        return False
    if _OTHERS.search(earlier) or _THIRD.search(earlier) or _SCOPE_OPENS.match(later):
        return False
    for before, after in FIELDS.values():
        old = {match[0].casefold() for match in before.finditer(earlier)}
        new = {match[0].casefold() for match in after.finditer(later)}
        if old and new and not old & new and _same_person(earlier, later):
            return True
    return False


def _same_person(earlier: str, later: str) -> bool:
    """Both in the first person, or about the same name."""
    first, second = _names(earlier), _names(later)
    if _FIRST.search(earlier):
        return bool(_FIRST.search(later)) or all(not clause.subject for clause in _read(later).clauses)
    subject = next(iter(read.subject for read in _read(earlier).clauses if read.subject), ())
    named = {word for item in subject for word in str(item).split()} & first
    return bool(named) and named <= second


def _names(text: str) -> set[str]:
    return {token.lower for token in tokenize(text) if token.text[:1].isupper()}

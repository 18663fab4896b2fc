"""Whether a later statement of a conversation ends an earlier one (SPEC 3.5).

`compare` reads two statements as they stand. In a conversation there is more to know: who speaks, whether the turn
announces a change, and that a sentence has more clauses than the one that matters. Every rule demands the same subject
or the thing itself, and none holds for what is hedged, reported, conditional or asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import Final

from services.common.values.belongings import ROLES
from services.common.values.compare import relation
from services.common.values.complements import KIN, are_contrasted
from services.common.values.conditions import passes_over
from services.common.values.denials import denies, happens_after_all
from services.common.values.endings import goes_with_it, is_deed_of_person, is_of_another_party
from services.common.values.everyday import abstains, goes_otherwise, is_born, is_left_out, rescheduled
from services.common.values.fields import CHANGED, ENDED, FIELDS
from services.common.values.frames import main_part, takes_another_end
from services.common.values.irony import is_ironic
from services.common.values.lexicon import SMALL_NUMBERS, VERBS
from services.common.values.life import turns_a_life
from services.common.values.model import Modality, Relation
from services.common.values.newness import plainly
from services.common.values.orders import are_opposed, in_plain_form, is_taken_off
from services.common.values.reading import CHARS_MAX, Clause, read_clauses
from services.common.values.restated import gives_another_number
from services.common.values.sentences import nouns_of
from services.common.values.slots import is_denied, is_replaced, things_of
from services.common.values.succession import begins, succeeds, was_so
from services.common.values.tokens import lemma, tokenize
from services.common.values.topics import requantifies

_CLAUSES_CHARS_MAX: Final = 400
"""In longer sentences only what they are about is compared: their clauses belong together in too many ways."""
_ROLE_SUBJECTS: Final = re.compile(
    r"^(?:(?:the|my|our)\s+)?"
    r"(?:vet|doctor|dentist|consultant|nurse|landlord|teacher|school|garage|pharmacist|tests?|results?|scan|survey|"
    r"surveyor|scales?|lease|agreement|valuer|statement|meter|manual|label|contract|invoice|plate|blood\s+test)\s+"
    r"(?:says?|said|shows?|showed|told\s+me|confirmed|wants)\s+(?:that\s+)?",
    re.IGNORECASE,
)
_HATED: Final = re.compile(r"\b(?:hates?|dislikes?|loathes?|detests?|can(?:'t|not) (?:stand|bear))\b", re.IGNORECASE)
_LOVED: Final = re.compile(r"\b(?:love|adore|enjoy)(?P<ending>s?)\b", re.IGNORECASE)
_COME_TO: Final = re.compile(r"\b(?:I've|I have|i've|i have|we've|we have) (?:come|grown|learned|learnt) to (?=\w)")
_OPENS: Final = r"(?:I|i|i'm|I'm|i've|I've|we|We|my|My|our|please|don't|[A-Z]\w+ (?:is|was|has|are|goes|eats|takes|\w+ed)|the (?:\w+ ){1,3}(?:doesn't|isn't|won't|can't)|the \w+ (?:is|was|has|are|gets|costs|takes|goes|\w+s))\b"  # noqa: E501
_CUT: Final = re.compile(
    rf"\s{{0,9}}[,:;]\s{{0,9}}(?:(?:and|but|so|because)\s{{1,9}})?(?={_OPENS})|\s{{1,9}}(?:and|but|so|because)\s{{1,9}}(?={_OPENS})|\s{{1,9}}-{{1,9}}\s{{1,9}}|"
    r"\s{0,9},\s{0,9}(?=(?:no|not|never|since|thanks\sto)\b)|"
    r"\s{0,9},\s{0,9}(?=(?:for|because\sof|out\sof)\s(?:the|my|our)\s[\w\s-]{2,40}[.!]?$)"
)
"""Where clauses end. A reason put behind a comma limits nothing: "my editor is VS Code now, for the debugger"."""
_SINCE_THEN: Final = re.compile(
    r"^(?:after|since|following|as\s+of|with\s+effect\s+from|starting|beginning)\s+(?:the|our|my|this|next|last)\s+"
    r"\w+(?:\s+\w+)?,?\s+(?=(?:my|our|i|we|the|there)\b)",
    re.IGNORECASE,
)
_WITH_NEW: Final = re.compile(
    r"^new\s+\w+\s*[:,]|\b(?:with|since|thanks\s+to|because\s+of|after)\s+(?:the|my|our|a|an)\s+new\b", re.IGNORECASE
)
"""Says that something about the matter is new: "new schedule: ...", "with the new oven ..."."""
_CAUSED: Final = re.compile(
    r"\b(?:[Hh]ave|[Hh]ad|[Gg]ot|[Gg]et)\s+(?P<what>(?:(?:the|my|our)\s+\w|[A-Z])[^,;.]{0,40})\s$"
)
"""Somebody lets it be done to something: "we had Pluto put down"."""
_AFTER_THAT: Final = re.compile(r"^(?:after|following|as\s+of|starting|beginning)\s+the\s+\w+", re.IGNORECASE)
"""Opens what has changed by an event: "after the sale my landlord is ..."."""
_SCOPE_OPENS: Final = re.compile(r"^(?:for|at|on|in|when|if|during|as|unless|while|with|from|until)\b", re.IGNORECASE)
THIRD: Final = re.compile(r"\b(?:he|she|they|his|her|their|hers|theirs|him)\b", re.IGNORECASE)
_I: Final = re.compile(r"^(?:i|we|i've|we've|i'm|we're)\b", re.IGNORECASE)
_FIRST: Final = re.compile(r"\b(?:i|i'm|i've|i'd|me|my|mine|we|our|us)\b", re.IGNORECASE)
OTHERS: Final = re.compile(
    r"\bmy\s+(?:wife|husband|brother|sister|mother|father|mum|mom|dad|son|daughter|friend|neighbour|neighbor|colleague|"
    r"cousin|aunt|uncle|flatmate|roommate|boss|partner|parents|grandparents|grandmother|grandfather|niece|nephew|kids|"
    r"children|in-laws|mother-in-law|father-in-law)\b|\b(?!it's|that's|there's|what's|let's|here's)\w+'s\s+\w",
    re.IGNORECASE,
)
_ONLY_NOW: Final = re.compile(
    r"^(?:it'?s\s+)?(?:only|just)\s+(?:the\s+)?(.+?)\s+(?:now|left|remain\w*)\W*$", re.IGNORECASE
)
_FOR_A_WHILE: Final = re.compile(r"\b(?:during|while)\s+(?:the|my|our|his|her|i'm|we're|[A-Z])", re.IGNORECASE)
"""Under these the later one holds for a while, and takes nothing back."""
_NEVER: Final = re.compile(r"\b(?:i|we)(?:'ve|\s+have)\s+never\b", re.IGNORECASE)
_WILL: Final = re.compile(
    r"\b(?:i|we)(?:'ll|'m\s+going\s+to|'re\s+going\s+to|\s+(?:will|shall|want\s+to|plan\s+to))\b", re.IGNORECASE
)
_NO_LONGER: Final = re.compile(r"\bno\s+longer\s+(?P<verb>\w+)", re.IGNORECASE)
_HELD_AT: Final = frozenset({"job", "home", "school"})
"""Fields whose state is somewhere: the same place is the same state."""
_ELLIPSES: Final = frozenset({("can", "not"), ("could", "not"), ("will", "not"), ("have", "not")})
_THEY_TO_ME: Final = re.compile(r"^they\s(?:have\s)?(?=\w+\s(?:me|us)\b)", re.IGNORECASE)
_ALSO: Final = re.compile(r"\b(?:too|also|as\s+well)\b", re.IGNORECASE)
_TO_OTHERS: Final = re.compile(r"\byours?\b|\bsorry\b", re.IGNORECASE)
"""What is said to somebody about their life."""
_NOT_SO: Final = re.compile(r"(?:\bnot|\bnever|n't)\s+(?:\w+\s+)?$", re.IGNORECASE)
_UNDERGONE: Final = re.compile(r"\b(?:is|are|was|were|been|be|got|gets)\s+$", re.IGNORECASE)
_INTRANSITIVE: Final = re.compile(
    r"died|crossed|passed|found|came\s+off|ran\s+away|burn|healed|wore\s+off|cleared\s+up|dissolved|disbanded|(?:has|have|had)\s+left|split|broke|separated|lifted|switched|shut|closed|retired|decom|expired|ended|is\s|are\s|fell|discon",
    re.IGNORECASE,
)
UNSURE: Final = re.compile(
    r"\b(?:if|might|maybe|perhaps|probably|would|wish|dream\w*|imagin\w*|thinking\s+(?:of|about)|considering|hope|"
    r"planning|nearly|almost|whether|supposedly|apparently|unless|yeah\s+right|rumou?r|(?<!got\s)(?<!get\s)used\s+to|believes?|claims?|pretend\w*|as\s+if)\b|\?",
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
class Read:
    """A statement in clauses."""

    pieces: tuple[str, ...]
    clauses: tuple[Clause, ...]


def supersedes(earlier: Said, later: Said) -> Relation:
    """Returns UPDATE or CONTRADICT where the later statement takes the place of the earlier one, else another relation.

    Args:
        earlier: The statement that was made first.
        later: The other one.
    """
    is_same_speaker = earlier.speaker.casefold() == later.speaker.casefold()
    if is_same_speaker and (found := _by_topic(earlier.text, later.text)) is not None:
        return found
    if len(earlier.text) > _CLAUSES_CHARS_MAX or len(later.text) > _CLAUSES_CHARS_MAX or UNSURE.search(later.text):
        return Relation.UNKNOWN
    if are_contrasted(earlier.text, later.text):
        return Relation.COMPATIBLE
    if is_ironic(later.text) or is_ironic(earlier.text):
        return Relation.UNKNOWN
    if _FOR_A_WHILE.search(later.text) and not _FOR_A_WHILE.search(earlier.text):
        return Relation.COMPATIBLE
    if not is_same_speaker and (_FIRST.search(earlier.text) or _FIRST.search(later.text)):
        return Relation.UNRELATED  # what one says of themselves another cannot take back
    if is_same_speaker:
        found = relation(earlier.text, later.text)
        if found in {Relation.UPDATE, Relation.CONTRADICT}:
            return found
    if is_same_speaker and takes_another_end(earlier.text, later.text):
        return Relation.UPDATE
    return _read_plainly(earlier, later, is_same_speaker=is_same_speaker)


def _read_plainly(earlier: Said, later: Said, *, is_same_speaker: bool) -> Relation:
    """What two statements say without the words that tell since when."""
    plain, is_dated = plainly(later.text)
    later = replace(later, text=f"{plain} now" if is_dated else plain, is_announced=later.is_announced or is_dated)
    one, other = in_plain_form(plainly(earlier.text)[0], later.text)
    earlier, later = replace(earlier, text=one), replace(later, text=other)
    if is_same_speaker and gives_another_number(earlier.text, later.text, is_told=later.is_announced):
        return Relation.UPDATE
    if is_same_speaker and any(is_taken_off(earlier.text, piece) for piece in read_statement(later.text).pieces):
        return Relation.UPDATE
    if is_same_speaker:
        found = relation(main_part(earlier.text), main_part(later.text))
        if found in {Relation.UPDATE, Relation.CONTRADICT}:
            return found
    first, second = read_statement(earlier.text), read_statement(later.text)
    is_announced = any(pattern.search(later.text) for pattern in (_AFTER_THAT, _WITH_NEW)) or later.is_announced
    told = [is_announced or _was_named(a, second) for a in first.clauses]
    for b in second.clauses:
        for a, is_told in zip(first.clauses, told, strict=True):
            if is_same_speaker and (succeeds(a, b, is_told=is_told) or begins(a, b)):
                return Relation.UPDATE
            if is_denied(a, b) or is_replaced(a, b, is_told=is_told):
                return Relation.UPDATE if b.changed or is_told else Relation.CONTRADICT
    if is_same_speaker and rescheduled(first.clauses, second.clauses, earlier.day, later.day):
        return Relation.UPDATE
    if is_same_speaker and (_ended(first, second) or goes_with_it(first.clauses, earlier.text, second.pieces)):
        return Relation.UPDATE
    if passes_over(first.pieces, second.pieces) and (is_same_speaker or not _FIRST.search(earlier.text)):
        return Relation.UPDATE
    if is_same_speaker and (_told_otherwise(earlier.text, later.text, is_told=is_announced) or _only(first, second)):
        return Relation.UPDATE
    return Relation.UNRELATED


def _by_topic(earlier: str, later: str) -> Relation | None:
    """What a common topic tells, in sentences of any length."""
    if _FIRST.search(later) and denies(earlier, later):
        return Relation.CONTRADICT
    if happens_after_all(earlier, later) or requantifies(earlier, later) or _was_so(earlier, later):
        return Relation.UPDATE
    if _NEVER.search(earlier) and _WILL.search(later):
        return Relation.COMPATIBLE  # what was never done may be done yet
    return None


def _was_named(a: Clause, later: Read) -> bool:
    """The earlier value is spoken of in the past: "The Aurora was full, we stay at the Flor"."""
    values = {word for item in a.rest if isinstance(item, str) for word in item.split() if word in a.names}
    return any(c.past and c.verb == "be" and {str(item) for item in c.subject} & values for c in later.clauses)


def _was_so(earlier: str, later: str) -> bool:
    """The later one puts the earlier one into the past: "I used to live in Lyon"."""
    if "used to" not in later or len(earlier) > CHARS_MAX or len(later) > CHARS_MAX:
        return False
    return any(was_so(a, b) for a in read_statement(earlier).clauses for b in read_statement(later).clauses)


def _told_otherwise(earlier: str, later: str, *, is_told: bool) -> bool:
    """A change of the speaker's life, or of an order, in other words."""
    first, second = read_statement(earlier), read_statement(later)
    if any(is_left_out(a, piece) for a in first.clauses for piece in second.pieces):
        return True
    if (is_told or CHANGED.search(later) is not None) and goes_otherwise(earlier, later):
        return True
    if not OTHERS.search(earlier) and not OTHERS.search(later) and abstains(earlier, later):
        return True
    return is_born(earlier, later) or are_opposed(earlier, later) or _same_field(earlier, later, is_told=is_told)


@lru_cache(maxsize=4_096)
def read_statement(text: str) -> Read:
    """Returns a statement in clauses. What a doctor or a test says is read as the speaker's own."""
    text = _LOVED.sub(r"like\g<ending>", _HATED.sub("do not like", text))
    plain = _SINCE_THEN.sub("", _COME_TO.sub("I now ", _ROLE_SUBJECTS.sub("", text)))
    pieces = tuple(_pieces(plain))
    clauses = tuple(clause for piece in pieces for clause in read_clauses(piece) or ())
    for clause in clauses:
        if not clause.subject and clause.words[:2] in _ELLIPSES:
            clause.subject = ("i",)  # "can't type for six weeks"
    for before, clause in pairwise(clauses):
        is_kin = any(word in KIN for item in before.subject for word in str(item).split())
        if clause.subject in {("she",), ("he",)} and is_kin and not set(map(str, before.rest)) & before.names:
            clause.subject = before.subject  # "my mother has moved, she lives in Oban now"
    return Read(pieces, clauses)


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for match in _CUT.finditer(text):
        piece = text[start : match.start()]
        if match[0].strip() == "and" and len(piece.split()) == 1 and not start:
            continue  # "Olga and I"
        if _SCOPE_OPENS.match(piece.strip()) and len(piece.split()) < 8:
            continue  # "at weddings, I ...": the scope belongs to what follows
        if piece.strip():
            yield piece.strip()
        start = match.end()
    if text[start:].strip():
        yield text[start:].strip()


def _ended(first: Read, second: Read) -> bool:
    """What the earlier one is about is no more: "Dropped art history", "Bruno died"."""
    for piece in second.pieces:
        match = ENDED.search(piece)
        if match is None or re.search(r"\b(?:not|never|n't|did\s?n't)\b", piece[: match.start()], re.IGNORECASE):
            continue
        gone = _named(piece, match)
        if not gone:
            continue
        deed = _NO_LONGER.search(piece)
        if deed is not None:
            gone -= {lemma(deed["verb"].casefold())}
        for clause in first.clauses:
            if clause.modality not in {Modality.STATED, Modality.HEDGED} or clause.historic or clause.past:
                continue
            if clause.negated and not _INTRANSITIVE.match(match[0]):
                continue
            known = {str(item) for item in (*clause.subject, *clause.rest)}
            known = {word for item in known for word in item.split()} | {*map(lemma, clause.words)}
            is_others = (_I.match(piece) and _is_of_others(clause)) or is_of_another_party(clause, piece)
            if gone <= known and not is_others and _is_own(clause, piece):
                return True
    return False


def _named(piece: str, match: re.Match[str]) -> frozenset[str]:
    """The nouns that an ending verb is about: its subject where it has a noun, else its object up to a clause end."""
    caused = _CAUSED.search(piece[: match.start()])
    if caused is not None:
        return nouns_of(caused["what"])
    before = nouns_of(piece[: match.start()])
    inner = re.search(r"\blet\b(.{1,20})\bgo\b", match[0], re.IGNORECASE)
    if inner is not None:
        return nouns_of(inner[1])
    after = nouns_of(
        re.split(r"[,;.!]|\b(?:because|since|on|in|at|and|this|last|for|by|from)\b", piece[match.end() :])[0]
    )
    is_subject = _INTRANSITIVE.match(match[0]) or _UNDERGONE.search(piece[: match.start()])
    return before if is_subject else after


def _is_own(clause: Clause, piece: str) -> bool:
    """Whether both are about the speaker or the thing itself, not about somebody else's."""
    if clause.possessors or THIRD.search(piece):
        return False
    return not OTHERS.search(piece) and not any(item in {"he", "she", "they", "you"} for item in clause.subject)


def _is_of_others(clause: Clause) -> bool:
    """Whether a clause is about a relative of the speaker: "my husband smokes"."""
    return bool(_subject(clause) & (KIN | ROLES))


def _subject(clause: Clause) -> set[str]:
    return {word for item in clause.subject for word in str(item).split()}


def _only(first: Read, second: Read) -> bool:
    """What is left of several things: "only the two cats now" after "two cats and a dog"."""
    for piece in second.pieces:
        match = _ONLY_NOW.match(piece)
        left = nouns_of(match[1]) - SMALL_NUMBERS.keys() if match else frozenset()
        if left and any(
            clause.verb == "have" and not clause.negated and left < {str(item) for item in things_of(clause)}
            for clause in first.clauses
        ):
            return True
    return False


def _same_field(earlier: str, later: str, *, is_told: bool) -> bool:
    """A state of life that is another one now: "I use Windows", "wiped the disk and put Debian on it"."""
    if UNSURE.search(earlier) or _ALSO.search(later) or _TO_OTHERS.search(later) or _SCOPE_OPENS.match(later):
        return False
    if _turns_a_life(earlier, later):
        return True
    if not (CHANGED.search(later) or is_told) or THIRD.search(later) or OTHERS.search(later):
        return False
    if (
        OTHERS.search(earlier)
        or THIRD.search(earlier)
        or any(map(is_deed_of_person, read_statement(earlier).clauses[:1]))
    ):
        return False
    for field, (before, after) in FIELDS.items():
        old = {match[0].casefold() for match in before.finditer(earlier)}
        new = {match[0].casefold() for match in after.finditer(later) if not _NOT_SO.search(later[: match.start()])}
        if (
            old
            and new
            and not old & new
            and _same_person(earlier, later)
            and not (field in _HELD_AT and _repeats(earlier, later, old))
        ):
            return True
    return False


def _turns_a_life(earlier: str, later: str) -> bool:
    """An event of the speaker's own life. People whom it mentions are not taken for the ones it happened to."""
    told = _THEY_TO_ME.sub("i was ", later)
    first, second = _up_to_others(earlier), _up_to_others(told)
    if not _FIRST.search(first) or THIRD.search(first) or THIRD.search(second):
        return False
    clauses = read_statement(told).clauses
    if clauses and _subject(clauses[0]) & ROLES:
        return False
    is_own = _FIRST.search(second) is not None or not (clauses and clauses[0].subject)
    return turns_a_life(first, second, is_own=is_own)


def _up_to_others(text: str) -> str:
    """A statement up to where somebody else of the speaker's is named: "I live with [my parents]"."""
    match = OTHERS.search(text)
    return text if match is None else text[: match.start()]


def _repeats(earlier: str, later: str, field: set[str]) -> bool:
    """Whether all else that the earlier statement names stands in the later one: it says the same in other words."""
    named = {word for word in nouns_of(earlier) if word not in field and word not in VERBS}
    return bool(named) and named <= nouns_of(later)


def _same_person(earlier: str, later: str) -> bool:
    """Both in the first person, or about the same name."""
    first, second = _names(earlier), _names(later)
    if _FIRST.search(earlier):
        return bool(_FIRST.search(later)) or all(not clause.subject for clause in read_statement(later).clauses)
    named = next((_subject(read) for read in read_statement(earlier).clauses if read.subject), set()) & first
    return bool(named) and named <= second


def _names(text: str) -> set[str]:
    return {token.lower for token in tokenize(text) if token.text[:1].isupper()}

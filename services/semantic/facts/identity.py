"""When two statements mean the same fact, and when two facts exclude each other."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from services.common.knowledge.slots import EVENTS, named, slot_of
from services.common.scope import Scope
from services.common.values.comparison.compare import relation
from services.common.values.comparison.namesakes import are_namesakes
from services.common.values.model import Relation
from services.common.values.reading.clauses import read_clauses
from services.semantic.facts.extraction.vocabulary import PREDICATES
from services.semantic.facts.model import FactDraft, FactRecord

_NOT_WORD: Final = re.compile(r"[^\w£$€%+#]+")
_LEADING: Final = frozenset(("a", "an", "the", "their", "his", "her", "my", "our", "your", "some"))
_INDEFINITE: Final = re.compile(r"(?:an?|some)\s", re.IGNORECASE)
_EMPLOYMENT: Final = frozenset({"works_at", "starts_job"})
_LEFT: Final = "left_job"


class Exclusion(Enum):
    """What follows for the earlier one of two facts from the later one."""

    NONE = "none"
    LINKED = "linked"
    """Both cannot hold, and nothing says which does: they are linked, and both go on."""
    ENDED = "ended"
    """It holds no more."""


_BY_TEXT: Final = {Relation.UPDATE: Exclusion.ENDED, Relation.CONTRADICT: Exclusion.LINKED}


@dataclass(frozen=True, slots=True)
class Keys:
    """What a draft is found by."""

    identity: bytes
    text_identity: bytes
    topic: bytes | None
    former: bytes | None = None  # the identity that was stored while predicates counted as they were written

    @property
    def is_by_text(self) -> bool:
        """Whether subject, predicate or object is not known, so that only the text carries the meaning."""
        return self.identity == self.text_identity


def normalised(text: str) -> str:
    """A text without case, punctuation and a leading article: equal for "The Fox" and "fox"."""
    words = _NOT_WORD.sub(" ", text.casefold()).split()
    if len(words) > 1 and words[0] in _LEADING:
        words = words[1:]
    return " ".join(words)


def keys_of(draft: FactDraft, scope: Scope) -> Keys:
    """The keys of a draft. Facts of different scopes are different facts: their readers are not the same.

    Two statements mean the same if subject, predicate and object do; where one of these is not known, if the texts do.
    What happened once is the same only on the same day.
    """
    text_identity = _digest(scope.key, normalised(draft.text))
    if not (draft.subject and draft.predicate and draft.object):
        return Keys(text_identity, text_identity, None)
    predicate = named(draft.predicate)
    day: list[str] = []
    if predicate in EVENTS and draft.valid_from is not None:
        day.append(draft.valid_from.date().isoformat())
    subject, value, topic = normalised(draft.subject), normalised(draft.object), _topic(draft)
    return Keys(
        _digest(scope.key, subject, predicate, value, *day),
        text_identity,
        None if topic is None else _digest(scope.key, subject, topic),
        None if predicate == draft.predicate else _digest(scope.key, subject, draft.predicate, value),
    )


def is_open(draft: FactDraft) -> bool:
    """Whether the text of a fact says what it excludes: its slot is not known, or is one of a caller's own words."""
    return not (draft.subject and draft.object and is_known_slot(draft.predicate))


def is_known_slot(predicate: str) -> bool:
    """Whether a predicate is one of the rules, or says itself that it takes one value or denies one."""
    slot = slot_of(predicate)
    return bool(predicate) and (slot.takes_one or slot.is_denied or slot.name in PREDICATES)


def joint_topic(*records: FactRecord) -> bytes:
    """The topic of facts that have none of their own, and of which the text of one excludes another: of any order."""
    return _digest("texts", *sorted(record.text_identity.hex() for record in records)[:1])


def exclusion(earlier: FactDraft, later: FactDraft) -> Exclusion:
    """What follows from the later one of two facts of one topic.

    Where the slot of one is not known, the value guard decides by their texts (SPEC 3.5): what is said to have changed
    ends, and what contradicts each other is linked. A fact that says several things is linked too: the rest of it may
    still hold. Two people of one name, such as a brother and a friend, exclude nothing of each other.
    """
    if are_namesakes(earlier.text, later.text):
        return Exclusion.NONE
    both_known = all(draft.subject and draft.predicate and draft.object for draft in (earlier, later))
    if both_known:
        if exclude_each_other(earlier, later):
            return Exclusion.ENDED
        if not is_open(earlier) or not is_open(later) or not _are_of_one_slot(earlier, later):
            return Exclusion.NONE
    found = _BY_TEXT.get(relation(earlier.text, later.text), Exclusion.NONE)
    says_more = found is Exclusion.ENDED and len(read_clauses(earlier.text) or ()) > 1
    return Exclusion.LINKED if says_more else found


def _are_of_one_slot(one: FactDraft, other: FactDraft) -> bool:
    is_same = slot_of(one.predicate).name == slot_of(other.predicate).name
    return is_same and normalised(one.subject) == normalised(other.subject)


def exclude_each_other(one: FactDraft, other: FactDraft) -> bool:
    """Whether two facts of one topic cannot both hold at one time.

    A narrower value does not exclude a wider one: somebody who lives in Leeds lives in "Leeds, England" too.
    """
    predicates = {named(one.predicate), named(other.predicate)}
    if _LEFT in predicates:
        return len(predicates) == 2 and normalised(one.object) == normalised(other.object)
    slot, other_slot = slot_of(one.predicate), slot_of(other.predicate)
    if slot.is_denied or other_slot.is_denied:
        return slot.is_denied != other_slot.is_denied and _value(one.object) == _value(other.object)
    if not slot.takes_one and predicates.isdisjoint(_EMPLOYMENT):
        return False
    words, others = set(normalised(one.object).split()), set(normalised(other.object).split())
    return not (words <= others or others <= words)


def _topic(draft: FactDraft) -> str | None:
    predicate = named(draft.predicate)
    if predicate in _EMPLOYMENT or predicate == _LEFT:
        # "A hospital" names no employer: it may be the same as any other.
        return None if _INDEFINITE.match(draft.object) else "employer"
    slot = slot_of(predicate)
    if slot.takes_one:
        return slot.name
    return None if predicate in EVENTS else f"{slot.name} {_value(draft.object)}"


def _value(text: str) -> str:
    """A value without the difference of "peanut" and "peanuts", of "meat" and "any meat"."""
    return normalised(text).removeprefix("any ").removesuffix("s")


def _digest(*parts: str) -> bytes:
    return hashlib.blake2b("\x1e".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()

"""When two statements mean the same fact, and when two facts exclude each other."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from services.common.scope import Scope
from services.semantic.facts.model import FactDraft
from services.semantic.facts.slots import EVENTS, slot_of

_NOT_WORD: Final = re.compile(r"[^\w£$€%+#]+")
_LEADING: Final = frozenset(("a", "an", "the", "their", "his", "her", "my", "our", "your", "some"))
_INDEFINITE: Final = re.compile(r"(?:an?|some)\s", re.IGNORECASE)
_EMPLOYMENT: Final = frozenset({"works_at", "starts_job"})
_LEFT: Final = "left_job"


@dataclass(frozen=True, slots=True)
class Keys:
    """What a draft is found by."""

    identity: bytes
    text_identity: bytes
    topic: bytes | None

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
    parts = [scope.key, normalised(draft.subject), draft.predicate, normalised(draft.object)]
    if draft.predicate in EVENTS and draft.valid_from is not None:
        parts.append(draft.valid_from.date().isoformat())
    topic = _topic(draft)
    return Keys(
        _digest(*parts),
        text_identity,
        None if topic is None else _digest(scope.key, normalised(draft.subject), topic),
    )


def exclude_each_other(one: FactDraft, other: FactDraft) -> bool:
    """Whether two facts of one topic cannot both hold at one time.

    A narrower value does not exclude a wider one: somebody who lives in Leeds lives in "Leeds, England" too.
    """
    if _LEFT in {one.predicate, other.predicate}:
        return one.predicate != other.predicate and normalised(one.object) == normalised(other.object)
    slot, other_slot = slot_of(one.predicate), slot_of(other.predicate)
    if slot.is_denied or other_slot.is_denied:
        return slot.is_denied != other_slot.is_denied and _value(one.object) == _value(other.object)
    if not slot.takes_one and one.predicate not in _EMPLOYMENT:
        return False
    words, others = set(normalised(one.object).split()), set(normalised(other.object).split())
    return not (words <= others or others <= words)


def _topic(draft: FactDraft) -> str | None:
    predicate = draft.predicate
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

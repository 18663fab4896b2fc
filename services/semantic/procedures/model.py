"""Procedures: learned patterns of how to search and respond, and their outcomes. Pure data and functions."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Final, NamedTuple

from services.common.owners import InteractionId
from services.common.validation import Violations
from services.semantic.config import ProcedureSettings

_SEPARATOR: Final = "\x1f"
_LETTER_OR_DIGIT: Final = re.compile(r"[^\W_]")


class ProcedureKind(IntEnum):
    """What a procedure changes; the numbers are those of the wire format."""

    QUERY_REWRITING = 1
    RETRIEVAL_STRATEGY = 2
    RESPONSE_FORMATTING = 3
    SOURCE_SELECTION = 4
    CO_EDIT = 5
    ERROR_FIX = 6
    REFACTOR = 7


class ProcedureOrigin(IntEnum):
    """How a procedure came to be known; the numbers are those of the wire format."""

    STATED = 1
    REPHRASED = 2
    DEFINED = 3
    OBSERVED = 4


@dataclass(frozen=True, slots=True)
class ProcedureDraft:
    """What a procedure does, and for which queries."""

    kind: ProcedureKind
    trigger: str  # words of a query; empty: every query
    action: str
    expands: bool = False  # the action is added behind the trigger
    scope_key: str = "1"

    @property
    def identity(self) -> str:
        """A digest: drafts of one user with equal ones do the same for the same queries."""
        parts = (str(int(self.kind)), _folded(self.trigger), self.action.casefold(), str(self.expands), self.scope_key)
        return hashlib.sha256(_SEPARATOR.join(parts).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Procedure:
    """One learned pattern."""

    procedure_id: str
    draft: ProcedureDraft
    initial_confidence: float  # before the first outcome
    origin: ProcedureOrigin
    create_time: datetime
    update_time: datetime
    etag: str
    confidence: float  # see `confidence_of`
    success_count: int = 0
    failure_count: int = 0
    derived_from: tuple[InteractionId, ...] = ()
    observed_count: int = 0  # tasks of the activity log that show it
    contrary_count: int = 0  # tasks that could have shown it
    learned_from: tuple[tuple[str, str], ...] = ()  # of REPHRASED: ids of a bad recall and a good one; the last ones

    @property
    def outcome_count(self) -> int:
        """How many recalls that applied it were judged."""
        return self.success_count + self.failure_count

    @property
    def source_ids(self) -> tuple[str, ...]:
        """Ids of the interactions and of the recalls that it comes from."""
        return (*self.derived_from, *dict.fromkeys(recall_id for pair in self.learned_from for recall_id in pair))

    @property
    def is_unsupported(self) -> bool:
        """Whether nothing speaks for it any more: it was learned, and its recall's judgement was taken back."""
        return self.origin is ProcedureOrigin.REPHRASED and not self.success_count


@dataclass(frozen=True, slots=True)
class JudgedRecall:
    """A recall with its judgement, from which procedures learn."""

    recall_id: str
    judgement_id: str  # sorts by time
    feedback: int  # -1, 0 or 1
    query: str  # as it was asked; empty where it is too long to learn from, or what the recall returned was erased
    scope_key: str
    time: datetime
    procedure_ids: tuple[str, ...] = ()  # those that it applied, and those that were learned from it


@dataclass(frozen=True, slots=True)
class Observed:
    """A pattern of the activity log as a procedure."""

    draft: ProcedureDraft
    observed_count: int  # tasks, >= 1
    contrary_count: int  # tasks, >= 0


class ProcedurePosition(NamedTuple):
    """The place of a procedure in a list."""

    create_time: datetime
    procedure_id: str


def check_draft(draft: ProcedureDraft, settings: ProcedureSettings) -> None:
    """Checks what a procedure of its kind needs.

    Raises:
        InvalidArgument: It lacks a trigger or an action, is too long, or expands and is no rewriting.
    """
    v = Violations()
    rewrites = draft.kind is ProcedureKind.QUERY_REWRITING
    is_text = v.text("trigger", draft.trigger, chars_max=settings.trigger_chars_max, required=rewrites)
    if is_text and draft.trigger and not _LETTER_OR_DIGIT.search(draft.trigger):
        v.add("trigger", "needs a letter or a digit")
    v.text("action", draft.action, chars_max=settings.trigger_chars_max if rewrites else settings.action_chars_max)
    if draft.expands and not rewrites:
        v.add("expands", "is for QUERY_REWRITING alone")
    v.raise_if_any()


def confidence_of(success_count: int, failure_count: int, *, initial: float, learning_rate: float) -> float:
    """How far a procedure is trusted.

    The share of successes, from two outcomes on. A single outcome says little: it moves the initial confidence by the
    learning rate towards 1 or 0.
    """
    count = success_count + failure_count
    if count == 0:
        return initial
    share = success_count / count
    return share if count > 1 else initial + learning_rate * (share - initial)


def trust_in(procedure: Procedure, counts: tuple[int, int], *, learning_rate: float) -> float:
    """The confidence of a procedure with these successes and failures; tasks that show it count like them."""
    success, failure = counts
    return confidence_of(
        success + procedure.observed_count,
        failure + procedure.contrary_count,
        initial=procedure.initial_confidence,
        learning_rate=learning_rate,
    )


def with_outcome(counts: tuple[int, int], feedback: int, *, before: int) -> tuple[int, int]:
    """Successes and failures after a recall's judgement has changed from `before` to `feedback`; never below zero."""
    success, failure = counts
    success += (feedback > 0) - (before > 0)
    failure += (feedback < 0) - (before < 0)
    return max(success, 0), max(failure, 0)


def _folded(trigger: str) -> str:
    words = " ".join(trigger.split())
    # As they are looked for: words with capitals are found as they are written.
    return words if words != words.lower() else words.casefold()

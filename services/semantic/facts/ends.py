"""Facts whose sentences are superseded (SPEC 3.5): they hold until then.

Ends are computed from the marks when facts are read: a decision about a mark applies to its facts at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol

from services.common.owners import InteractionId, Owner
from services.common.values.beside import is_beside
from services.common.values.sentences import content_words
from services.semantic.config import EvidenceSettings
from services.semantic.facts.model import Fact, FactId
from services.semantic.supersession.model import ClearPolicy

_REDUCED: Final = 0.5
"""What is left of the confidence in facts of which nobody knows which one holds (SPEC 3.5: "both halve")."""


@dataclass(frozen=True, slots=True)
class SentenceMark:
    """What superseded a sentence, or all of a turn."""

    superseded_by: InteractionId  # the turn that stands
    end_time: datetime  # since when the sentence does not hold; aware, UTC
    recorded_time: datetime  # aware, UTC
    standing_statement: str = ""  # of that turn; empty where it corrects the sentence
    premise: str = ""  # what the sentence rests on, and what was superseded in its place; what a correction is about
    is_correction: bool = False  # the sentence never held
    sentence: str = ""  # what is superseded; empty: all of the turn
    is_called_wrong: bool = False  # of a correction: the premise has the words of the sentence that were called wrong
    called_off_time: datetime | None = None  # when it was recorded that what stands was over before the end came


@dataclass(frozen=True, slots=True)
class MarkedStatement:
    """A statement of a fact with what superseded the sentences that it was read in."""

    statement_id: str
    time: datetime  # when it was said; aware, UTC
    is_correction: bool = False
    shares_sentence: bool = False  # another fact was read in one of its sentences
    marks: tuple[SentenceMark, ...] = ()
    doubted_times: tuple[datetime, ...] = ()  # when pairs were recorded in which its sentences are reduced

    @property
    def order(self) -> tuple[datetime, str]:
        """Place among statements, as that of `Statement`."""
        return (self.time, self.statement_id)


class FactMarkStore(Protocol):
    """What every driver must do. `tests/contract/fact_marks.py` is the suite."""

    async def marked(self, owner: Owner, fact_ids: Collection[FactId]) -> Mapping[FactId, Sequence[MarkedStatement]]:
        """Those of the facts of which a mark supersedes or reduces a sentence, each with its newest statements.

        A mark of a whole turn supersedes all of its sentences. Statements whose sentences are not known have no others.
        """
        ...

    async def undecided(
        self, owner: Owner, pairs: Collection[tuple[FactId, FactId]], *, confidence_min: float
    ) -> Collection[FactId]:
        """The first of those pairs about which no mark says anything, in any state.

        A mark is about a pair where it joins sentences of the two; a correction is where it joins turns of the two.
        Pairs are left out that were last confirmed at the same time, and those whose second fact is not active, has an
        end, or is believed less than `confidence_min`.
        """
        ...


def as_marked(
    fact: Fact,
    statements: Sequence[MarkedStatement],
    *,
    known_at: datetime | None = None,
    is_contested: bool = False,
) -> Fact:
    """Returns a fact with the end, the link and the confidence that follow from marks; as it is without any.

    A mark ends a fact that was not said again since: by a statement at the end or later that is not marked itself.
    What is corrected never held, so that a statement from before stands too. Of a sentence with several facts, a mark
    ends those whose words the statement that stands, or the premise, has; a correction those that it is about. The one
    fact of a sentence ends, unless it is beside what changed (`is_beside`). A change to come that was called off ends
    nothing, and no fact ends before it began. A fact whose sentence is reduced is
    believed half as much, until it is said again.

    Args:
        fact: A fact as it follows from its evidence.
        statements: What was said of it.
        known_at: Marks that were recorded later are left out; None: none.
        is_contested: Whether a fact contradicts it of which no mark says which one stands.
    """
    ordered = sorted(statements, key=lambda statement: statement.order)
    corrections = [number for number, statement in enumerate(ordered) if statement.is_correction]
    current = ordered[corrections[-1] :] if corrections else ordered
    if is_contested or _is_doubted(current, known_at):
        fact = replace(fact, confidence=_REDUCED * fact.confidence)
    marks = {s.statement_id: [m for m in s.marks if _counts(m, s, fact, known_at)] for s in current}
    standing = [s.time for s in current if not marks[s.statement_id]]
    last_time = max((s.time for s in current), default=None)
    ends = [
        mark
        for found in marks.values()
        for mark in found
        if last_time is not None
        and mark.end_time >= last_time
        and not any(mark.is_correction or time >= mark.end_time for time in standing)
    ]
    if not ends:
        return fact
    first = min(ends, key=lambda mark: (mark.end_time, mark.superseded_by))
    valid_to = first.end_time if fact.valid_to_time is None else min(fact.valid_to_time, first.end_time)
    if fact.valid_from_time is not None:
        valid_to = max(valid_to, fact.valid_from_time)  # a plan that was given up never held
    return replace(fact, valid_to_time=valid_to, superseded_by=first.superseded_by)


def _is_doubted(current: Sequence[MarkedStatement], known_at: datetime | None) -> bool:
    """Whether a statement is reduced, and none that is not was made since."""
    doubted = [s for s in current if any(known_at is None or time <= known_at for time in s.doubted_times)]
    sure_time = max((s.time for s in current if s not in doubted), default=None)
    return any(sure_time is None or sure_time <= s.time for s in doubted)


def _counts(mark: SentenceMark, statement: MarkedStatement, fact: Fact, known_at: datetime | None) -> bool:
    if known_at is not None and mark.recorded_time > known_at:
        return False
    if mark.called_off_time is not None and (known_at is None or mark.called_off_time <= known_at):
        return False
    changed = f"{mark.standing_statement} {mark.premise}"
    if not statement.shares_sentence:
        # A correction that names no wrong words may be about any part of the sentence: then its one fact ends.
        is_about_words = mark.is_called_wrong or not mark.is_correction
        return not (is_about_words and is_beside(fact.text, mark.sentence, changed, subject=fact.subject))
    own = content_words(fact.text) - content_words(fact.subject)
    return not changed.strip() or not own.isdisjoint(content_words(changed))


class FactEnds:
    """Facts with the ends that follow from marks."""

    def __init__(self, marks: FactMarkStore | None, evidence: EvidenceSettings | None = None) -> None:
        """Reads marks from a store; None: there are none. Contradicting facts are reduced if `evidence` says so."""
        self._marks = marks
        self._evidence = evidence or EvidenceSettings()

    async def of(self, owner: Owner, facts: Sequence[Fact], *, known_at: datetime | None = None) -> list[Fact]:
        """The facts, in order; see `as_marked`."""
        if self._marks is None or not facts:
            return list(facts)
        marked = await self._marks.marked(owner, [fact.fact_id for fact in facts])
        contested = await self._contested(owner, self._marks, facts)
        return [
            as_marked(fact, marked.get(fact.fact_id, ()), known_at=known_at, is_contested=fact.fact_id in contested)
            for fact in facts
        ]

    async def _contested(self, owner: Owner, marks: FactMarkStore, facts: Sequence[Fact]) -> Collection[FactId]:
        """Facts that others contradict of which no mark says which one stands: none unless clear pairs are reduced."""
        if self._evidence.clear_policy is not ClearPolicy.REDUCE:
            return ()
        least = self._evidence.superseding_confidence_min
        pairs = [
            (fact.fact_id, other)
            for fact in facts
            if fact.valid_to_time is None and fact.confidence >= least
            for other in fact.contradictions
        ]
        return await marks.undecided(owner, pairs, confidence_min=least) if pairs else ()

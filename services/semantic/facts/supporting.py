"""Finds the facts that a statement supports without being one of theirs: it says the same in other words (SPEC 3.4).

Similar vectors propose a fact, the value guard decides: only what it finds the same supports. A new fact is supported
by what was said before it too, so that the order in which statements arrive decides nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from services.common.embedding.vectors import Vector
from services.common.knowledge.slots import slot_of
from services.common.scope import Scope
from services.common.values.comparison.compare import relation
from services.common.values.model import Relation
from services.semantic.config import EvidenceSettings
from services.semantic.facts.model import FactId, FactRecord, SimilarFact, Statement, Support
from services.semantic.facts.store import FactWriter
from services.semantic.facts.working_set import FactWorkingSet


@dataclass(frozen=True, slots=True)
class Entered:
    """A statement of an interaction, and the fact that it is of."""

    fact_id: FactId
    statement: Statement
    scope: Scope
    vector: Vector  # of its text


Near: TypeAlias = tuple[Entered, SimilarFact]
"""A statement beside a stored fact that is similar to it."""


async def near_facts(
    writer: FactWriter, entered: Sequence[Entered], *, model: str, settings: EvidenceSettings
) -> list[Near]:
    """The stored facts that statements are compared with, for either purpose; of each statement the nearest first.

    Args:
        writer: Of the work in which the statements were entered.
        entered: The statements.
        model: Of the vectors.
        settings: Bounds.
    """
    bounds = [
        (settings.support_candidates_max, settings.support_cosine_min),
        (settings.contradiction_candidates_max, settings.contradiction_cosine_above),
    ]
    wanted = [bound for bound in bounds if bound[0]]
    if not wanted:
        return []
    limit, cosine_min = max(count for count, _ in wanted), min(cosine for _, cosine in wanted)
    near: list[Near] = []
    for one in entered:
        found = await writer.similar(one.vector, one.scope, model=model, cosine_min=cosine_min, limit=limit)
        near += [(one, similar) for similar in found if similar.fact_id != one.fact_id]
    return near


def first_of_each(near: Sequence[Near], count_max: int) -> list[Near]:
    """At most so many pairs of each statement, the nearest."""
    counts: Counter[int] = Counter()
    found: list[Near] = []
    for pair in near:
        counts[id(pair[0])] += 1
        if counts[id(pair[0])] <= count_max:
            found.append(pair)
    return found


async def add_support(
    writer: FactWriter,
    working_set: FactWorkingSet,
    entered: Sequence[Entered],
    near: Sequence[Near],
    *,
    settings: EvidenceSettings,
    now: datetime,
) -> None:
    """Adds to facts what new statements of other facts say for them, and the other way round.

    Args:
        writer: Of the work in which the statements were entered.
        working_set: Where they were entered; its changes were not taken yet.
        entered: The statements.
        near: What they are similar to.
        settings: Bounds.
        now: When the support is recorded.
    """
    if not settings.support_candidates_max:
        return
    similar = [pair for pair in near if pair[1].similarity >= settings.support_cosine_min]
    pairs = [*_pairs_within(entered, settings), *first_of_each(similar, settings.support_candidates_max)]
    if not pairs:
        return
    # Reading takes up to a millisecond a pair.
    same = await asyncio.to_thread(lambda: [(one, fact.fact_id) for one, fact in pairs if says_the_same(one, fact)])
    missing = {fact_id for _, fact_id in same if working_set.record(fact_id) is None}
    if missing:
        working_set.load(await writer.records_of(sorted(missing)))
    for one, fact_id in same:
        other, own = working_set.record(fact_id), working_set.record(one.fact_id)
        if other is not None and own is not None and not other.is_context:
            _support(working_set, fact_id, one.statement, now)
            if own.fact is None:
                _support_by_all(working_set, one.fact_id, other, now)


def _pairs_within(entered: Sequence[Entered], settings: EvidenceSettings) -> list[Near]:
    """Similar statements of different facts that were entered together: the store knows none of them yet."""
    found: list[Near] = []
    for number, one in enumerate(entered):
        similar = [
            (float(one.vector @ other.vector), place, other)
            for place, other in enumerate(entered)
            if place != number and other.fact_id != one.fact_id and other.scope == one.scope
        ]
        near = sorted(pair for pair in similar if pair[0] >= settings.support_cosine_min)
        found += [(one, _as_similar(other)) for _, _, other in near[::-1][: settings.support_candidates_max]]
    return found


def _as_similar(entered: Entered) -> SimilarFact:
    draft = entered.statement.draft
    return SimilarFact(entered.fact_id, draft.text, draft.predicate, draft.valid_from)


def says_the_same(one: Entered, fact: SimilarFact) -> bool:
    """Whether no value, slot, name or negation differs. What happened on different days is not the same."""
    draft = one.statement.draft
    days = {moment.date() for moment in (draft.valid_from, fact.valid_from_time) if moment is not None}
    if len(days) > 1:
        return False
    if draft.predicate and fact.predicate:
        slot, other = slot_of(draft.predicate), slot_of(fact.predicate)
        if (slot.name, slot.is_denied) != (other.name, other.is_denied):
            return False
    return relation(fact.text, draft.text) is Relation.SAME


def _support(working_set: FactWorkingSet, fact_id: FactId, statement: Statement, now: datetime) -> None:
    for interaction_id in statement.interaction_ids:
        recorded = statement.recorded_time or now
        working_set.support(fact_id, Support(interaction_id, statement.time, recorded))


def _support_by_all(working_set: FactWorkingSet, fact_id: FactId, other: FactRecord, now: datetime) -> None:
    """Support a new fact by what was said of another one before."""
    for statement in other.statements:
        if not statement.is_correction:
            _support(working_set, fact_id, statement, now)

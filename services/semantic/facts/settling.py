"""The state of a fact, as a function of what was said: of its own statements and of those that exclude it.

Statements count in the order in which they were said. The order in which they arrive, and how often, has no effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from services.common.owners import InteractionId, UserId
from services.semantic.config import EvidenceSettings
from services.semantic.facts.model import (
    Fact,
    FactDraft,
    FactId,
    FactRecord,
    FactStatus,
    FactVersion,
    Statement,
)

CONFIRMED = "confirmed"
SUPERSEDED = "superseded"


@dataclass(slots=True)
class _State:
    """What is believed after the statements so far."""

    draft: FactDraft
    confidence: float
    last_time: datetime
    valid_to: datetime | None = None


def leading_draft(record: FactRecord) -> FactDraft:
    """What a fact says: its latest statement that has subject, predicate and object, else its latest."""
    ordered = sorted(record.statements, key=lambda statement: statement.order, reverse=True)
    complete = (s.draft for s in ordered if s.draft.subject and s.draft.predicate and s.draft.object)
    return next(complete, ordered[0].draft)


def counted_statements(record: FactRecord, settings: EvidenceSettings) -> list[Statement]:
    """The newest statements of a fact, which its state follows from, oldest first."""
    return sorted(record.statements, key=lambda statement: statement.order)[-settings.statements_max :]


def settle(
    record: FactRecord,
    against: Sequence[Statement],
    contradictions: Iterable[FactId],
    *,
    user_id: UserId,
    settings: EvidenceSettings,
) -> Fact:
    """The fact that follows from its statements and those `against` it, with revision 1.

    Confidence begins with the first statement's; each later one raises it to its own, if that is higher, and by
    rate x (1 - confidence). A rival's statement after the last own one ends the validity; a later own one renews it.
    Nothing that was said is overwritten: each former state is a version.
    """
    own = counted_statements(record, settings)
    versions, state = _fold(own, against, settings)
    leading = leading_draft(record)
    since = [statement.draft.valid_from for statement in own if statement.draft.valid_from is not None]
    interaction_ids: dict[InteractionId, None] = {}
    for statement in sorted(record.statements, key=lambda statement: statement.order):
        interaction_ids.update(dict.fromkeys(statement.interaction_ids))
    # Of all statements ever, since these two only grow and fall: the stored state knows those that are not loaded.
    importances = [statement.draft.importance for statement in record.statements]
    observed = [statement.time for statement in record.statements]
    if record.fact is not None:
        importances.append(record.fact.importance)
        observed.append(record.fact.first_observed_time)
    return Fact(
        fact_id=record.fact_id,
        user_id=user_id,
        text=state.draft.text,
        subject=leading.subject,
        predicate=leading.predicate,
        object=leading.object,
        category=state.draft.category,
        confidence=state.confidence,
        importance=max(importances),
        first_observed_time=min(observed),
        last_confirmed_time=own[-1].time,
        valid_from_time=since[-1] if since else None,
        valid_to_time=state.valid_to,
        derived_from=tuple(interaction_ids)[-settings.derived_from_max :],
        evidence_count=record.earlier_evidence + len(interaction_ids),
        contradictions=tuple(contradictions),
        status=_status(record, own),
        merged_into_fact_id=record.fact.merged_into_fact_id if record.fact else None,
        versions=tuple(versions[-settings.versions_max :]),
        scope=record.scope,
    )


def changed(record: FactRecord, settled: Fact) -> Fact | None:
    """The settled fact with its next revision, or None if it is as it is stored."""
    if record.fact is None:
        return settled
    revised = replace(settled, revision=record.fact.revision)
    return None if revised == record.fact else replace(settled, revision=record.fact.revision + 1)


def with_statement(record: FactRecord, statement: Statement) -> FactRecord:
    """The record with one more statement; itself if it has that one."""
    if any(known.statement_id == statement.statement_id for known in record.statements):
        return record
    return replace(record, statements=(*record.statements, statement))


def _fold(
    own: Sequence[Statement], against: Sequence[Statement], settings: EvidenceSettings
) -> tuple[list[FactVersion], _State]:
    first = own[0]
    state = _State(first.draft, first.draft.confidence, first.time)
    versions: list[FactVersion] = []
    events = [(statement, False) for statement in own[1:]] + [(statement, True) for statement in against]
    # What was said at the same time comes first, so that it is not contradicted by it.
    for statement, is_against in sorted(events, key=lambda event: (event[0].time, event[1], event[0].statement_id)):
        if not is_against:
            versions.append(FactVersion(state.draft.text, state.confidence, statement.time, CONFIRMED))
            believed = max(state.confidence, statement.draft.confidence)
            believed += settings.confirmation_rate * (1.0 - believed)
            state = _State(statement.draft, believed, statement.time)
        elif state.valid_to is None and statement.time > state.last_time:
            versions.append(FactVersion(state.draft.text, state.confidence, statement.time, SUPERSEDED))
            state.valid_to = max(statement.effective_time, state.last_time)
    return versions, state


def _status(record: FactRecord, own: Sequence[Statement]) -> FactStatus:
    if record.fact is not None and record.fact.status in {FactStatus.DEPRECATED, FactStatus.MERGED_INTO}:
        return record.fact.status
    return FactStatus.STABLE if len(own) > 1 else FactStatus.TENTATIVE

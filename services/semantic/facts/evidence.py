"""The state of a fact, as a function of what was said: of its own statements and of those that exclude it.

Statements count in the order in which they were said. The order in which they arrive, and how often, has no effect.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from services.common.knowledge.evidence import deprecated_time
from services.common.knowledge.model import Belief, BeliefId, KnowledgeSettings
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
    Support,
    VersionReason,
)
from services.semantic.supersession.model import ClearPolicy

_DAY: Final = timedelta(days=1)
_EXPONENT_MAX: Final = 50.0
"""Beyond any confidence; `math.exp` fails on large numbers."""
_OWN: Final = 0
_SUPPORT: Final = 1
_AGAINST: Final = 2
"""Kinds of evidence, in the order in which they count where they were said at the same time."""


@dataclass(slots=True)
class _State:
    """What is believed after the statements so far."""

    draft: FactDraft
    confidence: float
    last_time: datetime  # of the last own statement
    confirmed_time: datetime  # of the last own statement or support
    valid_to: datetime | None = None
    is_superseded: bool = False


def current_statements(record: FactRecord) -> list[Statement]:
    """The statements that say what the fact says now, oldest first: those from its last correction on."""
    ordered = sorted(record.statements, key=lambda statement: statement.order)
    corrections = [number for number, statement in enumerate(ordered) if statement.is_correction]
    return ordered[corrections[-1] :] if corrections else ordered


def leading_draft(record: FactRecord) -> FactDraft:
    """What a fact says: its latest current statement that has subject, predicate and object, else its latest."""
    current = current_statements(record)[::-1]
    complete = (s.draft for s in current if s.draft.subject and s.draft.predicate and s.draft.object)
    return next(complete, current[0].draft)


def counted_statements(record: FactRecord, settings: EvidenceSettings) -> list[Statement]:
    """The newest current statements of a fact, which its state follows from, oldest first."""
    return current_statements(record)[-settings.statements_max :]


def derived_fact(
    record: FactRecord,
    against: Sequence[Statement],
    contradictions: Iterable[FactId],
    *,
    user_id: UserId,
    settings: EvidenceSettings,
    is_confirmed: bool = False,
) -> Fact:
    """The fact that follows from its statements and those `against` it, with revision 1.

    Confidence begins with the first statement's; each later one raises it to its own, if that is higher, and by
    rate x (1 - confidence), and so does each interaction that supports the fact in other words while it holds. A
    contradicting statement after the last own one ends the validity, unless the settings have both doubted; a later own
    one renews it. A correction replaces all of it. Nothing that was said is overwritten: each former state is a
    version. The last judgement by Feedback raises or lowers the confidence that follows from the statements.

    Args:
        record: The fact with its statements.
        against: Statements that contradict it.
        contradictions: The facts they are of.
        user_id: Whose fact it is.
        settings: Rates and bounds.
        is_confirmed: Whether a statement is new: a fact that is deprecated or archived is active again then.
    """
    own = counted_statements(record, settings)
    everything = sorted(record.statements, key=lambda statement: statement.order)
    judgement = feedback_of(record)
    supports = _counted_supports(record, settings)
    versions, state = _fold(everything[-settings.statements_max :], against, supports, settings)
    leading = leading_draft(record)
    since = [statement.draft.valid_from for statement in own if statement.draft.valid_from is not None]
    interaction_ids: dict[InteractionId, None] = {}
    for statement in everything:
        interaction_ids.update(dict.fromkeys(statement.interaction_ids))
    importances = [statement.draft.importance for statement in own]
    observed = [statement.time for statement in everything]
    if record.fact is not None and not record.is_reduced:
        # The stored state knows of the statements that are not loaded.
        observed.append(record.fact.first_observed_time)
        if not own[0].is_correction:
            importances.append(record.fact.importance)
    return Fact(
        fact_id=record.fact_id,
        user_id=user_id,
        text=state.draft.text,
        subject=leading.subject,
        predicate=leading.predicate,
        object=leading.object,
        category=state.draft.category,
        confidence=_judged(state.confidence, judgement, settings),
        importance=max(importances),
        first_observed_time=min(observed),
        last_confirmed_time=max(state.confirmed_time, own[-1].time),
        valid_from_time=since[-1] if since else None,
        valid_to_time=state.valid_to,
        derived_from=tuple(interaction_ids)[-settings.derived_from_max :],
        evidence_count=record.earlier_evidence + len({*interaction_ids, *(s.interaction_id for s in record.supports)}),
        contradictions=tuple(contradictions),
        status=_status(record, own, supports, is_confirmed=is_confirmed),
        merged_into_fact_id=record.fact.merged_into_fact_id if record.fact else None,
        versions=tuple(versions[-settings.versions_max :]),
        scope=record.scope,
        fade_time=record.fact.fade_time if record.fact is not None else None,
        feedback=judgement,
    )


def fade_time(record: FactRecord, fact: Fact, settings: EvidenceSettings) -> datetime | None:
    """When a fact is deprecated if no evidence comes until then; None: never.

    An imported conversation of years ago is evidence from when it was imported.
    """
    if fact.importance >= settings.lasting_importance_min:
        return None
    current = current_statements(record)
    known = max(
        *(statement.known_time for statement in current),
        *(s.known_time for s in record.supports if not current[0].is_correction or s.time >= current[0].time),
        current[0].known_time,
    )
    belief = Belief(BeliefId(fact.fact_id), fact.text, fact.confidence, fact.importance, known)
    rates = KnowledgeSettings(decay_per_day=settings.decay_per_day, deprecated_below=settings.deprecated_below)
    return deprecated_time(belief, rates)


def confidence_at(fact: Fact, at: datetime, settings: EvidenceSettings) -> float:
    """The confidence of a fact with the decay by a time, in [0, 1]; without decay for one that does not fade.

    It follows from the time at which it will have fallen to `deprecated_below`: each day before that it is higher by
    the rate of decay.
    """
    if fact.fade_time is None:
        return fact.confidence
    days = (fact.fade_time - at) / _DAY
    return min(fact.confidence, settings.deprecated_below * math.exp(min(days * settings.decay_per_day, _EXPONENT_MAX)))


def fades_after(confidence: float, now: datetime, settings: EvidenceSettings) -> datetime:
    """The `fade_time` at which a fact has this confidence, in (0, 1], with its decay now."""
    return now + math.log(confidence / settings.deprecated_below) / settings.decay_per_day * _DAY


def feedback_of(record: FactRecord) -> int:
    """The last judgement of a fact: -1, 0 or 1."""
    if record.judgement is not None:
        return record.judgement
    return record.fact.feedback if record.fact is not None else 0


def changed(record: FactRecord, derived: Fact) -> Fact | None:
    """The derived fact with its next revision, or None if it is as it is stored. One that was reduced has changed."""
    if record.fact is None:
        return derived
    if record.is_reduced:
        return replace(derived, revision=record.fact.revision + 1)
    revised = replace(derived, revision=record.fact.revision)
    return None if revised == record.fact else replace(derived, revision=record.fact.revision + 1)


def with_statement(record: FactRecord, statement: Statement) -> FactRecord:
    """The record with one more statement; itself if it has that one."""
    if any(known.statement_id == statement.statement_id for known in record.statements):
        return record
    return replace(record, statements=(*record.statements, statement))


def united_supports(supports: Sequence[Support], others: Iterable[Support]) -> tuple[Support, ...]:
    """The supports of a fact with others, each interaction once."""
    found = {support.interaction_id: support for support in supports}
    for other in others:
        known = found.get(other.interaction_id, other)
        given_to = tuple(sorted({*known.given_to, *other.given_to}))
        found[other.interaction_id] = replace(known, given_to=given_to)
    return tuple(found.values())


def without_given(supports: Sequence[Support], fact_ids: Collection[FactId]) -> tuple[Support, ...]:
    """The supports of a fact without those that were given to none but these facts."""
    left = (replace(s, given_to=tuple(i for i in s.given_to if i not in fact_ids)) for s in supports)
    return tuple(support for support in left if support.given_to)


def _counted_supports(record: FactRecord, settings: EvidenceSettings) -> list[Support]:
    """The newest supports by interactions that state the fact nowhere themselves, oldest first: each counts once."""
    stating = {interaction_id for statement in record.statements for interaction_id in statement.interaction_ids}
    others = (support for support in record.supports if support.interaction_id not in stating)
    return sorted(others, key=lambda support: (support.time, support.interaction_id))[-settings.supports_max :]


def _fold(
    own: Sequence[Statement],
    against: Sequence[Statement],
    supports: Sequence[Support],
    settings: EvidenceSettings,
) -> tuple[list[FactVersion], _State]:
    first = own[0]
    state = _begun(first)
    versions: list[FactVersion] = []
    # What was said at the same time comes first, so that it is not contradicted by it.
    events: list[tuple[tuple[datetime, int, str], Statement | Support]] = [
        *(((said.time, _OWN, said.statement_id), said) for said in own[1:]),
        *(((support.time, _SUPPORT, support.interaction_id), support) for support in supports),
        *(((said.time, _AGAINST, said.statement_id), said) for said in against),
    ]
    events.sort(key=lambda event: event[0])
    for (time, kind, _), event in events:
        if isinstance(event, Support):
            if not state.is_superseded:
                replaced_time = max(time, state.last_time)
                versions.append(FactVersion(state.draft.text, state.confidence, replaced_time, VersionReason.CONFIRMED))
                state.confidence += settings.confirmation_rate * (1.0 - state.confidence)
                state.confirmed_time = replaced_time
        elif kind == _AGAINST:
            doubted = _is_reduced_instead(state, settings)
            if not state.is_superseded and time > state.last_time and not doubted:
                end = max(event.effective_time, state.last_time)
                if state.valid_to is None or end < state.valid_to:
                    versions.append(_version(state, event, VersionReason.SUPERSEDED))
                    state.valid_to, state.is_superseded = end, True
        elif event.is_correction:
            versions.append(_version(state, event, VersionReason.CORRECTED))
            state = _begun(event)
        else:
            versions.append(_version(state, event, VersionReason.CONFIRMED))
            believed = max(state.confidence, event.draft.confidence)
            believed += settings.confirmation_rate * (1.0 - believed)
            state = _begun(event)
            state.confidence = believed
    return versions, state


def _is_reduced_instead(state: _State, settings: EvidenceSettings) -> bool:
    """Whether a fact that is contradicted goes on and is doubted, as what contradicts it; see `ends.FactEnds`."""
    return settings.clear_policy is ClearPolicy.REDUCE and state.confidence >= settings.superseding_confidence_min


def _begun(statement: Statement) -> _State:
    draft = statement.draft
    return _State(draft, draft.confidence, statement.time, statement.time, draft.valid_to)


def _judged(confidence: float, feedback: int, settings: EvidenceSettings) -> float:
    """The confidence after a judgement: a good one counts as a confirmation."""
    if feedback > 0:
        return confidence + settings.confirmation_rate * (1.0 - confidence)
    return confidence * (1.0 - settings.rejection_rate) if feedback < 0 else confidence


def _version(state: _State, replaced_by: Statement, reason: VersionReason) -> FactVersion:
    return FactVersion(state.draft.text, state.confidence, replaced_by.time, reason)


def _status(
    record: FactRecord, own: Sequence[Statement], supports: Sequence[Support], *, is_confirmed: bool
) -> FactStatus:
    stored = record.fact.status if record.fact is not None else None
    if stored is FactStatus.MERGED_INTO:
        return stored
    if stored in {FactStatus.DEPRECATED, FactStatus.ARCHIVED} and not is_confirmed:
        return stored
    is_stable = len(own) > 1 or own[0].is_correction or bool(supports)
    return FactStatus.STABLE if is_stable else FactStatus.TENTATIVE

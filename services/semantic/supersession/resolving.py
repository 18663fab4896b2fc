"""What follows from two statements, and from a decision about them. Pure functions."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from services.common.scope import Scope
from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation
from services.common.values.premises import rests_on
from services.semantic.supersession.model import Assertion, Decision, Reason, State, Supersession

_REASONS: Final = {Relation.UPDATE: Reason.UPDATED, Relation.CONTRADICT: Reason.CONTRADICTED}


def decided(one: Assertion, other: Assertion, *, at: datetime) -> Supersession | None:
    """Returns what follows from two statements of different turns; their order has no effect.

    Args:
        one: A statement.
        other: Another one.
        at: When it is recorded.
    """
    earlier, later = sorted((one, other), key=lambda assertion: assertion.order)
    if not Scope.from_key(earlier.scope_key).sees(Scope.from_key(later.scope_key)):
        return None  # a reader of the earlier one may not see the later one
    relation = supersedes(_said(earlier), _said(later))
    reason = _REASONS.get(relation)
    if reason is None:
        return None
    return Supersession(
        loser=earlier.place,
        winner=later.place,
        reason=reason,
        state=State.PENDING if earlier.time == later.time else State.APPLIED,
        end_time=later.time,
        create_time=at,
        statement=earlier.text,
        standing_statement=later.text,
        is_whole=earlier.is_only,
    )


def rested(statement: Assertion, premise: Assertion, ended: Supersession, *, at: datetime) -> Supersession | None:
    """Returns what follows for a statement that rests on a superseded one; None where it does not rest on it.

    Args:
        statement: Any statement.
        premise: The superseded one.
        ended: What superseded it.
        at: When it is recorded.
    """
    turns = {premise.place.interaction_id, ended.winner.interaction_id}
    if statement.place.interaction_id in turns or statement.time >= ended.end_time:
        return None
    if statement.scope_key != premise.scope_key or not ended.ends_premises:
        return None
    standing = Said(ended.standing_statement, premise.speaker)
    if not rests_on(_said(statement), _said(premise), standing):
        return None
    return Supersession(
        loser=statement.place,
        winner=ended.winner,
        reason=Reason.PREMISE_ENDED,
        state=State.APPLIED,
        end_time=ended.end_time,
        create_time=at,
        statement=statement.text,
        standing_statement=ended.standing_statement,
        is_whole=statement.is_only,
        premise=premise.text,
        premise_place=premise.place,
    )


def _said(assertion: Assertion) -> Said:
    return Said(assertion.text, assertion.speaker, assertion.is_announced, assertion.time.date())


def resolved(stored: Supersession, decision: Decision, *, is_winner_whole: bool) -> Supersession:
    """Returns a supersession after a decision; the same decision again changes nothing.

    The statement that stands says nothing against one whose premise ended: where that one stands, both do.

    Args:
        stored: The supersession.
        decision: What shall become of it.
        is_winner_whole: Whether the side that stands is all that its turn says.
    """
    is_rest = stored.reason is Reason.PREMISE_ENDED
    if decision is Decision.BOTH_STAND or (is_rest and decision is Decision.EARLIER_STANDS):
        return replace(stored, state=State.REJECTED)
    is_turned = decision is Decision.EARLIER_STANDS
    if stored.is_turned is is_turned:
        return replace(stored, state=State.APPLIED)
    return replace(
        stored,
        loser=stored.winner,
        winner=stored.loser,
        statement=stored.standing_statement,
        standing_statement=stored.statement,
        is_whole=is_winner_whole,
        state=State.APPLIED,
        is_turned=is_turned,
    )

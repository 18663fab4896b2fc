"""What follows from two statements, and from a decision about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter
from typing import Final

from services.common.comparing.port import Comparer
from services.common.scope import Scope
from services.common.values.beside import says_more
from services.common.values.holding import Said
from services.common.values.model import Relation
from services.common.values.premises import rests_on
from services.common.values.returning import returns_to
from services.semantic.supersession.coming import NEAR, end_of
from services.semantic.supersession.model import (
    Assertion,
    Decider,
    Decision,
    QueuedPair,
    QueuePolicy,
    Reason,
    State,
    Strength,
    Supersession,
    Verdict,
)
from services.semantic.supersession.store import Pair

_REASONS: Final = {Relation.UPDATE: Reason.UPDATED, Relation.CONTRADICT: Reason.CONTRADICTED}
_VALUES: Final[Mapping[QueuePolicy, Callable[[Strength], float]]] = {
    QueuePolicy.CONFIDENCE: attrgetter("confidence"),
    QueuePolicy.IMPORTANCE: attrgetter("importance"),
}
"""What the policies compare."""
_NEITHER: Final = "neither is later: both are believed half as much"
_BOTH_DOUBTED: Final = "both are believed half as much"
_DIGITS: Final = 4
"""Values that differ less are equal."""


async def decided(
    comparer: Comparer, pairs: Sequence[Pair], *, at: datetime, reduces: bool = False
) -> list[Supersession]:
    """Returns what follows from pairs of statements of different turns; the order within a pair has no effect.

    Args:
        comparer: Compares them.
        pairs: The statements.
        at: When it is recorded.
        reduces: Whether neither is marked and both are doubted, where the later one would supersede.
    """
    compared = [
        (earlier, later)
        for earlier, later in (sorted(pair, key=lambda assertion: assertion.order) for pair in pairs)
        if Scope.from_key(earlier.scope_key).sees(Scope.from_key(later.scope_key))
    ]  # a reader of an earlier one may not see the later one otherwise
    relations = await comparer.relations([(_said(earlier), _said(later)) for earlier, later in compared])
    found = [
        _ends(earlier, later, _REASONS[relation], at=at)
        for (earlier, later), relation in zip(compared, relations, strict=True)
        if relation in _REASONS
    ]
    return [_reduced(one) if reduces and one.state is State.APPLIED else one for one in found]


def _reduced(one: Supersession) -> Supersession:
    return replace(one, state=State.REDUCED, decided_by=Decider.POLICY, decision_reason=_BOTH_DOUBTED)


def followed(
    statement: Assertion, premise: Assertion, ended: Supersession, standing: Assertion | None, *, at: datetime
) -> Supersession | None:
    """Returns what follows from a statement and a superseded one: what superseded it is over, or the statement is.

    Args:
        statement: Any statement.
        premise: The superseded one.
        ended: Its supersession.
        standing: What superseded it, where that is about the same as the statement.
        at: When it is recorded.
    """
    returned = None if standing is None else _returned(statement, premise, ended, standing, at=at)
    return returned or rested(statement, premise, ended, at=at, told=None if standing is None else standing.time)


def _returned(
    statement: Assertion, premise: Assertion, ended: Supersession, standing: Assertion, *, at: datetime
) -> Supersession | None:
    """A later statement that says that the superseded one is so again supersedes what stood in between."""
    one, other, last = premise.order, standing.order, statement.order
    if ended.state is not State.APPLIED or not one < other < last or ended.is_turned:
        return None
    if len({side.speaker.casefold() for side in (statement, premise, standing)}) > 1:
        return None
    if not Scope.from_key(standing.scope_key).sees(Scope.from_key(statement.scope_key)):
        return None  # a reader of what stood may not see the statement
    if not returns_to(premise.text, standing.text, statement.text):
        return None
    return replace(_ends(standing, statement, Reason.UPDATED, at=at), premise_place=premise.place)


def _ends(earlier: Assertion, later: Assertion, reason: Reason, *, at: datetime) -> Supersession:
    is_clear = earlier.time != later.time
    return Supersession(
        loser=earlier.place,
        winner=later.place,
        reason=reason,
        state=State.APPLIED if is_clear else State.PENDING,
        end_time=end_of(earlier.text, earlier.time, later.text, later.time),
        create_time=at,
        statement=earlier.text,
        standing_statement=later.text,
        is_whole=earlier.is_only and not says_more(earlier.text, later.text),
    )


def rested(
    statement: Assertion, premise: Assertion, ended: Supersession, *, at: datetime, told: datetime | None = None
) -> Supersession | None:
    """Returns what follows for a statement that rests on a superseded one; None where it does not rest on it.

    Args:
        statement: Any statement.
        premise: The superseded one.
        ended: What superseded it.
        at: When it is recorded.
        told: When what superseded it was said, where that is known.
    """
    over = ended.over_time
    if over <= premise.time:  # a plan that was called off: what was said of it until then rests on it
        over = told or premise.time + NEAR
    turns = {premise.place.interaction_id, ended.winner.interaction_id}
    if statement.place.interaction_id in turns or statement.time >= over:
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
        end_time=max(ended.over_time, statement.time) if over > ended.over_time else ended.over_time,
        create_time=at,
        statement=statement.text,
        standing_statement=ended.standing_statement,
        is_whole=statement.is_only and not says_more(statement.text, f"{premise.text} {ended.standing_statement}"),
        premise=premise.text,
        premise_place=premise.place,
    )


def _said(assertion: Assertion) -> Said:
    return Said(assertion.text, assertion.speaker, assertion.is_announced, assertion.time.date())


def resolved(
    stored: Supersession,
    decision: Decision,
    *,
    is_winner_whole: bool,
    by: Decider = Decider.USER,
    reason: str = "",
) -> Supersession:
    """Returns a supersession after a decision; the same decision again changes nothing.

    The statement that stands says nothing against one whose premise ended: where that one stands, both do.

    Args:
        stored: The supersession.
        decision: What shall become of it.
        is_winner_whole: Whether the side that stands is all that its turn says.
        by: Who decides.
        reason: Why, in words.
    """
    stored = replace(stored, decided_by=by, decision_reason=reason)
    is_rest = stored.reason is Reason.PREMISE_ENDED
    if decision is Decision.BOTH_STAND or (is_rest and decision is not Decision.LATER_STANDS):
        return replace(stored, state=State.REJECTED)
    if decision is Decision.BOTH_REDUCED:
        return replace(stored, state=State.REDUCED)
    is_turned = decision is Decision.EARLIER_STANDS
    if stored.is_turned is is_turned:
        return replace(stored, state=State.APPLIED)
    return replace(
        stored,
        loser=stored.winner,
        winner=stored.loser,
        statement=stored.standing_statement,
        standing_statement=stored.statement,
        is_whole=is_winner_whole and not says_more(stored.standing_statement, stored.statement),
        state=State.APPLIED,
        is_turned=is_turned,
    )


def settled(pair: QueuedPair, verdict: Verdict, *, is_winner_whole: bool) -> Supersession:
    """Returns a queued pair after a verdict; it goes on waiting where that leaves it to the user."""
    stored = pair.supersession
    if verdict.decision is None:
        return replace(stored, decided_by=verdict.by, decision_reason=verdict.reason)
    return resolved(stored, verdict.decision, is_winner_whole=is_winner_whole, by=verdict.by, reason=verdict.reason)


def reopened(stored: Supersession, *, is_winner_whole: bool) -> Supersession:
    """Returns a pair as it was before a job decided about it. It waits for the user, and for nobody else."""
    turned_back = resolved(stored, Decision.LATER_STANDS, is_winner_whole=is_winner_whole)
    return replace(turned_back, state=State.PENDING)


def is_deciding(policy: QueuePolicy, *, has_model: bool) -> bool:
    """Returns whether a policy decides about queued pairs without the user."""
    return policy in {*_VALUES, QueuePolicy.REDUCE} or (policy is QueuePolicy.LANGUAGE_MODEL and has_model)


def verdict_of(policy: QueuePolicy, pair: QueuedPair) -> Verdict | None:
    """Returns what a policy says about a queued pair; None: it waits.

    Equal values decide nothing, and neither does a side without a value: a guess would mark what may be true.
    """
    if pair.earlier is None or pair.later is None:
        return None
    if policy is QueuePolicy.REDUCE:
        return Verdict(Decision.BOTH_REDUCED, Decider.POLICY, _NEITHER)
    if policy not in _VALUES:
        return None
    value = _VALUES[policy]
    earlier, later = (round(value(side), _DIGITS) for side in (pair.earlier, pair.later))
    if earlier == later:
        return None
    decision = Decision.LATER_STANDS if later > earlier else Decision.EARLIER_STANDS
    stands, falls = max(earlier, later), min(earlier, later)
    return Verdict(decision, Decider.POLICY, f"{policy.name.lower()} {stands:.4f} against {falls:.4f}")

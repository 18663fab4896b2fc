"""What follows where two beliefs of one slot exclude each other (SPEC 3.5).

Nothing is overwritten: the loser gets an end and a link, or both lose confidence, or the pair waits in a queue.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from services.common.knowledge.evidence import confidence_at
from services.common.knowledge.model import DEFAULTS, Belief, BeliefId, KnowledgeSettings, Standing
from services.common.values.model import Relation


class Policy(StrEnum):
    """Who wins."""

    RECENCY = "recency"
    """The one that was said, or is valid from, later."""
    CONFIDENCE = "confidence"
    """The one with the higher confidence; of equal ones the later."""
    IMPORTANCE = "importance"
    """The more important one; of equal ones the later."""
    USER = "user"
    """The one the user chose; without a choice the pair waits."""
    REDUCE = "reduce"
    """Neither: both lose half of their confidence."""


class Verdict(StrEnum):
    """What happens to a pair."""

    NOTHING = "nothing"
    """They do not exclude each other, or one of them counts no longer."""
    SUPERSEDE = "supersede"
    """The winner stands, the loser ends."""
    REDUCE = "reduce"
    """Both stand with less confidence."""
    QUEUE = "queue"
    """A user, a policy or a language model decides later."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """What was decided about a pair, and why."""

    verdict: Verdict
    reason: str  # for the log, without user content
    winner_id: BeliefId | None = None
    loser_id: BeliefId | None = None
    end_time: datetime | None = None  # the loser's `valid_to`
    pair: frozenset[BeliefId] = frozenset()  # both sides


_NOTHING: Final = Resolution(Verdict.NOTHING, "not about the same slot")
_Key = Callable[[Belief], float]


def resolve(
    first: Belief,
    second: Belief,
    relation: Relation,
    *,
    at: datetime,
    policy: Policy = Policy.RECENCY,
    choice: BeliefId | None = None,
    from_queue: bool = False,
    settings: KnowledgeSettings = DEFAULTS,
) -> Resolution:
    """Decides about two beliefs; the order of the two has no effect.

    A pair is clear where both sides are confident. Where one is not, it waits, unless `from_queue` says that the policy
    shall decide now. An update, which says itself that something changed, needs only its own side confident.

    Args:
        first: One belief.
        second: The other.
        relation: What the value guard says of the earlier and the later one.
        at: The time at which confidence is measured.
        policy: Who wins.
        choice: The belief that the user chose, for the policy `user`.
        from_queue: Whether the pair has waited and is decided by the policy whatever the confidences.
        settings: Thresholds.
    """
    if relation not in {Relation.UPDATE, Relation.CONTRADICT}:
        return _NOTHING
    if first.belief_id == second.belief_id or not first.standing is second.standing is Standing.ACTIVE:
        return Resolution(Verdict.NOTHING, "one of them counts no longer")
    if second.belief_id in first.reduced_by:
        return Resolution(Verdict.NOTHING, "both sides have lost confidence already")
    pair = frozenset((first.belief_id, second.belief_id))
    earlier, later = sorted((first, second), key=lambda belief: (belief.effective_time, belief.belief_id))
    sides = [confidence_at(belief, at, settings) for belief in (earlier, later)]
    sure = sides[1:] if relation is Relation.UPDATE else sides
    if not from_queue and policy is not Policy.USER and min(sure) < settings.confident_from:
        return Resolution(Verdict.QUEUE, "not both sides are confident", pair=pair)
    if policy is Policy.REDUCE:
        return Resolution(Verdict.REDUCE, "both sides lose confidence", pair=pair)
    if policy is Policy.USER:
        chosen = [belief for belief in (earlier, later) if belief.belief_id == choice]
        if not chosen:
            return Resolution(Verdict.QUEUE, "the user has not chosen", pair=pair)
        return _superseded(chosen[0], earlier if chosen[0] is later else later, policy)
    weighing: dict[Policy, _Key] = {
        Policy.CONFIDENCE: lambda belief: confidence_at(belief, at, settings),
        Policy.IMPORTANCE: lambda belief: belief.importance,
    }
    weight = weighing.get(policy)
    if weight is not None and weight(earlier) != weight(later):
        return _superseded(*((earlier, later) if weight(earlier) > weight(later) else (later, earlier)), policy)
    if earlier.effective_time == later.effective_time:
        return Resolution(Verdict.QUEUE, "nothing says which is later", pair=pair)
    return _superseded(later, earlier, policy)


def applied(belief: Belief, resolution: Resolution, *, at: datetime) -> Belief:
    """Returns the belief as a decision leaves it: applied twice as applied once, untouched if it concerns others.

    Args:
        belief: One side of the pair.
        resolution: The decision.
        at: When it is recorded; aware, UTC.
    """
    if resolution.verdict is Verdict.REDUCE and belief.belief_id in resolution.pair:
        others = resolution.pair - {belief.belief_id}
        return replace(belief, contradicts=belief.contradicts | others, reduced_by=belief.reduced_by | others)
    if belief.belief_id != resolution.loser_id or resolution.winner_id is None:
        return belief
    if belief.standing is not Standing.ACTIVE:
        return belief
    end = resolution.end_time
    return replace(
        belief,
        standing=Standing.SUPERSEDED,
        successor_id=resolution.winner_id,
        contradicts=belief.contradicts | {resolution.winner_id},
        valid_to=end if belief.valid_to is None or (end is not None and end < belief.valid_to) else belief.valid_to,
        end_recorded_time=at,
    )


def _superseded(winner: Belief, loser: Belief, policy: Policy) -> Resolution:
    # An earlier winner shows that the later one never held: it ends where it begins.
    end = max(winner.effective_time, loser.effective_time)
    pair = frozenset((winner.belief_id, loser.belief_id))
    return Resolution(Verdict.SUPERSEDE, f"by {policy.value}", winner.belief_id, loser.belief_id, end, pair)

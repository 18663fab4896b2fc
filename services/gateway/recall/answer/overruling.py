"""Stored pairs of statements as the policy of a recall settles them (SPEC 5.7).

The semantic tier goes by time, and leaves pairs of one time to the user. Where both turns are candidates, the policies
confidence and importance decide about the pair instead, unless the user has; of pairs that wait, the user's choice too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from mneme.semantic.v1 import supersessions_pb2
from services.gateway.recall.answer.losses import POLICY_REASONS, Loss, Rival
from services.gateway.recall.choices import ConflictPolicy
from services.gateway.recall.model import ConflictReason
from services.gateway.recall.superseded import Superseded

_CONTRADICTIONS: Final = frozenset(
    (supersessions_pb2.SUPERSESSION_REASON_UPDATED, supersessions_pb2.SUPERSESSION_REASON_CONTRADICTED)
)
_DECIDES: Final = frozenset({ConflictPolicy.CONFIDENCE, ConflictPolicy.IMPORTANCE})


@dataclass(frozen=True, slots=True)
class StoredPairs:
    """Marks and pairs of which neither stands, by turn."""

    superseded: Superseded
    reduced: Superseded  # by the turns of either side
    reasons: Mapping[str, ConflictReason] = field(default_factory=dict)  # of those that a policy settled, by their ids
    settled: frozenset[frozenset[str]] = frozenset()  # the turns of these

    def without_settled(self, losses: Iterable[Loss], sources: Mapping[str, Sequence[str]]) -> list[Loss]:
        """The losses but for those between what was made of the turns of a pair that a policy settled.

        Args:
            losses: Among candidates.
            sources: The turns that facts and notes were made from, by their ids.
        """
        return [
            loss
            for loss in losses
            if not any(
                frozenset((winner, loser)) in self.settled
                for winner in sources.get(loss.winner_id, (loss.winner_id,))
                for loser in sources.get(loss.loser_id, (loss.loser_id,))
            )
        ]


def by_policy(
    superseded: Superseded, reduced: Superseded, rivals: Sequence[Rival], policy: ConflictPolicy
) -> StoredPairs:
    """The pairs as a policy settles them; those between `rivals` on which they differ in what it looks at."""
    turns = {rival.identifier: rival for rival in rivals}
    marks: dict[str, list[supersessions_pb2.Supersession]] = {}
    waiting: dict[str, list[supersessions_pb2.Supersession]] = {}
    reasons: dict[str, ConflictReason] = {}
    pairs: set[frozenset[str]] = set()
    for one, is_waiting in _pairs(superseded, reduced, turns, policy):
        loser, winner = turns[one.memory_id], turns[one.superseded_by]
        strengths = loser.strength(policy), winner.strength(policy)
        if one.supersession_id in reasons or strengths[0] == strengths[1]:
            continue
        reasons[one.supersession_id] = POLICY_REASONS[policy]
        pairs.add(frozenset((one.memory_id, one.superseded_by)))
        settled = one if strengths[0] < strengths[1] else _turned(one)
        for turn_id in (one.memory_id, one.superseded_by):
            if is_waiting:
                waiting[turn_id] = _without(waiting.get(turn_id, reduced.get(turn_id, ())), one)
            marks[turn_id] = _without(marks.get(turn_id, superseded.get(turn_id, ())), one)
        marks[settled.memory_id].append(settled)
    if not reasons:
        return StoredPairs(superseded, reduced)
    return StoredPairs(_Changed(superseded, marks), _Changed(reduced, waiting), reasons, frozenset(pairs))


def _pairs(
    superseded: Superseded, reduced: Superseded, turns: Mapping[str, Rival], policy: ConflictPolicy
) -> Iterator[tuple[supersessions_pb2.Supersession, bool]]:
    """Those that the policy may settle, and whether they wait."""
    for turn_id in turns:
        for one in superseded.get(turn_id, ()) if policy in _DECIDES else ():
            by_user = one.decided_by == supersessions_pb2.SUPERSESSION_DECIDER_USER
            if one.reason in _CONTRADICTIONS and not by_user and one.superseded_by in turns:
                yield one, False
        for one in reduced.get(turn_id, ()) if policy in POLICY_REASONS else ():
            is_waiting = one.state == supersessions_pb2.SUPERSESSION_STATE_PENDING
            if is_waiting and one.memory_id in turns and one.superseded_by in turns:
                yield one, True


def _turned(one: supersessions_pb2.Supersession) -> supersessions_pb2.Supersession:
    """The pair with its other side superseded. Whether that is all that its turn says is not known."""
    found = supersessions_pb2.Supersession()
    found.CopyFrom(one)
    found.memory_id, found.superseded_by = one.superseded_by, one.memory_id
    found.statement, found.standing_statement = one.standing_statement, one.statement
    found.whole_turn = False
    return found


def _without(
    pairs: Sequence[supersessions_pb2.Supersession], one: supersessions_pb2.Supersession
) -> list[supersessions_pb2.Supersession]:
    return [other for other in pairs if other.supersession_id != one.supersession_id]


class _Changed(Mapping[str, Sequence[supersessions_pb2.Supersession]]):
    """Pairs by turn, of some turns others."""

    def __init__(self, before: Superseded, changed: Mapping[str, Sequence[supersessions_pb2.Supersession]]) -> None:
        self._before = before
        self._changed = changed

    def __getitem__(self, turn_id: str) -> Sequence[supersessions_pb2.Supersession]:
        found = self._changed[turn_id] if turn_id in self._changed else self._before[turn_id]
        if not found:
            raise KeyError(turn_id)
        return found

    def __iter__(self) -> Iterator[str]:
        yield from (turn_id for turn_id in {*self._before, *self._changed} if turn_id in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

"""Beliefs that say the same become one (SPEC 3.6).

An embedding proposes pairs, the value guard decides: a pair whose values differ is no pair, whatever its cosine. The
remaining pairs form connected components. A component merges by itself only where every pair in it says the same; where
the guard cannot read a pair, or two ends of a chain differ, the whole component waits.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from services.common.knowledge.evidence import confidence_at
from services.common.knowledge.model import (
    DEFAULTS,
    Belief,
    BeliefId,
    Candidate,
    KnowledgeSettings,
    Standing,
)
from services.common.values.model import Relation

Guard = Callable[[str, str], Relation]
"""The value guard: texts of the earlier and the later belief."""


@dataclass(frozen=True, slots=True)
class Merge:
    """A group that says the same."""

    winner_id: BeliefId  # the highest confidence; of equal ones the oldest
    loser_ids: tuple[BeliefId, ...]  # ascending


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What to do with the candidates."""

    merges: tuple[Merge, ...]
    queued: tuple[tuple[BeliefId, ...], ...]  # groups that a policy, a user or a language model decides about


def plan_merges(
    beliefs: Iterable[Belief],
    candidates: Iterable[Candidate],
    guard: Guard,
    *,
    at: datetime,
    settings: KnowledgeSettings = DEFAULTS,
) -> MergePlan:
    """Groups what says the same. The order of beliefs and candidates has no effect.

    Args:
        beliefs: Those of one user; what is not active is left out.
        candidates: Pairs with their cosines.
        guard: Decides what a pair says.
        at: The time at which confidence is measured.
        settings: Thresholds.
    """
    active = {belief.belief_id: belief for belief in beliefs if belief.standing is Standing.ACTIVE}
    verdicts: dict[frozenset[BeliefId], Relation] = {}

    def verdict(first: BeliefId, second: BeliefId) -> Relation:
        pair = frozenset((first, second))
        if pair not in verdicts:
            verdicts[pair] = _relation(active[first], active[second], guard)
        return verdicts[pair]

    edges = [
        (candidate.first, candidate.second)
        for candidate in candidates
        if candidate.cosine > settings.merge_cosine_above
        and len(candidate.ids) > 1
        and candidate.ids <= active.keys()
        and verdict(candidate.first, candidate.second) in {Relation.SAME, Relation.UNKNOWN}
    ]
    merges: list[Merge] = []
    queued: list[tuple[BeliefId, ...]] = []
    for group in _components(edges):
        agree = all(verdict(first, second) is Relation.SAME for first, second in itertools.combinations(group, 2))
        ranked = sorted(
            (active[belief_id] for belief_id in group),
            key=lambda belief: (-confidence_at(belief, at, settings), belief.observed_time, belief.belief_id),
        )
        if agree and confidence_at(ranked[0], at, settings) > settings.merge_confidence_above:
            winner = ranked[0].belief_id
            merges.append(Merge(winner, tuple(belief_id for belief_id in group if belief_id != winner)))
        else:
            queued.append(group)
    return MergePlan(tuple(merges), tuple(queued))


def _relation(first: Belief, second: Belief, guard: Guard) -> Relation:
    if second.belief_id in first.contradicts or first.belief_id in second.contradicts:
        return Relation.CONTRADICT
    earlier, later = sorted((first, second), key=lambda belief: (belief.observed_time, belief.belief_id))
    return guard(earlier.text, later.text)


def _components(edges: Sequence[tuple[BeliefId, BeliefId]]) -> list[tuple[BeliefId, ...]]:
    parent: dict[BeliefId, BeliefId] = {}

    def root(belief_id: BeliefId) -> BeliefId:
        parent.setdefault(belief_id, belief_id)
        while parent[belief_id] != belief_id:
            parent[belief_id] = parent[parent[belief_id]]
            belief_id = parent[belief_id]
        return belief_id

    for first, second in edges:
        low, high = sorted((root(first), root(second)))
        parent[high] = low
    groups: dict[BeliefId, list[BeliefId]] = {}
    for belief_id in sorted(parent):
        groups.setdefault(root(belief_id), []).append(belief_id)
    return [tuple(group) for _, group in sorted(groups.items())]

"""Beliefs that say the same become one (SPEC 3.6).

An embedding proposes pairs, the value guard decides: a pair whose values differ is no pair, whatever its cosine. The
remaining pairs form connected components. A component merges by itself only where every pair in it says the same; where
the guard cannot read a pair, or two ends of a chain differ, the whole component waits. So do similar pairs that differ
in their wording alone. What waits is divided into groups of a size that a person can decide about.
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
MayBeSame = Callable[[str, str], bool]
"""Whether two texts that can both hold may say the same in other words: texts of the earlier and the later belief."""


@dataclass(frozen=True, slots=True)
class Merge:
    """A group that says the same."""

    winner_id: BeliefId  # the highest confidence; of equal ones the oldest
    loser_ids: tuple[BeliefId, ...]  # ascending


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What to do with the candidates."""

    merges: tuple[Merge, ...]
    queued: tuple[tuple[BeliefId, ...], ...]  # groups that somebody decides about, the most similar first


def _never(_earlier: str, _later: str) -> bool:
    return False


def plan_merges(
    beliefs: Iterable[Belief],
    candidates: Iterable[Candidate],
    guard: Guard,
    *,
    at: datetime,
    settings: KnowledgeSettings = DEFAULTS,
    may_be_same: MayBeSame = _never,
) -> MergePlan:
    """Groups what says the same. The order of beliefs and candidates has no effect.

    Args:
        beliefs: Those of one user; what is not active is left out.
        candidates: Pairs with their cosines.
        guard: Decides what a pair says.
        at: The time at which confidence is measured.
        settings: Thresholds.
        may_be_same: Decides which of the pairs that the guard calls compatible are queued.
    """
    active = {belief.belief_id: belief for belief in beliefs if belief.standing is Standing.ACTIVE}
    verdicts: dict[frozenset[BeliefId], Relation] = {}

    def verdict(first: BeliefId, second: BeliefId) -> Relation:
        pair = frozenset((first, second))
        if pair not in verdicts:
            verdicts[pair] = _relation(active[first], active[second], guard)
        return verdicts[pair]

    similar = [
        (candidate.first, candidate.second)
        for candidate in sorted(candidates, key=lambda pair: (-pair.cosine, *sorted(pair.ids)))
        if candidate.cosine > settings.merge_cosine_above and len(candidate.ids) > 1 and candidate.ids <= active.keys()
    ]
    edges = [edge for edge in similar if verdict(*edge) in {Relation.SAME, Relation.UNKNOWN}]
    merges: list[Merge] = []
    for group in _components(edges):
        agree = all(verdict(first, second) is Relation.SAME for first, second in itertools.combinations(group, 2))
        ranked = sorted(
            (active[belief_id] for belief_id in group),
            key=lambda belief: (-confidence_at(belief, at, settings), belief.observed_time, belief.belief_id),
        )
        if agree and confidence_at(ranked[0], at, settings) > settings.merge_confidence_above:
            winner = ranked[0].belief_id
            merges.append(Merge(winner, tuple(belief_id for belief_id in group if belief_id != winner)))
    merged = {belief_id for merge in merges for belief_id in merge.loser_ids}  # winners go on as they are
    undecided = [
        edge
        for edge in similar
        if merged.isdisjoint(edge)
        and (
            verdict(*edge) in {Relation.SAME, Relation.UNKNOWN}
            or (verdict(*edge) is Relation.COMPATIBLE and may_be_same(*_texts(active[edge[0]], active[edge[1]])))
        )
    ]
    groups = [group for group in _components(undecided, settings.queued_group_max) if len(group) > 1]
    return MergePlan(tuple(merges), tuple(_most_similar_first(groups, undecided)))


def _most_similar_first(
    groups: Sequence[tuple[BeliefId, ...]], edges: Sequence[tuple[BeliefId, BeliefId]]
) -> list[tuple[BeliefId, ...]]:
    """Groups in the order of their first edges."""
    places: dict[BeliefId, int] = {}
    for place, edge in enumerate(edges):
        for belief_id in edge:
            places.setdefault(belief_id, place)
    return sorted(groups, key=lambda group: (min(places[belief_id] for belief_id in group), group))


def _relation(first: Belief, second: Belief, guard: Guard) -> Relation:
    if second.belief_id in first.contradicts or first.belief_id in second.contradicts:
        return Relation.CONTRADICT
    return guard(*_texts(first, second))


def _texts(first: Belief, second: Belief) -> tuple[str, str]:
    """Of the earlier and the later one."""
    earlier, later = sorted((first, second), key=lambda belief: (belief.observed_time, belief.belief_id))
    return earlier.text, later.text


def _components(edges: Sequence[tuple[BeliefId, BeliefId]], size_max: int | None = None) -> list[tuple[BeliefId, ...]]:
    """What edges connect, each by ascending id; an edge that would make a group larger than `size_max` is left out."""
    parent: dict[BeliefId, BeliefId] = {}
    sizes: dict[BeliefId, int] = {}

    def root(belief_id: BeliefId) -> BeliefId:
        parent.setdefault(belief_id, belief_id)
        while parent[belief_id] != belief_id:
            parent[belief_id] = parent[parent[belief_id]]
            belief_id = parent[belief_id]
        return belief_id

    for first, second in edges:
        low, high = sorted((root(first), root(second)))
        size = sizes.get(low, 1) + sizes.get(high, 1)
        if low != high and (size_max is None or size <= size_max):
            parent[high], sizes[low] = low, size
    groups: dict[BeliefId, list[BeliefId]] = {}
    for belief_id in sorted(parent):
        groups.setdefault(root(belief_id), []).append(belief_id)
    return [tuple(group) for _, group in sorted(groups.items())]

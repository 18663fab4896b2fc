"""Job: merges facts that say the same (SPEC 3.6).

Similar vectors propose a pair, the value guard decides. Groups that it cannot read, or that differ in their wording
alone, wait for a decision.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import numpy as np

from services.common.ids import IdSource
from services.common.knowledge.merging import Guard, MayBeSame, MergePlan, plan_merges
from services.common.knowledge.model import Belief, BeliefId, Candidate, KnowledgeSettings
from services.common.maintenance import Cap, Change, Step
from services.common.maintenance.grounds import grounds
from services.common.maintenance.pace import computed, rest
from services.common.owners import Owner
from services.common.tier_embedder import TierEmbedder
from services.common.values.comparison.compare import compare, relation
from services.common.values.model import DifferenceKind, Relation
from services.semantic.config import FactMergingSettings, SemanticSettings
from services.semantic.facts.merge_groups import MergeGroup, MergeState
from services.semantic.facts.merging import is_merged
from services.semantic.facts.model import ACTIVE, FactId, FactRecord
from services.semantic.facts.removal import put_changes
from services.semantic.facts.store import FactStore, FactWriter
from services.semantic.facts.upkeep_store import FactUpkeepStore, MergeableFact
from services.semantic.facts.working_set import FactWorkingSet
from services.semantic.maintenance import merge_queue
from services.semantic.maintenance.merge_queue import Apart
from services.semantic.maintenance.owners import cursor_of, owners_behind

_BLOCK: Final = 32
"""Facts whose vectors are compared with all others at a time."""
_MERGE: Final = "merge"
_ASSERTED_MAX: Final = 32
"""Facts of a group, the winner first, with each of which a loser is not merged again once its merge was taken back."""


@dataclass(frozen=True, slots=True)
class SimilarFacts:
    """A user's similar facts, with what the value guard says of them."""

    facts: Mapping[FactId, MergeableFact]
    pairs: Sequence[Candidate]
    verdicts: Mapping[tuple[str, str], Relation]  # of the texts of an earlier and a later fact
    reworded: frozenset[tuple[str, str]] = frozenset()  # texts of compatible facts that differ in their wording alone
    waiting: Sequence[MergeGroup] = ()  # groups that wait for a decision
    apart: Apart = field(default_factory=dict)  # what was decided to be different
    undone: frozenset[str] = frozenset()  # grounds of changes that were taken back

    def texts(self) -> dict[FactId, str]:
        """What the facts say."""
        return {fact_id: fact.text for fact_id, fact in self.facts.items()}


class MergeFacts:
    """Gives the most confident of facts that say the same the evidence of all, and links the others to it.

    Groups of similar facts that may say the same, or not, are queued for a decision (`facts/merging.py`).

    A merged fact keeps its own statements: where the winner goes, it stands again. What is said later in its words
    confirms the winner.
    """

    name = "semantic.merge_facts"

    def __init__(
        self,
        upkeep: FactUpkeepStore,
        store: FactStore,
        embedder: TierEmbedder,
        ids: IdSource,
        settings: SemanticSettings | None = None,
    ) -> None:
        """Looks at facts in `upkeep`, and merges them in `store`, which is of the same database."""
        self._upkeep = upkeep
        self._store = store
        self._embedder = embedder
        self._ids = ids
        self._settings = settings or SemanticSettings()
        self.cap = Cap(share=self._settings.merging.share_max)

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[SimilarFacts]]:
        """See `Job.steps`: one user a step."""
        merging = self._settings.merging
        owners = owners_behind(self._upkeep, after, owner=owner, page_size=self._settings.retention.owners_page)
        async with aclosing(owners) as listed:  # type: ignore[type-var]
            async for found in listed:
                facts = await self._upkeep.mergeable(
                    found.owner, model=self._embedder.model_id, limit=merging.facts_max
                )
                waiting, apart = await self._decisions(found.owner)
                # Comparing takes processor time: requests go on meanwhile.
                state = await computed(similar_facts, facts, merging, waiting, apart)
                if state.pairs or state.waiting:
                    yield Step(state, cursor_of(found.owner), found.owner, memory_count=found.count)

    def plan(self, state: SimilarFacts, now: datetime) -> Sequence[Change]:
        """See `Job.plan`: a change for each fact that is merged into another one, and for each change of the queue."""
        guard = lambda earlier, later: state.verdicts.get((earlier, later), Relation.UNKNOWN)  # noqa: E731
        may_be_same = lambda earlier, later: (earlier, later) in state.reworded  # noqa: E731
        plan = _planned(state, guard, may_be_same, self._settings.merging, now)
        merges = [
            Change(
                _MERGE,
                loser_id,
                1,
                {
                    "winner": merge.winner_id,
                    "winner_revision": state.facts[FactId(merge.winner_id)].revision,
                    "revision": state.facts[FactId(loser_id)].revision,
                },
                _asserted(state, loser_id, (merge.winner_id, *merge.loser_ids)),
            )
            for merge in plan.merges
            for loser_id in merge.loser_ids
        ]
        queued = [[FactId(belief_id) for belief_id in group] for group in plan.queued]
        return [
            *merges,
            *merge_queue.planned(
                queued,
                state.waiting,
                groups_max=self._settings.merging.groups_max,
                now=now,
                texts=state.texts(),
                undone=state.undone,
            ),
        ]

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`. A pair of which one side was written meanwhile stays as it is."""
        if owner is None:
            return []

        merges = [change for change in changes if change.action == _MERGE]

        async def make(writer: FactWriter) -> list[Change]:
            merged = await self._merge(owner, writer, merges) if merges else []
            return [*merged, *await merge_queue.applied(writer.merge_groups, changes)]

        return await self._store.write(owner, make)

    async def _merge(self, owner: Owner, writer: FactWriter, changes: Sequence[Change]) -> list[Change]:
        records = {r.fact_id: r for r in await writer.records_of(_ids_of(changes), are_reduced=True)}
        made = [change for change in changes if _is_mergeable(change, records)]
        if made:
            working_set = self._working_set(owner)
            working_set.load(list(records.values()))
            for change in made:
                working_set.unite(_winner_of(change), FactId(change.target))
            await put_changes(writer, working_set, self._embedder)
        return made

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`: what is still merged into its winner stands on its own evidence again.

        Groups that still wait are withdrawn, and those that were withdrawn wait again.
        """
        if owner is None:
            return 0
        merges = [change for change in changes if change.action == _MERGE]

        async def take_back(writer: FactWriter) -> int:
            separated = await self._separate(owner, writer, merges) if merges else 0
            return separated + await merge_queue.undone(writer.merge_groups, changes)

        return await self._store.write(owner, take_back)

    async def _separate(self, owner: Owner, writer: FactWriter, changes: Sequence[Change]) -> int:
        records = {r.fact_id: r for r in await writer.records_of(_ids_of(changes), are_reduced=True)}
        merged = [change for change in changes if is_merged(_winner_of(change), FactId(change.target), records)]
        if merged:
            working_set = self._working_set(owner)
            working_set.load(list(records.values()))
            for change in merged:
                winner_id = _winner_of(change)
                removed = working_set.separate(winner_id, FactId(change.target))
                await writer.remove_statements(winner_id, removed)
            await put_changes(writer, working_set, self._embedder)
        return len(merged)

    async def _decisions(self, owner: Owner) -> tuple[Sequence[MergeGroup], Apart]:
        merging = self._settings.merging
        waiting = await self._store.merge_groups(owner, state=MergeState.WAITING, after=None, limit=merging.groups_max)
        decided = await self._store.merge_groups(
            owner, state=MergeState.KEPT_APART, after=None, limit=merging.decisions_max
        )
        return waiting, merge_queue.apart_of(decided)

    def _working_set(self, owner: Owner) -> FactWorkingSet:
        return FactWorkingSet(
            owner.user_id, self._settings.evidence, new_id=self._ids.new_id, model=self._embedder.model_id
        )


def similar_facts(
    facts: Sequence[MergeableFact],
    settings: FactMergingSettings,
    waiting: Sequence[MergeGroup] = (),
    apart: Apart | None = None,
) -> SimilarFacts:
    """The similar pairs of a user's facts, the most similar first, with the verdicts of the value guard.

    Args:
        facts: The user's, the last confirmed first.
        settings: Bounds.
        waiting: Groups that wait for a decision: their facts are compared however long ago they were confirmed.
        apart: For each fact those that are to be kept apart from it.
    """
    by_id = {fact.fact_id: fact for fact in facts}
    pairs = _with_waiting(_similar_pairs(facts, settings), by_id, waiting, settings)
    verdicts: dict[tuple[str, str], Relation] = {}
    reworded: set[tuple[str, str]] = set()

    def guard(earlier: str, later: str) -> Relation:
        return verdicts.setdefault((earlier, later), relation(earlier, later))

    def may_be_same(earlier: str, later: str) -> bool:
        """Whether no value, name or negation differs."""
        is_reworded = {difference.kind for difference in compare(earlier, later).differences} <= {
            DifferenceKind.WORDING
        }
        if is_reworded:
            reworded.add((earlier, later))
        return is_reworded

    found = SimilarFacts(by_id, pairs, verdicts, waiting=waiting, apart=apart or {})
    if pairs:
        _planned(found, guard, may_be_same, settings, facts[0].last_confirmed_time)
    return replace(found, reworded=frozenset(reworded))


def _with_waiting(
    pairs: Sequence[Candidate],
    facts: Mapping[FactId, MergeableFact],
    waiting: Sequence[MergeGroup],
    settings: FactMergingSettings,
) -> Sequence[Candidate]:
    """The pairs, and those of the groups that wait."""
    known = {pair.ids for pair in pairs}
    found = list(pairs)
    for group in waiting:
        members = [facts[fact_id] for fact_id in group.fact_ids if fact_id in facts]
        for one, other in itertools.combinations(members, 2):
            cosine = float(one.vector @ other.vector)
            pair = Candidate(BeliefId(one.fact_id), BeliefId(other.fact_id), cosine)
            if pair.ids not in known and cosine > settings.cosine_above and _may_be_same(one, other):
                known.add(pair.ids)
                found.append(pair)
    return found


def _similar_pairs(facts: Sequence[MergeableFact], settings: FactMergingSettings) -> list[Candidate]:
    if len(facts) < 2:
        return []
    vectors = np.stack([fact.vector for fact in facts])
    found: list[Candidate] = []
    for start in range(0, min(len(facts), settings.newest_max), _BLOCK):
        end = min(start + _BLOCK, len(facts), settings.newest_max)
        cosines = vectors[start:end] @ vectors.T
        rest()
        for row, column in np.argwhere(cosines > settings.cosine_above):
            one, other = facts[start + int(row)], facts[int(column)]
            if column > start + row and _may_be_same(one, other):
                cosine = float(cosines[row, column])
                found.append(Candidate(BeliefId(one.fact_id), BeliefId(other.fact_id), cosine))
    found.sort(key=lambda pair: (-pair.cosine, pair.first, pair.second))
    return found[: settings.pairs_max]


def _may_be_same(one: MergeableFact, other: MergeableFact) -> bool:
    """Facts of different scopes have different readers; what happened on different days is not the same."""
    starts = {fact.valid_from_time.date() for fact in (one, other) if fact.valid_from_time is not None}
    return one.scope_key == other.scope_key and len(starts) < 2


def _planned(
    state: SimilarFacts, guard: Guard, may_be_same: MayBeSame, settings: FactMergingSettings, at: datetime
) -> MergePlan:
    # The confidence is that of the evidence, without decay: what has faded is no longer active.
    rules = KnowledgeSettings(
        decay_per_day=0.0,
        merge_cosine_above=settings.cosine_above,
        merge_confidence_above=settings.confidence_above,
        queued_group_max=settings.group_facts_max,
    )
    named = {FactId(belief_id) for pair in state.pairs for belief_id in pair.ids}
    beliefs = [
        Belief(
            belief_id=BeliefId(fact.fact_id),
            text=fact.text,
            base_confidence=fact.confidence,
            importance=fact.importance,
            observed_time=fact.first_observed_time,
            contradicts=frozenset(
                BeliefId(other) for other in (*fact.contradictions, *state.apart.get(fact.fact_id, ()))
            ),
        )
        for fact in state.facts.values()
        if fact.fact_id in named
    ]
    return plan_merges(beliefs, state.pairs, guard, at=at, settings=rules, may_be_same=may_be_same)


def _asserted(state: SimilarFacts, loser_id: BeliefId, members: Sequence[BeliefId]) -> tuple[str, ...]:
    """That a fact says the same as the winner and the other losers: all of that is taken back with its merge."""
    pairs = ((FactId(loser_id), FactId(other)) for other in members[:_ASSERTED_MAX] if other != loser_id)
    return tuple(grounds(_MERGE, pair, texts=(state.facts[fact_id].text for fact_id in pair)) for pair in pairs)


def _winner_of(change: Change) -> FactId:
    return FactId(str(change.facts["winner"]))


def _ids_of(changes: Sequence[Change]) -> list[FactId]:
    return sorted({fact_id for change in changes for fact_id in (FactId(change.target), _winner_of(change))})


def _is_mergeable(change: Change, records: Mapping[FactId, FactRecord]) -> bool:
    sides = ((_winner_of(change), "winner_revision"), (FactId(change.target), "revision"))
    for fact_id, revision in sides:
        fact = records[fact_id].fact if fact_id in records else None
        if fact is None or fact.status not in ACTIVE or fact.revision != change.facts[revision]:
            return False
    return True

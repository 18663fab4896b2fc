"""Job: merges facts that say the same (SPEC 3.6).

Similar vectors propose a pair, the value guard decides. What it cannot read is left alone and counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from services.common.ids import IdSource
from services.common.knowledge.merging import Guard, MergePlan, plan_merges
from services.common.knowledge.model import Belief, BeliefId, Candidate, KnowledgeSettings
from services.common.maintenance import Cap, Change, Step
from services.common.owners import Owner
from services.common.tier_embedder import TierEmbedder
from services.common.values.compare import relation
from services.common.values.model import Relation
from services.semantic.config import FactMergingSettings, SemanticSettings
from services.semantic.facts.model import ACTIVE, FactId, FactRecord, FactStatus
from services.semantic.facts.removal import put_changes
from services.semantic.facts.store import FactStore, FactWriter
from services.semantic.facts.upkeep_store import FactUpkeepStore, MergeableFact
from services.semantic.facts.working_set import FactWorkingSet
from services.semantic.maintenance.owners import cursor_of, owners_behind

_BLOCK: Final = 256
"""Facts whose vectors are compared with all others at a time."""
_MERGE: Final = "merge"


@dataclass(frozen=True, slots=True)
class SimilarFacts:
    """A user's similar facts, with what the value guard says of them."""

    facts: Mapping[FactId, MergeableFact]
    pairs: Sequence[Candidate]
    verdicts: Mapping[tuple[str, str], Relation]  # of the texts of an earlier and a later fact


class MergeFacts:
    """Gives the most confident of facts that say the same the evidence of all, and links the others to it.

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
                # Comparing takes processor time: requests go on meanwhile.
                state = await asyncio.to_thread(similar_facts, facts, merging)
                if state.pairs:
                    yield Step(state, cursor_of(found.owner), found.owner, memory_count=found.count)

    def plan(self, state: SimilarFacts, now: datetime) -> Sequence[Change]:
        """See `Job.plan`: one change for each fact that is merged into another one."""
        guard = lambda earlier, later: state.verdicts.get((earlier, later), Relation.UNKNOWN)  # noqa: E731
        return [
            Change(
                _MERGE,
                loser_id,
                1,
                {
                    "winner": merge.winner_id,
                    "winner_revision": state.facts[FactId(merge.winner_id)].revision,
                    "revision": state.facts[FactId(loser_id)].revision,
                },
            )
            for merge in _planned(state.facts, state.pairs, guard, self._settings.merging, now).merges
            for loser_id in merge.loser_ids
        ]

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`. A pair of which one side was written meanwhile stays as it is."""
        if owner is None:
            return []

        async def merge(writer: FactWriter) -> list[Change]:
            records = {r.fact_id: r for r in await writer.records_of(_ids_of(changes), are_reduced=True)}
            made = [change for change in changes if _is_mergeable(change, records)]
            if made:
                working_set = self._working_set(owner)
                working_set.load(list(records.values()))
                for change in made:
                    working_set.unite(_winner_of(change), FactId(change.target))
                await put_changes(writer, working_set, self._embedder)
            return made

        return await self._store.write(owner, merge)

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`: what is still merged into its winner stands on its own evidence again."""
        if owner is None:
            return 0

        async def separate(writer: FactWriter) -> int:
            records = {r.fact_id: r for r in await writer.records_of(_ids_of(changes), are_reduced=True)}
            merged = [change for change in changes if _is_merged(change, records)]
            if merged:
                working_set = self._working_set(owner)
                working_set.load(list(records.values()))
                for change in merged:
                    winner_id = _winner_of(change)
                    removed = working_set.separate(winner_id, FactId(change.target))
                    await writer.remove_statements(winner_id, removed)
                await put_changes(writer, working_set, self._embedder)
            return len(merged)

        return await self._store.write(owner, separate)

    def _working_set(self, owner: Owner) -> FactWorkingSet:
        return FactWorkingSet(
            owner.user_id, self._settings.evidence, new_id=self._ids.new_id, model=self._embedder.model_id
        )


def similar_facts(facts: Sequence[MergeableFact], settings: FactMergingSettings) -> SimilarFacts:
    """The similar pairs of a user's facts, the most similar first, with the verdicts of the value guard."""
    by_id = {fact.fact_id: fact for fact in facts}
    pairs = _similar_pairs(facts, settings)
    verdicts: dict[tuple[str, str], Relation] = {}

    def guard(earlier: str, later: str) -> Relation:
        return verdicts.setdefault((earlier, later), relation(earlier, later))

    if pairs:
        _planned(by_id, pairs, guard, settings, facts[0].last_confirmed_time)
    return SimilarFacts(by_id, pairs, verdicts)


def _similar_pairs(facts: Sequence[MergeableFact], settings: FactMergingSettings) -> list[Candidate]:
    if len(facts) < 2:
        return []
    vectors = np.stack([fact.vector for fact in facts])
    found: list[Candidate] = []
    for start in range(0, min(len(facts), settings.newest_max), _BLOCK):
        end = min(start + _BLOCK, len(facts), settings.newest_max)
        cosines = vectors[start:end] @ vectors.T
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
    facts: Mapping[FactId, MergeableFact],
    pairs: Sequence[Candidate],
    guard: Guard,
    settings: FactMergingSettings,
    at: datetime,
) -> MergePlan:
    # The confidence is that of the evidence, without decay: what has faded is no longer active.
    rules = KnowledgeSettings(
        decay_per_day=0.0, merge_cosine_above=settings.cosine_above, merge_confidence_above=settings.confidence_above
    )
    named = {FactId(belief_id) for pair in pairs for belief_id in pair.ids}
    beliefs = [
        Belief(
            belief_id=BeliefId(fact.fact_id),
            text=fact.text,
            base_confidence=fact.confidence,
            importance=fact.importance,
            observed_time=fact.first_observed_time,
            contradicts=frozenset(BeliefId(other) for other in fact.contradictions),
        )
        for fact in facts.values()
        if fact.fact_id in named
    ]
    return plan_merges(beliefs, pairs, guard, at=at, settings=rules)


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


def _is_merged(change: Change, records: Mapping[FactId, FactRecord]) -> bool:
    winner_id, loser_id = _winner_of(change), FactId(change.target)
    loser = records[loser_id].fact if loser_id in records else None
    return (
        winner_id in records
        and loser is not None
        and loser.status is FactStatus.MERGED_INTO
        and loser.merged_into_fact_id == winner_id
    )

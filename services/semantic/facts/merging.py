"""Use cases of groups of similar facts: what waits for a decision, and the decisions (SPEC 3.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from services.common.clock import Clock
from services.common.errors import Conflict, FailedPrecondition, FieldViolation, InvalidArgument, NotFound
from services.common.idempotency.model import Idempotency, IdempotencyKey
from services.common.ids import IdSource
from services.common.owners import Owner
from services.common.scope import Reader
from services.common.tier_embedder import TierEmbedder
from services.semantic.config import SemanticSettings
from services.semantic.facts.evidence import confidence_at
from services.semantic.facts.merge_groups import (
    MergeDecision,
    MergeGroup,
    MergeGroupId,
    MergePosition,
    MergeState,
    best_first,
    etag_of,
    group_id_of,
)
from services.semantic.facts.model import ACTIVE, Fact, FactId, FactRecord, FactStatus
from services.semantic.facts.removal import put_changes
from services.semantic.facts.store import FactStore, FactWriter
from services.semantic.facts.working_set import FactWorkingSet


@dataclass(frozen=True, slots=True)
class ListMergeGroups:
    """A page of a user's groups."""

    owner: Owner
    state: MergeState | None  # None: any
    page_size: int
    after: MergePosition | None
    include_low_confidence: bool = False
    reader: Reader | None = None  # only groups of which it sees every fact; None: every scope


@dataclass(frozen=True, slots=True)
class ResolveMergeGroup:
    """A decision about a group."""

    owner: Owner
    key: IdempotencyKey
    group_id: MergeGroupId
    decision: MergeDecision
    fact_ids: tuple[FactId, ...] = ()  # those of the group that it is about; empty: all
    survivor_id: FactId | None = None  # None: the one with the highest confidence
    etag: str = ""  # that the caller read; empty: whatever is stored


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """A group with its facts."""

    group: MergeGroup
    facts: tuple[Fact, ...]  # without versions; the one that survived, or would, first
    etag: str


@dataclass(frozen=True, slots=True)
class MergeGroupPage:
    """Groups, newest first; at least one where there are more behind it."""

    groups: tuple[ShownGroup, ...]
    has_more: bool


class FactMerging:
    """Lists groups of similar facts, and unites them or keeps them apart."""

    def __init__(
        self, store: FactStore, embedder: TierEmbedder, *, clock: Clock, ids: IdSource, settings: SemanticSettings
    ) -> None:
        """All collaborators are owned by the caller."""
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._ids = ids
        self._settings = settings
        self._idempotency = Idempotency(MergeGroup, retention_seconds=settings.idempotency_retention_seconds)

    async def list_groups(self, command: ListMergeGroups) -> MergeGroupPage:
        """A page of groups. Those with a fact of little confidence are left out of it unless they are asked for.

        Confidence counts with the decay by the user's latest activity, as in lists of facts.
        """
        least = 0.0 if command.include_low_confidence else self._settings.use.explicit_confidence_min
        after, size, evidence = command.after, command.page_size, self._settings.evidence
        active_time = await self._store.active_time(command.owner)
        now = self._clock.now() if active_time is None else min(self._clock.now(), active_time)
        while True:
            found = await self._store.merge_groups(
                command.owner, state=command.state, after=after, limit=size + 1, reader=command.reader
            )
            page, has_more = found[:size], len(found) > size
            shown = await self._shown(command.owner, page)
            groups = tuple(one for one in shown if all(confidence_at(f, now, evidence) >= least for f in one.facts))
            if groups or not has_more:
                return MergeGroupPage(groups, has_more)
            after = MergePosition(page[-1].create_time, page[-1].group_id)

    async def resolve(self, command: ResolveMergeGroup) -> ShownGroup:
        """Decides about a group; the group after it. The same decision again changes nothing.

        Raises:
            NotFound: The owner has no such group.
            Conflict: The group or one of its facts was changed since the caller read it.
            FailedPrecondition: A fact to unite is no longer active, or what was united is not as it was left.
            InvalidArgument: A fact is named that is not of the group, or the request id was used for something else.
        """
        now = self._clock.now()
        decided = await self._store.write(
            command.owner,
            lambda writer: self._idempotency.run(
                writer.idempotency,
                command.key,
                lambda: self._decide(writer, command, now),
                now=now,
                user_id=command.owner.user_id,
                resource_id=lambda group: group.group_id,
            ),
        )
        [shown] = await self._shown(command.owner, [decided])
        return shown

    async def _decide(self, writer: FactWriter, command: ResolveMergeGroup, now: datetime) -> MergeGroup:
        group = await writer.merge_groups.get(command.group_id)
        if group is None:
            raise NotFound("merge group", command.group_id)
        records = {r.fact_id: r for r in await writer.records_of(group.fact_ids, are_reduced=True)}
        facts = {fact_id: fact for fact_id in group.fact_ids if (fact := _fact_of(records, fact_id)) is not None}
        if command.etag and command.etag != etag_of(group, facts):
            raise Conflict("the group or one of its facts was changed since it was read: read it again")
        part = _part_of(group, command)
        working_set = FactWorkingSet(
            command.owner.user_id, self._settings.evidence, new_id=self._ids.new_id, model=self._embedder.model_id
        )
        working_set.load(list(records.values()))
        if command.decision is MergeDecision.UNITE:
            decided = _united(part, facts, command, working_set, now)
        else:
            decided = await _apart(part, records, working_set, writer, now)
        if decided == group:
            return group
        await put_changes(writer, working_set, self._embedder)
        if decided.state is MergeState.UNITED:
            # Whatever else one of them was similar to is to be compared with what it is now.
            await writer.merge_groups.withdraw_with(decided.fact_ids)
        await writer.merge_groups.withdraw([group.group_id])
        await writer.merge_groups.put(decided)
        return decided

    async def _shown(self, owner: Owner, groups: Sequence[MergeGroup]) -> list[ShownGroup]:
        ids = sorted({fact_id for group in groups for fact_id in group.fact_ids})
        facts = await self._store.facts_of(owner, ids) if ids else {}
        return [
            ShownGroup(
                group,
                tuple(best_first((facts[i] for i in group.fact_ids if i in facts), group.survivor_id)),
                etag_of(group, facts),
            )
            for group in groups
        ]


def is_merged(winner_id: FactId, loser_id: FactId, records: Mapping[FactId, FactRecord]) -> bool:
    """Whether a fact is merged into another one, both of which are there."""
    loser = _fact_of(records, loser_id)
    return (
        winner_id in records
        and loser is not None
        and loser.status is FactStatus.MERGED_INTO
        and loser.merged_into_fact_id == winner_id
    )


def _part_of(group: MergeGroup, command: ResolveMergeGroup) -> MergeGroup:
    """The group, or the part of it that a decision is about as a group of its own."""
    wanted = tuple(sorted(set(command.fact_ids))) or group.fact_ids
    if not set(wanted) <= set(group.fact_ids):
        raise _invalid("fact_ids", "names a fact that is not in the group")
    if command.survivor_id is not None and command.survivor_id not in wanted:
        raise _invalid("survivor_fact_id", "names a fact to which the decision does not apply")
    if len(wanted) < 2:
        raise _invalid("fact_ids", "must name at least two facts")
    if wanted == group.fact_ids:
        return group
    if group.state is not MergeState.WAITING:
        raise FailedPrecondition("the former decision was about the whole group: decide about the whole group again")
    return replace(group, group_id=group_id_of(wanted), fact_ids=wanted)


def _united(
    group: MergeGroup,
    facts: Mapping[FactId, Fact],
    command: ResolveMergeGroup,
    working_set: FactWorkingSet,
    now: datetime,
) -> MergeGroup:
    if group.state is MergeState.UNITED:
        if command.survivor_id not in {None, group.survivor_id}:
            raise FailedPrecondition("the facts are united already: keep them apart first")
        return group
    for fact_id in group.fact_ids:
        fact = facts.get(fact_id)
        if fact is None or fact.status not in ACTIVE or fact.valid_to_time is not None:
            raise FailedPrecondition("a fact of the group is no longer active or has ended")
    survivor_id = command.survivor_id or best_first(facts[fact_id] for fact_id in group.fact_ids)[0].fact_id
    for fact_id in group.fact_ids:
        if fact_id != survivor_id:
            working_set.unite(survivor_id, fact_id)
    return replace(group, state=MergeState.UNITED, decide_time=now, survivor_id=survivor_id)


async def _apart(
    group: MergeGroup,
    records: Mapping[FactId, FactRecord],
    working_set: FactWorkingSet,
    writer: FactWriter,
    now: datetime,
) -> MergeGroup:
    if group.state is MergeState.KEPT_APART:
        return group
    survivor_id = group.survivor_id
    if survivor_id is not None:
        survivor = _fact_of(records, survivor_id)
        if survivor is not None and survivor.status is FactStatus.MERGED_INTO:
            raise FailedPrecondition("the facts have been merged into another fact since: undo that merge first")
        for fact_id in group.fact_ids:
            if is_merged(survivor_id, fact_id, records):
                await writer.remove_statements(survivor_id, working_set.separate(survivor_id, fact_id))
    return replace(group, state=MergeState.KEPT_APART, decide_time=now, survivor_id=None)


def _fact_of(records: Mapping[FactId, FactRecord], fact_id: FactId) -> Fact | None:
    return records[fact_id].fact if fact_id in records else None


def _invalid(path: str, description: str) -> InvalidArgument:
    return InvalidArgument(f"{path} {description}", violations=[FieldViolation(path, description)])

"""Use cases that take facts away: by id, with their sources, with their owner, or into the archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.common.clock import Clock
from services.common.idempotency.model import Idempotency
from services.common.ids import IdSource
from services.common.maintenance.store import MaintenanceStore
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.tier_embedder import TierEmbedder
from services.semantic.config import SemanticSettings
from services.semantic.facts.arguments import DeleteFact, RemovalResult
from services.semantic.facts.model import Fact, FactId, FactRecord, FactStatus, StatementId
from services.semantic.facts.service import found_record
from services.semantic.facts.store import FactStore, FactWriter
from services.semantic.facts.working_set import FactWorkingSet, lacks_vector


@dataclass(frozen=True, slots=True)
class _Deleted:
    """The response to a deletion."""

    fact_id: FactId


class FactRemoval:
    """Removes and archives facts, and derives those that remain from the evidence left."""

    def __init__(
        self,
        store: FactStore,
        embedder: TierEmbedder,
        *,
        clock: Clock,
        ids: IdSource,
        settings: SemanticSettings,
        maintenance: MaintenanceStore | None = None,
    ) -> None:
        """All collaborators are owned by the caller; what `maintenance` has logged of a user goes with the user."""
        self._maintenance = maintenance
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._ids = ids
        self._settings = settings
        self._idempotency = Idempotency(_Deleted, retention_seconds=settings.idempotency_retention_seconds)

    async def delete(self, command: DeleteFact) -> None:
        """Deletes a fact, and those merged into it. What it was merged into stands on its own evidence again.

        The interactions it came from stay marked as extracted, so that they do not give rise to it again.

        Raises:
            NotFound: The owner has no such fact.
            Conflict: The fact was changed since the caller read it.
            InvalidArgument: The request id was used for something else.
        """
        now = self._clock.now()

        async def remove(writer: FactWriter) -> _Deleted:
            _, fact = found_record(await writer.records_of([command.fact_id]), command.fact_id, command.etag)
            gone = await _with_merged(writer, command.fact_id)
            winners = await _winners(writer, fact)
            working_set = self._working_set(command.owner)
            working_set.load(await writer.records_of([*gone, *winners], are_reduced=bool(winners)))
            for winner_id in winners:
                for fact_id in gone:
                    await writer.remove_statements(winner_id, working_set.separate(winner_id, fact_id))
            await self._remove(writer, command.owner, working_set, gone)
            await put_changes(writer, working_set, self._embedder)
            return _Deleted(command.fact_id)

        await self._store.write(
            command.owner,
            lambda writer: self._idempotency.run(
                writer.idempotency,
                command.key,
                lambda: remove(writer),
                now=now,
                user_id=command.owner.user_id,
                resource_id=lambda deleted: f"deletion of {deleted.fact_id}",
            ),
        )

    async def remove_by_source(self, owner: Owner, interaction_ids: Sequence[InteractionId]) -> RemovalResult:
        """Removes interactions from the evidence of facts; a fact goes with the last of its own statements.

        What was merged into a fact that goes stands on its own evidence again.
        """

        async def remove(writer: FactWriter) -> RemovalResult:
            affected = await writer.remove_evidence(interaction_ids)
            if not affected:
                return RemovalResult(0, 0)
            merged = await writer.merged_into(affected)
            records = await writer.records_of(sorted({*affected, *merged}), are_reduced=True)
            gone = [fact_id for fact_id in _without_own(records) if fact_id in affected]
            reduced = [fact_id for fact_id in affected if fact_id not in gone]
            freed = [fact_id for fact_id in await writer.merged_into(gone) if fact_id not in gone]
            unmerged = [_unmerged(r, freed) for r in await writer.records_of(freed, are_reduced=True)] if freed else []
            working_set = self._working_set(owner)
            working_set.load(list({record.fact_id: record for record in (*records, *unmerged)}.values()))
            await self._remove(writer, owner, working_set, gone)
            await writer.idempotency.erase(owner.user_id, reduced)
            working_set.rederive([*reduced, *freed])
            await put_changes(writer, working_set, self._embedder)
            return RemovalResult(len(gone), len(reduced))

        return await self._store.write(owner, remove)

    async def remove_owner(self, owner: Owner) -> int:
        """Removes all facts of a user; how many there were."""
        if self._maintenance is not None:
            await self._maintenance.remove_owner(owner)
        return await self._store.remove_owner(owner)

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """Users of a tenant that have facts; see `FactStore.users`."""
        return await self._store.users(tenant_id, after=after, limit=limit)

    async def archive(self, owner: Owner, fact_ids: Sequence[FactId]) -> int:
        """Takes facts out of searches and default lists; how many."""
        return await self._store.archive(owner, fact_ids)

    async def restore(self, owner: Owner, fact_ids: Sequence[FactId]) -> int:
        """Gives archived facts the status they had; how many."""
        return await self._store.restore(owner, fact_ids)

    async def _remove(
        self, writer: FactWriter, owner: Owner, working_set: FactWorkingSet, gone: Sequence[FactId]
    ) -> None:
        if gone:
            await writer.remove(gone)
            await writer.idempotency.erase(owner.user_id, gone)
            working_set.remove(gone)

    def _working_set(self, owner: Owner) -> FactWorkingSet:
        return FactWorkingSet(
            owner.user_id, self._settings.evidence, new_id=self._ids.new_id, model=self._embedder.model_id
        )


async def put_changes(writer: FactWriter, working_set: FactWorkingSet, embedder: TierEmbedder) -> None:
    """Stores what changes, with vectors of the texts that evidence fell back to."""
    changes = working_set.changes()
    texts = list(dict.fromkeys(change.fact.text for change in changes if lacks_vector(change)))
    if texts:
        vectors = dict(zip(texts, await embedder.embed(texts), strict=True))
        changes = [
            replace(change, vector=vectors[change.fact.text]) if lacks_vector(change) else change for change in changes
        ]
    await writer.put(changes)


async def _winners(writer: FactWriter, fact: Fact) -> list[FactId]:
    """What the fact was merged into, directly or by way of others."""
    found: list[FactId] = []
    while fact.merged_into_fact_id is not None and fact.merged_into_fact_id not in found:
        found.append(fact.merged_into_fact_id)
        records = {record.fact_id: record.fact for record in await writer.records_of(found[-1:])}
        winner = records.get(found[-1])
        if winner is None:
            return found[:-1]
        fact = winner
    return found


async def _with_merged(writer: FactWriter, fact_id: FactId) -> list[FactId]:
    """The fact and those merged into it, directly or by way of others."""
    found = [fact_id]
    last = found
    while last := [other for other in await writer.merged_into(last) if other not in found]:
        found += last
    return found


def _without_own(records: Sequence[FactRecord]) -> list[FactId]:
    """The facts that have no statements, or those alone of facts that were merged into them."""
    given: dict[FactId, set[StatementId]] = {}
    for record in records:
        if record.fact is not None and record.fact.merged_into_fact_id is not None:
            ids = {statement.statement_id for statement in record.statements}
            given.setdefault(record.fact.merged_into_fact_id, set()).update(ids)
    return [
        record.fact_id
        for record in records
        if record.is_reduced
        and all(statement.statement_id in given.get(record.fact_id, ()) for statement in record.statements)
    ]


def _unmerged(record: FactRecord, freed: Sequence[FactId]) -> FactRecord:
    if record.fact_id not in freed or record.fact is None:
        return record
    return replace(record, fact=replace(record.fact, status=FactStatus.TENTATIVE, merged_into_fact_id=None))

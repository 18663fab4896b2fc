"""Use cases of procedures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from services.common.clock import Clock
from services.common.errors import AlreadyExists, Conflict, NotFound
from services.common.idempotency.model import RETENTION_SECONDS, Idempotency, IdempotencyKey
from services.common.ids import IdSource
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.scope import Reader, Scope
from services.common.turns import MessageRole
from services.semantic.config import ProcedureSettings
from services.semantic.procedures.arguments import CreateProcedure, DeleteProcedure, UpdateProcedure
from services.semantic.procedures.corrections import take_back_definitions
from services.semantic.procedures.forgetting import covering, forget_queries, forget_recall
from services.semantic.procedures.learning import defined, is_abbreviation, rephrased
from services.semantic.procedures.listing import seen_one, seen_page
from services.semantic.procedures.model import (
    JudgedRecall,
    Observed,
    Procedure,
    ProcedureDraft,
    ProcedureKind,
    ProcedureOrigin,
    ProcedurePosition,
    check_draft,
    trust_in,
    with_outcome,
)
from services.semantic.procedures.observing import ObservedChanges, ProcedureObserver
from services.semantic.procedures.store import ProcedureStore, ProcedureWriter


@dataclass(frozen=True, slots=True)
class _Deleted:
    """The response to a deletion."""

    procedure_id: str


class ProcedureService:
    """Procedures of all users. Arguments have been checked for form by the edge."""

    def __init__(
        self,
        store: ProcedureStore,
        *,
        clock: Clock,
        ids: IdSource,
        settings: ProcedureSettings,
        retention_seconds: float = RETENTION_SECONDS,
    ) -> None:
        """All collaborators are owned by the caller; requests are recognised again for `retention_seconds`."""
        self._store = store
        self._clock = clock
        self._ids = ids
        self._settings = settings
        self._idempotency = Idempotency(Procedure, retention_seconds=retention_seconds)
        self._deletions = Idempotency(_Deleted, retention_seconds=retention_seconds)
        self._observer = ProcedureObserver(store, clock=clock, ids=ids, settings=settings)

    @property
    def settings(self) -> ProcedureSettings:
        """Bounds of requests."""
        return self._settings

    async def create(self, command: CreateProcedure) -> Procedure:
        """Stores a procedure.

        Raises:
            AlreadyExists: One that does the same for the same trigger and scope is there.
            InvalidArgument: The request id was used for something else.
        """

        async def add(writer: ProcedureWriter) -> Procedure:
            await _check_new(writer, command.draft)
            return await self._add(
                writer,
                command.draft,
                ProcedureOrigin.STATED,
                initial_confidence=command.initial_confidence,
                derived_from=command.derived_from,
            )

        return await self._once(command.owner, command.key, add)

    async def get(self, owner: Owner, procedure_id: str, reader: Reader | None = None) -> Procedure:
        """A procedure.

        Raises:
            NotFound: The owner has none of this id, or the reader does not see it.
        """
        return await seen_one(self._store, owner, reader, procedure_id)

    async def list_page(
        self,
        owner: Owner,
        *,
        kind: ProcedureKind | None,
        after: ProcedurePosition | None,
        page_size: int,
        reader: Reader | None = None,
    ) -> tuple[Sequence[Procedure], ProcedurePosition | None]:
        """Procedures that the reader sees, newest first, and where the next page begins."""
        return await seen_page(self._store, owner, reader, kind=kind, after=after, page_size=page_size)

    async def update(self, command: UpdateProcedure) -> Procedure:
        """Sets fields of a procedure.

        Raises:
            NotFound: The owner has none of this id.
            Conflict: It was changed since the caller read it.
            AlreadyExists: Another one does the same for the same trigger and scope.
            InvalidArgument: The values do not fit its kind, or the request id was used for something else.
        """

        async def change(writer: ProcedureWriter) -> Procedure:
            present = await _present(writer, command.procedure_id, command.etag)
            draft = replace(present.draft, **command.draft)
            check_draft(draft, self._settings)
            if draft.identity != present.draft.identity:
                await _check_new(writer, draft)
                if present.origin is ProcedureOrigin.OBSERVED:  # the log shows another one
                    present = replace(present, origin=ProcedureOrigin.STATED, observed_count=0, contrary_count=0)
                present = replace(present, learned_from=())  # it says something else by now
            initial = command.initial_confidence
            changed = replace(
                present,
                draft=draft,
                initial_confidence=present.initial_confidence if initial is None else initial,
            )
            return await self._put(writer, changed, (present.success_count, present.failure_count))

        return await self._once(command.owner, command.key, change)

    async def delete(self, command: DeleteProcedure) -> None:
        """Deletes a procedure.

        Raises:
            NotFound: The owner has none of this id.
            Conflict: It was changed since the caller read it.
            InvalidArgument: The request id was used for something else.
        """
        now, owner = self._clock.now(), command.owner

        async def remove(writer: ProcedureWriter) -> _Deleted:
            await _present(writer, command.procedure_id, command.etag)
            await writer.delete([command.procedure_id])
            return _Deleted(command.procedure_id)

        await self._store.write(
            owner,
            lambda writer: self._deletions.run(
                writer.idempotency,
                command.key,
                lambda: remove(writer),
                now=now,
                user_id=owner.user_id,
                resource_id=lambda gone: f"deletion of {gone.procedure_id}",
            ),
        )

    async def trusted(self, owner: Owner, *, cached_revision: int | None) -> tuple[int, Sequence[Procedure] | None]:
        """The revision of a user's procedures, and those that may be applied; None where the caller has the newest."""
        return await self._store.trusted(
            owner,
            cached_revision=cached_revision,
            confidence_above=self._settings.applied_above,
            limit=self._settings.applied_max,
        )

    async def judge(self, owner: Owner, judged: JudgedRecall) -> None:
        """Sets the judgement of a recall, and learns from it. A judgement older than the stored one changes nothing.

        Without a query, the stored one goes, with what was learned from it: what the recall returned was erased.
        """
        chosen = self._settings
        if len(judged.query) > chosen.query_chars_max:
            judged = replace(judged, query="")

        async def work(writer: ProcedureWriter) -> None:
            before = await writer.judged(judged.recall_id)
            if not judged.query:
                await forget_recall(writer, judged.recall_id, before, ids=self._ids, settings=chosen)
            if before is not None and (before.judgement_id > judged.judgement_id or before.feedback == judged.feedback):
                return
            now = judged
            if before is not None:
                ids = dict.fromkeys((*before.procedure_ids, *judged.procedure_ids))
                # A query that was erased does not come back with a judgement that was under way.
                now = replace(judged, query=judged.query if before.query else "", procedure_ids=tuple(ids))
            for procedure in await writer.get(now.procedure_ids):
                counts = (procedure.success_count, procedure.failure_count)
                was = before.feedback if before is not None else 0
                await self._settle(writer, procedure, with_outcome(counts, now.feedback, before=was))
            await writer.put_judged(now, count_max=chosen.judged_max)
            if now.feedback and now.query:
                await self._learn_rewriting(writer, now)

        await self._store.write(owner, work)

    async def learn(self, tenant_id: TenantId, sources: Sequence[SourceInteraction]) -> int:
        """Learns the abbreviations that users define in their turns. Repeats are harmless; how many are new."""
        by_user: dict[UserId, list[tuple[SourceInteraction, ProcedureDraft]]] = defaultdict(list)
        for source in sources:
            if source.turn.role is MessageRole.USER:
                drafts = defined(source.turn.content, scope_key=source.scope.key, settings=self._settings)
                by_user[source.user_id] += [(source, draft) for draft in drafts[: self._settings.definitions_max]]
        count = 0
        for user_id, found in by_user.items():
            if found:
                count += await self._store.write(Owner(tenant_id, user_id), partial(self._define, found))
        return count

    async def observe(self, owner: Owner, shown: Sequence[Observed]) -> ObservedChanges:
        """Makes the procedures of the user's activity log those that it shows now; see `ProcedureObserver`."""
        return await self._observer.observe(owner, shown)

    async def remove_sources(self, owner: Owner, interaction_ids: Sequence[InteractionId]) -> int:
        """Removes interactions from the sources of procedures; how many procedures went with their last one."""
        gone = frozenset(interaction_ids)

        async def remove(writer: ProcedureWriter) -> int:
            removed: list[str] = []
            for procedure in await writer.by_source(interaction_ids):
                rest = tuple(source for source in procedure.derived_from if source not in gone)
                if rest:
                    await writer.put(replace(procedure, derived_from=rest, etag=self._ids.new_id()))
                else:
                    removed.append(procedure.procedure_id)
            return await writer.delete(removed)

        return await self._store.write(owner, remove)

    async def take_back_definitions(self, owner: Owner, statements: Sequence[tuple[InteractionId, str]]) -> int:
        """Removes abbreviations that only corrected sentences define; how many. See `corrections.py`."""
        if not statements:
            return 0
        return await self._store.write(
            owner,
            lambda writer: take_back_definitions(writer, statements, ids=self._ids, settings=self._settings),
        )

    async def forget_queries(self, owner: Owner, scope: Scope, *, with_nested: bool) -> int:
        """Removes the queries of a scope's judged recalls, and of those below it; how many."""
        covers, judged_max = covering(scope, with_nested=with_nested), self._settings.judged_max
        return await self._store.write(owner, lambda writer: forget_queries(writer, covers, judged_max=judged_max))

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """Users of a tenant that have procedures; see `ProcedureStore.users`."""
        return await self._store.users(tenant_id, after=after, limit=limit)

    async def remove_owner(self, owner: Owner) -> int:
        """Removes all procedures and judgements of a user; how many procedures."""
        return await self._store.remove_owner(owner)

    async def _once(self, owner: Owner, key: IdempotencyKey, work: Any) -> Procedure:
        now = self._clock.now()
        return await self._store.write(
            owner,
            lambda writer: self._idempotency.run(
                writer.idempotency,
                key,
                lambda: work(writer),
                now=now,
                user_id=owner.user_id,
                resource_id=lambda procedure: procedure.procedure_id,
            ),
        )

    async def _define(self, found: Sequence[tuple[SourceInteraction, ProcedureDraft]], writer: ProcedureWriter) -> int:
        count = 0
        for source, draft in found:
            present = await writer.by_identity(draft.identity)
            if present is None:
                await self._add(writer, draft, ProcedureOrigin.DEFINED, derived_from=(source.interaction_id,))
                count += 1
            elif present.origin is ProcedureOrigin.DEFINED and source.interaction_id not in present.derived_from:
                sources = (*present.derived_from, source.interaction_id)[-self._settings.derived_from_max :]
                await writer.put(replace(present, derived_from=sources, etag=self._ids.new_id()))
        return count

    async def _learn_rewriting(self, writer: ProcedureWriter, judged: JudgedRecall) -> None:
        """Learns from a good recall and the judged one next before it, where that was bad, in either order."""
        chosen = self._settings
        span = timedelta(seconds=chosen.rephrased_within_seconds)
        start, end = (judged.time - span, judged.time) if judged.feedback > 0 else (judged.time, judged.time + span)
        around = [
            other
            for other in await writer.judged_between(start, end, limit=chosen.rephrased_judged_max)
            if other.recall_id != judged.recall_id and other.scope_key == judged.scope_key
        ]
        if not around:
            return
        nearest = around[0] if judged.feedback > 0 else around[-1]
        good, bad = (judged, nearest) if judged.feedback > 0 else (nearest, judged)
        if (good.feedback, bad.feedback) != (1, -1) or not nearest.query:
            return
        draft = rephrased(bad.query, good.query, scope_key=judged.scope_key, settings=chosen)
        if draft is not None:
            await self._support(writer, draft, bad, good)

    async def _support(
        self, writer: ProcedureWriter, draft: ProcedureDraft, bad: JudgedRecall, good: JudgedRecall
    ) -> None:
        present = await writer.by_identity(draft.identity)
        if present is None:
            initial = None if is_abbreviation(draft) else self._settings.guessed_confidence
            present = await self._add(writer, draft, ProcedureOrigin.REPHRASED, initial_confidence=initial)
        elif present.procedure_id in good.procedure_ids:
            return
        if present.origin is ProcedureOrigin.REPHRASED:
            pairs = (*present.learned_from, (bad.recall_id, good.recall_id))
            present = replace(present, learned_from=pairs[-self._settings.derived_from_max :])
        await self._put(writer, present, (present.success_count + 1, present.failure_count))
        supported = replace(good, procedure_ids=(*good.procedure_ids, present.procedure_id))
        await writer.put_judged(supported, count_max=self._settings.judged_max)

    async def _add(
        self,
        writer: ProcedureWriter,
        draft: ProcedureDraft,
        origin: ProcedureOrigin,
        *,
        initial_confidence: float | None = None,
        derived_from: tuple[InteractionId, ...] = (),
    ) -> Procedure:
        now: datetime = self._clock.now()
        initial = self._settings.initial_confidence if initial_confidence is None else initial_confidence
        procedure = Procedure(
            procedure_id=self._ids.new_id(),
            draft=draft,
            initial_confidence=initial,
            origin=origin,
            create_time=now,
            update_time=now,
            etag=self._ids.new_id(),
            confidence=initial,
            derived_from=derived_from,
        )
        await writer.put(procedure)
        # One place is for the new one, however little it is trusted.
        weakest = await writer.beyond(draft.kind, self._settings.per_kind_max - 1)
        others = [one for one in weakest if one != procedure.procedure_id]
        await writer.delete(others[len(others) - max(len(weakest) - 1, 0) :])
        return procedure

    async def _settle(self, writer: ProcedureWriter, procedure: Procedure, counts: tuple[int, int]) -> None:
        """Stores a procedure with new counts, or deletes it where they speak against it."""
        changed = await self._put(writer, procedure, counts)
        is_bad = changed.outcome_count > 0 and changed.confidence < self._settings.pruned_below
        # The log would show one of its own again: it stays, and is not applied.
        if (is_bad and changed.origin is not ProcedureOrigin.OBSERVED) or changed.is_unsupported:
            await writer.delete([changed.procedure_id])

    async def _put(self, writer: ProcedureWriter, procedure: Procedure, counts: tuple[int, int]) -> Procedure:
        changed = replace(
            procedure,
            success_count=counts[0],
            failure_count=counts[1],
            confidence=trust_in(procedure, counts, learning_rate=self._settings.learning_rate),
            update_time=self._clock.now(),
            etag=self._ids.new_id(),
        )
        await writer.put(changed)
        return changed


async def _present(writer: ProcedureWriter, procedure_id: str, etag: str) -> Procedure:
    found = await writer.get([procedure_id])
    if not found:
        raise NotFound("procedure", procedure_id)
    if etag and etag != found[0].etag:
        raise Conflict("the procedure was changed since it was read: read it again")
    return found[0]


async def _check_new(writer: ProcedureWriter, draft: ProcedureDraft) -> None:
    present = await writer.by_identity(draft.identity)
    if present is not None:
        raise AlreadyExists("procedure", present.procedure_id)

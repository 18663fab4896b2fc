"""The steps of an erasure: each takes one chunk away from one store, and repeats are harmless."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Protocol

from mneme.agentic.internal.v1 import notes_pb2 as internal_notes_pb2
from mneme.agentic.v1 import notes_pb2
from mneme.episodic.internal.v1 import activity_internal_pb2, episodic_internal_pb2
from mneme.semantic.internal.v1 import semantic_pb2
from mneme.semantic.v1 import facts_pb2, procedures_pb2
from mneme.session.internal.v1 import session_internal_pb2
from services.common.convert import write_scope
from services.common.errors import NotFound
from services.common.scope import Scope
from services.gateway.context_window.archive import base_conversation
from services.gateway.erasure.derived import DerivedMemories
from services.gateway.erasure.model import Erasure, ErasureSettings, Item, ItemKind, Progress, Step, TargetKind
from services.gateway.erasure.store import ErasureClaim
from services.gateway.recall_judgement import recall_judgement
from services.gateway.session_archive import SessionArchive
from services.gateway.upstream import Upstream
from services.gateway.worker import worker_principal

_DONE: Final = Progress()
_SEMANTIC_ITEMS: Final = (ItemKind.EPISODE, ItemKind.FACT, ItemKind.USER, ItemKind.PROCEDURE, ItemKind.RECALL)


class OwnerCache(Protocol):
    """Something that this gateway remembers of a user."""

    def forget(self, tenant_id: str, user_id: str) -> None:
        """Evicts what is remembered."""
        ...


class ErasureSteps:
    """Carries out one chunk of a claimed erasure's step."""

    def __init__(
        self,
        upstream: Upstream,
        archive: SessionArchive,
        caches: Sequence[OwnerCache],
        settings: ErasureSettings,
        learn: Callable[[str, str], Awaitable[object]] | None = None,
    ) -> None:
        """Removes through the tiers' own contracts; `caches` are this gateway's, others' expire within seconds.

        `learn` makes a user's procedures of the activity log those that it shows then.
        """
        self._learn = learn
        self._upstream = upstream
        self._archive = archive
        self._derived = DerivedMemories(upstream, timeout_seconds=settings.step_timeout_seconds)
        self._caches = caches
        self._settings = settings
        self._timeout_seconds = settings.step_timeout_seconds
        self._work: Mapping[Step, Callable[[ErasureClaim], Awaitable[Progress]]] = {
            Step.COLLECT: self._collect,
            Step.JOURNAL: self._journal,
            Step.SESSION: self._sessions,
            Step.EPISODIC: self._episodes,
            Step.SEMANTIC: self._facts,
            Step.AGENTIC: self._notes,
            Step.LATE_SESSION: self._sessions,
        }

    async def __call__(self, claim: ErasureClaim) -> Progress:
        """One chunk of the step that the erasure is at.

        Raises:
            MnemeError: A store did not respond; the chunk is to be repeated.
        """
        return await self._work[claim.erasure.step](claim)

    async def _collect(self, claim: ErasureClaim) -> Progress:
        """What sessions have for the log is written first: then all that was said before is found there."""
        erasure = claim.erasure
        if erasure.target.kind is TargetKind.TENANT:
            while await self._archive.run_once():
                pass
        else:
            await self._archive.settle(erasure.tenant_id, erasure.target.user_id, timeout_seconds=self._timeout_seconds)
        await claim.collect()
        if erasure.target.kind is TargetKind.SCOPE:
            await claim.add_items(await self._derived.scoped_items(erasure))
        elif erasure.target.kind is TargetKind.TENANT:
            await claim.add_items(await self._derived.users(erasure.tenant_id))
        return _DONE

    async def _journal(self, claim: ErasureClaim) -> Progress:
        target = claim.erasure.target
        is_whole = target.kind in (TargetKind.USER, TargetKind.TENANT)
        kinds = (ItemKind.USER,) if is_whole else (ItemKind.EPISODE, ItemKind.FACT, ItemKind.NOTE)
        items, position = await self._next(claim, *kinds)
        if is_whole and items:
            removed, is_empty = await claim.remove_user(items[0].user_id, limit=self._settings.chunk_items)
            position = position if is_empty else claim.erasure.position
        elif items:
            await claim.forget_recalls(items[0].user_id, [item.item_id for item in items])
            removed = await claim.remove_interactions(items[0].user_id, _ids(items, ItemKind.EPISODE))
        else:
            if target.kind is TargetKind.CONVERSATION:
                await claim.remove_conversation_record(target.user_id, target.conversation_id)
            elif target.kind is TargetKind.SCOPE:
                return Progress({"queries": await claim.forget_queries(target)})
            return _DONE
        return Progress({name: getattr(removed, name) for name in removed.__dataclass_fields__}, position)

    async def _sessions(self, claim: ErasureClaim) -> Progress:
        erasure = claim.erasure
        if erasure.target.kind is TargetKind.TENANT:
            return Progress({"sessions": await self._remove_sessions(claim, whole_tenant=True)})
        if erasure.target.kind is TargetKind.USER:
            removed = await self._remove_sessions(claim, user_id=erasure.target.user_id)
            for cache in self._caches:
                cache.forget(erasure.tenant_id, erasure.target.user_id)
            return Progress({"sessions": removed})
        items, position = await self._next(claim, ItemKind.CONVERSATION, limit=16)
        if not items and erasure.target.scope is not None:
            return Progress({"context_items": await self._remove_context_items(erasure, erasure.target.scope)})
        removed = 0
        for item in items:
            # A conversation with other turns is rebuilt from the log when it is read again. Its context window is not.
            conversation_id = base_conversation(item.item_id)
            removed += await self._remove_sessions(claim, user_id=item.user_id, conversation_id=conversation_id)
        for cache in self._caches:
            cache.forget(erasure.tenant_id, erasure.target.user_id)
        return Progress({"sessions": removed}, position if items else None)

    async def _remove_context_items(self, erasure: Erasure, scope: Scope) -> int:
        """Removes items of a scope from context windows, of conversations without turns of that scope too."""
        target = erasure.target
        request = session_internal_pb2.RemoveSessionsRequest(user_id=target.user_id, with_nested=target.with_nested)
        write_scope(request.scope, scope)
        response = await self._upstream.session.delete(
            worker_principal(erasure.tenant_id), request, timeout_seconds=self._timeout_seconds
        )
        return response.removed_context_items

    async def _remove_sessions(
        self, claim: ErasureClaim, *, user_id: str = "", conversation_id: str = "", whole_tenant: bool = False
    ) -> int:
        response = await self._upstream.session.delete(
            worker_principal(claim.erasure.tenant_id),
            session_internal_pb2.RemoveSessionsRequest(
                user_id=user_id, conversation_id=conversation_id, whole_tenant=whole_tenant
            ),
            timeout_seconds=self._timeout_seconds,
        )
        return response.removed_sessions

    async def _episodes(self, claim: ErasureClaim) -> Progress:
        erasure = claim.erasure
        items, position = await self._next(claim, ItemKind.EPISODE)
        if items:
            request = episodic_internal_pb2.DeleteEpisodesRequest(
                user_id=items[0].user_id, episode_ids=[item.item_id for item in items]
            )
        elif erasure.target.kind is TargetKind.USER:
            request = episodic_internal_pb2.DeleteEpisodesRequest(user_id=erasure.target.user_id, all_of_user=True)
        elif erasure.target.kind is TargetKind.TENANT:
            request = episodic_internal_pb2.DeleteEpisodesRequest(all_of_tenant=True)
        else:
            return Progress({"activity_records": await self._remove_activity(erasure)})
        # A chunk that is repeated is the same request, and counts what it deleted the first time.
        request.request_id = f"{erasure.erasure_id} {items[0].item_id if items else 'rest'}"
        response = await self._upstream.episodic.delete(
            worker_principal(erasure.tenant_id), request, timeout_seconds=self._timeout_seconds
        )
        counts = {"episodes": response.deleted_count, "data_keys": response.destroyed_data_keys}
        if not items:
            counts["activity_records"] = await self._remove_activity(erasure)
        return Progress(counts, position if items else None)

    async def _remove_activity(self, erasure: Erasure) -> int:
        """Removes what coding agents recorded; how much. Single memories are none of it."""
        target = erasure.target
        request = activity_internal_pb2.RemoveActivityRequest(user_id=target.user_id)
        if target.kind is TargetKind.CONVERSATION:
            request.conversation_id = target.conversation_id
        elif target.kind is TargetKind.SCOPE and target.scope is not None:
            write_scope(request.scope, target.scope)
            request.with_nested = target.with_nested
        elif target.kind is TargetKind.USER:
            request.all_of_user = True
        elif target.kind is TargetKind.TENANT:
            request.all_of_tenant = True
        else:
            return 0
        response = await self._upstream.episodic.remove_activity(
            worker_principal(erasure.tenant_id), request, timeout_seconds=self._timeout_seconds
        )
        if self._learn is not None and target.kind in {TargetKind.CONVERSATION, TargetKind.SCOPE}:
            await self._learn(erasure.tenant_id, target.user_id)
        return response.removed_count

    async def _facts(self, claim: ErasureClaim) -> Progress:
        principal = worker_principal(claim.erasure.tenant_id)
        items, position = await self._next(claim, *_SEMANTIC_ITEMS)
        if not items:
            return await self._forget_queries(claim.erasure)
        user_id = items[0].user_id
        counts = {"facts": 0, "reduced_facts": 0, "profiles": 0, "procedures": 0, "data_keys": 0}
        if sources := _ids(items, ItemKind.EPISODE):
            reduced = await self._upstream.facts.remove_by_source(
                principal,
                semantic_pb2.RemoveBySourceRequest(user_id=user_id, interaction_ids=sources),
                timeout_seconds=self._timeout_seconds,
            )
            counts["facts"], counts["reduced_facts"] = reduced.removed_facts, reduced.reduced_facts
            counts["procedures"] = reduced.removed_procedures

        async def delete(fact_id: str) -> None:
            request = facts_pb2.DeleteFactRequest(
                request_id=f"{claim.erasure.erasure_id} {fact_id}", user_id=user_id, fact_id=fact_id
            )
            await self._upstream.facts.delete(principal, request, timeout_seconds=self._timeout_seconds)

        async def delete_procedure(procedure_id: str) -> None:
            request = procedures_pb2.DeleteProcedureRequest(
                request_id=f"{claim.erasure.erasure_id} {procedure_id}", user_id=user_id, procedure_id=procedure_id
            )
            await self._upstream.procedures.delete(principal, request, timeout_seconds=self._timeout_seconds)

        # Behind the turns: what the tier has not read of them is not learned from any more.
        counts["queries"] = await self._forget_judged(claim, user_id, _ids(items, ItemKind.RECALL))
        counts["facts"] += await _deleted(_ids(items, ItemKind.FACT), delete)
        counts["procedures"] += await _deleted(_ids(items, ItemKind.PROCEDURE), delete_procedure)
        if any(item.kind is ItemKind.USER for item in items):
            removed = await self._upstream.facts.remove_owner(
                principal, semantic_pb2.RemoveOwnerRequest(user_id=user_id), timeout_seconds=self._timeout_seconds
            )
            counts["facts"] += removed.removed_facts
            counts["profiles"] += removed.removed_profile
            counts["procedures"] += removed.removed_procedures
            counts["data_keys"] += removed.destroyed_data_keys
        return Progress(counts, position)

    async def _forget_judged(self, claim: ErasureClaim, user_id: str, recall_ids: Sequence[str]) -> int:
        """Judges recalls again as they are judged, without their queries; how many."""
        judgements = await claim.judgements(user_id, recall_ids) if recall_ids else ()
        for judgement in judgements:
            if judgement.recall is not None:
                await self._upstream.profile.judge_recall(
                    worker_principal(claim.erasure.tenant_id),
                    recall_judgement(judgement, judgement.recall),
                    timeout_seconds=self._timeout_seconds,
                )
        return len(judgements)

    async def _forget_queries(self, erasure: Erasure) -> Progress:
        """The end of the step: queries of recalls that were judged in an erased scope."""
        target = erasure.target
        if target.kind is not TargetKind.SCOPE or target.scope is None:
            return _DONE
        request = semantic_pb2.ForgetQueriesRequest(user_id=target.user_id, with_nested=target.with_nested)
        write_scope(request.scope, target.scope)
        forgotten = await self._upstream.procedures.forget_queries(
            worker_principal(erasure.tenant_id), request, timeout_seconds=self._timeout_seconds
        )
        return Progress({"queries": forgotten.removed_queries})

    async def _notes(self, claim: ErasureClaim) -> Progress:
        principal = worker_principal(claim.erasure.tenant_id)
        items, position = await self._next(claim, ItemKind.EPISODE, ItemKind.NOTE, ItemKind.USER)
        if not items:
            return _DONE
        user_id = items[0].user_id
        counts = {"notes": 0, "changed_notes": 0, "links": 0, "data_keys": 0}
        if sources := _ids(items, ItemKind.EPISODE):
            gone = await self._upstream.notes.remove_by_source(
                principal,
                internal_notes_pb2.RemoveBySourceRequest(user_id=user_id, interaction_ids=sources),
                timeout_seconds=self._timeout_seconds,
            )
            counts["notes"], counts["changed_notes"] = gone.removed_notes, gone.changed_notes
            counts["links"] = gone.removed_links

        async def delete(note_id: str) -> None:
            request = notes_pb2.DeleteNoteRequest(
                request_id=f"{claim.erasure.erasure_id} {note_id}", user_id=user_id, note_id=note_id
            )
            await self._upstream.notes.delete(principal, request, timeout_seconds=self._timeout_seconds)

        counts["notes"] += await _deleted(_ids(items, ItemKind.NOTE), delete)
        if any(item.kind is ItemKind.USER for item in items):
            # Notes that are left wait for a repeat of this chunk, which finds its other items gone.
            removed = await self._upstream.notes.remove_owner(
                principal,
                internal_notes_pb2.RemoveOwnerRequest(user_id=user_id, notes_max=self._settings.chunk_items),
                timeout_seconds=self._timeout_seconds,
            )
            position = claim.erasure.position if removed.has_more else position
            counts["notes"] += removed.removed_notes
            counts["links"] += removed.removed_links
            counts["data_keys"] += removed.destroyed_data_keys
        return Progress(counts, position)

    async def _next(self, claim: ErasureClaim, *kinds: ItemKind, limit: int = 0) -> tuple[Sequence[Item], str]:
        return await claim.items(*kinds, after=claim.erasure.position, limit=limit or self._settings.chunk_items)


def _ids(items: Sequence[Item], kind: ItemKind) -> list[str]:
    return [item.item_id for item in items if item.kind is kind]


async def _deleted(memory_ids: Sequence[str], delete: Callable[[str], Awaitable[None]]) -> int:
    """Deletes memories by their ids; how many were still there."""
    count = 0
    for memory_id in memory_ids:
        try:
            await delete(memory_id)
        except NotFound:
            continue  # it went with its turns
        count += 1
    return count

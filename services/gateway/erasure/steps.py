"""The steps of an erasure: each takes one chunk away from one store, and repeats are harmless."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Protocol

from mneme.agentic.internal.v1 import notes_pb2 as internal_notes_pb2
from mneme.agentic.v1 import notes_pb2
from mneme.episodic.internal.v1 import episodic_internal_pb2
from mneme.semantic.internal.v1 import semantic_pb2
from mneme.semantic.v1 import facts_pb2
from mneme.session.internal.v1 import session_internal_pb2
from services.common.errors import NotFound
from services.gateway.erasure.derived import DerivedMemories
from services.gateway.erasure.model import ErasureSettings, Item, ItemKind, Progress, Step, TargetKind
from services.gateway.erasure.store import ErasureClaim
from services.gateway.session_archive import SessionArchive
from services.gateway.upstream import Upstream
from services.gateway.worker import worker_principal

_DONE: Final = Progress()


class OwnerCache(Protocol):
    """Something that this gateway remembers of a user."""

    def forget(self, tenant_id: str, user_id: str) -> None:
        """Evicts what is remembered."""
        ...


class ErasureSteps:
    """Carries out one chunk of a claimed erasure's step."""

    def __init__(
        self, upstream: Upstream, archive: SessionArchive, caches: Sequence[OwnerCache], settings: ErasureSettings
    ) -> None:
        """Removes through the tiers' own contracts; `caches` are this gateway's, others' expire within seconds."""
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
        return _DONE

    async def _journal(self, claim: ErasureClaim) -> Progress:
        target = claim.erasure.target
        is_whole = target.kind in (TargetKind.USER, TargetKind.TENANT)
        items, position = await self._next(claim, ItemKind.USER if is_whole else ItemKind.EPISODE)
        if is_whole and items:
            removed, is_empty = await claim.remove_user(items[0].user_id, limit=self._settings.chunk_items)
            position = position if is_empty else claim.erasure.position
        elif items:
            removed = await claim.remove_interactions(items[0].user_id, [item.item_id for item in items])
        else:
            if target.kind is TargetKind.CONVERSATION:
                await claim.remove_conversation_record(target.user_id, target.conversation_id)
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
        removed = 0
        for item in items:
            # A conversation with other turns is rebuilt from the log when it is read again.
            removed += await self._remove_sessions(claim, user_id=item.user_id, conversation_id=item.item_id)
        for cache in self._caches:
            cache.forget(erasure.tenant_id, erasure.target.user_id)
        return Progress({"sessions": removed}, position if items else None)

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
            return _DONE
        # A chunk that is repeated is the same request, and counts what it deleted the first time.
        request.request_id = f"{erasure.erasure_id} {items[0].item_id if items else 'rest'}"
        response = await self._upstream.episodic.delete(
            worker_principal(erasure.tenant_id), request, timeout_seconds=self._timeout_seconds
        )
        return Progress({"episodes": response.deleted_count}, position if items else None)

    async def _facts(self, claim: ErasureClaim) -> Progress:
        principal = worker_principal(claim.erasure.tenant_id)
        items, position = await self._next(claim, ItemKind.EPISODE, ItemKind.FACT, ItemKind.USER)
        if not items:
            return _DONE
        user_id = items[0].user_id
        counts = {"facts": 0, "reduced_facts": 0, "profiles": 0}
        if sources := _ids(items, ItemKind.EPISODE):
            reduced = await self._upstream.facts.remove_by_source(
                principal,
                semantic_pb2.RemoveBySourceRequest(user_id=user_id, interaction_ids=sources),
                timeout_seconds=self._timeout_seconds,
            )
            counts["facts"], counts["reduced_facts"] = reduced.removed_facts, reduced.reduced_facts
        for fact_id in _ids(items, ItemKind.FACT):
            try:
                await self._upstream.facts.delete(
                    principal,
                    facts_pb2.DeleteFactRequest(
                        request_id=f"{claim.erasure.erasure_id} {fact_id}", user_id=user_id, fact_id=fact_id
                    ),
                    timeout_seconds=self._timeout_seconds,
                )
            except NotFound:
                continue  # it went with its turns
            counts["facts"] += 1
        if any(item.kind is ItemKind.USER for item in items):
            removed = await self._upstream.facts.remove_owner(
                principal, semantic_pb2.RemoveOwnerRequest(user_id=user_id), timeout_seconds=self._timeout_seconds
            )
            counts["facts"] += removed.removed_facts
            counts["profiles"] += removed.removed_profile
        return Progress(counts, position)

    async def _notes(self, claim: ErasureClaim) -> Progress:
        principal = worker_principal(claim.erasure.tenant_id)
        items, position = await self._next(claim, ItemKind.EPISODE, ItemKind.NOTE, ItemKind.USER)
        if not items:
            return _DONE
        user_id = items[0].user_id
        counts = {"notes": 0, "changed_notes": 0, "links": 0}
        if sources := _ids(items, ItemKind.EPISODE):
            gone = await self._upstream.notes.remove_by_source(
                principal,
                internal_notes_pb2.RemoveBySourceRequest(user_id=user_id, interaction_ids=sources),
                timeout_seconds=self._timeout_seconds,
            )
            counts = {"notes": gone.removed_notes, "changed_notes": gone.changed_notes, "links": gone.removed_links}
        for note_id in _ids(items, ItemKind.NOTE):
            try:
                await self._upstream.notes.delete(
                    principal,
                    notes_pb2.DeleteNoteRequest(
                        request_id=f"{claim.erasure.erasure_id} {note_id}", user_id=user_id, note_id=note_id
                    ),
                    timeout_seconds=self._timeout_seconds,
                )
            except NotFound:
                continue  # it went with its turns
            counts["notes"] += 1
        if any(item.kind is ItemKind.USER for item in items):
            removed = await self._upstream.notes.remove_owner(
                principal, internal_notes_pb2.RemoveOwnerRequest(user_id=user_id), timeout_seconds=self._timeout_seconds
            )
            counts["notes"] += removed.removed_notes
            counts["links"] += removed.removed_links
        return Progress(counts, position)

    async def _next(self, claim: ErasureClaim, *kinds: ItemKind, limit: int = 0) -> tuple[Sequence[Item], str]:
        return await claim.items(*kinds, after=claim.erasure.position, limit=limit or self._settings.chunk_items)


def _ids(items: Sequence[Item], kind: ItemKind) -> list[str]:
    return [item.item_id for item in items if item.kind is kind]

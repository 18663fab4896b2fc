"""Facts, notes and procedures, read through lists: who has some, what comes from turns, what belongs to a scope."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from dataclasses import replace

from mneme.agentic.internal.v1 import notes_pb2 as internal_notes_pb2
from mneme.agentic.v1 import notes_pb2
from mneme.semantic.internal.v1 import semantic_pb2
from mneme.semantic.v1 import facts_pb2, procedures_pb2
from services.common.auth import Principal, Role
from services.common.convert import scope_from_proto
from services.gateway.erasure.model import Erasure, Item, ItemKind
from services.gateway.grants.model import MemoryKind
from services.gateway.upstream import Upstream
from services.gateway.worker import worker_principal

_PAGE_SIZE = 200


class DerivedMemories:
    """Reads facts and notes through the tiers' lists."""

    def __init__(self, upstream: Upstream, *, timeout_seconds: float) -> None:
        """`timeout_seconds` is the deadline of one page."""
        self._upstream = upstream
        self._timeout_seconds = timeout_seconds

    async def users(self, tenant_id: str) -> list[Item]:
        """The users of a tenant who have facts, notes or a profile, with turns in the log or without."""
        found: list[Item] = []
        facts, notes = semantic_pb2.ListUsersRequest(), internal_notes_pb2.ListUsersRequest()
        while True:
            page = await self._upstream.facts.list_users(
                worker_principal(tenant_id), facts, timeout_seconds=self._timeout_seconds
            )
            found += [Item(ItemKind.USER, user_id, "") for user_id in page.user_ids]
            if not page.next_page_token:
                break
            facts.page_token = page.next_page_token
        while True:
            listed = await self._upstream.notes.list_users(
                worker_principal(tenant_id), notes, timeout_seconds=self._timeout_seconds
            )
            found += [Item(ItemKind.USER, user_id, "") for user_id in listed.user_ids]
            if not listed.next_page_token:
                return found
            notes.page_token = listed.next_page_token

    async def scoped_items(self, erasure: Erasure) -> list[Item]:
        """The facts, notes and procedures of the scopes that an erasure names, whatever their status."""
        tenant_id, target = erasure.tenant_id, erasure.target
        facts = [
            Item(ItemKind.FACT, target.user_id, fact.fact_id)
            async for fact in self._facts(tenant_id, target.user_id)
            if target.covers(_scope_key(fact))
        ]
        notes = [
            Item(ItemKind.NOTE, target.user_id, note.note_id)
            async for note in self._notes(tenant_id, target.user_id)
            if target.covers(_scope_key(note))
        ]
        procedures = [
            Item(ItemKind.PROCEDURE, target.user_id, procedure.procedure_id)
            async for procedure in self._procedures(tenant_id, target.user_id)
            if target.covers(_scope_key(procedure))
        ]
        return [*facts, *notes, *procedures]

    async def counts(
        self, tenant_id: str, user_id: str, *, turns: Collection[str] | None, named: Collection[str]
    ) -> dict[MemoryKind, int]:
        """See `DerivedCounts`."""
        facts = notes = 0
        async for fact in self._facts(tenant_id, user_id):
            # A fact with more evidence than it names has some beyond these turns.
            is_whole = len(fact.derived_from) == fact.evidence_count
            facts += fact.fact_id not in named and (turns is None or (is_whole and _within(fact.derived_from, turns)))
        async for note in self._notes(tenant_id, user_id):
            notes += note.note_id not in named and (turns is None or _within(note.derived_from, turns))
        return {MemoryKind.FACT: facts, MemoryKind.NOTE: notes}

    async def _facts(self, tenant_id: str, user_id: str) -> AsyncIterator[facts_pb2.Fact]:
        request = facts_pb2.ListFactsRequest(
            user_id=user_id,
            statuses=facts_pb2.FactStatus.keys()[1:],
            include_low_confidence=True,
            page_size=_PAGE_SIZE,
        )
        while True:
            page = await self._upstream.facts.list_facts(
                _reader(tenant_id), request, timeout_seconds=self._timeout_seconds
            )
            for fact in page.facts:
                yield fact
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def _procedures(self, tenant_id: str, user_id: str) -> AsyncIterator[procedures_pb2.Procedure]:
        request = procedures_pb2.ListProceduresRequest(user_id=user_id, page_size=_PAGE_SIZE)
        while True:
            page = await self._upstream.procedures.list_procedures(
                _reader(tenant_id), request, timeout_seconds=self._timeout_seconds
            )
            for procedure in page.procedures:
                yield procedure
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def _notes(self, tenant_id: str, user_id: str) -> AsyncIterator[notes_pb2.Note]:
        for status in (notes_pb2.NOTE_STATUS_ACTIVE, notes_pb2.NOTE_STATUS_ARCHIVED):
            request = notes_pb2.ListNotesRequest(user_id=user_id, status=status, page_size=_PAGE_SIZE)
            while True:
                page = await self._upstream.notes.list_notes(
                    _reader(tenant_id), request, timeout_seconds=self._timeout_seconds
                )
                for note in page.notes:
                    yield note
                if not page.next_page_token:
                    break
                request.page_token = page.next_page_token


def _scope_key(memory: facts_pb2.Fact | notes_pb2.Note | procedures_pb2.Procedure) -> str:
    return scope_from_proto(memory.scope, present=memory.HasField("scope"), field_path="scope").key


def _within(sources: Collection[str], turns: Collection[str]) -> bool:
    return bool(sources) and all(source in turns for source in sources)


def _reader(tenant_id: str) -> Principal:
    """Facts that are hardly believed are listed for administrators alone."""
    return replace(worker_principal(tenant_id), role=Role.ADMIN)

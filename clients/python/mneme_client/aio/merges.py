"""Groups of similar facts: which wait for a decision, and the decisions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection

from mneme.semantic.v1 import facts_pb2
from mneme_client import from_wire_merges as from_wire
from mneme_client import to_wire
from mneme_client.aio.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_one, read_page
from mneme_client.enums_decisions import (
    MergeDecision,
    MergeGroupState,
)
from mneme_client.results_merges import MergeGroup
from mneme_client.types import Scope

_SERVICE = "/mneme.semantic.v1.FactService"


class MergeOperations(Operations):
    """Lists facts that may say the same, and decides whether they do."""

    def list_merge_groups(
        self,
        user_id: str,
        *,
        state: MergeGroupState = MergeGroupState.WAITING,
        page_size: int = PAGE_SIZE_MAX,
        scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[MergeGroup]:
        """A user's groups of similar facts, newest first; pages are fetched as they are needed.

        Args:
            user_id: Whose.
            state: Only those in this state; `MergeGroupState.UNSPECIFIED` means any.
            page_size: How many each call fetches.
            scope: The reader's: only what it sees. None means every scope.
            timeout_seconds: Deadline of each call.
        """
        request = facts_pb2.ListMergeGroupsRequest(
            user_id=user_id, state=to_wire.enum_number(state), page_size=page_size, reader_scope=to_wire.scope(scope)
        )
        read = read_page("groups", from_wire.merge_group)
        response = facts_pb2.ListMergeGroupsResponse
        return self._pages(Call(f"{_SERVICE}/ListMergeGroups", request, response, read), timeout_seconds)

    async def resolve_merge_group(
        self,
        user_id: str,
        group_id: str,
        decision: MergeDecision,
        *,
        fact_ids: Collection[str] = (),
        survivor_fact_id: str = "",
        etag: str = "",
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> MergeGroup:
        """Unites similar facts, or keeps them apart. A decision can be changed by another one.

        Args:
            user_id: Whose memory.
            group_id: The group.
            decision: What shall become of it.
            fact_ids: The facts of the group that the decision is about, two or more; empty means all.
            survivor_fact_id: The fact that survives a union; empty means the one with the highest confidence.
            etag: The etag last read: the call fails with CONFLICT if the group or a fact of it has changed since.
                Empty: unconditional.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = facts_pb2.ResolveMergeGroupRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            group_id=group_id,
            decision=to_wire.enum_number(decision),
            fact_ids=fact_ids,
            survivor_fact_id=survivor_fact_id,
            etag=etag,
        )
        read = read_one("group", from_wire.merge_group)
        response = facts_pb2.ResolveMergeGroupResponse
        return await self._call(Call(f"{_SERVICE}/ResolveMergeGroup", request, response, read), timeout_seconds)

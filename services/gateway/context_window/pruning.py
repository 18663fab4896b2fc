"""Use cases that change context windows through the journal: what goes is durable there before it goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mneme.session.internal.v1 import context_internal_pb2 as internal_pb
from mneme.session.v1 import context_window_pb2 as pb
from services.common.auth import Principal
from services.common.clock import Clock
from services.common.errors import Conflict, NotFound
from services.gateway.context_window.activity import SnapshotLog, common_scope
from services.gateway.context_window.archive import archive_command, archive_conversation, archived_item
from services.gateway.context_window.settings import ContextWindowSettings
from services.gateway.journal.model import Caller
from services.gateway.journal.store import Journal
from services.gateway.upstream_context import ContextWindowClient


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRequest:
    """Whose window a request is about, and how it is recognised."""

    principal: Principal
    caller: Caller
    user_id: str
    conversation_id: str
    request_id: str
    digest: str  # of the whole request
    timeout_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowChange:
    """What is to become of a window beside its pruning."""

    added: Sequence[pb.ContextItem] = ()
    incoming_tokens: int = 0  # of what is added
    force: bool = False  # prune also below the threshold
    no_pruning: bool = False
    create_if_missing: bool = False
    current_task_id: str | None = None
    with_items: bool = False  # return the items that fit
    token_budget: int = 0  # into so many tokens; 0: what the window is meant to hold
    note: str = ""


class WindowPruning:
    """Plans in the session tier, writes to the journal, commits in the session tier."""

    def __init__(
        self,
        windows: ContextWindowClient,
        journal: Journal,
        snapshots: SnapshotLog,
        clock: Clock,
        settings: ContextWindowSettings,
        *,
        on_archived: Callable[[], None],
    ) -> None:
        """Calls `on_archived` after it has written to the journal, which delivers it."""
        self._windows = windows
        self._journal = journal
        self._snapshots = snapshots
        self._clock = clock
        self._settings = settings
        self._on_archived = on_archived

    async def plan(self, request: WindowRequest, change: WindowChange) -> internal_pb.PlanContextResponse:
        """What would go; or what the request did before.

        Raises:
            NotFound: There is no window, and it is not to be made.
        """
        asked = internal_pb.PlanContextRequest(
            request_id=request.request_id,
            digest=request.digest,
            user_id=request.user_id,
            conversation_id=request.conversation_id,
            incoming_tokens=change.incoming_tokens,
            force=change.force,
            create_if_missing=change.create_if_missing,
            no_pruning=change.no_pruning,
        )
        return await self._windows.plan(request.principal, asked, timeout_seconds=request.timeout_seconds)

    async def change(
        self, request: WindowRequest, change: WindowChange
    ) -> tuple[internal_pb.CommitContextResponse, bool]:
        """Prunes the window if needed, and changes it in the same step; says whether it was done before.

        Raises:
            NotFound: There is no window, and it is not to be made.
            Conflict: Others change it all the time.
            StoreUnavailable: The journal or the tier cannot be reached. Nothing has gone from the window.
        """
        for attempts_left in reversed(range(self._settings.attempts)):
            plan = await self.plan(request, change)
            removed = () if plan.HasField("first") else await self._archive(request, plan)
            try:
                committed = await self._commit(request, change, plan, removed)
            except Conflict:
                if not attempts_left:
                    raise
                continue
            committed.degraded |= plan.degraded
            if plan.removed and committed.committed.HasField("snapshot"):
                scope = common_scope([one.item for one in plan.removed], request.conversation_id)
                done = committed.committed
                await self._snapshots.record(request.principal, done.window, done.snapshot, scope)
            return committed, plan.HasField("first")
        raise AssertionError("there is at least one attempt")

    async def restore(
        self, request: WindowRequest, item_ids: Sequence[str]
    ) -> tuple[internal_pb.CommittedContext, bool]:
        """Brings removed items back, at the end of the window and as if they were new; and whether it is degraded.

        Raises:
            NotFound: There is no window, or no such item was removed from it.
        """
        change = WindowChange(no_pruning=True)
        plan = await self.plan(request, change)
        if plan.HasField("first"):
            return plan.first, plan.degraded
        found = await self._journal.context_items(
            request.caller.tenant_id, request.user_id, archive_conversation(request.conversation_id), item_ids
        )
        items = []
        for item_id in dict.fromkeys(item_ids):
            if item_id not in found:
                raise NotFound("context item", item_id)
            item = archived_item(found[item_id])
            item.create_time.FromDatetime(self._clock.now())
            items.append(item)
        committed, _ = await self.change(request, WindowChange(no_pruning=True, added=items))
        return committed.committed, committed.degraded

    async def _archive(
        self, request: WindowRequest, plan: internal_pb.PlanContextResponse
    ) -> Sequence[pb.SnapshotItem]:
        """Makes durable what is to go, and returns it with the episodes that it becomes."""
        if not plan.removed:
            return ()
        commands = [
            archive_command(request.caller.tenant_id, request.user_id, request.conversation_id, one.item)
            for one in plan.removed
        ]
        await self._journal.archive(request.caller, commands)
        self._on_archived()
        return [
            pb.SnapshotItem(
                item_id=one.item.item_id,
                kind=one.item.kind,
                token_count=one.item.token_count,
                score=one.score,
                episode_id=command.interaction_ids[0],
                relevance=one.item.relevance if one.item.HasField("relevance") else 1.0,
            )
            for one, command in zip(plan.removed, commands, strict=True)
        ]

    async def _commit(
        self,
        request: WindowRequest,
        change: WindowChange,
        plan: internal_pb.PlanContextResponse,
        removed: Sequence[pb.SnapshotItem],
    ) -> internal_pb.CommitContextResponse:
        asked = internal_pb.CommitContextRequest(
            request_id=request.request_id,
            digest=request.digest,
            user_id=request.user_id,
            conversation_id=request.conversation_id,
            revision=plan.window.revision,
            create_if_missing=change.create_if_missing,
            removed=removed,
            reason=plan.reason,
            added=change.added,
            current_task_id=change.current_task_id,
            token_budget=change.token_budget,
            overhead_tokens=self._settings.message_tokens,
            with_items=change.with_items,
            note=change.note,
        )
        return await self._windows.commit(request.principal, asked, timeout_seconds=request.timeout_seconds)

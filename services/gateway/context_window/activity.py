"""Prunings of context windows in the activity log."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from mneme.common.v1 import common_pb2
from mneme.episodic.internal.v1 import activity_internal_pb2
from mneme.episodic.v1 import activity_pb2
from mneme.session.v1 import context_window_pb2 as pb
from services.common.auth import Principal
from services.common.errors import MnemeError
from services.gateway.upstream_context import ActivityClient

_log = structlog.get_logger(__name__)

_REASON = "pruning"


class SnapshotLog:
    """Records what prunings did. It is written after the window: a failure leaves the snapshot in the session tier."""

    def __init__(self, activity: ActivityClient, *, timeout_seconds: float, items_max: int) -> None:
        """Writes to the episodic tier, which may take `timeout_seconds` and takes `items_max` items of a pruning."""
        self._activity = activity
        self._timeout_seconds = timeout_seconds
        self._items_max = items_max

    async def record(
        self, principal: Principal, window: pb.ContextWindow, snapshot: pb.ContextSnapshot, scope: common_pb2.Scope
    ) -> None:
        """Records one pruning; the same one again changes nothing."""
        record = snapshot_record(window, snapshot, scope, items_max=self._items_max)
        request = activity_internal_pb2.AppendActivityRequest(user_id=window.user_id, records=[record])
        try:
            await self._activity.append(principal, request, timeout_seconds=self._timeout_seconds)
        except MnemeError as error:
            _log.warning("context_snapshot_not_recorded", snapshot_id=snapshot.snapshot_id, reason=str(error.reason))


def snapshot_record(
    window: pb.ContextWindow, snapshot: pb.ContextSnapshot, scope: common_pb2.Scope, *, items_max: int
) -> activity_pb2.ActivityRecord:
    """The record of a pruning, by the snapshot's id; of more than `items_max` items those that went come first."""
    removed = snapshot.removed[:items_max]
    stayed = snapshot.stayed[: items_max - len(removed)]
    items = [
        activity_pb2.ContextSnapshotItem(
            item_id=one.item_id,
            kind=pb.ContextItemKind.Name(one.kind).removeprefix("CONTEXT_ITEM_KIND_").lower(),
            token_count=one.token_count,
            relevance=one.relevance if one.HasField("relevance") else 1.0,
            score=one.score,
            is_pruned=is_pruned,
        )
        for of, is_pruned in ((stayed, False), (removed, True))
        for one in of
    ]
    return activity_pb2.ActivityRecord(
        record_id=snapshot.snapshot_id,
        conversation_id=window.conversation_id,
        task_id=window.current_task_id,
        time=snapshot.create_time,
        scope=scope,
        context_snapshot=activity_pb2.ContextSnapshot(
            items=items,
            total_tokens=snapshot.token_count_after,
            reason=f"{_REASON}_{snapshot.reason}" if snapshot.reason else _REASON,
        ),
    )


def common_scope(items: Sequence[pb.ContextItem], conversation_id: str) -> common_pb2.Scope:
    """The scope that all items have; that of the conversation where they differ."""
    scopes = {item.scope.SerializeToString(deterministic=True) if item.HasField("scope") else b"" for item in items}
    if len(scopes) > 1:
        return common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_SESSION, session_id=conversation_id)
    found = common_pb2.Scope.FromString(scopes.pop()) if scopes else common_pb2.Scope()
    return found if found.level else common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_GLOBAL)

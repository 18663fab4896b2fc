"""From the models of context windows to messages. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.duration_pb2 import Duration

from mneme.session.internal.v1 import context_internal_pb2 as internal_pb
from mneme.session.v1 import context_window_pb2 as pb
from services.common.convert import scope_to_proto, timestamp
from services.common.paging import PageTokens, cut_page
from services.common.scope import GLOBAL_SCOPE
from services.session.context_window.commands import list_identity
from services.session.context_window.model import (
    Changed,
    CommittedContext,
    ContextItem,
    ContextSnapshot,
    ItemPage,
    PruningPlan,
    ScoredItem,
    SnapshotItem,
    SnapshotPage,
    WindowHead,
)
from services.session.store import StoreResponse


def window_to_proto(head: WindowHead, tokenizer: str) -> pb.ContextWindow:
    """A window without its items."""
    ttl = Duration()
    ttl.FromTimedelta(head.spec.ttl)
    return pb.ContextWindow(
        conversation_id=head.key.conversation_id,
        user_id=head.key.owner.user_id,
        max_tokens=head.spec.max_tokens,
        token_count=head.token_count,
        item_count=head.item_count,
        current_task_id=head.current_task_id,
        pruned_count=head.pruned_count,
        revision=head.revision,
        tokenizer=tokenizer,
        ttl=ttl,
        create_time=timestamp(head.create_time),
        last_active_time=timestamp(head.last_active_time),
        expire_time=timestamp(head.expire_time),
    )


def item_to_proto(item: ContextItem) -> pb.ContextItem:
    """An item."""
    return pb.ContextItem(
        item_id=item.item_id,
        kind=pb.ContextItemKind.Name(item.kind),
        content=item.content,
        token_count=item.token_count,
        relevance=item.relevance,
        task_id=item.task_id,
        dependency_ids=item.dependency_ids,
        sticky=item.is_sticky,
        create_time=timestamp(item.create_time),
        scope=None if item.scope == GLOBAL_SCOPE else scope_to_proto(item.scope),
        tool_calls=[pb.ToolCall(id=call.call_id, name=call.name, arguments=call.arguments) for call in item.tool_calls],
        tool_call_id=item.tool_call_id,
        tool_name=item.tool_name,
        file_path=item.file_path,
        start_line=item.start_line,
        end_line=item.end_line,
        query=item.query,
        position=item.position,
    )


def scored_to_proto(scored: ScoredItem) -> pb.ScoredContextItem:
    """An item with its score."""
    return pb.ScoredContextItem(item=item_to_proto(scored.item), score=scored.score)


def snapshot_to_proto(snapshot: ContextSnapshot) -> pb.ContextSnapshot:
    """What a pruning did."""
    return pb.ContextSnapshot(
        snapshot_id=snapshot.snapshot_id,
        create_time=timestamp(snapshot.create_time),
        reason=snapshot.reason,
        token_count_before=snapshot.token_count_before,
        token_count_after=snapshot.token_count_after,
        stayed=[_snapshot_item(item) for item in snapshot.stayed],
        removed=[_snapshot_item(item) for item in snapshot.removed],
    )


def add_response(
    response: StoreResponse[Changed], item_ids: Sequence[str], tokenizer: str
) -> pb.AddContextItemsResponse:
    """What adding items did."""
    return pb.AddContextItemsResponse(
        window=window_to_proto(response.value.head, tokenizer),
        item_ids=item_ids,
        added_count=response.value.added_count,
        degraded=response.is_degraded,
    )


def items_response(
    response: StoreResponse[ItemPage], request: pb.ListContextItemsRequest, tenant_id: str, tokens: PageTokens
) -> pb.ListContextItemsResponse:
    """A page of items with the token of the next one."""
    page = response.value
    cursor = None if page.next_position is None else (page.next_position,)
    return pb.ListContextItemsResponse(
        items=map(scored_to_proto, page.items),
        next_page_token=tokens.next_token(cursor, tenant_id=tenant_id, query=list_identity(request)),
        degraded=response.is_degraded,
    )


def snapshots_response(
    response: StoreResponse[SnapshotPage],
    request: pb.ListContextSnapshotsRequest,
    tenant_id: str,
    tokens: PageTokens,
    *,
    bytes_max: int,
) -> pb.ListContextSnapshotsResponse:
    """A page of snapshots with the token of the next one; it ends early where it would exceed `bytes_max`."""
    page = response.value
    snapshots, cursor = cut_page(
        [snapshot_to_proto(snapshot) for snapshot in page.snapshots],
        has_more=page.has_more,
        bytes_max=bytes_max,
        cursor_of=lambda index: (page.snapshots[index].snapshot_id,),
    )
    return pb.ListContextSnapshotsResponse(
        snapshots=snapshots,
        next_page_token=tokens.next_token(cursor, tenant_id=tenant_id, query=list_identity(request)),
        degraded=response.is_degraded,
    )


def dry_run_response(response: StoreResponse[PruningPlan], tokenizer: str) -> pb.PruneContextWindowResponse:
    """What would go."""
    plan = response.value
    return pb.PruneContextWindowResponse(
        snapshot=None if plan.snapshot is None else snapshot_to_proto(plan.snapshot),
        window=None if plan.window is None else window_to_proto(plan.window, tokenizer),
        degraded=response.is_degraded,
    )


def plan_response(response: StoreResponse[PruningPlan], tokenizer: str) -> internal_pb.PlanContextResponse:
    """What is to go, or what the request did before."""
    plan = response.value
    return internal_pb.PlanContextResponse(
        first=None if plan.first is None else _committed(plan.first, tokenizer),
        window=None if plan.window is None else window_to_proto(plan.window, tokenizer),
        removed=map(scored_to_proto, plan.removed),
        reason="" if plan.snapshot is None else plan.snapshot.reason,
        snapshot=None if plan.snapshot is None else snapshot_to_proto(plan.snapshot),
        degraded=response.is_degraded,
    )


def commit_response(response: StoreResponse[CommittedContext], tokenizer: str) -> internal_pb.CommitContextResponse:
    """What a commit did, with the items that fit."""
    committed = response.value
    return internal_pb.CommitContextResponse(
        committed=_committed(committed.changed, tokenizer),
        items=map(item_to_proto, committed.items),
        omitted_item_ids=committed.omitted_ids,
        degraded=response.is_degraded,
    )


def _committed(changed: Changed, tokenizer: str) -> internal_pb.CommittedContext:
    return internal_pb.CommittedContext(
        window=window_to_proto(changed.head, tokenizer),
        added_count=changed.added_count,
        removed_count=changed.removed_count,
        snapshot=None if changed.snapshot is None else snapshot_to_proto(changed.snapshot),
        note=changed.note,
    )


def _snapshot_item(item: SnapshotItem) -> pb.SnapshotItem:
    return pb.SnapshotItem(
        item_id=item.item_id,
        kind=pb.ContextItemKind.Name(item.kind),
        token_count=item.token_count,
        score=item.score,
        episode_id=item.episode_id,
        relevance=item.relevance,
    )

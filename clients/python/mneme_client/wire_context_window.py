"""Context windows to messages and back. Pure functions; the service validates the values."""

from __future__ import annotations

from mneme.gateway.v1 import prepare_pb2
from mneme.session.v1 import context_window_pb2 as pb
from mneme_client import context_window as r
from mneme_client import from_wire, to_wire
from mneme_client.enums import ContextItemKind, ContextSourceState
from mneme_client.from_wire import moment


def item_message(item: r.WindowItem) -> pb.ContextItem:
    """An item without what the service sets."""
    return pb.ContextItem(
        item_id=item.item_id,
        kind=to_wire.enum_number(item.kind),
        content=item.content,
        relevance=item.relevance,
        task_id=item.task_id,
        dependency_ids=item.dependency_ids,
        sticky=item.sticky,
        create_time=to_wire.optional_timestamp(item.create_time),
        scope=to_wire.scope(item.scope),
        tool_calls=[pb.ToolCall(id=call.id, name=call.name, arguments=call.arguments) for call in item.tool_calls],
        tool_call_id=item.tool_call_id,
        tool_name=item.tool_name,
        file_path=item.file_path,
        start_line=item.start_line,
        end_line=item.end_line,
        query=item.query,
    )


def item(message: pb.ContextItem) -> r.WindowItem:
    """An item."""
    return r.WindowItem(
        item_id=message.item_id,
        kind=ContextItemKind(message.kind),
        content=message.content,
        token_count=message.token_count,
        relevance=message.relevance if message.HasField("relevance") else None,
        task_id=message.task_id,
        dependency_ids=tuple(message.dependency_ids),
        sticky=message.sticky if message.HasField("sticky") else None,
        create_time=moment(message, "create_time"),
        scope=from_wire.scope(message.scope) if message.HasField("scope") else None,
        tool_calls=tuple(map(_tool_call, message.tool_calls)),
        tool_call_id=message.tool_call_id,
        tool_name=message.tool_name,
        file_path=message.file_path,
        start_line=message.start_line,
        end_line=message.end_line,
        query=message.query,
        position=message.position,
    )


def scored_item(message: pb.ScoredContextItem) -> r.ScoredWindowItem:
    """An item with its score."""
    return r.ScoredWindowItem(item(message.item), message.score)


def window(message: pb.ContextWindow, *, degraded: bool = False) -> r.ContextWindow:
    """A window."""
    return r.ContextWindow(
        conversation_id=message.conversation_id,
        user_id=message.user_id,
        max_tokens=message.max_tokens,
        token_count=message.token_count,
        item_count=message.item_count,
        current_task_id=message.current_task_id,
        pruned_count=message.pruned_count,
        revision=message.revision,
        tokenizer=message.tokenizer,
        ttl=message.ttl.ToTimedelta(),
        create_time=moment(message, "create_time"),
        last_active_time=moment(message, "last_active_time"),
        expire_time=moment(message, "expire_time"),
        degraded=degraded,
    )


def window_response(
    message: pb.UpdateContextWindowResponse | pb.GetContextWindowResponse | pb.DeleteContextWindowResponse,
) -> r.ContextWindow:
    """The window of a response that has nothing else."""
    return window(message.window, degraded=message.degraded)


def added_items(message: pb.AddContextItemsResponse) -> r.AddedItems:
    """What was added."""
    return r.AddedItems(window(message.window, degraded=message.degraded), tuple(message.item_ids), message.added_count)


def pruning(message: pb.PruneContextWindowResponse) -> r.Pruning:
    """What a pruning did."""
    found = snapshot(message.snapshot) if message.HasField("snapshot") else None
    return r.Pruning(window(message.window, degraded=message.degraded), found)


def restored_items(message: pb.RestoreContextItemsResponse) -> r.RestoredItems:
    """What was brought back."""
    return r.RestoredItems(window(message.window, degraded=message.degraded), message.restored_count)


def snapshot(message: pb.ContextSnapshot) -> r.WindowSnapshot:
    """A snapshot."""
    return r.WindowSnapshot(
        snapshot_id=message.snapshot_id,
        create_time=moment(message, "create_time"),
        reason=message.reason,
        token_count_before=message.token_count_before,
        token_count_after=message.token_count_after,
        stayed=tuple(map(_snapshot_item, message.stayed)),
        removed=tuple(map(_snapshot_item, message.removed)),
    )


def prepared_context(message: prepare_pb2.PrepareContextResponse) -> r.PreparedContext:
    """The messages for a model."""
    return r.PreparedContext(
        messages=tuple(map(_prompt_message, message.messages)),
        token_count=message.token_count,
        token_budget=message.token_budget,
        tokenizer=message.tokenizer,
        window=window(message.window),
        pruned=snapshot(message.pruned) if message.HasField("pruned") else None,
        omitted_item_ids=tuple(message.omitted_item_ids),
        code_state=ContextSourceState(message.code_state),
        task_state=ContextSourceState(message.task_state),
        degraded=message.degraded,
        replayed=message.replayed,
    )


def _tool_call(message: pb.ToolCall) -> r.ToolCall:
    return r.ToolCall(message.id, message.name, message.arguments)


def _snapshot_item(message: pb.SnapshotItem) -> r.WindowSnapshotItem:
    kind = ContextItemKind(message.kind)
    relevance = message.relevance if message.HasField("relevance") else None
    return r.WindowSnapshotItem(
        message.item_id, kind, message.token_count, message.score, message.episode_id, relevance
    )


def _prompt_message(message: prepare_pb2.PromptMessage) -> r.PromptMessage:
    return r.PromptMessage(
        role=message.role,
        content=message.content,
        tool_calls=tuple(map(_tool_call, message.tool_calls)),
        tool_call_id=message.tool_call_id,
        name=message.name,
        item_id=message.item_id,
        token_count=message.token_count,
    )

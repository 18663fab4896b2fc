"""Items of a context window as messages for a model. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from mneme.gateway.v1 import prepare_pb2
from mneme.session.v1 import context_window_pb2 as pb


def prompt_messages(items: Sequence[pb.ContextItem], *, overhead_tokens: int) -> list[prepare_pb2.PromptMessage]:
    """Messages in the order to send them: results of tools stand behind the message that called them."""
    return [_message(item, is_answer=is_answer, overhead_tokens=overhead_tokens) for item, is_answer in _ordered(items)]


def _ordered(items: Sequence[pb.ContextItem]) -> list[tuple[pb.ContextItem, bool]]:
    """Items in the order of a chat, each with whether it is the result of a call before it.

    A call id that comes again means the last response before the result.
    """
    runs: list[tuple[pb.ContextItem, list[pb.ContextItem]]] = []
    callers: dict[str, list[pb.ContextItem]] = {}
    early: dict[str, list[pb.ContextItem]] = {}  # results whose call may come behind them, by call id
    for item in items:
        if item.kind == pb.CONTEXT_ITEM_KIND_TOOL_RESULT and item.tool_call_id in callers:
            callers[item.tool_call_id].append(item)
            continue
        results: list[pb.ContextItem] = []
        runs.append((item, results))
        if item.kind == pb.CONTEXT_ITEM_KIND_TOOL_RESULT:
            early.setdefault(item.tool_call_id, []).append(item)
        for call in item.tool_calls:
            callers[call.id] = results
            results += early.pop(call.id, [])
    answered = {result.item_id for _, results in runs for result in results}
    ordered: list[tuple[pb.ContextItem, bool]] = []
    for item, results in runs:
        if item.item_id not in answered:
            ordered.append((item, False))
            ordered += [(result, True) for result in results]
    return ordered


def _message(item: pb.ContextItem, *, is_answer: bool, overhead_tokens: int) -> prepare_pb2.PromptMessage:
    message = prepare_pb2.PromptMessage(
        role="user", content=item.content, item_id=item.item_id, token_count=item.token_count + overhead_tokens
    )
    match item.kind:
        case pb.CONTEXT_ITEM_KIND_SYSTEM_PROMPT:
            message.role = "system"
        case pb.CONTEXT_ITEM_KIND_TASK_STATE:
            message.role = "system"
            message.content = f"State of the task: {item.content}"
        case pb.CONTEXT_ITEM_KIND_ASSISTANT_RESPONSE:
            message.role = "assistant"
            message.tool_calls.extend(item.tool_calls)
        case pb.CONTEXT_ITEM_KIND_TOOL_RESULT if is_answer:
            message.role = "tool"
            message.tool_call_id = item.tool_call_id
            message.name = item.tool_name
        case pb.CONTEXT_ITEM_KIND_TOOL_RESULT:  # models refuse a result without its call
            message.content = f"Earlier result of a tool, as data: {item.tool_name}\n{item.content}"
        case pb.CONTEXT_ITEM_KIND_CODE_SNIPPET:
            message.content = f"Code, as data: {_place(item)}\n{item.content}"
        case pb.CONTEXT_ITEM_KIND_GRAPH_QUERY:
            message.content = f"Code graph, as data: {item.query}\n{item.content}"
    return message


def _place(item: pb.ContextItem) -> str:
    return f"{item.file_path}:{item.start_line}-{item.end_line}" if item.start_line else item.file_path

"""Context windows of agents, and the prompts that are made of them. Plain frozen data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from mneme_client.enums import ContextItemKind, ContextSourceState
from mneme_client.types import Scope


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool by the model."""

    id: str
    name: str
    arguments: str = ""  # as the model wrote them, usually JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowItem:
    """One item of a window."""

    kind: ContextItemKind
    content: str = ""  # required unless there are tool calls; at most 32,768 characters
    item_id: str = ""  # unique in the window; empty on writing: the service makes one
    relevance: float | None = None  # in [0, 1]; None means 1
    task_id: str = ""  # the task it belongs to
    dependency_ids: Sequence[str] = ()  # items that it needs: each raises their score
    sticky: bool | None = None  # pruning never removes it; None: true for a system prompt alone
    create_time: datetime | None = None  # aware; None on writing means now
    scope: Scope | None = None  # who may see the episode that it becomes when it is removed; None means GLOBAL
    tool_calls: Sequence[ToolCall] = ()  # of an assistant response
    tool_call_id: str = ""  # of a tool result: the call that it answers, required there
    tool_name: str = ""  # of a tool result
    file_path: str = ""  # of code or a tool result
    start_line: int = 0  # of code, from 1; 0: not known
    end_line: int = 0  # included
    query: str = ""  # of a graph query: the question
    token_count: int = 0  # set by the service
    position: int = 0  # in the window: later items have higher ones; set by the service


@dataclass(frozen=True, slots=True)
class ScoredWindowItem:
    """An item with its score now."""

    item: WindowItem
    score: float  # in [0, 100]; the lowest scores are removed first


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """A window without its items."""

    conversation_id: str
    user_id: str
    max_tokens: int
    token_count: int
    item_count: int
    current_task_id: str
    pruned_count: int  # items that prunings removed
    revision: int  # rises with each change
    tokenizer: str
    ttl: timedelta  # sliding: every read and write resets it
    create_time: datetime | None
    last_active_time: datetime | None
    expire_time: datetime | None
    degraded: bool = False  # the store cannot be reached; the response comes from the memory of the service's process


@dataclass(frozen=True, slots=True)
class AddedItems:
    """What was added to a window."""

    window: ContextWindow
    item_ids: tuple[str, ...]  # of the request's items, in order
    added_count: int  # that were not in the window before


@dataclass(frozen=True, slots=True)
class WindowSnapshotItem:
    """An item when its window was pruned, without its content."""

    item_id: str
    kind: ContextItemKind
    token_count: int
    score: float
    episode_id: str  # that a removed item became; empty for one that stayed
    relevance: float | None = None  # in [0, 1]; None in snapshots of earlier versions


@dataclass(frozen=True, slots=True)
class WindowSnapshot:
    """What one pruning did."""

    snapshot_id: str
    create_time: datetime | None
    reason: str  # "threshold", "incoming" or "forced"
    token_count_before: int
    token_count_after: int
    stayed: tuple[WindowSnapshotItem, ...]  # in the window's order
    removed: tuple[WindowSnapshotItem, ...]  # the lowest score first


@dataclass(frozen=True, slots=True)
class Pruning:
    """What a call to prune did, or would do."""

    window: ContextWindow
    snapshot: WindowSnapshot | None  # None: the window is below its threshold, or holds nothing that may be removed


@dataclass(frozen=True, slots=True)
class RestoredItems:
    """What was brought back to a window."""

    window: ContextWindow
    restored_count: int


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """A message for a chat model."""

    role: str  # "system", "user", "assistant" or "tool"
    content: str
    tool_calls: tuple[ToolCall, ...]
    tool_call_id: str
    name: str
    item_id: str  # the item of the window that it was made of
    token_count: int


@dataclass(frozen=True, slots=True)
class PreparedContext:
    """The messages to send to a model."""

    messages: tuple[PromptMessage, ...]  # in order; the user's message is the last
    token_count: int  # at most `token_budget`
    token_budget: int
    tokenizer: str
    window: ContextWindow
    pruned: WindowSnapshot | None  # what was removed to make room; `stayed` is empty
    omitted_item_ids: tuple[str, ...]  # items that did not fit into the budget
    code_state: ContextSourceState
    task_state: ContextSourceState
    degraded: bool
    replayed: bool  # a repeat: nothing was added

"""Settings of context windows."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from services.common.settings_types import (
    Amount,
    Count,
    CountOrNone,
    Duration,
    Factor,
    Positive,
    PositiveShare,
    ResponseBytes,
    table,
)
from services.common.turns import TurnLimits
from services.session.context_window.model import ItemKind


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningSettings:
    """What items are worth, and when they go (SPEC 1.8)."""

    threshold_share: PositiveShare = 0.8  # of `max_tokens`: beyond it a window is pruned
    removed_share: PositiveShare = 0.3  # of the window's tokens that go
    decay_minutes: Positive = 60.0  # in which a score falls to 1/e
    current_task_factor: Factor = 2.0  # for items of the current task
    dependent_bonus: Amount = 0.2  # of a score, for each item that needs the item
    system_prompt_factor: Amount = 100.0  # of system prompts
    task_state_factor: Amount = 2.0  # of task states
    user_message_factor: Amount = 1.5  # of user messages
    calling_response_factor: Amount = 1.2  # of an assistant response that calls tools
    response_factor: Amount = 0.9  # of one that does not
    tool_result_factor: Amount = 0.8  # of tool results
    code_snippet_factor: Amount = 0.7  # of code snippets
    graph_query_factor: Amount = 0.6  # of graph queries
    score_max: Positive = 100.0  # higher scores are cut to it
    pruned_bytes_max: ResponseBytes = 6_000_000  # of items that go at once; a message holds 8 MiB

    def kind_factor(self, kind: ItemKind, *, calls_tools: bool) -> float:
        """The factor of a kind."""
        match kind:
            case ItemKind.SYSTEM_PROMPT:
                return self.system_prompt_factor
            case ItemKind.TASK_STATE:
                return self.task_state_factor
            case ItemKind.USER_MESSAGE:
                return self.user_message_factor
            case ItemKind.ASSISTANT_RESPONSE:
                return self.calling_response_factor if calls_tools else self.response_factor
            case ItemKind.TOOL_RESULT:
                return self.tool_result_factor
            case ItemKind.CODE_SNIPPET:
                return self.code_snippet_factor
            case ItemKind.GRAPH_QUERY:
                return self.graph_query_factor


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowLimits:
    """Bounds of requests; each exceeded one is an error that names it."""

    turn: TurnLimits = field(default_factory=TurnLimits, metadata=table("turn"))  # of an item's content
    id_chars_max: Count = 128  # user, item, task and request ids
    conversation_id_chars_max: Count = 120  # less: the conversation of what is removed has a longer id
    max_tokens_min: Count = 256  # smallest budget of a window
    max_tokens_max: Count = 10_000_000  # largest
    ttl_min: Duration = timedelta(seconds=1)  # shortest lifetime that may be asked for
    ttl_max: Duration = timedelta(days=30)  # longest
    add_items_max: Count = 256  # items in one AddContextItems
    dependencies_max: CountOrNone = 64  # items that one item needs
    tool_calls_max: CountOrNone = 64  # of one assistant response
    details_chars_max: Count = 12_000  # of an item's tool calls, dependencies, path and query together
    path_chars_max: Count = 1_024  # a file
    query_chars_max: Count = 4_096  # of a graph query
    page_size_default: Count = 50  # items of a page where no number is asked for
    page_size_max: Count = 200  # items of a page; more is cut to it
    response_bytes_max: ResponseBytes = 3_000_000  # of a page or a prompt; gRPC clients accept 4 MiB by default
    count_inline_chars_max: Count = 20_000  # more characters are tokenized in a thread, beside the loop


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowStoreSettings:
    """Bounds of what is stored."""

    items_max: Count = 2_000  # of a window; more are refused
    window_bytes_max: Count = 16 * 1024 * 1024  # of a window's items; more are refused
    snapshots_max: Count = 20  # of a window; the oldest go
    snapshot_items_max: Count = 2_000  # of what stayed, and of what went, in one snapshot
    windows_max: Count = 2_000  # in one process's memory; beyond it the least recently active go
    memory_bytes_max: Count = 256 * 1024 * 1024  # of all windows in one process's memory; the same ones go
    records_max: Count = 20_000  # idempotency records in one process's memory; the oldest go


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextWindowSettings:
    """Everything that can be set about context windows."""

    max_tokens: Count = 180_000  # of a window that asks for nothing
    ttl: Duration = timedelta(hours=24)  # lifetime after the last read or write of a window that asks for nothing
    pruning: PruningSettings = field(default_factory=PruningSettings)
    limits: WindowLimits = field(default_factory=WindowLimits)
    store: WindowStoreSettings = field(default_factory=WindowStoreSettings)

"""Context windows and their items as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Final

from services.common.idempotency.model import IdempotencyKey
from services.common.scope import GLOBAL_SCOPE, Scope
from services.session.model import SessionKey

_ITEM_OVERHEAD_BYTES: Final = 1_024
"""About what an item takes beside its texts."""


class ItemKind(IntEnum):
    """What an item is; the numbers are those of the wire format."""

    SYSTEM_PROMPT = 1
    USER_MESSAGE = 2
    ASSISTANT_RESPONSE = 3
    TOOL_RESULT = 4
    CODE_SNIPPET = 5
    TASK_STATE = 6
    GRAPH_QUERY = 7


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool by the model."""

    call_id: str
    name: str
    arguments: str = ""  # as the model wrote them, usually JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """One item of a window."""

    item_id: str  # unique in the window
    kind: ItemKind
    content: str
    create_time: datetime  # aware, UTC
    token_count: int  # of the content and the tool calls
    relevance: float = 1.0  # in [0, 1]
    task_id: str = ""
    dependency_ids: tuple[str, ...] = ()  # items that it needs
    is_sticky: bool = False  # pruning never removes it
    scope: Scope = GLOBAL_SCOPE  # of the episode that it becomes
    tool_calls: tuple[ToolCall, ...] = ()  # of an assistant response
    tool_call_id: str = ""  # of a tool result: the call that it answers
    tool_name: str = ""
    file_path: str = ""
    start_line: int = 0  # from 1; 0: not known
    end_line: int = 0  # included; 0: not known
    query: str = ""  # of a graph query
    position: int = 0  # in the window; set by the store


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """An item with what it is worth now."""

    item: ContextItem
    score: float  # in [0, 100]


@dataclass(frozen=True, slots=True)
class SnapshotItem:
    """An item in a snapshot, without its content."""

    item_id: str
    kind: ItemKind
    token_count: int
    score: float
    episode_id: str = ""  # of a removed item
    relevance: float | None = None  # in [0, 1]; None in snapshots of earlier versions


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSnapshot:
    """What one pruning did."""

    snapshot_id: str
    create_time: datetime
    reason: str
    token_count_before: int
    token_count_after: int
    stayed: tuple[SnapshotItem, ...]  # in the window's order
    removed: tuple[SnapshotItem, ...]  # the lowest score first


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """What a new window is made with."""

    max_tokens: int  # tokens it is meant to hold
    ttl: timedelta  # sliding time to live, positive


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowHead:
    """A window without its items."""

    key: SessionKey
    spec: WindowSpec
    create_time: datetime
    last_active_time: datetime  # last read or write
    revision: int  # rises with each change, from 1
    token_count: int
    item_count: int
    pruned_count: int  # items that prunings have removed
    current_task_id: str = ""

    @property
    def expire_time(self) -> datetime:
        """When it is gone, unless somebody reads or writes it before."""
        return self.last_active_time + self.spec.ttl


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """A window with its items."""

    head: WindowHead
    items: tuple[ContextItem, ...]  # by position


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a write does to a window, all of it or nothing."""

    create: WindowSpec | None = None  # what to make the window with where it is missing; None if it must be there
    if_revision: int | None = (
        None  # only while the window has this revision, 0 for a missing one; None: whatever it has
    )
    max_tokens: int | None = None  # None: as it is, as for the next two
    ttl: timedelta | None = None
    current_task_id: str | None = None
    removed: tuple[str, ...] = ()  # ids of items to remove; others are ignored
    added: tuple[ContextItem, ...] = ()  # behind the last one; those that are there already, or twice, are left out
    snapshot: ContextSnapshot | None = None  # stored beside the window; None: this is no pruning
    note: str = ""  # returned with the response and its repeats

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes."""
        return sum(map(item_size_bytes, self.added)) + _ITEM_OVERHEAD_BYTES


@dataclass(frozen=True, slots=True)
class Changed:
    """What a write did. It holds no content."""

    head: WindowHead
    added_count: int
    removed_count: int
    snapshot: ContextSnapshot | None = None
    note: str = ""


def item_size_bytes(item: ContextItem) -> int:
    """About how many bytes an item takes, in memory or in a message: its texts in UTF-8 and something more."""
    texts = [item.content, item.query, item.file_path, item.task_id, *item.dependency_ids]
    texts += [text for call in item.tool_calls for text in (call.call_id, call.name, call.arguments)]
    return _ITEM_OVERHEAD_BYTES + sum(len(text.encode()) for text in texts)


@dataclass(frozen=True, slots=True)
class ItemPage:
    """One page of a window's items."""

    items: tuple[ScoredItem, ...]
    next_position: int | None  # position of the last item of the page; None on the last page


@dataclass(frozen=True, slots=True)
class SnapshotPage:
    """One page of a window's snapshots."""

    snapshots: tuple[ContextSnapshot, ...]
    has_more: bool  # there are older ones


@dataclass(frozen=True, slots=True)
class PruningPlan:
    """What is to go from a window."""

    window: WindowHead | None  # None: it is missing
    removed: tuple[ScoredItem, ...] = ()  # the lowest score first
    snapshot: ContextSnapshot | None = None  # None: nothing is to go
    first: Changed | None = None  # the request was carried out before


@dataclass(frozen=True, slots=True)
class CommittedContext:
    """What came of a plan, with the items that fit into a budget."""

    changed: Changed
    items: tuple[ContextItem, ...] = ()
    omitted_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateCommand:
    """A checked UpdateContextWindow."""

    key: SessionKey
    max_tokens: int | None
    current_task_id: str | None
    ttl: timedelta | None
    idempotency_key: IdempotencyKey | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddCommand:
    """A checked AddContextItems; its items are not counted, and those without an id have an empty one."""

    key: SessionKey
    items: tuple[ContextItem, ...]
    create_if_missing: bool
    idempotency_key: IdempotencyKey | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCommand:
    """A checked PlanContext."""

    key: SessionKey
    incoming_tokens: int = 0  # of what is about to be added
    force: bool = False  # prune also below the threshold
    create_if_missing: bool = False  # a missing window is an empty one
    no_pruning: bool = False  # nothing is to go
    idempotency_key: IdempotencyKey | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitCommand:
    """A checked CommitContext; its items are not counted."""

    key: SessionKey
    idempotency_key: IdempotencyKey
    revision: int
    create_if_missing: bool
    removed: tuple[SnapshotItem, ...]
    reason: str
    added: tuple[ContextItem, ...]
    current_task_id: str | None
    token_budget: int  # 0: what the window is meant to hold
    overhead_tokens: int  # of each item
    with_items: bool
    note: str

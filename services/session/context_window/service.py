"""Use cases of context windows."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Final

from services.common.clock import Clock
from services.common.errors import FailedPrecondition, FieldViolation, InvalidArgument, NotFound
from services.common.idempotency.model import IdempotencyKey
from services.common.ids import IdSource
from services.common.owners import Owner, TenantId
from services.common.scope import Scope
from services.common.tokens import TokenCounter
from services.session.context_window import pruning
from services.session.context_window.config import ContextWindowSettings
from services.session.context_window.model import (
    AddCommand,
    Change,
    Changed,
    CommitCommand,
    CommittedContext,
    ContextItem,
    ContextSnapshot,
    ContextWindow,
    ItemKind,
    ItemPage,
    PlanCommand,
    PruningPlan,
    ScoredItem,
    SnapshotItem,
    SnapshotPage,
    UpdateCommand,
    WindowHead,
    WindowSpec,
    item_size_bytes,
)
from services.session.context_window.store import ContextWindowStore
from services.session.model import ConversationId, SessionKey
from services.session.store import StoreResponse

_ITEM_IDS: Final = uuid.UUID("6d0c8a52-6f5c-4d41-9f4b-0c8a4f1f7a31")
"""Namespace of the ids of items that come without one."""


class ContextWindowService:
    """Holds what agents have in their prompts.

    Commands are checked before they come here. All use cases raise `StoreUnavailable`, and those with a request id
    `InvalidArgument` (REQUEST_ID_REUSED), as the store does.
    """

    def __init__(
        self,
        store: ContextWindowStore,
        tokens: TokenCounter,
        *,
        clock: Clock,
        ids: IdSource,
        settings: ContextWindowSettings,
    ) -> None:
        """Stores windows in `store`; `tokens` counts their items."""
        self._store = store
        self._tokens = tokens
        self._clock = clock
        self._ids = ids
        self._settings = settings
        self.tokenizer = tokens.name

    async def get(self, key: SessionKey) -> StoreResponse[WindowHead]:
        """A window without its items.

        Raises:
            NotFound: There is no live one.
        """
        response = await self._store.read(key, now=self._clock.now())
        return StoreResponse(response.value.head, response.is_degraded)

    async def update(self, command: UpdateCommand) -> StoreResponse[Changed]:
        """Set what a command names; the window is made where it is missing."""
        change = Change(
            create=self._spec,
            max_tokens=command.max_tokens,
            ttl=command.ttl,
            current_task_id=command.current_task_id,
        )
        return await self._store.change(
            command.key, change, now=self._clock.now(), idempotency_key=command.idempotency_key
        )

    async def add(self, command: AddCommand) -> tuple[StoreResponse[Changed], tuple[str, ...]]:
        """Add items at the end of a window; returns their ids as well.

        Raises:
            NotFound: There is no live one, and it is not to be made.
            LimitExceeded: It would be too large.
        """
        items = await self._counted(self._with_ids(command.items, command.idempotency_key))
        change = Change(create=self._spec if command.create_if_missing else None, added=items)
        response = await self._store.change(
            command.key, change, now=self._clock.now(), idempotency_key=command.idempotency_key
        )
        return response, tuple(item.item_id for item in items)

    async def dry_run(self, command: PlanCommand, *, is_dry_run: bool) -> StoreResponse[PruningPlan]:
        """What would go from a window.

        Raises:
            NotFound: There is no live one.
            FailedPrecondition: It is meant to go.
        """
        if not is_dry_run:
            self.refuse()
        return await self.plan(command)

    async def list_items(self, key: SessionKey, *, page_size: int, after: int | None) -> StoreResponse[ItemPage]:
        """Items behind a position, in their order, with the scores that they have now.

        Raises:
            NotFound: There is no live window.
        """
        response = await self._store.read(key, now=self._clock.now())
        scored = pruning.scored(response.value.items, self._moment(response.value.head), self._settings.pruning)
        behind = [one for one in scored if after is None or one.item.position > after]
        page, bytes_left = behind[:page_size], self._settings.limits.response_bytes_max
        for index, one in enumerate(page):
            bytes_left -= item_size_bytes(one.item)
            if bytes_left < 0 and index:
                page = page[:index]
                break
        has_more = len(page) < len(behind)
        items = ItemPage(tuple(page), page[-1].item.position if has_more else None)
        return StoreResponse(items, response.is_degraded)

    async def list_snapshots(
        self, key: SessionKey, *, page_size: int, after: str | None
    ) -> StoreResponse[SnapshotPage]:
        """Snapshots behind one of them, the newest first; from the beginning where that is gone meanwhile.

        Raises:
            NotFound: There is no live window.
        """
        response = await self._store.snapshots(key, now=self._clock.now())
        ids = [snapshot.snapshot_id for snapshot in response.value]
        start = ids.index(after) + 1 if after in ids else 0
        page = response.value[start : start + page_size]
        has_more = start + page_size < len(ids)
        return StoreResponse(SnapshotPage(tuple(page), has_more), response.is_degraded)

    async def plan(self, command: PlanCommand) -> StoreResponse[PruningPlan]:
        """What is to go from a window; changes nothing.

        Raises:
            NotFound: There is no live window, and a missing one is not an empty one.
        """
        now = self._clock.now()
        if command.idempotency_key is not None:
            first = await self._store.first(command.key.owner, command.idempotency_key, now=now)
            if first is not None:
                return StoreResponse(PruningPlan(None, first=first.value), first.is_degraded)
        try:
            response = await self._store.read(command.key, now=now)
        except NotFound:
            if not command.create_if_missing:
                raise
            return StoreResponse(PruningPlan(None))
        head = response.value.head
        need = None
        if not command.no_pruning:
            need = pruning.need(
                head.token_count,
                command.incoming_tokens,
                head.spec.max_tokens,
                force=command.force,
                settings=self._settings.pruning,
            )
        removed: tuple[ScoredItem, ...] = ()
        if need is not None:
            removed = pruning.plan(response.value.items, need.token_count, self._moment(head), self._settings.pruning)
        if need is None or not removed:
            return StoreResponse(PruningPlan(head), response.is_degraded)
        snapshot = self._snapshot(response.value, [_snapshot_item(one) for one in removed], need.reason)
        return StoreResponse(PruningPlan(head, removed, snapshot), response.is_degraded)

    async def commit(self, command: CommitCommand) -> StoreResponse[CommittedContext]:
        """Carry a plan out: remove items, add others, store a snapshot, and return what fits into a budget.

        Raises:
            NotFound: There is no live window, and it is not to be made.
            Conflict: It has changed since it was planned.
            LimitExceeded: It would be too large.
            InvalidArgument: The budget holds less than what must be in it.
        """
        now = self._clock.now()
        first = await self._store.first(command.key.owner, command.idempotency_key, now=now)
        if first is not None:
            return await self._again(command, first)
        window = await self._window(command)
        added = await self._counted(self._with_ids(command.added, command.idempotency_key))
        gone = {item.item_id for item in command.removed}
        stayed = [item for item in window.items if item.item_id not in gone]
        known = {item.item_id for item in stayed}
        positions = count(window.items[-1].position + 1 if window.items else 0)
        after = [*stayed, *(replace(i, position=next(positions)) for i in added if i.item_id not in known)]
        items, omitted = self._fitting(replace(window, items=tuple(after)), command, required=added)
        change = Change(
            create=self._spec if command.create_if_missing else None,
            if_revision=command.revision,
            current_task_id=command.current_task_id,
            removed=tuple(gone),
            added=added,
            snapshot=self._snapshot(window, command.removed, command.reason) if command.removed else None,
            note=command.note,
        )
        response = await self._store.change(command.key, change, now=now, idempotency_key=command.idempotency_key)
        return StoreResponse(
            CommittedContext(response.value, items, omitted), response.is_degraded, is_repeat=response.is_repeat
        )

    async def delete(
        self, key: SessionKey, *, idempotency_key: IdempotencyKey | None = None
    ) -> StoreResponse[WindowHead]:
        """Delete a window.

        Raises:
            NotFound: There is no live one.
        """
        return await self._store.delete(key, now=self._clock.now(), idempotency_key=idempotency_key)

    async def remove(self, tenant_id: TenantId, owner: Owner | None, conversation_id: ConversationId | None) -> None:
        """Remove a window of a user, all that is the user's, or without a user all that is the tenant's."""
        now = self._clock.now()
        if owner is None:
            await self._store.remove_tenant(tenant_id, now=now)
        elif conversation_id is None:
            await self._store.remove_owner(owner, now=now)
        else:
            try:
                await self._store.delete(SessionKey(owner, conversation_id), now=now)
            except NotFound:
                return

    async def remove_scope(self, owner: Owner, scope: Scope, *, with_nested: bool) -> int:
        """Remove items of a scope, and with `with_nested` of those below it, from all windows of a user; how many.

        Nothing of them goes to the journal: they are erased.
        """
        count = 0
        for conversation_id in await self._store.conversations(owner, now=self._clock.now()):
            key = SessionKey(owner, conversation_id)
            try:
                window = (await self._store.read(key, now=self._clock.now())).value
                removed = tuple(
                    item.item_id
                    for item in window.items
                    if item.scope == scope or (with_nested and item.scope.sees(scope))
                )
                if removed:
                    changed = await self._store.change(key, Change(removed=removed), now=self._clock.now())
                    count += changed.value.removed_count
            except NotFound:
                continue  # it ended meanwhile
        return count

    def refuse(self) -> None:
        """Refuse what only the gateway can do.

        Raises:
            FailedPrecondition: Always.
        """
        raise FailedPrecondition("only the gateway can prune, because it writes removed items to the journal first")

    async def _again(self, command: CommitCommand, first: StoreResponse[Changed]) -> StoreResponse[CommittedContext]:
        """The first response, with the items of the window as it is now."""
        try:
            window = (await self._store.read(command.key, now=self._clock.now())).value
        except NotFound:
            if command.with_items:
                raise
            return StoreResponse(CommittedContext(first.value), first.is_degraded, is_repeat=True)
        items, omitted = self._fitting(window, command, required=command.added)
        return StoreResponse(CommittedContext(first.value, items, omitted), first.is_degraded, is_repeat=True)

    async def _window(self, command: CommitCommand) -> ContextWindow:
        """The window as it is; an empty one where it is missing and may be made."""
        now = self._clock.now()
        try:
            return (await self._store.read(command.key, now=now)).value
        except NotFound:
            if not command.create_if_missing:
                raise
        head = WindowHead(
            key=command.key,
            spec=self._spec,
            create_time=now,
            last_active_time=now,
            revision=0,
            token_count=0,
            item_count=0,
            pruned_count=0,
        )
        return ContextWindow(head, ())

    def _fitting(
        self, window: ContextWindow, command: CommitCommand, *, required: Sequence[ContextItem]
    ) -> tuple[tuple[ContextItem, ...], tuple[str, ...]]:
        """The items that fit into the budget of a command, in their order, and the ids of the others."""
        if not command.with_items:
            return (), ()
        budget = command.token_budget or window.head.spec.max_tokens
        overhead = command.overhead_tokens
        needed = {item.item_id for item in required if item.is_sticky or item.kind is ItemKind.USER_MESSAGE}
        head = window.head
        if command.current_task_id is not None:
            head = replace(head, current_task_id=command.current_task_id)
        omitted = pruning.select(
            window.items,
            budget,
            self._moment(head),
            self._settings.pruning,
            required_ids=needed,
            overhead_tokens=overhead,
            bytes_max=self._settings.limits.response_bytes_max,
        )
        omitted_ids = {one.item.item_id for one in omitted}
        items = tuple(item for item in window.items if item.item_id not in omitted_ids)
        total = sum(item.token_count + overhead for item in items)
        if total > budget:
            raise InvalidArgument(
                "the budget is too small",
                violations=[
                    FieldViolation("token_budget", f"is {budget}; the message and the sticky items have {total} tokens")
                ],
            )
        return items, tuple(item.item_id for item in window.items if item.item_id in omitted_ids)

    def _snapshot(self, window: ContextWindow, removed: Sequence[SnapshotItem], reason: str) -> ContextSnapshot:
        gone = {item.item_id for item in removed}
        scored = pruning.scored(window.items, self._moment(window.head), self._settings.pruning)
        items_max = self._settings.store.snapshot_items_max
        lost = sum(item.token_count for item in window.items if item.item_id in gone)
        return ContextSnapshot(
            snapshot_id=self._ids.new_id(),
            create_time=self._clock.now(),
            reason=reason,
            token_count_before=window.head.token_count,
            token_count_after=window.head.token_count - lost,
            stayed=tuple(_snapshot_item(one) for one in scored if one.item.item_id not in gone)[:items_max],
            removed=tuple(removed)[:items_max],
        )

    async def _counted(self, items: Sequence[ContextItem]) -> tuple[ContextItem, ...]:
        if sum(len(_counted_text(item)) for item in items) > self._settings.limits.count_inline_chars_max:
            return await asyncio.to_thread(self._count, items)  # other calls must not wait for it
        return self._count(items)

    def _count(self, items: Sequence[ContextItem]) -> tuple[ContextItem, ...]:
        return tuple(replace(item, token_count=self._tokens.count_tokens(_counted_text(item))) for item in items)

    def _with_ids(self, items: Sequence[ContextItem], key: IdempotencyKey | None) -> list[ContextItem]:
        """Items with ids where they have none: the same ones for a repeat of the request."""
        request = None if key is None else f"{key.principal_id}\x1f{key.request_id}"
        return [
            item
            if item.item_id
            else replace(item, item_id=self._ids.new_id() if request is None else _made_id(request, index))
            for index, item in enumerate(items)
        ]

    def _moment(self, head: WindowHead) -> pruning.Moment:
        return pruning.Moment(self._clock.now(), head.current_task_id)

    @property
    def _spec(self) -> WindowSpec:
        return WindowSpec(self._settings.max_tokens, self._settings.ttl)


def _counted_text(item: ContextItem) -> str:
    """What a model reads of an item: its content, what stands above it, and the tools it calls."""
    calls = [f"{call.name} {call.arguments}" for call in item.tool_calls]
    return "\n".join(text for text in (item.content, item.tool_name, item.file_path, item.query, *calls) if text)


def _made_id(request: str, index: int) -> str:
    return str(uuid.uuid5(_ITEM_IDS, f"{request}\x1f{index}"))


def _snapshot_item(one: ScoredItem) -> SnapshotItem:
    item = one.item
    return SnapshotItem(item.item_id, item.kind, item.token_count, one.score, relevance=item.relevance)

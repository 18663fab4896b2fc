# Generated from aio/context_window.py by `make client`, not to be edited.
"""Context windows: what an agent has in its prompt, and prompts that are made of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta

from mneme.gateway.v1 import prepare_pb2
from mneme.session.v1 import context_window_pb2 as pb
from mneme_client import context_window as r
from mneme_client import to_wire, wire_context_window
from mneme_client.blocking.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_page
from mneme_client.types import Scope

_SERVICE = "/mneme.session.v1.ContextWindowService"


class ContextWindowOperations(Operations):
    """Fills, prunes and restores context windows, and prepares prompts."""

    def prepare_context(
        self,
        user_id: str,
        conversation_id: str,
        message: str,
        *,
        task_id: str | None = None,
        repository_id: str = "",
        code_limit: int = 0,
        task_limit: int = 0,
        token_budget: int = 0,
        scope: Scope | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.PreparedContext:
        """Adds a user's message to a window, with relevant code and similar past tasks, and returns the prompt.

        The window is created where it is missing, and pruned where it is too full.

        Args:
            user_id: Whose memory.
            conversation_id: The conversation.
            message: What the user says, at most 32,768 characters.
            task_id: The window's current task from now on; None leaves it as it is.
            repository_id: The repository to find relevant code in; empty: none.
            code_limit: Files of it at most, 1 to 20; 0 means the service's default.
            task_limit: Similar past tasks at most, 1 to 3; 0 means 3.
            token_budget: Tokens of all messages together; 0 means as many as the window is meant to hold.
            scope: Who may see what becomes of the message when it is pruned; None means GLOBAL.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = prepare_pb2.PrepareContextRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            conversation_id=conversation_id,
            message=message,
            task_id=task_id,
            repository_id=repository_id,
            code_limit=code_limit,
            task_limit=task_limit,
            token_budget=token_budget,
            scope=to_wire.scope(scope),
        )
        response, read = prepare_pb2.PrepareContextResponse, wire_context_window.prepared_context
        call = Call("/mneme.gateway.v1.MemoryService/PrepareContext", request, response, read)
        return self._call(call, timeout_seconds)

    def update_context_window(
        self,
        user_id: str,
        conversation_id: str,
        *,
        max_tokens: int | None = None,
        current_task_id: str | None = None,
        ttl: timedelta | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.ContextWindow:
        """Sets what is not None; creates the window where it is missing.

        Args:
            user_id: Whose window.
            conversation_id: The conversation, at most 120 characters.
            max_tokens: Tokens that the window is meant to hold, 256 to 10,000,000.
            current_task_id: The task that is worked on; empty ends it.
            ttl: How long it lives after the last read or write, 1 s to 30 days.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = pb.UpdateContextWindowRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            conversation_id=conversation_id,
            max_tokens=max_tokens,
            current_task_id=current_task_id,
            ttl=to_wire.optional_duration(ttl),
        )
        response, read = pb.UpdateContextWindowResponse, wire_context_window.window_response
        return self._call(Call(f"{_SERVICE}/UpdateContextWindow", request, response, read), timeout_seconds)

    def get_context_window(
        self, user_id: str, conversation_id: str, *, timeout_seconds: float | None = None
    ) -> r.ContextWindow:
        """A window without its items. Fails with NOT_FOUND where there is none."""
        request = pb.GetContextWindowRequest(user_id=user_id, conversation_id=conversation_id)
        response, read = pb.GetContextWindowResponse, wire_context_window.window_response
        return self._call(Call(f"{_SERVICE}/GetContextWindow", request, response, read), timeout_seconds)

    def add_context_items(
        self,
        user_id: str,
        conversation_id: str,
        items: Sequence[r.WindowItem],
        *,
        create_if_missing: bool = True,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.AddedItems:
        """Adds items at the end of a window, all or none. An item whose id is in the window is not added again.

        Args:
            user_id: Whose window.
            conversation_id: The conversation.
            items: 1 to 256 items, in their order.
            create_if_missing: Create the window with its defaults where there is none.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.

        Raises:
            MnemeClientError: With NOT_FOUND when there is no window and it is not to be created, with
                RESOURCE_EXHAUSTED when the window would have more items than allowed.
        """
        request = pb.AddContextItemsRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            conversation_id=conversation_id,
            items=map(wire_context_window.item_message, items),
            create_if_missing=create_if_missing,
        )
        response, read = pb.AddContextItemsResponse, wire_context_window.added_items
        return self._call(Call(f"{_SERVICE}/AddContextItems", request, response, read), timeout_seconds)

    def list_context_items(
        self,
        user_id: str,
        conversation_id: str,
        *,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> Iterator[r.ScoredWindowItem]:
        """The items of a window in their order, with their scores now; pages are fetched as they are needed."""
        request = pb.ListContextItemsRequest(user_id=user_id, conversation_id=conversation_id, page_size=page_size)
        read = read_page("items", wire_context_window.scored_item)
        call = Call(f"{_SERVICE}/ListContextItems", request, pb.ListContextItemsResponse, read)
        return self._pages(call, timeout_seconds)

    def prune_context_window(
        self,
        user_id: str,
        conversation_id: str,
        *,
        force: bool = False,
        dry_run: bool = False,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.Pruning:
        """Removes the items of the lowest scores. What they were is durable, and becomes episodes, before.

        Args:
            user_id: Whose window.
            conversation_id: The conversation.
            force: Prune also below the threshold.
            dry_run: Only say what would be removed.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.

        Raises:
            MnemeClientError: With NOT_FOUND when there is no window, with ABORTED when other writers change it all
                the time: repeat the call.
        """
        request = pb.PruneContextWindowRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            conversation_id=conversation_id,
            force=force,
            dry_run=dry_run,
        )
        response, read = pb.PruneContextWindowResponse, wire_context_window.pruning
        return self._call(Call(f"{_SERVICE}/PruneContextWindow", request, response, read), timeout_seconds)

    def restore_context_items(
        self,
        user_id: str,
        conversation_id: str,
        item_ids: Collection[str],
        *,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.RestoredItems:
        """Brings removed items back, at the end of the window. Fails with NOT_FOUND for an item never removed.

        Args:
            user_id: Whose window.
            conversation_id: The conversation.
            item_ids: 1 to 100 ids; items that are in the window are left as they are.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = pb.RestoreContextItemsRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            conversation_id=conversation_id,
            item_ids=item_ids,
        )
        response, read = pb.RestoreContextItemsResponse, wire_context_window.restored_items
        return self._call(Call(f"{_SERVICE}/RestoreContextItems", request, response, read), timeout_seconds)

    def list_context_window_snapshots(
        self,
        user_id: str,
        conversation_id: str,
        *,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> Iterator[r.WindowSnapshot]:
        """What the last prunings of a window did, the newest first; pages are fetched as they are needed."""
        request = pb.ListContextSnapshotsRequest(user_id=user_id, conversation_id=conversation_id, page_size=page_size)
        read = read_page("snapshots", wire_context_window.snapshot)
        call = Call(f"{_SERVICE}/ListContextSnapshots", request, pb.ListContextSnapshotsResponse, read)
        return self._pages(call, timeout_seconds)

    def delete_context_window(
        self,
        user_id: str,
        conversation_id: str,
        *,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.ContextWindow:
        """Deletes a window with its items and snapshots, and returns it as it was. Nothing of it is archived.

        Args:
            user_id: Whose window.
            conversation_id: The conversation.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.

        Raises:
            MnemeClientError: With NOT_FOUND when there is no window.
        """
        request = pb.DeleteContextWindowRequest(
            request_id=request_id or to_wire.new_request_id(), user_id=user_id, conversation_id=conversation_id
        )
        response, read = pb.DeleteContextWindowResponse, wire_context_window.window_response
        return self._call(Call(f"{_SERVICE}/DeleteContextWindow", request, response, read), timeout_seconds)

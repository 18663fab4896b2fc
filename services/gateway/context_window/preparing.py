"""Use case PrepareContext: a user's message becomes the messages to send to a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID, uuid5

from mneme.gateway.v1 import prepare_pb2
from mneme.session.v1 import context_window_pb2 as pb
from services.common.convert import scope_to_proto
from services.common.scope import GLOBAL_SCOPE
from services.common.tokens import TokenCounter
from services.gateway.context_window.messages import prompt_messages
from services.gateway.context_window.pruning import WindowChange, WindowPruning, WindowRequest
from services.gateway.context_window.settings import ContextWindowSettings
from services.gateway.context_window.sources import Found, Question, Sources

_ITEMS: Final = UUID("5b1e1b0e-6c51-4f8e-b7a8-0f8f7f6e7d33")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareCommand:
    """A checked PrepareContext."""

    window: WindowRequest
    question: Question
    task_id: str | None  # None: the window's current task stays
    token_budget: int  # 0: as many as the window is meant to hold


class Preparing:
    """Prepares contexts."""

    def __init__(
        self, pruning: WindowPruning, sources: Sources, tokens: TokenCounter, settings: ContextWindowSettings
    ) -> None:
        """Counts with `tokens`, as the session tier does."""
        self._pruning = pruning
        self._sources = sources
        self._tokens = tokens
        self._settings = settings

    async def prepare(self, command: PrepareCommand) -> prepare_pb2.PrepareContextResponse:
        """Prunes if needed, adds past tasks, code and the message, and returns what fits into the budget.

        Raises:
            InvalidArgument: The budget does not hold the message and what is sticky.
            Conflict: Others change the window all the time.
            StoreUnavailable: The journal or the session tier cannot be reached.
        """
        request = command.window
        change = WindowChange(
            create_if_missing=True,
            current_task_id=command.task_id,
            with_items=True,
            token_budget=command.token_budget,
            added=[self._message(command)],
        )
        known = await self._pruning.plan(request, replace(change, no_pruning=True))
        if not known.HasField("first"):
            task_id = command.task_id if command.task_id is not None else known.window.current_task_id
            question = replace(command.question, task_id=task_id)
            code, tasks = await self._sources.find(request.principal, question)
            change = self._with_sources(change, code, tasks, task_id)
        committed, is_repeat = await self._pruning.change(request, change)
        states = [int(state) for state in committed.committed.note.split()]
        messages = prompt_messages(committed.items, overhead_tokens=self._settings.message_tokens)
        response = prepare_pb2.PrepareContextResponse(
            messages=messages,
            token_count=sum(message.token_count for message in messages),
            token_budget=command.token_budget or committed.committed.window.max_tokens,
            tokenizer=self._tokens.name,
            window=committed.committed.window,
            omitted_item_ids=committed.omitted_item_ids,
            code_state=prepare_pb2.ContextSourceState.Name(states[0]),
            task_state=prepare_pb2.ContextSourceState.Name(states[1]),
            degraded=committed.degraded or prepare_pb2.CONTEXT_SOURCE_STATE_FAILED in states,
            replayed=is_repeat,
        )
        if committed.committed.HasField("snapshot"):
            response.pruned.CopyFrom(committed.committed.snapshot)
            response.pruned.ClearField("stayed")
        return response

    def _message(self, command: PrepareCommand) -> pb.ContextItem:
        """The user's message; a repeat has the same id."""
        request = command.window
        scope = command.question.scope
        return pb.ContextItem(
            item_id=str(uuid5(_ITEMS, f"{request.principal.principal_id}\x1f{request.request_id}")),
            kind=pb.CONTEXT_ITEM_KIND_USER_MESSAGE,
            content=command.question.text,
            task_id=command.task_id or "",
            scope=None if scope == GLOBAL_SCOPE else scope_to_proto(scope),
        )

    def _with_sources(self, change: WindowChange, code: Found, tasks: Found, task_id: str) -> WindowChange:
        added = [*tasks.items, *code.items, *change.added]
        for item in added:
            item.task_id = task_id
        for item in (*tasks.items, *code.items):
            item.scope.CopyFrom(change.added[0].scope) if change.added[0].HasField("scope") else None
        texts = ["\n".join([item.content, item.file_path]) for item in added]
        incoming = sum(map(self._tokens.count_tokens, texts))
        note = f"{int(code.state)} {int(tasks.state)}"
        return replace(change, added=added, incoming_tokens=incoming, note=note)

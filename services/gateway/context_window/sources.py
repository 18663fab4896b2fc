"""Where a prepared context finds more than the window holds: relevant code, and similar past tasks."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid5

import structlog

from mneme.episodic.v1 import activity_pb2
from mneme.gateway.v1 import prepare_pb2
from mneme.semantic.v1 import code_pb2
from mneme.session.v1 import context_window_pb2 as pb
from services.common.auth import Principal
from services.common.convert import scope_to_proto
from services.common.errors import MnemeError
from services.common.scope import Scope
from services.gateway.context.structure import single_line
from services.gateway.context_window.settings import ContextWindowSettings
from services.gateway.upstream_context import ActivityClient, CodeClient

_log = structlog.get_logger(__name__)

_ITEMS: Final = UUID("b2a4c1f0-3c84-4b8e-8f0d-6a1b7f4f5e22")
_QUERY_CHARS_MAX: Final = 8_192
_ITEM_CHARS_MAX: Final = 32_768
"""What an item of a window may hold."""
_TASKS_NAME: Final = "similar past tasks"
"""Under which they stand in the prompt."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one source gave."""

    state: prepare_pb2.ContextSourceState
    items: tuple[pb.ContextItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a prepared context is about."""

    user_id: str
    text: str
    repository_id: str  # empty: no code
    code_limit: int
    task_limit: int
    scope: Scope
    task_id: str = ""  # the task at hand, which is not a past one


class Sources:
    """Asks both sources at once; one that fails or takes too long leaves the other as it is."""

    def __init__(self, code: CodeClient, tasks: ActivityClient, settings: ContextWindowSettings) -> None:
        """Asks the code graph and the activity log."""
        self._code = code
        self._tasks = tasks
        self._settings = settings

    async def find(self, principal: Principal, question: Question) -> tuple[Found, Found]:
        """Items of relevant code, and at most one that names past tasks. Their ids are those of their content."""
        tasks = self._guarded("tasks", self._past_tasks(principal, question))
        if not question.repository_id:
            return Found(prepare_pb2.CONTEXT_SOURCE_STATE_NOT_ASKED), await tasks
        code = self._guarded("code", self._relevant_code(principal, question))
        return await asyncio.gather(code, tasks)

    async def _guarded(self, name: str, search: Awaitable[Sequence[pb.ContextItem]]) -> Found:
        try:
            async with asyncio.timeout(self._settings.source_seconds):
                items = tuple(await search)
        except (MnemeError, TimeoutError) as error:
            _log.warning("context_source_failed", source=name, reason=str(getattr(error, "reason", "timeout")))
            return Found(prepare_pb2.CONTEXT_SOURCE_STATE_FAILED)
        state = prepare_pb2.CONTEXT_SOURCE_STATE_FOUND if items else prepare_pb2.CONTEXT_SOURCE_STATE_EMPTY
        return Found(state, items)

    async def _relevant_code(self, principal: Principal, question: Question) -> Sequence[pb.ContextItem]:
        request = code_pb2.SearchCodeRequest(
            user_id=question.user_id,
            repository_id=question.repository_id,
            query=question.text,
            limit=question.code_limit,
            lines_max=self._settings.code_lines,
            lines_min=min(self._settings.code_lines_min, self._settings.code_lines),
        )
        response = await self._code.search(principal, request, timeout_seconds=self._settings.source_seconds)
        best = max((match.score for match in response.matches), default=0.0)
        return [_code_item(question, match, best) for match in response.matches]

    async def _past_tasks(self, principal: Principal, question: Question) -> Sequence[pb.ContextItem]:
        request = activity_pb2.SearchTasksRequest(
            user_id=question.user_id,
            query=question.text[:_QUERY_CHARS_MAX],
            statuses=[activity_pb2.TASK_STATUS_COMPLETED, activity_pb2.TASK_STATUS_FAILED],
            except_task_id=question.task_id,
            reader_scope=scope_to_proto(question.scope),
            limit=question.task_limit,
        )
        response = await self._tasks.search(principal, request, timeout_seconds=self._settings.source_seconds)
        tasks = [found.task for found in response.tasks]
        if not tasks:
            return ()
        content = "\n".join(_task_line(task) for task in tasks)
        made = _made_id("tasks", content)
        # A result without a call: the prompt shows it as data in the user's turn, never as what the assistant said.
        return [
            pb.ContextItem(
                item_id=made,
                kind=pb.CONTEXT_ITEM_KIND_TOOL_RESULT,
                tool_call_id=made,
                tool_name=_TASKS_NAME,
                content=content,
                relevance=self._settings.task_relevance,
            )
        ]


def _task_line(task: activity_pb2.Task) -> str:
    """A task and what came of it on one line: what was recorded cannot make lines of its own."""
    description, outcome = single_line(task.description), single_line(task.outcome)
    return f"- {description}: {outcome}" if outcome else f"- {description}"


def _code_item(question: Question, match: code_pb2.CodeMatch, best: float) -> pb.ContextItem:
    """A file that was found: its lines that fit best, or the heads of its definitions where it has no text."""
    shown = [f"lines {part.start_line}-{part.end_line}:\n{part.text}" for part in match.excerpts]
    heads = [f"{symbol.start_line}-{symbol.end_line}  {symbol.signature}" for symbol in match.symbols]
    content = "\n".join(shown or heads or [f"its best lines: {match.start_line}-{match.end_line}"])[:_ITEM_CHARS_MAX]
    place = f"{question.repository_id} {match.file.path} {match.file.digest}"
    return pb.ContextItem(
        item_id=_made_id("code", f"{place} {content}"),
        kind=pb.CONTEXT_ITEM_KIND_CODE_SNIPPET,
        content=content,
        relevance=min(max(match.score / best, 0.0), 1.0) if best > 0 else 0.0,
        file_path=match.file.path,
        start_line=match.start_line,
        end_line=match.end_line,
    )


def _made_id(kind: str, content: str) -> str:
    """The same content is the same item: what is in the window already is not added again."""
    return str(uuid5(_ITEMS, f"{kind} {hashlib.sha256(content.encode()).hexdigest()}"))

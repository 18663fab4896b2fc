"""The activity log of coding agents: recording what is done, and asking about it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from mneme.episodic.v1 import activity_pb2 as pb
from mneme_client import activity as r
from mneme_client import to_wire, wire_activity
from mneme_client.aio.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_all, read_one, read_page
from mneme_client.types import Scope
from mneme_client.types_activity import ActivityPatternKind, FileOperation, LearningKind, TaskStatus

_SERVICE = "/mneme.episodic.v1.ActivityService"
_STREAM_TIMEOUT_SECONDS = 3600.0
_STREAM_RECORDS = 500


class ActivityOperations(Operations):
    """Records what a coding agent does, and answers questions about it. Reads take `reader_scope`: None is GLOBAL."""

    async def record_activity(
        self,
        user_id: str,
        records: Sequence[r.ActivityRecord],
        *,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.StoredActivity:
        """Stores records, 1 to 1,000, all or none; known ids change nothing.

        Args:
            user_id: Whose memory.
            records: What was done.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = pb.RecordActivityRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            records=[wire_activity.record_message(record) for record in records],
        )
        call = Call(f"{_SERVICE}/RecordActivity", request, pb.RecordActivityResponse, wire_activity.stored)
        return await self._call(call, timeout_seconds)

    async def record_activity_stream(
        self, user_id: str, records: Iterable[r.ActivityRecord], *, timeout_seconds: float | None = None
    ) -> r.StoredActivity:
        """Stores any number of records; after a failure send all of them again.

        Args:
            user_id: Whose memory.
            records: What was done. A list or a tuple is sent again by itself after a failure.
            timeout_seconds: Deadline of the whole stream.
        """
        left = iter(records)
        made = (
            pb.RecordActivityStreamRequest(user_id=user_id, records=map(wire_activity.record_message, batch))
            for batch in iter(lambda: list(islice(left, _STREAM_RECORDS)), [])
        )
        requests = list(made) if isinstance(records, list | tuple) else made
        call = Call(
            f"{_SERVICE}/RecordActivityStream",
            pb.RecordActivityStreamRequest(),
            pb.RecordActivityStreamResponse,
            wire_activity.stored,
        )
        return await self._transport.upload(call, requests, timeout_seconds or _STREAM_TIMEOUT_SECONDS)

    async def get_file_history(
        self, user_id: str, path: str, *, reader_scope: Scope | None = None, timeout_seconds: float | None = None
    ) -> r.FileHistory:
        """Whether a file was seen before, when and in which tasks."""
        request = pb.GetFileHistoryRequest(user_id=user_id, path=path, reader_scope=to_wire.scope(reader_scope))
        call = Call(f"{_SERVICE}/GetFileHistory", request, pb.GetFileHistoryResponse, wire_activity.history)
        return await self._call(call, timeout_seconds)

    def list_file_interactions(
        self,
        user_id: str,
        *,
        path: str = "",
        path_prefix: str = "",
        conversation_id: str = "",
        task_id: str = "",
        operation: FileOperation | None = None,
        reader_scope: Scope | None = None,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[r.ActivityRecord]:
        """File interactions, newest first; pages are fetched as they are needed. Empty filters mean any."""
        request = pb.ListFileInteractionsRequest(
            user_id=user_id,
            path=path,
            path_prefix=path_prefix,
            conversation_id=conversation_id,
            task_id=task_id,
            operation=to_wire.optional_enum_number(operation),
            reader_scope=to_wire.scope(reader_scope),
            page_size=page_size,
        )
        return self._records("ListFileInteractions", request, pb.ListFileInteractionsResponse, timeout_seconds)

    def list_edited_together(
        self,
        user_id: str,
        *,
        path: str = "",
        count_min: int = 0,
        within: timedelta | None = None,
        since: datetime | None = None,
        reader_scope: Scope | None = None,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[r.EditedTogether]:
        """Pairs of files that are edited together, the most frequent first.

        Args:
            user_id: Whose memory.
            path: Only pairs with this file, which comes first in each.
            count_min: How often they must have been; 0 means 3.
            within: How far apart two edits may be; None means 5 minutes.
            since: Only edits from this time on; None means the last 90 days.
            reader_scope: Who reads; None means GLOBAL.
            page_size: Pairs that one call fetches.
            timeout_seconds: Deadline of each call.
        """
        request = pb.ListEditedTogetherRequest(
            user_id=user_id,
            path=path,
            count_min=count_min,
            within=to_wire.optional_duration(within),
            since=to_wire.optional_timestamp(since),
            reader_scope=to_wire.scope(reader_scope),
            page_size=page_size,
        )
        read = read_page("pairs", wire_activity.pair)
        call = Call(f"{_SERVICE}/ListEditedTogether", request, pb.ListEditedTogetherResponse, read)
        return self._pages(call, timeout_seconds)

    async def search_activity(
        self,
        user_id: str,
        query: str,
        *,
        limit: int = 10,
        reader_scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> tuple[r.ActivityHit, ...]:
        """What was last done with a path, words or a subject, newest first."""
        request = pb.SearchActivityRequest(
            user_id=user_id, query=query, limit=limit, reader_scope=to_wire.scope(reader_scope)
        )
        read = read_all("hits", wire_activity.hit)
        call = Call(f"{_SERVICE}/SearchActivity", request, pb.SearchActivityResponse, read)
        return await self._call(call, timeout_seconds)

    def list_tool_executions(
        self,
        user_id: str,
        *,
        tool_name: str = "",
        conversation_id: str = "",
        task_id: str = "",
        success: bool | None = None,
        reader_scope: Scope | None = None,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[r.ActivityRecord]:
        """Tool executions, newest first; pages are fetched as they are needed. Empty filters mean any."""
        request = pb.ListToolExecutionsRequest(
            user_id=user_id,
            tool_name=tool_name,
            conversation_id=conversation_id,
            task_id=task_id,
            reader_scope=to_wire.scope(reader_scope),
            page_size=page_size,
            **to_wire.given(success=success),
        )
        return self._records("ListToolExecutions", request, pb.ListToolExecutionsResponse, timeout_seconds)

    def list_tool_statistics(
        self,
        user_id: str,
        *,
        since: datetime | None = None,
        reader_scope: Scope | None = None,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[r.ToolStatistics]:
        """Success and duration by tool, by name; without a time those of the last 7 days."""
        request = pb.ListToolStatisticsRequest(
            user_id=user_id,
            since=to_wire.optional_timestamp(since),
            reader_scope=to_wire.scope(reader_scope),
            page_size=page_size,
        )
        read = read_page("tools", wire_activity.statistics)
        call = Call(f"{_SERVICE}/ListToolStatistics", request, pb.ListToolStatisticsResponse, read)
        return self._pages(call, timeout_seconds)

    async def get_task(
        self, user_id: str, task_id: str, *, reader_scope: Scope | None = None, timeout_seconds: float | None = None
    ) -> r.AgentTask:
        """A task with the files and tools that it used. Fails with NOT_FOUND."""
        request = pb.GetTaskRequest(user_id=user_id, task_id=task_id, reader_scope=to_wire.scope(reader_scope))
        call = Call(f"{_SERVICE}/GetTask", request, pb.GetTaskResponse, read_one("task", wire_activity.task))
        return await self._call(call, timeout_seconds)

    def list_tasks(
        self,
        user_id: str,
        *,
        statuses: Collection[TaskStatus] = (),
        conversation_id: str = "",
        reader_scope: Scope | None = None,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[r.AgentTask]:
        """Tasks, those that began last first; ACTIVE and PAUSED are those that are not finished."""
        request = pb.ListTasksRequest(
            user_id=user_id,
            statuses=[to_wire.enum_number(status) for status in statuses],
            conversation_id=conversation_id,
            reader_scope=to_wire.scope(reader_scope),
            page_size=page_size,
        )
        read = read_page("tasks", wire_activity.task)
        return self._pages(Call(f"{_SERVICE}/ListTasks", request, pb.ListTasksResponse, read), timeout_seconds)

    async def search_tasks(
        self,
        user_id: str,
        query: str,
        *,
        statuses: Collection[TaskStatus] = (),
        except_task_id: str = "",
        limit: int = 10,
        reader_scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> tuple[r.SimilarTask, ...]:
        """Tasks that are similar in meaning to a text, the most similar first, without the one that is named."""
        request = pb.SearchTasksRequest(
            user_id=user_id,
            query=query,
            statuses=[to_wire.enum_number(status) for status in statuses],
            except_task_id=except_task_id,
            limit=limit,
            reader_scope=to_wire.scope(reader_scope),
        )
        read = read_all("tasks", wire_activity.similar)
        call = Call(f"{_SERVICE}/SearchTasks", request, pb.SearchTasksResponse, read)
        return await self._call(call, timeout_seconds)

    def list_context_snapshots(
        self,
        user_id: str,
        *,
        conversation_id: str = "",
        task_id: str = "",
        reader_scope: Scope | None = None,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[r.ActivityRecord]:
        """Snapshots of context windows, newest first; pages are fetched as they are needed."""
        request = pb.ListContextSnapshotsRequest(
            user_id=user_id,
            conversation_id=conversation_id,
            task_id=task_id,
            reader_scope=to_wire.scope(reader_scope),
            page_size=page_size,
        )
        return self._records("ListContextSnapshots", request, pb.ListContextSnapshotsResponse, timeout_seconds)

    def list_learnings(
        self,
        user_id: str,
        *,
        kind: LearningKind | None = None,
        path: str = "",
        confidence_min: float = 0.0,
        reader_scope: Scope | None = None,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[r.ActivityRecord]:
        """What sessions learned, newest first; pages are fetched as they are needed."""
        request = pb.ListLearningsRequest(
            user_id=user_id,
            kind=to_wire.optional_enum_number(kind),
            path=path,
            confidence_min=confidence_min,
            reader_scope=to_wire.scope(reader_scope),
            page_size=page_size,
        )
        return self._records("ListLearnings", request, pb.ListLearningsResponse, timeout_seconds)

    def list_patterns(
        self,
        user_id: str,
        *,
        kind: ActivityPatternKind | None = None,
        path: str = "",
        confidence_min: float = 0.0,
        reader_scope: Scope | None = None,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[r.ActivityPattern]:
        """Patterns that were learned from the records, the most confident first."""
        request = pb.ListPatternsRequest(
            user_id=user_id,
            kind=to_wire.optional_enum_number(kind),
            path=path,
            confidence_min=confidence_min,
            reader_scope=to_wire.scope(reader_scope),
            page_size=page_size,
        )
        read = read_page("patterns", wire_activity.pattern)
        return self._pages(Call(f"{_SERVICE}/ListPatterns", request, pb.ListPatternsResponse, read), timeout_seconds)

    def _records(
        self, method: str, request: Any, response_type: Any, timeout_seconds: float | None
    ) -> AsyncIterator[r.ActivityRecord]:
        read = read_page("records", wire_activity.record)
        return self._pages(Call(f"{_SERVICE}/{method}", request, response_type, read), timeout_seconds)

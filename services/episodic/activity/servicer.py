"""The gRPC edge of the activity log: public, and for the gateway alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import grpc
from google.protobuf.message import Message

from mneme.episodic.internal.v1 import activity_internal_pb2 as internal_pb
from mneme.episodic.internal.v1 import activity_internal_pb2_grpc
from mneme.episodic.v1 import activity_pb2 as pb
from mneme.episodic.v1 import activity_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.clock import Clock
from services.common.idempotency.requests import idempotency_key
from services.common.owners import TenantId
from services.common.paging import Cursor, PageTokens, cut_page, fitting
from services.episodic.activity import commands, convert
from services.episodic.activity.config import ActivitySettings
from services.episodic.activity.model import FileOperation, LearningKind, PatternKind, Record, TaskStatus
from services.episodic.activity.service import ActivityService
from services.episodic.activity.store import RecordFilter, Removal

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
_M = TypeVar("_M", bound=Message)

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["ActivityService"].full_name
INTERNAL_SERVICE_NAME: Final = internal_pb.DESCRIPTOR.services_by_name["ActivityInternalService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "RecordActivity": Role.WRITER,
    "RecordActivityStream": Role.WRITER,
    "GetFileHistory": Role.READER,
    "ListFileInteractions": Role.READER,
    "ListEditedTogether": Role.READER,
    "SearchActivity": Role.READER,
    "ListToolExecutions": Role.READER,
    "ListToolStatistics": Role.READER,
    "GetTask": Role.READER,
    "ListTasks": Role.READER,
    "SearchTasks": Role.READER,
    "ListContextSnapshots": Role.READER,
    "ListLearnings": Role.READER,
    "ListPatterns": Role.READER,
}
"""The role that each method needs, by its name."""

INTERNAL_ROLES: Final[Mapping[str, Role]] = dict.fromkeys(
    ("AppendActivity", "RemoveActivity", "ListOwnerPatterns"), Role.SERVICE
)
"""Every method is for other services alone."""


class ActivityServicer(activity_pb2_grpc.ActivityServiceServicer):
    """Handlers of ActivityService: in, work, out."""

    def __init__(self, activity: ActivityService, settings: ActivitySettings, tokens: PageTokens, clock: Clock) -> None:
        """Serve the use cases; requests are checked against the limits of `settings`."""
        self._activity = activity
        self._store = activity.store
        self._settings = settings
        self._limits = settings.limits
        self._tokens = tokens
        self._clock = clock

    async def RecordActivity(self, request: pb.RecordActivityRequest, _context: Context) -> pb.RecordActivityResponse:
        """See activity.proto."""
        caller = current_principal()
        records = commands.records_of(request, self._bounds(), self._limits)
        key = idempotency_key(request, caller)
        stored = await self._activity.record(commands.owner_of(request.user_id, caller), key, records)
        return pb.RecordActivityResponse(stored_count=stored.stored_count, known_count=stored.known_count)

    async def RecordActivityStream(
        self, request_iterator: AsyncIterator[pb.RecordActivityStreamRequest], _context: Context
    ) -> pb.RecordActivityStreamResponse:
        """See activity.proto."""
        response = pb.RecordActivityStreamResponse()
        async for request in request_iterator:
            records = commands.records_of(request, self._bounds(), self._limits)
            owner = commands.owner_of(request.user_id, current_principal())
            stored = await self._activity.record(owner, None, records)
            response.stored_count += stored.stored_count
            response.known_count += stored.known_count
        return response

    async def GetFileHistory(self, request: pb.GetFileHistoryRequest, _context: Context) -> pb.GetFileHistoryResponse:
        """See activity.proto."""
        query = self._query(request)
        history = await self._activity.file_history(query.owner, request.path, query.scope_keys)
        return convert.history_to_proto(history)

    async def ListFileInteractions(
        self, request: pb.ListFileInteractionsRequest, _context: Context
    ) -> pb.ListFileInteractionsResponse:
        """See activity.proto."""
        query = self._page(request)
        wanted = RecordFilter(
            scope_keys=query.scope_keys,
            conversation_id=request.conversation_id,
            task_id=request.task_id,
            path=request.path,
            path_prefix=request.path_prefix,
            operation=FileOperation(request.operation) if request.operation else None,
        )
        found = await self._store.list_files(query.owner, wanted, after=query.position, limit=query.size + 1)
        records, token = self._records(found, query, request)
        return pb.ListFileInteractionsResponse(records=records, next_page_token=token)

    async def ListEditedTogether(
        self, request: pb.ListEditedTogetherRequest, _context: Context
    ) -> pb.ListEditedTogetherResponse:
        """See activity.proto."""
        query = self._page(request)
        found = await self._activity.edited_together(
            query.owner,
            query.scope_keys,
            path=request.path,
            count_min=request.count_min or None,
            within_seconds=commands.within_of(request, self._limits),
            since=commands.since_of(request),
        )
        start = int(query.after[0]) if query.after else 0
        pairs, token = self._cut(
            [convert.pair_to_proto(pair) for pair in found[start : start + query.size + 1]],
            query,
            request,
            lambda at: (start + at + 1,),
        )
        return pb.ListEditedTogetherResponse(pairs=pairs, next_page_token=token)

    async def SearchActivity(self, request: pb.SearchActivityRequest, _context: Context) -> pb.SearchActivityResponse:
        """See activity.proto."""
        query = self._query(request)
        limit = request.limit or self._limits.limit_default
        hits = await self._activity.search(query.owner, request.query, query.scope_keys, limit=limit)
        messages = [
            pb.ActivityHit(
                record=convert.record_to_proto(hit.record),
                match=pb.ActivityMatch.Name(int(hit.match)),
                score=hit.score,
            )
            for hit in hits
        ]
        shown, _ = cut_page(messages, has_more=False, bytes_max=self._limits.page_bytes_max, cursor_of=lambda at: (at,))
        return pb.SearchActivityResponse(hits=shown)

    async def ListToolExecutions(
        self, request: pb.ListToolExecutionsRequest, _context: Context
    ) -> pb.ListToolExecutionsResponse:
        """See activity.proto."""
        query = self._page(request)
        wanted = RecordFilter(
            scope_keys=query.scope_keys,
            conversation_id=request.conversation_id,
            task_id=request.task_id,
            tool_name=request.tool_name,
            success=request.success if request.HasField("success") else None,
        )
        found = await self._store.list_tools(query.owner, wanted, after=query.position, limit=query.size + 1)
        records, token = self._records(found, query, request)
        return pb.ListToolExecutionsResponse(records=records, next_page_token=token)

    async def ListToolStatistics(
        self, request: pb.ListToolStatisticsRequest, _context: Context
    ) -> pb.ListToolStatisticsResponse:
        """See activity.proto."""
        query = self._page(request)
        found = await self._activity.tool_statistics(
            query.owner,
            query.scope_keys,
            since=commands.since_of(request),
            after=str(query.after[0]) if query.after else None,
            limit=query.size + 1,
        )
        tools, token = self._cut(
            [convert.statistics_to_proto(one) for one in found], query, request, lambda at: (found[at].tool_name,)
        )
        return pb.ListToolStatisticsResponse(tools=tools, next_page_token=token)

    async def GetTask(self, request: pb.GetTaskRequest, _context: Context) -> pb.GetTaskResponse:
        """See activity.proto."""
        query = self._query(request)
        task = await self._activity.get_task(query.owner, request.task_id, query.scope_keys)
        return pb.GetTaskResponse(task=convert.task_to_proto(task))

    async def ListTasks(self, request: pb.ListTasksRequest, _context: Context) -> pb.ListTasksResponse:
        """See activity.proto."""
        query = self._page(request)
        found = await self._activity.list_tasks(
            query.owner,
            query.scope_keys,
            statuses=[TaskStatus(status) for status in request.statuses],
            conversation_id=request.conversation_id,
            after=query.position,
            limit=query.size + 1,
        )
        tasks, token = self._cut(
            [convert.task_to_proto(task) for task in found],
            query,
            request,
            lambda at: (found[at].start_time.isoformat(), found[at].task_id),
        )
        return pb.ListTasksResponse(tasks=tasks, next_page_token=token)

    async def SearchTasks(self, request: pb.SearchTasksRequest, _context: Context) -> pb.SearchTasksResponse:
        """See activity.proto."""
        query = self._query(request)
        found = await self._activity.similar_tasks(
            query.owner,
            request.query,
            query.scope_keys,
            limit=request.limit or self._limits.limit_default,
            statuses=[TaskStatus(status) for status in request.statuses],
            except_task_id=request.except_task_id,
        )
        messages = [pb.SimilarTask(task=convert.task_to_proto(one.task), similarity=one.similarity) for one in found]
        shown, _ = cut_page(messages, has_more=False, bytes_max=self._limits.page_bytes_max, cursor_of=lambda at: (at,))
        return pb.SearchTasksResponse(tasks=shown)

    async def ListContextSnapshots(
        self, request: pb.ListContextSnapshotsRequest, _context: Context
    ) -> pb.ListContextSnapshotsResponse:
        """See activity.proto."""
        query = self._page(request)
        wanted = RecordFilter(
            scope_keys=query.scope_keys, conversation_id=request.conversation_id, task_id=request.task_id
        )
        found = await self._store.list_snapshots(query.owner, wanted, after=query.position, limit=query.size + 1)
        records, token = self._records(found, query, request)
        return pb.ListContextSnapshotsResponse(records=records, next_page_token=token)

    async def ListLearnings(self, request: pb.ListLearningsRequest, _context: Context) -> pb.ListLearningsResponse:
        """See activity.proto."""
        query = self._page(request)
        wanted = RecordFilter(
            scope_keys=query.scope_keys,
            path=request.path,
            learning_kind=LearningKind(request.kind) if request.kind else None,
            confidence_min=request.confidence_min,
        )
        found = await self._store.list_learnings(query.owner, wanted, after=query.position, limit=query.size + 1)
        records, token = self._records(found, query, request)
        return pb.ListLearningsResponse(records=records, next_page_token=token)

    async def ListPatterns(self, request: pb.ListPatternsRequest, _context: Context) -> pb.ListPatternsResponse:
        """See activity.proto."""
        query = self._page(request)
        found = await self._store.list_patterns(
            query.owner,
            scope_keys=query.scope_keys,
            kind=PatternKind(request.kind) if request.kind else None,
            path=request.path,
            confidence_min=request.confidence_min,
            after=(float(query.after[0]), str(query.after[1])) if query.after else None,
            limit=query.size + 1,
        )
        patterns, token = self._cut(
            [convert.pattern_to_proto(one) for one in found],
            query,
            request,
            lambda at: (found[at].confidence, found[at].pattern_id),
        )
        return pb.ListPatternsResponse(patterns=patterns, next_page_token=token)

    def _bounds(self) -> commands.TimeBounds:
        return commands.time_bounds(
            self._clock.now(),
            months=self._settings.retention.months,
            future_seconds=self._limits.future_seconds_max,
        )

    def _query(self, request: Message) -> commands.Query:
        return commands.query_of(request, current_principal(), limits=self._limits)

    def _page(self, request: Message) -> commands.Query:
        return commands.query_of(request, current_principal(), limits=self._limits, tokens=self._tokens)

    def _records(
        self, found: Sequence[Record], query: commands.Query, request: Message
    ) -> tuple[Sequence[pb.ActivityRecord], str]:
        return self._cut(
            [convert.record_to_proto(one) for one in found],
            query,
            request,
            lambda at: (found[at].time.isoformat(), found[at].record_id),
        )

    def _cut(
        self, messages: Sequence[_M], query: commands.Query, request: Message, cursor_of: Callable[[int], Cursor]
    ) -> tuple[Sequence[_M], str]:
        """A page of what a store found, one more than the page holds, and the token of the next one."""
        shown, cursor = cut_page(
            messages[: query.size],
            has_more=len(messages) > query.size,
            bytes_max=self._limits.page_bytes_max,
            cursor_of=cursor_of,
        )
        tenant_id = current_principal().tenant_id
        return shown, self._tokens.next_token(cursor, tenant_id=tenant_id, query=commands.list_query(request))


class ActivityInternalServicer(activity_internal_pb2_grpc.ActivityInternalServiceServicer):
    """Handlers of ActivityInternalService: in, work, out."""

    def __init__(self, activity: ActivityService, settings: ActivitySettings, clock: Clock) -> None:
        """Serve the use cases; requests are checked against the limits of `settings`."""
        self._activity = activity
        self._settings = settings
        self._clock = clock

    async def AppendActivity(
        self, request: internal_pb.AppendActivityRequest, _context: Context
    ) -> internal_pb.AppendActivityResponse:
        """See activity_internal.proto."""
        limits = self._settings.limits
        bounds = commands.time_bounds(
            self._clock.now(), months=self._settings.retention.months, future_seconds=limits.future_seconds_max
        )
        records = commands.records_of(request, bounds, limits)
        owner = commands.owner_of(request.user_id, current_principal())
        stored = await self._activity.record(owner, None, records)
        return internal_pb.AppendActivityResponse(stored_count=stored.stored_count, known_count=stored.known_count)

    async def ListOwnerPatterns(
        self, request: internal_pb.ListOwnerPatternsRequest, _context: Context
    ) -> internal_pb.ListOwnerPatternsResponse:
        """See activity_internal.proto."""
        owner = commands.pattern_owner(request, current_principal(), self._settings.limits)
        patterns = [convert.pattern_to_proto(one) for one in await self._activity.owner_patterns(owner)]
        count = fitting(patterns, bytes_max=self._settings.limits.page_bytes_max)
        return internal_pb.ListOwnerPatternsResponse(patterns=patterns[:count])

    async def RemoveActivity(
        self, request: internal_pb.RemoveActivityRequest, _context: Context
    ) -> internal_pb.RemoveActivityResponse:
        """See activity_internal.proto."""
        caller = current_principal()
        scope = commands.removed_scope(request, self._settings.limits)
        if request.all_of_tenant:
            removed = await self._activity.remove_tenant(TenantId(caller.tenant_id))
            return internal_pb.RemoveActivityResponse(removed_count=removed)
        owner = commands.owner_of(request.user_id, caller)
        if scope is not None:
            removed = await self._activity.remove_scope(owner, scope, with_nested=request.with_nested)
        else:
            removed = await self._activity.remove(owner, Removal(conversation_id=request.conversation_id))
        return internal_pb.RemoveActivityResponse(removed_count=removed)

"""The gRPC edge of the gateway: reads a request, calls a use case, writes the response."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeAlias

from mneme.gateway.v1 import (
    context_pb2,
    conversations_pb2,
    conversations_pb2_grpc,
    deliveries_pb2,
    deliveries_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    prepare_pb2,
    recall_pb2,
)
from services.common.auth import Principal, current_principal
from services.common.clock import Clock
from services.common.errors import InvalidArgument
from services.common.paging import PageTokens, cut_page, fitting
from services.common.rpc.deadline import seconds_left
from services.common.rpc.interceptors.base import Context
from services.common.telemetry import traceparent
from services.gateway import convert, convert_deliveries
from services.gateway.context.service import ContextBuilder
from services.gateway.journal.model import Caller, RememberCommand
from services.gateway.journal.store import Journal
from services.gateway.recall.answer.streaming import stream_recall
from services.gateway.recall.pipeline import RecallPipeline
from services.gateway.remembering import Remembering
from services.gateway.requests import RequestReader
from services.gateway.session_archive import SessionArchive
from services.gateway.sessions import SessionAccess
from services.gateway.tokens import ConsistencyTokens
from services.gateway.upstream import Upstream

PrepareContext: TypeAlias = Callable[[prepare_pb2.PrepareContextRequest], Awaitable[prepare_pb2.PrepareContextResponse]]
"""Serves PrepareContext."""


@dataclass(frozen=True, slots=True)
class UseCases:
    """What the handlers call."""

    reader: RequestReader
    remembering: Remembering
    recall: RecallPipeline
    context: ContextBuilder
    sessions: SessionAccess
    archive: SessionArchive
    journal: Journal
    upstream: Upstream
    tokens: ConsistencyTokens
    pages: PageTokens
    clock: Clock
    prepare_context: PrepareContext
    deadline_seconds: float  # for a call whose deadline is not known


class Handlers:
    """What handlers share."""

    def __init__(self, use_cases: UseCases) -> None:
        """Serves the use cases."""
        self._use = use_cases

    def _seconds_left(self) -> float:
        return seconds_left(self._use.deadline_seconds)


class MemoryServicer(Handlers, memory_pb2_grpc.MemoryServiceServicer):
    """Implements MemoryService."""

    async def Remember(self, request: memory_pb2.RememberRequest, context: Context) -> memory_pb2.RememberResponse:
        """See the proto."""
        principal = current_principal()
        command = self._use.reader.remember(request, now=self._use.clock.now())
        appended = await self._use.remembering.remember(principal, caller_of(principal), command)
        return convert.remember_response(appended, principal.tenant_id, self._use.tokens)

    async def RememberBatch(
        self, request: memory_pb2.RememberBatchRequest, context: Context
    ) -> memory_pb2.RememberBatchResponse:
        """See the proto."""
        principal = current_principal()
        items = self._use.reader.remember_batch(request, now=self._use.clock.now())
        outcomes = await self._use.remembering.remember_mixed(caller_of(principal), items)
        return convert.batch_response(outcomes, principal.tenant_id, self._use.tokens)

    async def RememberStream(
        self, request_iterator: AsyncIterator[memory_pb2.RememberStreamRequest], context: Context
    ) -> AsyncIterator[memory_pb2.RememberStreamResponse]:
        """See the proto."""
        principal = current_principal()
        items = self._stream_items(request_iterator)
        index = 0
        async with aclosing(self._use.remembering.remember_stream(caller_of(principal), items)) as groups:
            async for outcomes in groups:
                for outcome in outcomes:
                    yield convert.stream_response(index, outcome, principal.tenant_id, self._use.tokens)
                    index += 1

    async def _stream_items(
        self, requests: AsyncIterator[memory_pb2.RememberStreamRequest]
    ) -> AsyncIterator[RememberCommand | InvalidArgument]:
        async for request in requests:
            yield self._use.reader.remember_or_error(request.item, now=self._use.clock.now(), path="item.")

    async def Recall(self, request: recall_pb2.RecallRequest, context: Context) -> recall_pb2.RecallResponse:
        """See the proto."""
        principal = current_principal()
        query = self._use.reader.recall(request, principal.tenant_id, now=self._use.clock.now())
        recalled = await self._use.recall.run(principal, query, deadline_seconds=self._seconds_left())
        return convert.recall_response(recalled)

    async def RecallStream(
        self, request: recall_pb2.RecallStreamRequest, context: Context
    ) -> AsyncIterator[recall_pb2.RecallStreamResponse]:
        """See the proto."""
        principal = current_principal()
        query = self._use.reader.recall_stream(request, principal.tenant_id, now=self._use.clock.now())
        responses = stream_recall(self._use.recall, principal, query, deadline_seconds=self._seconds_left())
        async with aclosing(responses):
            async for response in responses:
                yield convert.recall_stream_response(response)

    async def BuildContext(
        self, request: context_pb2.BuildContextRequest, context: Context
    ) -> context_pb2.BuildContextResponse:
        """See the proto."""
        principal = current_principal()
        query, wanted = self._use.reader.build_context(request, principal.tenant_id, now=self._use.clock.now())
        built = await self._use.context.build(principal, query, wanted, deadline_seconds=self._seconds_left())
        return convert.context_response(built)

    async def PrepareContext(
        self, request: prepare_pb2.PrepareContextRequest, context: Context
    ) -> prepare_pb2.PrepareContextResponse:
        """See the proto."""
        return await self._use.prepare_context(request)

    async def Feedback(self, request: memory_pb2.FeedbackRequest, context: Context) -> memory_pb2.FeedbackResponse:
        """See the proto."""
        principal = current_principal()
        recorded = await self._use.remembering.feedback(caller_of(principal), self._use.reader.feedback(request))
        token = self._use.tokens.encode(principal.tenant_id, recorded.span)
        return memory_pb2.FeedbackResponse(
            consistency_token=token, memory_count=recorded.memory_count, replayed=recorded.replayed
        )

    async def ListJudgedRecalls(
        self, request: memory_pb2.ListJudgedRecallsRequest, context: Context
    ) -> memory_pb2.ListJudgedRecallsResponse:
        """See the proto."""
        tenant_id = current_principal().tenant_id
        limit = self._use.reader.page_of_user(request.user_id, request.page_size)
        query = ("ListJudgedRecalls", request.user_id)
        after = self._use.pages.decode(request.page_token, tenant_id=tenant_id, query=query)
        page = await self._use.journal.judged_recalls(tenant_id, request.user_id, limit=limit, after=after)
        recalls, cursor = [convert.judged_recall(item) for item in page.items], page.next_cursor
        count = fitting(recalls, bytes_max=self._use.reader.page_bytes_max)
        if count < len(recalls):
            recalls = recalls[:count]
            cursor = (recalls[-1].create_time.ToMicroseconds(), recalls[-1].recall_id)
        return memory_pb2.ListJudgedRecallsResponse(
            recalls=recalls, next_page_token=self._use.pages.next_token(cursor, tenant_id=tenant_id, query=query)
        )


class ConversationServicer(Handlers, conversations_pb2_grpc.ConversationServiceServicer):
    """Implements ConversationService."""

    async def ListConversations(
        self, request: conversations_pb2.ListConversationsRequest, context: Context
    ) -> conversations_pb2.ListConversationsResponse:
        """See the proto."""
        tenant_id = current_principal().tenant_id
        limit = self._use.reader.page_of_user(request.user_id, request.page_size)
        query = ("ListConversations", request.user_id)
        after = self._use.pages.decode(request.page_token, tenant_id=tenant_id, query=query)
        page = await self._use.journal.conversations(tenant_id, request.user_id, limit=limit, after=after)
        return conversations_pb2.ListConversationsResponse(
            conversations=[convert.conversation(item) for item in page.items],
            next_page_token=self._use.pages.next_token(page.next_cursor, tenant_id=tenant_id, query=query),
        )

    async def ListInteractions(
        self, request: conversations_pb2.ListInteractionsRequest, context: Context
    ) -> conversations_pb2.ListInteractionsResponse:
        """See the proto."""
        tenant_id = current_principal().tenant_id
        user_id, conversation_id = request.user_id, request.conversation_id
        limit = self._use.reader.page_of_user(user_id, request.page_size, conversation_id=conversation_id)
        query = ("ListInteractions", user_id, conversation_id)
        after = self._use.pages.decode(request.page_token, tenant_id=tenant_id, query=query)
        page = await self._use.journal.interactions(tenant_id, user_id, conversation_id, limit=limit, after=after)
        interactions, cursor = cut_page(
            [convert.interaction(item) for item in page.items],
            has_more=page.next_cursor is not None,
            bytes_max=self._use.reader.page_bytes_max,
            cursor_of=lambda index: (page.items[index].position,),
        )
        return conversations_pb2.ListInteractionsResponse(
            interactions=interactions,
            next_page_token=self._use.pages.next_token(cursor, tenant_id=tenant_id, query=query),
        )


class DeliveryServicer(Handlers, deliveries_pb2_grpc.DeliveryServiceServicer):
    """Implements DeliveryService."""

    async def GetBacklog(
        self, request: deliveries_pb2.GetBacklogRequest, context: Context
    ) -> deliveries_pb2.GetBacklogResponse:
        """See the proto."""
        backlog = await self._use.journal.backlog(current_principal().tenant_id)
        now_seconds = self._use.clock.now().timestamp()
        return deliveries_pb2.GetBacklogResponse(
            tiers=[convert_deliveries.tier_backlog(item, now_seconds) for item in backlog]
        )

    async def ListDeadLetters(
        self, request: deliveries_pb2.ListDeadLettersRequest, context: Context
    ) -> deliveries_pb2.ListDeadLettersResponse:
        """See the proto."""
        tenant_id = current_principal().tenant_id
        tier, limit = self._use.reader.dead_letters(request)
        query = ("ListDeadLetters", request.tier)
        after = self._use.pages.decode(request.page_token, tenant_id=tenant_id, query=query)
        page = await self._use.journal.dead_letters(tenant_id, tier=tier, limit=limit, after=after)
        return deliveries_pb2.ListDeadLettersResponse(
            dead_letters=[convert_deliveries.dead_letter(item) for item in page.items],
            next_page_token=self._use.pages.next_token(page.next_cursor, tenant_id=tenant_id, query=query),
        )

    async def RetryDeadLetters(
        self, request: deliveries_pb2.RetryDeadLettersRequest, context: Context
    ) -> deliveries_pb2.RetryDeadLettersResponse:
        """See the proto."""
        command = self._use.reader.retry(request)
        retried = await self._use.journal.retry(caller_of(current_principal()), command)
        self._use.remembering.announce()
        return deliveries_pb2.RetryDeadLettersResponse(retried_count=retried)


def caller_of(principal: Principal) -> Caller:
    """The caller as the journal records it."""
    return Caller(principal.tenant_id, principal.principal_id, traceparent())

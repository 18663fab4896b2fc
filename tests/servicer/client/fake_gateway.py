"""A gateway of the client's tests: keeps turns in lists, recalls by substring, and fails when told to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import error_details_pb2, status_pb2

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import (
    context_pb2,
    conversations_pb2,
    conversations_pb2_grpc,
    deliveries_pb2,
    deliveries_pb2_grpc,
    grants_pb2,
    grants_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    prepare_pb2,
    recall_pb2,
    tiers_pb2,
)
from mneme.semantic.v1 import profile_pb2
from mneme.session.v1 import session_pb2, session_pb2_grpc
from services.common.errors import FieldViolation, InvalidArgument
from services.common.errors_grpc import item_status


class FakeGateway(
    memory_pb2_grpc.MemoryServiceServicer,
    conversations_pb2_grpc.ConversationServiceServicer,
    deliveries_pb2_grpc.DeliveryServiceServicer,
    grants_pb2_grpc.GrantServiceServicer,
    session_pb2_grpc.SessionServiceServicer,
):
    """All of the gateway's RPCs, for one tenant, in memory."""

    def __init__(self) -> None:
        self.log: dict[tuple[str, str], list[common_pb2.Turn]] = {}
        self.superseded: dict[str, str] = {}  # contents of turns, and what superseded them
        self.marks_missing = False
        self.answers: dict[str, memory_pb2.RememberResponse] = {}
        self.requests: list[Any] = []  # every request, in order, repeats included
        self.metadata: list[dict[str, str]] = []  # of every call
        self.failures: list[status_pb2.Status] = []  # the next calls fail with these, first one first
        self.lose_answers = 0  # so many writes take effect and then fail
        self.answers_before_loss = 0  # items of a stream that are answered before it fails
        self.visible_after_recalls = 0  # a recall with a token is not consistent before so many of them
        self.recall_response = recall_pb2.RecallResponse(recall_id="recall-1")
        self.tier_answers: list[recall_pb2.TierResult] = []  # of a streamed recall
        self.breaks_streams = False  # streamed recalls fail after these
        self.stream_gate: asyncio.Event | None = None  # the whole answer of a streamed recall waits for it
        self.ended_streams = asyncio.Event()  # a streamed recall has ended, however it did
        self.grants: list[grants_pb2.Grant] = []
        self.dead_letters: list[deliveries_pb2.DeadLetter] = []
        self.backlog_count = 4  # deliveries to the episodic tier that wait
        self.refused_contents: set[str] = set()  # of turns, in batches and streams
        self.entered = asyncio.Event()  # there was a call
        self.gate: asyncio.Event | None = None  # calls wait for it

    async def _enter(self, request: Any, context: Any) -> None:
        self.requests.append(request)
        self.entered.set()
        self.metadata.append({k: v for k, v in context.invocation_metadata() if isinstance(v, str)})
        if self.gate is not None:
            await self.gate.wait()
        if self.failures:
            await self._fail(self.failures.pop(0), context)

    async def _fail(self, status: status_pb2.Status, context: Any) -> None:
        code = next(code for code in grpc.StatusCode if code.value[0] == status.code)
        details = (("grpc-status-details-bin", status.SerializeToString()),)
        await context.abort(code, status.message, trailing_metadata=details)

    def _take(self, request: memory_pb2.RememberRequest) -> memory_pb2.RememberResponse:
        if request.request_id in self.answers:
            answer = memory_pb2.RememberResponse()
            answer.CopyFrom(self.answers[request.request_id])
            answer.replayed = True
            return answer
        turns = self.log.setdefault((request.user_id, request.conversation_id), [])
        answer = memory_pb2.RememberResponse(consistency_token=f"token-{len(self.answers)}")
        for turn in request.turns:
            answer.interactions.add(interaction_id=f"{request.conversation_id}-{len(turns)}", position=len(turns))
            turns.append(turn)
        self.answers[request.request_id] = answer
        return answer

    def _refusal(self, item: memory_pb2.RememberRequest) -> status_pb2.Status | None:
        for n, turn in enumerate(item.turns):
            if not turn.content or turn.content in self.refused_contents:
                violation = FieldViolation(f"turns[{n}].content", "is required")
                return item_status(InvalidArgument("a field is missing", violations=[violation]))
        return None

    async def Remember(self, request: memory_pb2.RememberRequest, context: Any) -> memory_pb2.RememberResponse:
        await self._enter(request, context)
        answer = self._take(request)
        if self.lose_answers > 0:
            self.lose_answers -= 1
            await self._fail(unavailable(), context)
        return answer

    async def RememberBatch(
        self, request: memory_pb2.RememberBatchRequest, context: Any
    ) -> memory_pb2.RememberBatchResponse:
        await self._enter(request, context)
        answer = memory_pb2.RememberBatchResponse()
        for item in request.items:
            if error := self._refusal(item):
                answer.results.add(error=error)
            else:
                answer.results.add(response=self._take(item))
        return answer

    async def RememberStream(
        self, request_iterator: AsyncIterator[memory_pb2.RememberStreamRequest], context: Any
    ) -> AsyncIterator[memory_pb2.RememberStreamResponse]:
        items: list[memory_pb2.RememberRequest] = []
        await self._enter(items, context)
        async for message in request_iterator:
            index, item = len(items), message.item
            items.append(item)
            if error := self._refusal(item):
                yield memory_pb2.RememberStreamResponse(index=index, error=error)
                continue
            response = self._take(item)
            if self.lose_answers > 0 and index >= self.answers_before_loss:
                self.lose_answers -= 1
                await self._fail(unavailable(), context)
            yield memory_pb2.RememberStreamResponse(index=index, response=response)

    async def Recall(self, request: recall_pb2.RecallRequest, context: Any) -> recall_pb2.RecallResponse:
        await self._enter(request, context)
        answer = recall_pb2.RecallResponse()
        answer.CopyFrom(self.recall_response)
        if request.consistency_token:
            answer.consistent = self.visible_after_recalls <= 0
            self.visible_after_recalls -= 1
        return answer

    async def RecallStream(
        self, request: recall_pb2.RecallStreamRequest, context: Any
    ) -> AsyncIterator[recall_pb2.RecallStreamResponse]:
        await self._enter(request, context)
        try:
            for answer in self.tier_answers:
                yield recall_pb2.RecallStreamResponse(tier_result=answer)
            if self.breaks_streams:
                await self._fail(unavailable(), context)
            if self.stream_gate is not None:
                await self.stream_gate.wait()
            yield recall_pb2.RecallStreamResponse(response=await self.Recall(request.recall, context))
        finally:
            self.ended_streams.set()

    async def PrepareContext(
        self, request: prepare_pb2.PrepareContextRequest, context: Any
    ) -> prepare_pb2.PrepareContextResponse:
        await self._enter(request, context)
        return prepare_pb2.PrepareContextResponse()

    async def BuildContext(
        self, request: context_pb2.BuildContextRequest, context: Any
    ) -> context_pb2.BuildContextResponse:
        await self._enter(request, context)
        answer = context_pb2.BuildContextResponse(text="Memories:\n- the sea", token_count=5)
        section = answer.sections.add(kind=context_pb2.CONTEXT_SECTION_KIND_MEMORIES, token_count=5, token_budget=900)
        section.items.add(text="- the sea", memory_id="m1", interaction_ids=["i1"], duplicate_memory_ids=["m2"])
        passage = section.passages.add(text="- the sea", conversation_id="c1", speakers=["Ada"], rank=1)
        passage.end_time.FromSeconds(60)
        passage.turns.add(memory_id="m1", speaker="Ada", role=common_pb2.MESSAGE_ROLE_USER, text="…", pruned=True)
        answer.section_reports.add(
            kind=context_pb2.CONTEXT_SECTION_KIND_PROCEDURES,
            state=context_pb2.CONTEXT_SECTION_STATE_EMPTY,
            candidate_count=0,
        )
        return answer

    async def Feedback(self, request: memory_pb2.FeedbackRequest, context: Any) -> memory_pb2.FeedbackResponse:
        await self._enter(request, context)
        return memory_pb2.FeedbackResponse(consistency_token="token-f", memory_count=len(request.memories))

    async def ListJudgedRecalls(
        self, request: memory_pb2.ListJudgedRecallsRequest, context: Any
    ) -> memory_pb2.ListJudgedRecallsResponse:
        await self._enter(request, context)
        return memory_pb2.ListJudgedRecallsResponse()

    def add_profiles(self, server: grpc.aio.Server) -> None:
        """Serves the one method of the profile's service that clients here call."""
        handler = grpc.unary_unary_rpc_method_handler(
            self.GetProfile, profile_pb2.GetProfileRequest.FromString, profile_pb2.GetProfileResponse.SerializeToString
        )
        service = "mneme.semantic.v1.ProfileService"
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {"GetProfile": handler}),))

    async def GetProfile(self, request: profile_pb2.GetProfileRequest, context: Any) -> profile_pb2.GetProfileResponse:
        await self._enter(request, context)
        answer = profile_pb2.GetProfileResponse()
        answer.profile.user_id = request.user_id
        answer.profile.preferences.language = "en"
        answer.profile.statistics.user_turn_count = 3
        return answer

    async def ListConversations(
        self, request: conversations_pb2.ListConversationsRequest, context: Any
    ) -> conversations_pb2.ListConversationsResponse:
        await self._enter(request, context)
        found = [
            conversations_pb2.Conversation(conversation_id=conversation, user_id=user, interaction_count=len(turns))
            for (user, conversation), turns in self.log.items()
            if user == request.user_id
        ]
        page, token = page_of(found, request.page_size, request.page_token)
        return conversations_pb2.ListConversationsResponse(conversations=page, next_page_token=token)

    async def ListInteractions(
        self, request: conversations_pb2.ListInteractionsRequest, context: Any
    ) -> conversations_pb2.ListInteractionsResponse:
        await self._enter(request, context)
        turns = self.log.get((request.user_id, request.conversation_id), [])
        found = [
            conversations_pb2.Interaction(
                interaction_id=f"i{n}",
                conversation_id=request.conversation_id,
                position=n,
                turn=turn,
                superseded_by=self.superseded.get(turn.content, ""),
                marks_missing=self.marks_missing,
            )
            for n, turn in enumerate(turns)
        ]
        page, token = page_of(found, request.page_size, request.page_token)
        return conversations_pb2.ListInteractionsResponse(interactions=page, next_page_token=token)

    async def GetSession(self, request: session_pb2.GetSessionRequest, context: Any) -> session_pb2.GetSessionResponse:
        await self._enter(request, context)
        turns = self.log.get((request.user_id, request.conversation_id))
        if turns is None:
            await self._fail(status(grpc.StatusCode.NOT_FOUND, "session not found", "NOT_FOUND"), context)
        answer = session_pb2.GetSessionResponse()
        answer.session.conversation_id, answer.session.user_id = request.conversation_id, request.user_id
        answer.session.ttl.FromSeconds(3_600)
        for turn in turns or ():
            answer.session.turns.add(turn=turn, position=0)
        return answer

    async def CreateSession(self, request: session_pb2.CreateSessionRequest, context: Any) -> Any:
        await self._enter(request, context)
        await context.abort(grpc.StatusCode.UNIMPLEMENTED)

    async def ListSessions(self, request: session_pb2.ListSessionsRequest, context: Any) -> Any:
        await self._enter(request, context)
        await context.abort(grpc.StatusCode.UNIMPLEMENTED)

    async def AppendTurns(self, request: session_pb2.AppendTurnsRequest, context: Any) -> Any:
        await self._enter(request, context)
        await context.abort(grpc.StatusCode.UNIMPLEMENTED)

    async def ExtendSession(self, request: session_pb2.ExtendSessionRequest, context: Any) -> Any:
        await self._enter(request, context)
        await context.abort(grpc.StatusCode.UNIMPLEMENTED)

    async def DeleteSession(
        self, request: session_pb2.DeleteSessionRequest, context: Any
    ) -> session_pb2.DeleteSessionResponse:
        await self._enter(request, context)
        return session_pb2.DeleteSessionResponse()

    async def GetBacklog(
        self, request: deliveries_pb2.GetBacklogRequest, context: Any
    ) -> deliveries_pb2.GetBacklogResponse:
        await self._enter(request, context)
        answer = deliveries_pb2.GetBacklogResponse()
        waiting = answer.tiers.add(tier=tiers_pb2.TIER_EPISODIC, pending_count=self.backlog_count, dead_count=1)
        waiting.oldest_age.FromMilliseconds(2_500)
        answer.tiers.add(tier=tiers_pb2.TIER_AGENTIC)
        return answer

    async def CreateGrant(self, request: grants_pb2.CreateGrantRequest, context: Any) -> grants_pb2.CreateGrantResponse:
        await self._enter(request, context)
        grant = grants_pb2.Grant(
            grant_id=f"grant-{len(self.grants)}",
            user_id=request.user_id,
            from_scope=request.from_scope,
            to_scope=request.to_scope,
            kinds=request.kinds,
            expire_time=request.expire_time if request.HasField("expire_time") else None,
        )
        self.grants.append(grant)
        return grants_pb2.CreateGrantResponse(grant=grant)

    async def ListGrants(self, request: grants_pb2.ListGrantsRequest, context: Any) -> grants_pb2.ListGrantsResponse:
        await self._enter(request, context)
        page, token = page_of(self.grants, request.page_size, request.page_token)
        return grants_pb2.ListGrantsResponse(grants=page, next_page_token=token)

    async def RevokeGrant(self, request: grants_pb2.RevokeGrantRequest, context: Any) -> grants_pb2.RevokeGrantResponse:
        await self._enter(request, context)
        self.grants = [grant for grant in self.grants if grant.grant_id != request.grant_id]
        return grants_pb2.RevokeGrantResponse()

    async def ListDeadLetters(
        self, request: deliveries_pb2.ListDeadLettersRequest, context: Any
    ) -> deliveries_pb2.ListDeadLettersResponse:
        await self._enter(request, context)
        page, token = page_of(self.dead_letters, request.page_size, request.page_token)
        return deliveries_pb2.ListDeadLettersResponse(dead_letters=page, next_page_token=token)

    async def RetryDeadLetters(
        self, request: deliveries_pb2.RetryDeadLettersRequest, context: Any
    ) -> deliveries_pb2.RetryDeadLettersResponse:
        await self._enter(request, context)
        return deliveries_pb2.RetryDeadLettersResponse(retried_count=len(request.delivery_ids))


def page_of(found: list[Any], size: int, token: str) -> tuple[list[Any], str]:
    """One page and the token of the next."""
    start = int(token or "0")
    size = size or 50
    return found[start : start + size], str(start + size) if start + size < len(found) else ""


def status(code: grpc.StatusCode, message: str, reason: str, *details: Any) -> status_pb2.Status:
    """A status with its details, as the services send it."""
    made = status_pb2.Status(code=code.value[0], message=message)
    info = error_details_pb2.ErrorInfo(reason=reason, domain="mneme", metadata={"limit": "5"})
    for detail in (info, *details):
        packed = AnyMessage()
        packed.Pack(detail)
        made.details.append(packed)
    return made


def unavailable(*, retry_seconds: float = 0.0) -> status_pb2.Status:
    """What a service says whose store is away."""
    retry = error_details_pb2.RetryInfo()
    retry.retry_delay.FromNanoseconds(int(retry_seconds * 1e9))
    return status(grpc.StatusCode.UNAVAILABLE, "journal is unavailable", "STORE_UNAVAILABLE", retry)


def invalid() -> status_pb2.Status:
    """What a service says to a wrong request."""
    bad = error_details_pb2.BadRequest()
    bad.field_violations.add(field="turns[3].content", description="is required")
    return status(grpc.StatusCode.INVALID_ARGUMENT, "the turn is not valid", "INVALID_FIELD", bad)

"""The calls of one request as data: which method, which request, how the answer is read.

Both clients are thin shells around these, one awaiting and one blocking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from google.protobuf.message import Message

from mneme.gateway.v1 import context_pb2, conversations_pb2, deliveries_pb2, grants_pb2, memory_pb2, recall_pb2
from mneme.semantic.v1 import profile_pb2
from mneme_client import from_wire, from_wire_context, from_wire_recall, results, results_context, to_wire
from mneme_client.types import (
    ConflictChoice,
    ContextOrder,
    ContextSectionKind,
    FeedbackValue,
    MemoryKind,
    RememberItem,
    Scope,
    Scoring,
    TaskType,
    Tier,
)

Result = TypeVar("Result")

_MEMORY = "/mneme.gateway.v1.MemoryService"
_CONVERSATION = "/mneme.gateway.v1.ConversationService"
_GRANT = "/mneme.gateway.v1.GrantService"
_DELIVERY = "/mneme.gateway.v1.DeliveryService"
_PROFILE = "/mneme.semantic.v1.ProfileService"

PAGE_SIZE_MAX = 200
"""Largest page that the service gives."""

REMEMBER_STREAM_METHOD = f"{_MEMORY}/RememberStream"
"""The only method that takes a stream."""


@dataclass(frozen=True, slots=True)
class Call(Generic[Result]):
    """One call that can be made, and made again."""

    method: str  # full name, with leading slash
    request: Message
    response_type: type[Message]
    read: Callable[[Any], Result]  # from the response to the result


@dataclass(frozen=True, slots=True)
class Page(Generic[Result]):
    """One page of a list."""

    items: tuple[Result, ...]
    next_page_token: str  # empty on the last one


def remember(item: RememberItem) -> Call[results.RememberResult]:
    """MemoryService.Remember."""
    request = to_wire.remember_request(item)
    return Call(f"{_MEMORY}/Remember", request, memory_pb2.RememberResponse, from_wire.remember_result)


def remember_batch(
    items: Sequence[RememberItem],
) -> Call[tuple[results.RememberResult | results.ItemError, ...]]:
    """MemoryService.RememberBatch."""
    request = memory_pb2.RememberBatchRequest(items=[to_wire.remember_request(item) for item in items])
    return Call(f"{_MEMORY}/RememberBatch", request, memory_pb2.RememberBatchResponse, from_wire.batch_results)


def recall(
    user_id: str,
    query: str,
    *,
    limit: int,
    scope: Scope | None,
    conversation_id: str,
    consistency_token: str,
    as_of_time: datetime | None,
    tiers: Sequence[Tier],
    task_type: TaskType,
    scoring: Scoring | None,
    conflicts: ConflictChoice | None,
) -> Call[results.RecallResult]:
    """MemoryService.Recall."""
    request = recall_pb2.RecallRequest(
        user_id=user_id,
        query=query,
        limit=limit,
        scope=to_wire.scope(scope),
        conversation_id=conversation_id,
        consistency_token=consistency_token,
        as_of_time=to_wire.optional_timestamp(as_of_time),
        tiers=[to_wire.enum_number(tier) for tier in tiers],
        task_type=to_wire.enum_number(task_type),
        scoring=to_wire.scoring(scoring),
    )
    if conflicts is not None:
        request.conflict_policy = to_wire.enum_number(conflicts.policy)
        request.preferred_memory_ids.extend(conflicts.preferred_memory_ids)
        request.drop_superseded = conflicts.drop_superseded
    return Call(f"{_MEMORY}/Recall", request, recall_pb2.RecallResponse, from_wire_recall.recall_result)


def recall_stream(recall: Call[results.RecallResult]) -> Call[results.RecallPart]:
    """MemoryService.RecallStream, which answers a call of Recall in pieces; each of them is read by the call."""
    request = recall_pb2.RecallStreamRequest(recall=cast("recall_pb2.RecallRequest", recall.request))
    return Call(f"{_MEMORY}/RecallStream", request, recall_pb2.RecallStreamResponse, from_wire_recall.recall_part)


def build_context(
    user_id: str,
    query: str,
    *,
    token_budget: int,
    section_budgets: Mapping[ContextSectionKind, int],
    order: ContextOrder,
    scope: Scope | None,
    conversation_id: str,
    consistency_token: str,
    as_of_time: datetime | None,
    task_type: TaskType,
    scoring: Scoring | None,
    conflicts: ConflictChoice | None,
) -> Call[results_context.ContextResult]:
    """MemoryService.BuildContext."""
    request = context_pb2.BuildContextRequest(
        user_id=user_id,
        query=query,
        token_budget=token_budget,
        section_budgets=[
            context_pb2.ContextSectionBudget(kind=to_wire.enum_number(kind), token_budget=tokens)
            for kind, tokens in section_budgets.items()
        ],
        order=to_wire.enum_number(order),
        scope=to_wire.scope(scope),
        conversation_id=conversation_id,
        consistency_token=consistency_token,
        as_of_time=to_wire.optional_timestamp(as_of_time),
        task_type=to_wire.enum_number(task_type),
        scoring=to_wire.scoring(scoring),
    )
    if conflicts is not None:
        request.conflict_policy = to_wire.enum_number(conflicts.policy)
        request.preferred_memory_ids.extend(conflicts.preferred_memory_ids)
        request.drop_superseded = conflicts.drop_superseded
    return Call(f"{_MEMORY}/BuildContext", request, context_pb2.BuildContextResponse, from_wire_context.context_result)


def feedback(
    user_id: str, value: FeedbackValue, *, memory_ids: Sequence[str], recall_id: str, request_id: str | None
) -> Call[results.FeedbackResult]:
    """MemoryService.Feedback."""
    request = memory_pb2.FeedbackRequest(
        request_id=request_id or to_wire.new_request_id(),
        user_id=user_id,
        value=to_wire.enum_number(value),
        memories=[
            memory_pb2.MemoryReference(kind=to_wire.enum_number(MemoryKind.EPISODE), memory_id=memory_id)
            for memory_id in memory_ids
        ],
        recall_id=recall_id,
    )
    return Call(f"{_MEMORY}/Feedback", request, memory_pb2.FeedbackResponse, from_wire.feedback_result)


def get_profile(user_id: str) -> Call[results.Profile]:
    """ProfileService.GetProfile."""
    request = profile_pb2.GetProfileRequest(user_id=user_id)
    return Call(f"{_PROFILE}/GetProfile", request, profile_pb2.GetProfileResponse, from_wire.profile)


def list_conversations(user_id: str, *, page_size: int, page_token: str) -> Call[Page[results.Conversation]]:
    """ConversationService.ListConversations."""

    def read(message: conversations_pb2.ListConversationsResponse) -> Page[results.Conversation]:
        return Page(tuple(from_wire.conversation(c) for c in message.conversations), message.next_page_token)

    request = conversations_pb2.ListConversationsRequest(user_id=user_id, page_size=page_size, page_token=page_token)
    return Call(f"{_CONVERSATION}/ListConversations", request, conversations_pb2.ListConversationsResponse, read)


def list_interactions(
    user_id: str, conversation_id: str, *, page_size: int, page_token: str
) -> Call[Page[results.Interaction]]:
    """ConversationService.ListInteractions."""

    def read(message: conversations_pb2.ListInteractionsResponse) -> Page[results.Interaction]:
        return Page(tuple(from_wire.interaction(i) for i in message.interactions), message.next_page_token)

    request = conversations_pb2.ListInteractionsRequest(
        user_id=user_id, conversation_id=conversation_id, page_size=page_size, page_token=page_token
    )
    return Call(f"{_CONVERSATION}/ListInteractions", request, conversations_pb2.ListInteractionsResponse, read)


def get_session(user_id: str, conversation_id: str) -> Call[results.SessionWindow]:
    """ConversationService.GetSession."""
    request = conversations_pb2.GetSessionRequest(user_id=user_id, conversation_id=conversation_id)
    return Call(f"{_CONVERSATION}/GetSession", request, conversations_pb2.GetSessionResponse, from_wire.session_window)


def end_session(user_id: str, conversation_id: str, *, discard: bool, request_id: str | None) -> Call[int]:
    """ConversationService.EndSession; the result is how many turns it wrote to the log."""

    def read(message: conversations_pb2.EndSessionResponse) -> int:
        return message.archived_turn_count

    request = conversations_pb2.EndSessionRequest(
        request_id=request_id or to_wire.new_request_id(),
        user_id=user_id,
        conversation_id=conversation_id,
        discard=discard,
    )
    return Call(f"{_CONVERSATION}/EndSession", request, conversations_pb2.EndSessionResponse, read)


def create_grant(
    user_id: str,
    *,
    from_scope: Scope,
    to_scope: Scope,
    kinds: Sequence[MemoryKind],
    expire_time: datetime | None,
    request_id: str | None,
) -> Call[results.Grant]:
    """GrantService.CreateGrant."""

    def read(message: grants_pb2.CreateGrantResponse) -> results.Grant:
        return from_wire.grant(message.grant)

    request = grants_pb2.CreateGrantRequest(
        request_id=request_id or to_wire.new_request_id(),
        user_id=user_id,
        from_scope=to_wire.scope(from_scope),
        to_scope=to_wire.scope(to_scope),
        kinds=[to_wire.enum_number(kind) for kind in kinds],
        expire_time=to_wire.optional_timestamp(expire_time),
    )
    return Call(f"{_GRANT}/CreateGrant", request, grants_pb2.CreateGrantResponse, read)


def list_grants(user_id: str, *, page_size: int, page_token: str) -> Call[Page[results.Grant]]:
    """GrantService.ListGrants."""

    def read(message: grants_pb2.ListGrantsResponse) -> Page[results.Grant]:
        return Page(tuple(from_wire.grant(g) for g in message.grants), message.next_page_token)

    request = grants_pb2.ListGrantsRequest(user_id=user_id, page_size=page_size, page_token=page_token)
    return Call(f"{_GRANT}/ListGrants", request, grants_pb2.ListGrantsResponse, read)


def revoke_grant(user_id: str, grant_id: str, *, request_id: str | None) -> Call[None]:
    """GrantService.RevokeGrant."""

    def read(_message: grants_pb2.RevokeGrantResponse) -> None:
        return None

    request = grants_pb2.RevokeGrantRequest(
        request_id=request_id or to_wire.new_request_id(), user_id=user_id, grant_id=grant_id
    )
    return Call(f"{_GRANT}/RevokeGrant", request, grants_pb2.RevokeGrantResponse, read)


def get_backlog() -> Call[tuple[results.TierBacklog, ...]]:
    """DeliveryService.GetBacklog."""
    return Call(
        f"{_DELIVERY}/GetBacklog",
        deliveries_pb2.GetBacklogRequest(),
        deliveries_pb2.GetBacklogResponse,
        from_wire.backlog,
    )


def list_dead_letters(*, tier: Tier | None, page_size: int, page_token: str) -> Call[Page[results.DeadLetter]]:
    """DeliveryService.ListDeadLetters."""

    def read(message: deliveries_pb2.ListDeadLettersResponse) -> Page[results.DeadLetter]:
        return Page(tuple(from_wire.dead_letter(d) for d in message.dead_letters), message.next_page_token)

    request = deliveries_pb2.ListDeadLettersRequest(
        tier=None if tier is None else to_wire.enum_number(tier),
        page_size=page_size,
        page_token=page_token,
    )
    return Call(f"{_DELIVERY}/ListDeadLetters", request, deliveries_pb2.ListDeadLettersResponse, read)


def retry_dead_letters(delivery_ids: Sequence[str], *, request_id: str | None) -> Call[int]:
    """DeliveryService.RetryDeadLetters; the result is how many were put back."""

    def read(message: deliveries_pb2.RetryDeadLettersResponse) -> int:
        return message.retried_count

    request = deliveries_pb2.RetryDeadLettersRequest(
        request_id=request_id or to_wire.new_request_id(), delivery_ids=delivery_ids
    )
    return Call(f"{_DELIVERY}/RetryDeadLetters", request, deliveries_pb2.RetryDeadLettersResponse, read)

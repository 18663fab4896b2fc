"""The requests of Recall and BuildContext. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from mneme.gateway.v1 import context_pb2, recall_pb2
from mneme_client import to_wire
from mneme_client.enums import ContextOrder, ContextSectionKind, TaskType, Tier
from mneme_client.types import ConflictChoice, Scope, Scoring


def recall_request(
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
    include_tentative_facts: bool,
    known_at_time: datetime | None,
) -> recall_pb2.RecallRequest:
    """The request of Recall, and of RecallStream."""
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
        scoring=_scoring(scoring),
        include_tentative_facts=include_tentative_facts,
        known_at_time=to_wire.optional_timestamp(known_at_time),
    )
    _choose(request, conflicts)
    return request


def context_request(
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
    known_at_time: datetime | None,
) -> context_pb2.BuildContextRequest:
    """The request of BuildContext."""
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
        scoring=_scoring(scoring),
        known_at_time=to_wire.optional_timestamp(known_at_time),
    )
    _choose(request, conflicts)
    return request


def _choose(
    request: recall_pb2.RecallRequest | context_pb2.BuildContextRequest, conflicts: ConflictChoice | None
) -> None:
    if conflicts is not None:
        request.conflict_policy = to_wire.enum_number(conflicts.policy)
        request.preferred_memory_ids.extend(conflicts.preferred_memory_ids)
        request.drop_superseded = conflicts.drop_superseded


def _scoring(value: Scoring | None) -> recall_pb2.Scoring | None:
    return None if value is None else recall_pb2.Scoring(profile=value.profile, weights=value.weights)

"""From requests of mneme.episodic.internal to what the service takes: checked, with every default filled in."""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

from mneme.episodic.internal.v1 import episodic_internal_pb2 as internal_pb
from services.common.auth import Principal
from services.common.convert import moment
from services.common.idempotency.model import IdempotencyKey
from services.common.idempotency.requests import idempotency_key
from services.episodic.candidates import CandidateQuery
from services.episodic.commands import (
    Rules,
    bounded_ids,
    check_id,
    check_text,
    invalid,
    owner,
    reader_of,
    selection_of,
    token_vectors,
    vector,
)
from services.episodic.model import TenantId
from services.episodic.removal_store import EpisodeSelection
from services.episodic.service import Deletion
from services.episodic.timed import TIMES_MAX

_Write: TypeAlias = internal_pb.DeleteEpisodesRequest | internal_pb.RecordFeedbackRequest


def candidate_query(request: internal_pb.SearchCandidatesRequest, *, tenant_id: str, rules: Rules) -> CandidateQuery:
    """A coarse search.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit.
    """
    limits = rules.limits
    if not request.query.strip():
        raise invalid("query", "is required")
    check_text("query", request.query, limits.query_chars_max)
    radius = request.neighbour_radius if request.HasField("neighbour_radius") else None
    reader = reader_of(request)
    return CandidateQuery(
        owner=owner(tenant_id, request.user_id, rules),
        text=request.query,
        vector=vector(request.query_vector, "query_vector", rules),
        scope_keys=reader.visible_keys(),
        retriever_limit=_count(
            "retriever_limit",
            request.retriever_limit,
            default=limits.retriever_limit_default,
            least=1,
            most=limits.retriever_limit_max,
        ),
        neighbour_seeds=_count(
            "neighbour_seeds",
            request.neighbour_seeds,
            default=limits.neighbour_seeds_default,
            least=1,
            most=limits.neighbour_seeds_max,
        ),
        neighbour_radius=limits.neighbour_radius_default
        if radius is None
        else _in_range("neighbour_radius", radius, least=0, most=limits.neighbour_radius_max),
        include=bounded_ids(
            request.include_episode_ids, field_path="include_episode_ids", count_max=limits.include_max
        ),
        with_statistics=request.with_statistics,
        archived_after=moment(request.archived_after_time, field_path="archived_after_time")
        if request.HasField("archived_after_time")
        else None,
        tokens=token_vectors(request.query_tokens, "query_tokens", rules) if request.HasField("query_tokens") else None,
        spans=_spans(request),
        reader=reader,
    )


def _spans(request: internal_pb.SearchCandidatesRequest) -> list[tuple[datetime, datetime]]:
    if len(request.times) > TIMES_MAX:
        raise invalid("times", f"must be at most {TIMES_MAX}")
    return [
        (
            moment(span.start_time, field_path=f"times[{index}].start_time"),
            moment(span.end_time, field_path=f"times[{index}].end_time"),
        )
        for index, span in enumerate(request.times)
    ]


def feedback(request: internal_pb.RecordFeedbackRequest) -> int:
    """A feedback.

    Raises:
        InvalidArgument: It is unset, or none of -1, 0 and 1.
    """
    if not request.HasField("feedback"):
        raise invalid("feedback", "is required")
    return _in_range("feedback", request.feedback, least=-1, most=1)


def write_key(request: _Write, caller: Principal, rules: Rules) -> IdempotencyKey:
    """The idempotency key of a request.

    Raises:
        InvalidArgument: The request id is missing, too long, or holds control characters.
    """
    check_id("request_id", request.request_id, rules)
    return idempotency_key(request, caller)


def deletion(request: internal_pb.DeleteEpisodesRequest, *, tenant_id: str, rules: Rules) -> Deletion:
    """What is to be deleted.

    Raises:
        InvalidArgument: Nothing is named, or more than one kind of thing, or too many ids.
    """
    named = (request.episode_ids, request.conversation_id, request.all_of_user, request.all_of_tenant)
    if sum(map(bool, named)) != 1:
        raise invalid("episode_ids", "or conversation_id or all_of_user or all_of_tenant is required, and only one")
    if request.all_of_tenant:
        if request.user_id:
            raise invalid("user_id", "must be empty if everything of the tenant is deleted")
        return Deletion(TenantId(tenant_id), None, EpisodeSelection())
    whose = owner(tenant_id, request.user_id, rules)
    if request.all_of_user:
        return Deletion(whose.tenant_id, whose, EpisodeSelection())
    return Deletion(whose.tenant_id, whose, selection_of(request.episode_ids, request.conversation_id, rules))


def _count(path: str, value: int, *, default: int, least: int, most: int) -> int:
    return default if value == 0 else _in_range(path, value, least=least, most=most)


def _in_range(path: str, value: int, *, least: int, most: int) -> int:
    if not least <= value <= most:
        raise invalid(path, f"must be in [{least}, {most}]")
    return value

"""From requests of mneme.episodic to what the service takes: checked, with every default filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias
from uuid import UUID

from mneme.common.v1 import common_pb2
from mneme.episodic.internal.v1 import episodic_internal_pb2 as internal_pb
from mneme.episodic.v1 import episodic_pb2 as pb
from services.common.auth import Principal
from services.common.convert import (
    moment,
    token_vectors_from_proto,
    vector_from_proto,
)
from services.common.embedding.tokens import TokenSpace, TokenVectors
from services.common.errors import FieldViolation, InvalidArgument, Reason
from services.common.idempotency.model import IdempotencyKey
from services.common.idempotency.requests import idempotency_key
from services.common.paging import Cursor, PageTokens
from services.common.reading import chosen_reader, reader_from_proto, reader_identity
from services.common.scope import Reader
from services.common.validation import Violations
from services.episodic.candidates import CandidateQuery
from services.episodic.comparison import ModelQuestion
from services.episodic.config import EpisodeLimits
from services.episodic.model import (
    EpisodeId,
    EpisodeStatus,
    Owner,
    TenantId,
    UserId,
)
from services.episodic.removal_store import EpisodeSelection
from services.episodic.service import Deletion, SearchQuery
from services.episodic.store import EpisodeCursor, EpisodeFilter, Vector

_Write: TypeAlias = (
    pb.ArchiveEpisodesRequest
    | pb.RestoreEpisodesRequest
    | internal_pb.DeleteEpisodesRequest
    | internal_pb.RecordFeedbackRequest
)
_TIMES: Final[tuple[Literal["start_time", "end_time"], ...]] = ("start_time", "end_time")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What requests are checked against."""

    limits: EpisodeLimits
    model: str  # of the vectors that are accepted, as `Vector.model` names it
    dimension: int
    tokens: TokenSpace | None = None  # of the token vectors that are stored; None where none are


def owner(tenant_id: str, user_id: str, rules: Rules) -> Owner:
    """The owner of a request.

    Raises:
        InvalidArgument: The user id is missing, too long, or holds control characters.
    """
    _check_id("user_id", user_id, rules)
    return Owner(TenantId(tenant_id), UserId(user_id))


def episode_id(value: str, *, field_path: str = "episode_id") -> EpisodeId:
    """An episode id in any of a UUID's spellings.

    Raises:
        InvalidArgument: It is not a UUID.
    """
    try:
        return EpisodeId(UUID(value))
    except ValueError as error:
        description = "must be a UUID" if value else "is required"
        raise invalid(field_path, description) from error


def episode_ids(values: Sequence[str], *, field_path: str = "episode_ids", count_max: int) -> list[EpisodeId]:
    """1 to `count_max` episode ids.

    Raises:
        InvalidArgument: There is none, there are too many, or one is not a UUID.
    """
    if not values:
        raise invalid(field_path, "is required")
    return _bounded_ids(values, field_path=field_path, count_max=count_max)


def episode_filter(request: pb.ListEpisodesRequest, rules: Rules) -> EpisodeFilter:
    """Which episodes a list holds.

    Raises:
        InvalidArgument: The conversation id or a time is malformed, or the status is unknown.
    """
    if request.conversation_id:
        _check_id("conversation_id", request.conversation_id, rules)
    start = moment(request.start_time, field_path="start_time") if request.HasField("start_time") else None
    end = moment(request.end_time, field_path="end_time") if request.HasField("end_time") else None
    status = None
    if request.HasField("status"):
        try:
            status = EpisodeStatus(int(request.status))
        except ValueError as error:
            raise _unknown_enum("status", request.status) from error
    return EpisodeFilter(
        conversation_id=request.conversation_id or None,
        status=status,
        start_time=start,
        end_time=end,
        reader=chosen_reader(request),
    )


def search_query(request: pb.SearchEpisodesRequest, *, tenant_id: str, rules: Rules) -> SearchQuery:
    """A search for similar episodes.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit.
    """
    limits = rules.limits
    has_vector = request.HasField("query_vector")
    if not has_vector and not request.query.strip():
        raise invalid("query", "is required unless a vector is given")
    _check_text("query", request.query, limits.query_chars_max)
    return SearchQuery(
        owner=owner(tenant_id, request.user_id, rules),
        text=request.query,
        vector=vector(request.query_vector, "query_vector", rules) if has_vector else None,
        scope_keys=_reader(request).visible_keys(),
        limit=_count("limit", request.limit, default=limits.limit_default, least=1, most=limits.limit_max),
    )


def candidate_query(request: internal_pb.SearchCandidatesRequest, *, tenant_id: str, rules: Rules) -> CandidateQuery:
    """A coarse search.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit.
    """
    limits = rules.limits
    if not request.query.strip():
        raise invalid("query", "is required")
    _check_text("query", request.query, limits.query_chars_max)
    radius = request.neighbour_radius if request.HasField("neighbour_radius") else None
    return CandidateQuery(
        owner=owner(tenant_id, request.user_id, rules),
        text=request.query,
        vector=vector(request.query_vector, "query_vector", rules),
        scope_keys=_reader(request).visible_keys(),
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
        include=_bounded_ids(
            request.include_episode_ids, field_path="include_episode_ids", count_max=limits.include_max
        ),
        with_statistics=request.with_statistics,
        archived_after=moment(request.archived_after_time, field_path="archived_after_time")
        if request.HasField("archived_after_time")
        else None,
        tokens=token_vectors(request.query_tokens, "query_tokens", rules) if request.HasField("query_tokens") else None,
    )


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
    _check_id("request_id", request.request_id, rules)
    return idempotency_key(request, caller)


def selection(request: pb.ArchiveEpisodesRequest | pb.RestoreEpisodesRequest, rules: Rules) -> EpisodeSelection:
    """Which episodes are to be changed.

    Raises:
        InvalidArgument: Nothing is named, or both ids and a conversation, or too many ids.
    """
    if bool(request.episode_ids) == bool(request.conversation_id):
        raise invalid("episode_ids", "or conversation_id is required, and only one of them")
    return _selection(request.episode_ids, request.conversation_id, rules)


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
            raise invalid("user_id", "must be empty where everything of the tenant is deleted")
        return Deletion(TenantId(tenant_id), None, EpisodeSelection())
    whose = owner(tenant_id, request.user_id, rules)
    if request.all_of_user:
        return Deletion(whose.tenant_id, whose, EpisodeSelection())
    return Deletion(whose.tenant_id, whose, _selection(request.episode_ids, request.conversation_id, rules))


def page_size(value: int, rules: Rules) -> int:
    """How many entries a page holds; more than the limit is the limit.

    Raises:
        InvalidArgument: It is negative.
    """
    if value < 0:
        raise invalid("page_size", "must not be negative")
    return min(value or rules.limits.page_size_default, rules.limits.page_size_max)


def list_cursor(request: pb.ListEpisodesRequest, *, tenant_id: str, tokens: PageTokens) -> EpisodeCursor | None:
    """Where the asked-for page begins; None for the first.

    Raises:
        InvalidArgument: The token is malformed, or was issued for another query or tenant.
    """
    cursor = tokens.decode(request.page_token, tenant_id=tenant_id, query=list_identity(request))
    if cursor is None:
        return None
    time, identity = cursor
    return EpisodeCursor(datetime.fromisoformat(str(time)), EpisodeId(UUID(str(identity))))


def list_identity(request: pb.ListEpisodesRequest) -> Cursor:
    """What must be the same for a page token to be good."""
    status = int(request.status) if request.HasField("status") else 0
    times = [getattr(request, name).ToMicroseconds() if request.HasField(name) else "" for name in _TIMES]
    return ("ListEpisodes", request.user_id, request.conversation_id, status, *times, *reader_identity(request))


def _selection(ids: Sequence[str], conversation_id: str, rules: Rules) -> EpisodeSelection:
    if conversation_id:
        _check_id("conversation_id", conversation_id, rules)
        return EpisodeSelection(conversation_id=conversation_id)
    return EpisodeSelection(episode_ids=episode_ids(ids, count_max=rules.limits.removal_batch_max))


def model_questions(request: pb.GetModelComparisonRequest, rules: Rules) -> list[ModelQuestion]:
    """What two models are compared on.

    Raises:
        InvalidArgument: There is no question, there are too many, or one is malformed or over a limit.
    """
    limits, questions = rules.limits, list[ModelQuestion]()
    if not request.questions:
        raise invalid("questions", "is required")
    check_count("questions", len(request.questions), limits.compared_questions_max)
    for number, question in enumerate(request.questions):
        path = f"questions[{number}]"
        if not question.query.strip():
            raise invalid(f"{path}.query", "is required")
        _check_text(f"{path}.query", question.query, limits.query_chars_max)
        relevant = _bounded_ids(
            question.relevant_episode_ids, field_path=f"{path}.relevant_episode_ids", count_max=limits.include_max
        )
        questions.append(ModelQuestion(question.query, relevant))
    return questions


def scope_keys(request: pb.GetModelComparisonRequest) -> Sequence[str]:
    """Keys of the places that the reader sees."""
    return _reader(request).visible_keys()


def _reader(
    request: pb.SearchEpisodesRequest | internal_pb.SearchCandidatesRequest | pb.GetModelComparisonRequest,
) -> Reader:
    return reader_from_proto(request.reader_scope, present=request.HasField("reader_scope"))


def vector(message: common_pb2.Vector, path: str, rules: Rules) -> Vector:
    """An embedding.

    Raises:
        InvalidArgument: It is of another model or dimension, or holds a component that is not finite.
    """
    return vector_from_proto(message, model=rules.model, dimension=rules.dimension, field_path=path)


def token_vectors(message: common_pb2.TokenVectors, path: str, rules: Rules) -> TokenVectors | None:
    """Token vectors; None where they are of another space than those that are stored."""
    found = token_vectors_from_proto(message, field_path=path)
    space = rules.tokens
    if space is None or (found.fingerprint, found.vectors.shape[1]) != (space.fingerprint, space.dimension):
        return None
    return found


def _bounded_ids(values: Sequence[str], *, field_path: str, count_max: int) -> list[EpisodeId]:
    check_count(field_path, len(values), count_max)
    return [episode_id(value, field_path=f"{field_path}[{i}]") for i, value in enumerate(values)]


def _check_id(path: str, value: str, rules: Rules) -> None:
    violations = Violations()
    violations.identifier(path, value, chars_max=rules.limits.id_chars_max)
    violations.raise_if_any()


def _check_text(path: str, value: str, chars_max: int) -> None:
    if len(value) > chars_max:
        raise InvalidArgument(
            f"{path} is too long",
            reason=Reason.TEXT_TOO_LONG,
            metadata={"limit": str(chars_max), "actual": str(len(value))},
            violations=[FieldViolation(path, f"has {len(value)} characters, at most {chars_max} are allowed")],
        )
    if "\x00" in value:
        raise invalid(path, "holds a NUL character")


def check_count(path: str, count: int, count_max: int) -> None:
    """Check the number of items of a list.

    Raises:
        InvalidArgument: There are more than `count_max`.
    """
    if count > count_max:
        raise InvalidArgument(
            f"{path} has too many items",
            reason=Reason.TOO_MANY_ITEMS,
            metadata={"limit": str(count_max), "actual": str(count)},
            violations=[FieldViolation(path, f"has {count} items, at most {count_max} are allowed")],
        )


def _count(path: str, value: int, *, default: int, least: int, most: int) -> int:
    return default if value == 0 else _in_range(path, value, least=least, most=most)


def _in_range(path: str, value: int, *, least: int, most: int) -> int:
    if not least <= value <= most:
        raise invalid(path, f"must be in [{least}, {most}]")
    return value


def invalid(path: str, description: str) -> InvalidArgument:
    """The error of a field."""
    return InvalidArgument(f"{path} {description}", violations=[FieldViolation(path, description)])


def _unknown_enum(path: str, value: int) -> InvalidArgument:
    description = "is required" if value == 0 else f"has the unknown value {value}"
    return InvalidArgument(
        f"{path} {description}",
        reason=Reason.UNKNOWN_ENUM_VALUE,
        violations=[FieldViolation(path, description)],
    )

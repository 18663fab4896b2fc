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
from services.common.scope import GLOBAL_SCOPE, Reader
from services.common.validation import Violations
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
from services.episodic.similar import SearchQuery
from services.episodic.store import EpisodeCursor, EpisodeFilter, Vector

_TimeField: TypeAlias = Literal["start_time", "end_time"]
_TIMES: Final[tuple[_TimeField, ...]] = ("start_time", "end_time")
_NOBODY: Final[Reader] = GLOBAL_SCOPE  # in the place of a reader that is not valid, until the request is refused


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
    check_id("user_id", user_id, rules)
    return _owner(tenant_id, user_id)


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
    return bounded_ids(values, field_path=field_path, count_max=count_max)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCommand:
    """A page of episodes."""

    owner: Owner
    which: EpisodeFilter
    page_size: int
    after: EpisodeCursor | None


def get_command(
    request: pb.GetEpisodeRequest, *, tenant_id: str, rules: Rules
) -> tuple[Owner, EpisodeId, Reader | None]:
    """Whose episode, which, and for whom.

    Raises:
        InvalidArgument: Names every wrong field.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=rules.limits.id_chars_max)
    v.uuid("episode_id", request.episode_id)
    reader = v.read(lambda: chosen_reader(request), None)
    v.raise_if_any()
    return _owner(tenant_id, request.user_id), EpisodeId(UUID(request.episode_id)), reader


def batch_command(
    request: pb.BatchGetEpisodesRequest, *, tenant_id: str, rules: Rules
) -> tuple[Owner, Sequence[EpisodeId], Reader | None]:
    """Whose episodes, which, and for whom.

    Raises:
        InvalidArgument: Names every wrong field.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=rules.limits.id_chars_max)
    ids = v.read(lambda: episode_ids(request.episode_ids, count_max=rules.limits.get_batch_max), list[EpisodeId]())
    reader = v.read(lambda: chosen_reader(request), None)
    v.raise_if_any()
    return _owner(tenant_id, request.user_id), ids, reader


def list_command(request: pb.ListEpisodesRequest, *, tenant_id: str, rules: Rules, tokens: PageTokens) -> ListCommand:
    """Which page of which episodes.

    Raises:
        InvalidArgument: Names every wrong field; the page token, when it was issued for another query or tenant.
    """
    limits, v = rules.limits, Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.identifier("conversation_id", request.conversation_id, chars_max=limits.id_chars_max, required=False)
    if request.HasField("status"):
        v.enum("status", request.status, EpisodeStatus)
    start, end = _time(v, request, "start_time"), _time(v, request, "end_time")
    size = v.page_size(request.page_size, default=limits.page_size_default, maximum=limits.page_size_max)
    reader = v.read(lambda: chosen_reader(request), None)
    v.raise_if_any()
    cursor = tokens.decode(request.page_token, tenant_id=tenant_id, query=list_identity(request))
    return ListCommand(
        owner=_owner(tenant_id, request.user_id),
        which=EpisodeFilter(
            conversation_id=request.conversation_id or None,
            status=EpisodeStatus(request.status) if request.HasField("status") else None,
            start_time=start,
            end_time=end,
            reader=reader,
        ),
        page_size=size,
        after=None if cursor is None else EpisodeCursor(*_position(cursor)),
    )


def search_query(request: pb.SearchEpisodesRequest, *, tenant_id: str, rules: Rules) -> SearchQuery:
    """A search for similar episodes.

    Raises:
        InvalidArgument: Names every field that is missing, malformed or over its limit.
    """
    limits, v = rules.limits, Violations()
    has_vector = request.HasField("query_vector")
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.text("query", request.query, chars_max=limits.query_chars_max, required=not has_vector)
    given = v.read(lambda: vector(request.query_vector, "query_vector", rules), None) if has_vector else None
    reader = v.read(lambda: reader_of(request), _NOBODY)
    v.number("limit", request.limit, low=0, high=limits.limit_max)
    held_at, known_at = _time(v, request, "as_of_time"), _time(v, request, "known_at_time")
    v.raise_if_any()
    return SearchQuery(
        owner=_owner(tenant_id, request.user_id),
        text=request.query,
        vector=given,
        scope_keys=reader.visible_keys(),
        limit=request.limit or limits.limit_default,
        held_at=held_at,
        known_at=known_at,
    )


def status_command(
    request: pb.ArchiveEpisodesRequest | pb.RestoreEpisodesRequest, caller: Principal, rules: Rules
) -> tuple[Owner, EpisodeSelection, IdempotencyKey]:
    """Whose episodes are to be archived or restored, and which.

    Raises:
        InvalidArgument: Names every wrong field: nothing is named, or both ids and a conversation, or too many ids.
    """
    v = Violations()
    v.identifier("request_id", request.request_id, chars_max=rules.limits.id_chars_max)
    v.identifier("user_id", request.user_id, chars_max=rules.limits.id_chars_max)
    selection = EpisodeSelection(episode_ids=())
    if bool(request.episode_ids) == bool(request.conversation_id):
        v.add("episode_ids", "or conversation_id is required, and only one of them")
    else:
        selection = v.read(lambda: selection_of(request.episode_ids, request.conversation_id, rules), selection)
    v.raise_if_any()
    return _owner(caller.tenant_id, request.user_id), selection, idempotency_key(request, caller)


def list_identity(request: pb.ListEpisodesRequest) -> Cursor:
    """What must be the same for a page token to be good."""
    status = int(request.status) if request.HasField("status") else 0
    times = [getattr(request, name).ToMicroseconds() if request.HasField(name) else "" for name in _TIMES]
    return ("ListEpisodes", request.user_id, request.conversation_id, status, *times, *reader_identity(request))


def _time(v: Violations, request: pb.ListEpisodesRequest | pb.SearchEpisodesRequest, name: str) -> datetime | None:
    if not request.HasField(name):
        return None
    return v.read(lambda: moment(getattr(request, name), field_path=name), None)


def _position(cursor: Cursor) -> tuple[datetime, EpisodeId]:
    time, identity = cursor
    return datetime.fromisoformat(str(time)), EpisodeId(UUID(str(identity)))


def selection_of(ids: Sequence[str], conversation_id: str, rules: Rules) -> EpisodeSelection:
    """The episodes of a conversation where one is named, else those of the ids.

    Raises:
        InvalidArgument: An id is malformed, or there are too many or none.
    """
    if conversation_id:
        check_id("conversation_id", conversation_id, rules)
        return EpisodeSelection(conversation_id=conversation_id)
    return EpisodeSelection(episode_ids=episode_ids(ids, count_max=rules.limits.removal_batch_max))


def comparison_command(
    request: pb.GetModelComparisonRequest, *, tenant_id: str, rules: Rules
) -> tuple[Owner, list[ModelQuestion], Sequence[str]]:
    """Whose episodes two models are compared on, with which questions, and the keys of places that the reader sees.

    Raises:
        InvalidArgument: A field is missing or malformed; there is no question, there are too many, or one is malformed
            or over a limit.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=rules.limits.id_chars_max)
    questions = v.read(lambda: _model_questions(request, rules), list[ModelQuestion]())
    reader = v.read(lambda: reader_of(request), _NOBODY)
    v.raise_if_any()
    return _owner(tenant_id, request.user_id), questions, reader.visible_keys()


def _model_questions(request: pb.GetModelComparisonRequest, rules: Rules) -> list[ModelQuestion]:
    limits, v, questions = rules.limits, Violations(), list[ModelQuestion]()
    count_max = limits.compared_questions_max
    v.count("questions", len(request.questions), count_min=1, count_max=count_max)
    for number, question in enumerate(request.questions[:count_max]):
        path = f"questions[{number}]"
        v.text(f"{path}.query", question.query, chars_max=limits.query_chars_max)
        try:
            ids_path, ids_max = f"{path}.relevant_episode_ids", limits.include_max
            relevant = bounded_ids(question.relevant_episode_ids, field_path=ids_path, count_max=ids_max)
        except InvalidArgument as error:
            v.include(error)
            continue
        questions.append(ModelQuestion(question.query, relevant))
    v.raise_if_any()
    return questions


def reader_of(
    request: pb.SearchEpisodesRequest | internal_pb.SearchCandidatesRequest | pb.GetModelComparisonRequest,
) -> Reader:
    """Who reads.

    Raises:
        InvalidArgument: The scope is not valid.
    """
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


def bounded_ids(values: Sequence[str], *, field_path: str, count_max: int) -> list[EpisodeId]:
    """Up to `count_max` episode ids.

    Raises:
        InvalidArgument: There are more, or some are not UUIDs; all of these are named.
    """
    v = Violations()
    if v.count(field_path, len(values), count_max=count_max):
        for i, value in enumerate(values):
            v.uuid(f"{field_path}[{i}]", value)
    v.raise_if_any()
    return [EpisodeId(UUID(value)) for value in values]


def check_id(path: str, value: str, rules: Rules) -> None:
    """Check an id that a caller chose.

    Raises:
        InvalidArgument: It is missing, too long, or holds control characters.
    """
    violations = Violations()
    violations.identifier(path, value, chars_max=rules.limits.id_chars_max)
    violations.raise_if_any()


def check_text(path: str, value: str, chars_max: int) -> None:
    """Check the length of a text.

    Raises:
        InvalidArgument: It is too long, or holds a NUL character.
    """
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


def invalid(path: str, description: str) -> InvalidArgument:
    """The error of a field."""
    return InvalidArgument(f"{path} {description}", violations=[FieldViolation(path, description)])


def _owner(tenant_id: str, user_id: str) -> Owner:
    return Owner(TenantId(tenant_id), UserId(user_id))

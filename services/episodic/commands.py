"""From requests of mneme.episodic.v1 to what the service takes: checked, with every default filled in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mneme.common.v1 import common_pb2
from mneme.episodic.v1 import episodic_pb2 as pb
from services.common.convert import (
    attachments_from_proto,
    moment,
    role_from_proto,
    scope_from_proto,
    token_vectors_from_proto,
    turn_from_proto,
    vector_from_proto,
)
from services.common.embedding.tokens import TextEncoding, TokenSpace, TokenVectors
from services.common.errors import FieldViolation, InvalidArgument, MnemeError, Reason
from services.common.paging import Cursor, PageTokens
from services.common.reading import reader_from_proto
from services.common.scope import Reader
from services.common.validation import Violations
from services.episodic.candidates import CandidateQuery
from services.episodic.config import EpisodeLimits
from services.episodic.model import (
    POSITION_MAX,
    EpisodeId,
    EpisodeStatus,
    NewEpisode,
    Owner,
    TenantId,
    UserId,
)
from services.episodic.service import SearchQuery, StoreItem
from services.episodic.store import EpisodeCursor, EpisodeFilter, Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What requests are checked against."""

    limits: EpisodeLimits
    model: str  # of the vectors that are accepted, as `Vector.model` names it
    dimension: int
    tokens: TokenSpace | None = None  # of token vectors that are kept; None where none are


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
        raise _invalid(field_path, description) from error


def episode_ids(values: Sequence[str], *, field_path: str = "episode_ids", count_max: int) -> list[EpisodeId]:
    """1 to `count_max` episode ids.

    Raises:
        InvalidArgument: There is none, there are too many, or one is not a UUID.
    """
    if not values:
        raise _invalid(field_path, "is required")
    return _bounded_ids(values, field_path=field_path, count_max=count_max)


def store_items(request: pb.StoreEpisodesRequest, *, tenant_id: str, now: datetime, rules: Rules) -> list[StoreItem]:
    """The items of a batch; one that is not valid carries its error.

    Raises:
        InvalidArgument: The batch is empty or too large.
    """
    if not request.episodes:
        raise _invalid("episodes", "is required")
    _check_count("episodes", len(request.episodes), rules.limits.store_batch_max)
    return [
        _store_item(message, f"episodes[{i}]", tenant_id=tenant_id, now=now, rules=rules)
        for i, message in enumerate(request.episodes)
    ]


def episode_filter(request: pb.ListEpisodesRequest, rules: Rules) -> EpisodeFilter:
    """Which episodes a list holds.

    Raises:
        InvalidArgument: The session id is malformed, or the status is unknown.
    """
    if request.session_id:
        _check_id("session_id", request.session_id, rules)
    status = None
    if request.HasField("status"):
        try:
            status = EpisodeStatus(int(request.status))
        except ValueError as error:
            raise _unknown_enum("status", request.status) from error
    return EpisodeFilter(session_id=request.session_id or None, status=status)


def search_query(request: pb.SearchEpisodesRequest, *, tenant_id: str, rules: Rules) -> SearchQuery:
    """A search for similar episodes.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit.
    """
    limits = rules.limits
    has_vector = request.HasField("query_vector")
    if not has_vector and not request.query.strip():
        raise _invalid("query", "is required unless a vector is given")
    _check_text("query", request.query, limits.query_chars_max)
    return SearchQuery(
        owner=owner(tenant_id, request.user_id, rules),
        text=request.query,
        vector=_vector(request.query_vector, "query_vector", rules) if has_vector else None,
        scope_keys=_reader(request).visible_keys(),
        top_k=_count("top_k", request.top_k, default=limits.top_k_default, least=1, most=limits.top_k_max),
    )


def candidate_query(request: pb.SearchCandidatesRequest, *, tenant_id: str, rules: Rules) -> CandidateQuery:
    """A coarse search.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit.
    """
    limits = rules.limits
    if not request.query.strip():
        raise _invalid("query", "is required")
    _check_text("query", request.query, limits.query_chars_max)
    radius = request.neighbour_radius if request.HasField("neighbour_radius") else None
    return CandidateQuery(
        owner=owner(tenant_id, request.user_id, rules),
        text=request.query,
        vector=_vector(request.query_vector, "query_vector", rules),
        scope_keys=_reader(request).visible_keys(),
        lane_limit=_count(
            "lane_limit",
            request.lane_limit,
            default=limits.lane_limit_default,
            least=1,
            most=limits.lane_limit_max,
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
        tokens=_tokens(request.query_tokens, "query_tokens", rules) if request.HasField("query_tokens") else None,
    )


def feedback(value: int) -> int:
    """A feedback.

    Raises:
        InvalidArgument: It is none of -1, 0 and 1.
    """
    return _in_range("feedback", value, least=-1, most=1)


def request_id(value: str, rules: Rules) -> str:
    """An idempotency key.

    Raises:
        InvalidArgument: It is missing, too long, or holds control characters.
    """
    _check_id("request_id", value, rules)
    return value


def page_size(value: int, rules: Rules) -> int:
    """How many entries a page holds; more than the limit is the limit.

    Raises:
        InvalidArgument: It is negative.
    """
    if value < 0:
        raise _invalid("page_size", "must not be negative")
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
    return ("ListEpisodes", request.user_id, request.session_id, status)


def _store_item(message: pb.NewEpisode, path: str, *, tenant_id: str, now: datetime, rules: Rules) -> StoreItem:
    try:
        return StoreItem(
            episode_id=message.episode_id,
            episode=_new_episode(message, path, tenant_id=tenant_id, now=now, rules=rules),
            pieces=_pieces(message, path, rules),
        )
    except MnemeError as error:
        return StoreItem(episode_id=message.episode_id, episode=error)


def _new_episode(message: pb.NewEpisode, path: str, *, tenant_id: str, now: datetime, rules: Rules) -> NewEpisode:
    identity = episode_id(message.episode_id, field_path=f"{path}.episode_id")
    violations = Violations()
    violations.identifier(f"{path}.user_id", message.user_id, chars_max=rules.limits.id_chars_max)
    violations.identifier(f"{path}.session_id", message.session_id, chars_max=rules.limits.id_chars_max)
    if not 0 <= message.position <= POSITION_MAX:
        violations.add(f"{path}.position", f"must be in [0, {POSITION_MAX}]")
    for name in ("confidence", "importance"):
        value = getattr(message, name)
        if message.HasField(name) and not (math.isfinite(value) and 0.0 <= value <= 1.0):
            violations.add(f"{path}.{name}", "must be in [0, 1]")
    violations.raise_if_any()
    role = role_from_proto(message.role, field_path=f"{path}.role")
    _check_turns(message, path, now=now, rules=rules)
    return NewEpisode(
        episode_id=identity,
        owner=Owner(TenantId(tenant_id), UserId(message.user_id)),
        session_id=message.session_id,
        position=message.position,
        role=role,
        time=moment(message.time, field_path=f"{path}.time") if message.HasField("time") else now,
        speaker=message.speaker,
        query=message.query,
        response=message.response,
        attachments=attachments_from_proto(message.attachments),
        sources=tuple(message.sources),
        confidence=message.confidence if message.HasField("confidence") else None,
        importance=message.importance if message.HasField("importance") else 0.5,
        scope_key=scope_from_proto(message.scope, present=message.HasField("scope"), field_path=f"{path}.scope").key,
        metadata=dict(message.metadata),
    )


def _check_turns(message: pb.NewEpisode, path: str, *, now: datetime, rules: Rules) -> None:
    """Check the texts by the rules of turns: the query with what is attached, and the response."""
    for name in ("query", "response"):
        text = getattr(message, name)
        is_query = name == "query"
        if not is_query and not text:
            continue
        # A turn must say something; here it is enough that query or response does.
        content = text or (message.response[:1] if message.response.strip() else "")
        turn = common_pb2.Turn(role=message.role, content=content)
        if is_query:
            turn.speaker = message.speaker
            turn.attachments.extend(message.attachments)
            turn.sources.extend(message.sources)
            turn.metadata.update(message.metadata)
        try:
            turn_from_proto(turn, now=now, field_path=path, limits=rules.limits.turn)
        except InvalidArgument as error:
            raise _renamed(error, f"{path}.content", f"{path}.{name}") from error


def _renamed(error: InvalidArgument, old_path: str, new_path: str) -> InvalidArgument:
    return InvalidArgument(
        "the episode is not valid",
        reason=error.reason,
        metadata=error.metadata,
        violations=[
            FieldViolation(new_path if v.field_path == old_path else v.field_path, v.description)
            for v in error.violations
        ],
    )


def _reader(request: pb.SearchEpisodesRequest | pb.SearchCandidatesRequest) -> Reader:
    return reader_from_proto(request.reader_scope, present=request.HasField("reader_scope"))


def _vector(message: common_pb2.Vector, path: str, rules: Rules) -> Vector:
    return vector_from_proto(message, model=rules.model, dimension=rules.dimension, field_path=path)


def _pieces(message: pb.NewEpisode, path: str, rules: Rules) -> list[TextEncoding]:
    vectors = [_vector(vector, f"{path}.piece_vectors[{i}]", rules) for i, vector in enumerate(message.piece_vectors)]
    tokens = [_tokens(piece, f"{path}.piece_tokens[{i}]", rules) for i, piece in enumerate(message.piece_tokens)]
    if len(tokens) != len(vectors):
        tokens = [None] * len(vectors)
    return [TextEncoding(vector, piece) for vector, piece in zip(vectors, tokens, strict=True)]


def _tokens(message: common_pb2.TokenVectors, path: str, rules: Rules) -> TokenVectors | None:
    """Token vectors; None where they are of another space than those that are kept."""
    found = token_vectors_from_proto(message, field_path=path)
    space = rules.tokens
    if space is None or (found.fingerprint, found.vectors.shape[1]) != (space.fingerprint, space.dimension):
        return None
    return found


def _bounded_ids(values: Sequence[str], *, field_path: str, count_max: int) -> list[EpisodeId]:
    _check_count(field_path, len(values), count_max)
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
        raise _invalid(path, "holds a NUL character")


def _check_count(path: str, count: int, count_max: int) -> None:
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
        raise _invalid(path, f"must be in [{least}, {most}]")
    return value


def _invalid(path: str, description: str) -> InvalidArgument:
    return InvalidArgument(f"{path} {description}", violations=[FieldViolation(path, description)])


def _unknown_enum(path: str, value: int) -> InvalidArgument:
    description = "is required" if value == 0 else f"has the unknown value {value}"
    return InvalidArgument(
        f"{path} {description}",
        reason=Reason.UNKNOWN_ENUM_VALUE,
        violations=[FieldViolation(path, description)],
    )

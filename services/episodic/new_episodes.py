"""From StoreEpisodes requests to episodes that are checked, with every default filled in."""

from __future__ import annotations

import math
from datetime import datetime

from mneme.common.v1 import common_pb2
from mneme.episodic.internal.v1 import episodic_internal_pb2 as internal_pb
from services.common.convert import (
    attachments_from_proto,
    moment,
    role_from_proto,
    scope_from_proto,
    turn_from_proto,
)
from services.common.embedding.tokens import TextEncoding
from services.common.errors import FieldViolation, InvalidArgument, MnemeError
from services.common.validation import Violations
from services.episodic.commands import Rules, check_count, episode_id, invalid, token_vectors, vector
from services.episodic.model import (
    POSITION_MAX,
    NewEpisode,
    Owner,
    TenantId,
    UserId,
)
from services.episodic.service import StoreItem


def store_items(
    request: internal_pb.StoreEpisodesRequest, *, tenant_id: str, now: datetime, rules: Rules
) -> list[StoreItem]:
    """The items of a batch; one that is not valid carries its error.

    Raises:
        InvalidArgument: The batch is empty or too large.
    """
    if not request.episodes:
        raise invalid("episodes", "is required")
    check_count("episodes", len(request.episodes), rules.limits.store_batch_max)
    return [
        _store_item(message, f"episodes[{i}]", tenant_id=tenant_id, now=now, rules=rules)
        for i, message in enumerate(request.episodes)
    ]


def _store_item(
    message: internal_pb.NewEpisode, path: str, *, tenant_id: str, now: datetime, rules: Rules
) -> StoreItem:
    try:
        return StoreItem(
            episode_id=message.episode_id,
            episode=_new_episode(message, path, tenant_id=tenant_id, now=now, rules=rules),
            pieces=_pieces(message, path, rules),
        )
    except MnemeError as error:
        return StoreItem(episode_id=message.episode_id, episode=error)


def _new_episode(
    message: internal_pb.NewEpisode, path: str, *, tenant_id: str, now: datetime, rules: Rules
) -> NewEpisode:
    identity = episode_id(message.episode_id, field_path=f"{path}.episode_id")
    violations = Violations()
    violations.identifier(f"{path}.user_id", message.user_id, chars_max=rules.limits.id_chars_max)
    violations.identifier(f"{path}.conversation_id", message.conversation_id, chars_max=rules.limits.id_chars_max)
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
        conversation_id=message.conversation_id,
        position=message.position,
        role=role,
        time=moment(message.time, field_path=f"{path}.time") if message.HasField("time") else now,
        speaker=message.speaker,
        query=message.query,
        response=message.response,
        attachments=attachments_from_proto(message.attachments),
        sources=tuple(message.sources),
        confidence=message.confidence if message.HasField("confidence") else None,
        importance=message.importance if message.HasField("importance") else None,
        scope_key=scope_from_proto(message.scope, present=message.HasField("scope"), field_path=f"{path}.scope").key,
        metadata=dict(message.metadata),
    )


def _check_turns(message: internal_pb.NewEpisode, path: str, *, now: datetime, rules: Rules) -> None:
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


def _pieces(message: internal_pb.NewEpisode, path: str, rules: Rules) -> list[TextEncoding]:
    vectors = [vector(each, f"{path}.piece_vectors[{i}]", rules) for i, each in enumerate(message.piece_vectors)]
    tokens = [token_vectors(piece, f"{path}.piece_tokens[{i}]", rules) for i, piece in enumerate(message.piece_tokens)]
    if len(tokens) != len(vectors):
        tokens = [None] * len(vectors)
    return [TextEncoding(each, piece) for each, piece in zip(vectors, tokens, strict=True)]

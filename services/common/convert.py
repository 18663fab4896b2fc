"""Between the messages of mneme.common.v1 and the models that all services share. Pure functions."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

import numpy as np
import numpy.typing as npt
from google.protobuf.timestamp_pb2 import Timestamp

from mneme.common.v1 import common_pb2 as pb
from services.common.embedding.tokens import TokenVectors
from services.common.errors import FieldViolation, InvalidArgument, Reason
from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel, check_scope
from services.common.turns import Attachment, MessageRole, Turn, TurnLimits
from services.common.validation import Violations

_DEFAULT_TURN_LIMITS = TurnLimits()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: The first and the last year of times that are accepted. A store reads the ends of the calendar as infinity, and
#: reckoning with spans of time must not leave the calendar.
YEAR_MIN = 1900
YEAR_MAX = 2200
_SECONDS_MIN = int(datetime(YEAR_MIN, 1, 1, tzinfo=UTC).timestamp())
_SECONDS_END = int(datetime(YEAR_MAX + 1, 1, 1, tzinfo=UTC).timestamp())


def timestamp(moment: datetime) -> Timestamp:
    """An aware datetime as a Timestamp, to the microsecond."""
    # By arithmetic: FromDatetime is slow, and a response holds hundreds of times.
    since = moment - _EPOCH
    return Timestamp(seconds=since.days * 86_400 + since.seconds, nanos=since.microseconds * 1_000)


def write_timestamp(message: Timestamp, moment: datetime) -> None:
    """Set a message's field of this type, in place: half the time of making another and copying it."""
    since = moment - _EPOCH
    message.seconds = since.days * 86_400 + since.seconds
    message.nanos = since.microseconds * 1_000


def moment(message: Timestamp, *, field_path: str) -> datetime:
    """A Timestamp as an aware UTC datetime.

    Raises:
        InvalidArgument: It lies outside the years 1900 to 2200 or its nanoseconds outside [0, 1e9).
    """
    if not 0 <= message.nanos < 1_000_000_000:
        raise _invalid(field_path, "has nanoseconds outside [0, 999999999]")
    if not _SECONDS_MIN <= message.seconds < _SECONDS_END:
        raise _invalid(field_path, f"must lie between the years {YEAR_MIN} and {YEAR_MAX}")
    return _EPOCH + timedelta(seconds=message.seconds, microseconds=message.nanos // 1_000)


def scope_from_proto(message: pb.Scope, *, present: bool, field_path: str) -> Scope:
    """The scope, GLOBAL where it is not set.

    Raises:
        InvalidArgument: The level is unknown, or an id does not fit it.
    """
    if not present:
        return GLOBAL_SCOPE
    return _checked_scope(
        message.level, message.project_id, message.session_id, message.task_id, message.context_id, field_path
    )


def scope_to_proto(scope: Scope) -> pb.Scope:
    """The scope as a message."""
    return pb.Scope(
        level=pb.ScopeLevel.Name(int(scope.level)),
        project_id=scope.project_id,
        session_id=scope.session_id,
        task_id=scope.task_id,
        context_id=scope.context_id,
    )


def write_scope(message: pb.Scope, scope: Scope) -> None:
    """Set a message's field of this type, in place: a quarter of the time of making another and copying it."""
    message.level = cast("pb.ScopeLevel", int(scope.level))
    if scope.project_id:
        message.project_id = scope.project_id
    if scope.session_id:
        message.session_id = scope.session_id
    if scope.task_id:
        message.task_id = scope.task_id
    if scope.context_id:
        message.context_id = scope.context_id


def role_from_proto(value: int, *, field_path: str) -> MessageRole:
    """The role.

    Raises:
        InvalidArgument: It is unspecified or unknown.
    """
    try:
        return MessageRole(value)
    except ValueError as error:
        raise _unknown_enum(field_path, value) from error


def turn_from_proto(
    message: pb.Turn, *, now: datetime, field_path: str, limits: TurnLimits = _DEFAULT_TURN_LIMITS
) -> Turn:
    """The turn, with `now` for a time that is not set.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit; all of them are named by path.
    """
    role = role_from_proto(message.role, field_path=f"{field_path}.role")
    violations = Violations()
    _check_texts(violations, message, field_path, limits)
    _check_bounds(violations, message, field_path, limits)
    time = now
    if message.HasField("time"):
        try:
            time = moment(message.time, field_path=f"{field_path}.time")
        except InvalidArgument as error:
            violations.include(error)
    violations.raise_if_any("the turn is not valid")
    return Turn(
        role=role,
        content=message.content,
        time=time,
        speaker=message.speaker,
        attachments=attachments_from_proto(message.attachments),
        confidence=message.confidence if message.HasField("confidence") else None,
        importance=message.importance if message.HasField("importance") else None,
        sources=tuple(message.sources),
        metadata=dict(message.metadata),
    )


def turn_to_proto(turn: Turn) -> pb.Turn:
    """The turn as a message."""
    message = pb.Turn(
        role=pb.MessageRole.Name(int(turn.role)),
        speaker=turn.speaker,
        content=turn.content,
        time=timestamp(turn.time),
        attachments=attachments_to_proto(turn.attachments),
        sources=turn.sources,
        metadata=turn.metadata,
    )
    if turn.confidence is not None:
        message.confidence = turn.confidence
    if turn.importance is not None:
        message.importance = turn.importance
    return message


def attachments_from_proto(messages: Sequence[pb.Attachment]) -> tuple[Attachment, ...]:
    """The attachments, unchecked."""
    return tuple(Attachment(uri=m.uri, mime_type=m.mime_type, caption=m.caption) for m in messages)


def attachments_to_proto(attachments: Sequence[Attachment]) -> list[pb.Attachment]:
    """The attachments as messages."""
    return [pb.Attachment(uri=a.uri, mime_type=a.mime_type, caption=a.caption) for a in attachments]


def vector_from_proto(message: pb.Vector, *, model: str, dimension: int, field_path: str) -> npt.NDArray[np.float32]:
    """The vector, of shape (dimension,).

    Raises:
        InvalidArgument: It has another dimension, comes from another model, or holds NaN or infinity.
    """
    values = np.asarray(message.values, dtype=np.float32)
    problem = ""
    if message.model != model:
        problem = f"comes from model {message.model[:128]!r}; this service uses {model!r}"
    elif values.shape != (dimension,):
        problem = f"has {values.size} components instead of {dimension}"
    elif not np.isfinite(values).all():
        problem = "holds a component that is not finite"
    if problem:
        raise InvalidArgument(
            "the vector is not valid",
            reason=Reason.INVALID_VECTOR,
            violations=[FieldViolation(field_path, problem)],
        )
    return values


def vector_to_proto(vector: npt.NDArray[np.float32], *, model: str) -> pb.Vector:
    """The vector as a message."""
    return pb.Vector(model=model, values=vector.tolist())


def token_vectors_from_proto(message: pb.TokenVectors, *, field_path: str) -> TokenVectors:
    """The token vectors, as views of the message's bytes.

    Raises:
        InvalidArgument: There is no dimension, or not as many vectors as ids.
    """
    count, rest = divmod(len(message.token_ids), 2)
    if message.dimension < 1 or rest or len(message.vectors) != count * message.dimension:
        problem = (
            f"has {len(message.vectors)} bytes of vectors instead of {message.dimension} for each of {count} tokens"
        )
        raise InvalidArgument(
            "the token vectors are not valid",
            reason=Reason.INVALID_VECTOR,
            violations=[FieldViolation(field_path, problem)],
        )
    return TokenVectors(
        fingerprint=message.model,
        ids=np.frombuffer(message.token_ids, dtype="<u2"),
        vectors=np.frombuffer(message.vectors, dtype=np.int8).reshape(count, message.dimension),
    )


def token_vectors_to_proto(tokens: TokenVectors) -> pb.TokenVectors:
    """The token vectors as a message."""
    return pb.TokenVectors(
        model=tokens.fingerprint,
        dimension=tokens.vectors.shape[1],
        token_ids=tokens.ids.astype("<u2", copy=False).tobytes(),
        vectors=tokens.vectors.tobytes(),
    )


@functools.lru_cache(maxsize=1_024)  # a response's memories lie in a few places, which are read again and again
def _checked_scope(
    level: int, project_id: str, session_id: str, task_id: str, context_id: str, field_path: str
) -> Scope:
    try:
        scope = Scope(ScopeLevel(level), project_id, session_id, task_id, context_id)
    except ValueError as error:
        raise _unknown_enum(f"{field_path}.level", level) from error
    check_scope(scope, field_path=field_path)
    return scope


def _check_texts(violations: Violations, message: pb.Turn, path: str, limits: TurnLimits) -> None:
    texts = [
        ("content", message.content, limits.content_chars_max),
        ("speaker", message.speaker, limits.speaker_chars_max),
    ]
    for i, attachment in enumerate(message.attachments[: limits.attachments_max]):
        texts.append((f"attachments[{i}].uri", attachment.uri, limits.uri_chars_max))
        texts.append((f"attachments[{i}].mime_type", attachment.mime_type, limits.mime_type_chars_max))
        texts.append((f"attachments[{i}].caption", attachment.caption, limits.caption_chars_max))
    texts.extend((f"sources[{i}]", s, limits.source_chars_max) for i, s in enumerate(message.sources))
    for key, value in message.metadata.items():
        texts.append((f"metadata[{key[:64]}]", key, limits.metadata_key_chars_max))
        texts.append((f"metadata[{key[:64]}]", value, limits.metadata_value_chars_max))
    good = [violations.text(f"{path}.{name}", text, chars_max=most, required=False) for name, text, most in texts]
    if not message.content.strip() and not any(a.caption.strip() for a in message.attachments):
        violations.add(f"{path}.content", "is required")
    payload_chars = sum(len(text) for _, text, _ in texts)
    if all(good) and payload_chars > limits.payload_chars_max:
        violations.add(
            path,
            f"has {payload_chars} characters in all its texts, at most {limits.payload_chars_max} are allowed",
            reason=Reason.TEXT_TOO_LONG,
            facts={"limit": str(limits.payload_chars_max), "actual": str(payload_chars)},
        )


def _check_bounds(violations: Violations, message: pb.Turn, path: str, limits: TurnLimits) -> None:
    violations.count(f"{path}.attachments", len(message.attachments), count_max=limits.attachments_max)
    violations.count(f"{path}.sources", len(message.sources), count_max=limits.sources_max)
    violations.count(f"{path}.metadata", len(message.metadata), count_max=limits.metadata_entries_max)
    shares = {"confidence": message.confidence, "importance": message.importance}
    for name, value in shares.items():  # 0 where unset
        if not (math.isfinite(value) and 0.0 <= value <= 1.0):
            violations.add(f"{path}.{name}", "must be in [0, 1]")


def _invalid(field_path: str, description: str) -> InvalidArgument:
    return InvalidArgument(f"{field_path} {description}", violations=[FieldViolation(field_path, description)])


def _unknown_enum(field_path: str, value: int) -> InvalidArgument:
    description = "is required" if value == 0 else f"has the unknown value {value}"
    return InvalidArgument(
        f"{field_path} {description}",
        reason=Reason.UNKNOWN_ENUM_VALUE,
        violations=[FieldViolation(field_path, description)],
    )

"""From responses to plain data: shared parts, writing, deliveries. Pure functions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from google.rpc import status_pb2

from mneme.common.v1 import common_pb2
from mneme.errors.v1 import error_reason_pb2
from mneme.gateway.v1 import deliveries_pb2, grants_pb2, memory_pb2
from mneme_client import results as r
from mneme_client.enums import MemoryKind, Role, ScopeLevel, Tier
from mneme_client.enums_decisions import GateReason
from mneme_client.errors import from_item_status
from mneme_client.types import Attachment, Scope, Turn


def moment(message: Message, field: str) -> datetime | None:
    """The Timestamp in a field as an aware UTC datetime, None where it is unset."""
    if not message.HasField(field):
        return None
    value: Timestamp = getattr(message, field)
    return value.ToDatetime(tzinfo=UTC)


def duration(value: Duration) -> timedelta:
    """A Duration, to the microsecond."""
    return value.ToTimedelta()


def scope(message: common_pb2.Scope) -> Scope:
    """The scope; an unset one is GLOBAL."""
    level = ScopeLevel(message.level) or ScopeLevel.GLOBAL
    return Scope(level, message.project_id, message.session_id, message.task_id, message.context_id)


def attachment(message: common_pb2.Attachment) -> Attachment:
    """The attachment."""
    return Attachment(uri=message.uri, mime_type=message.mime_type, caption=message.caption)


def turn(message: common_pb2.Turn) -> Turn:
    """The turn."""
    return Turn(
        content=message.content,
        role=Role(message.role),
        speaker=message.speaker,
        time=moment(message, "time"),
        attachments=tuple(attachment(a) for a in message.attachments),
        confidence=message.confidence if message.HasField("confidence") else None,
        importance=message.importance if message.HasField("importance") else None,
        sources=tuple(message.sources),
        metadata=dict(message.metadata),
    )


def remember_result(message: memory_pb2.RememberResponse) -> r.RememberResult:
    """The acknowledgement."""
    return r.RememberResult(
        interactions=tuple(
            r.InteractionReference(
                i.interaction_id, i.position, i.verdict.gated, GateReason(i.verdict.reason), i.verdict.detail
            )
            for i in message.interactions
        ),
        consistency_token=message.consistency_token,
        replayed=message.replayed,
    )


def item_error(message: status_pb2.Status) -> r.ItemError:
    """Why an item was refused."""
    error = from_item_status(message)
    first = error.violations[0] if error.violations else None
    return r.ItemError(
        error.code,
        error.reason,
        first.description if first else error.message,
        first.field_path if first else "",
    )


def item_outcome(message: memory_pb2.RememberBatchResult) -> r.RememberResult | r.ItemError:
    """The outcome of one item of a batch."""
    return item_error(message.error) if message.HasField("error") else remember_result(message.response)


class StreamOutcomes:
    """Adds up the responses to a stream."""

    def __init__(self, on_outcome: Callable[[int, r.RememberResult | r.ItemError], None] | None) -> None:
        """Reports each outcome to `on_outcome`."""
        self._on_outcome = on_outcome
        self._accepted_count = 0
        self._turn_count = 0
        self._refused: list[r.RefusedItem] = []
        self._consistency_token = ""

    def add(self, message: memory_pb2.RememberStreamResponse) -> None:
        """Adds one response."""
        outcome: r.RememberResult | r.ItemError
        if message.HasField("error"):
            outcome = item_error(message.error)
            self._refused.append(r.RefusedItem(message.index, outcome))
        else:
            outcome = remember_result(message.response)
            self._accepted_count += 1
            self._turn_count += len(outcome.interactions)
            self._consistency_token = outcome.consistency_token  # covers what was accepted before
        if self._on_outcome is not None:
            self._on_outcome(message.index, outcome)

    def result(self) -> r.StreamResult:
        """The totals of all responses."""
        return r.StreamResult(self._accepted_count, self._turn_count, tuple(self._refused), self._consistency_token)


def feedback_result(message: memory_pb2.FeedbackResponse) -> r.FeedbackResult:
    """The acknowledgement of a judgement."""
    return r.FeedbackResult(message.consistency_token, message.memory_count, message.replayed)


def judged_recall(message: memory_pb2.JudgedRecall) -> r.JudgedRecall:
    """A recall with what was judged good."""

    def ids(kind: MemoryKind) -> tuple[str, ...]:
        return tuple(memory.memory_id for memory in message.good_memories if MemoryKind(memory.kind) is kind)

    return r.JudgedRecall(
        recall_id=message.recall_id,
        query=message.query,
        memory_ids=ids(MemoryKind.EPISODE),
        fact_ids=ids(MemoryKind.FACT),
        note_ids=ids(MemoryKind.NOTE),
        create_time=moment(message, "create_time"),
    )


def backlog(message: deliveries_pb2.GetBacklogResponse) -> tuple[r.TierBacklog, ...]:
    """The deliveries of each tier."""
    return tuple(
        r.TierBacklog(
            tier=Tier(m.tier),
            pending_count=m.pending_count,
            dead_count=m.dead_count,
            oldest_age=duration(m.oldest_age) if m.HasField("oldest_age") else None,
        )
        for m in message.tiers
    )


def grant(message: grants_pb2.Grant) -> r.Grant:
    """A grant."""
    return r.Grant(
        grant_id=message.grant_id,
        user_id=message.user_id,
        from_scope=scope(message.from_scope),
        to_scope=scope(message.to_scope),
        kinds=tuple(MemoryKind(kind) for kind in message.kinds),
        create_time=moment(message, "create_time"),
        expire_time=moment(message, "expire_time"),
        principal_id=message.principal_id,
    )


def dead_letter(message: deliveries_pb2.DeadLetter) -> r.DeadLetter:
    """A delivery that was given up."""
    return r.DeadLetter(
        delivery_id=message.delivery_id,
        tier=Tier(message.tier),
        subject_id=message.subject_id,
        user_id=message.user_id,
        attempt_count=message.attempt_count,
        reason=error_reason_pb2.ErrorReason.Name(message.reason).removeprefix("ERROR_REASON_"),
        detail=message.detail,
        give_up_time=moment(message, "give_up_time"),
    )

"""What the journal holds: interactions, deliveries, conversations. Frozen data and pure functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Final, Generic, TypeVar

from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.settings_types import Count, Duration, DurationOrNone, Factor
from services.common.turns import Turn
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.gate import UNJUDGED, Verdict

T = TypeVar("T")

ITEM_KEY: Final = "mneme.context_item"
"""Metadata of an interaction that was an item of a context window: the item's id."""

ARCHIVE_SUFFIX: Final = "#context"
"""Of the conversation that items removed from a conversation's context window stand in."""


class Tier(IntEnum):
    """Who takes deliveries; the numbers are those of the wire format."""

    SESSION = 1
    EPISODIC = 2
    SEMANTIC = 3
    AGENTIC = 4
    PROFILE = 5


IN_ORDER: Final = frozenset({Tier.AGENTIC})
"""Tiers that take a user's deliveries in the order of their writing, through all gateways: a note is linked to those
before it, and quotes the question before it. At most one gateway has deliveries of a user to such a tier."""


class SubjectKind(IntEnum):
    """What a delivery carries."""

    INTERACTION = 1
    FEEDBACK = 2
    SESSION_EVENT = 3


@dataclass(frozen=True, slots=True)
class RememberCommand:
    """Turns of one conversation to be made durable together."""

    user_id: str
    conversation_id: str
    turns: tuple[Turn, ...]
    scope: Scope = GLOBAL_SCOPE
    request_id: str = ""  # empty: not idempotent
    digest: bytes = b""  # of the whole request: distinguishes a repeat from another request under the same id
    interaction_ids: tuple[str, ...] = ()  # of the turns, one for one; empty: made by the journal
    tiers: tuple[Tier, ...] = ()  # that take the turns; empty: all


class FeedbackValue(IntEnum):
    """A judgement; the numbers are those of the wire format."""

    GOOD = 1
    BAD = 2
    NONE = 3

    @property
    def stored(self) -> int:
        """As the journal and the tiers store it: 1, -1, or 0 for a judgement that was taken back."""
        return {FeedbackValue.GOOD: 1, FeedbackValue.BAD: -1, FeedbackValue.NONE: 0}[self]


@dataclass(frozen=True, slots=True)
class FeedbackCommand:
    """A judgement of memories, or of a recall as a whole."""

    request_id: str
    user_id: str
    memories: tuple[tuple[MemoryKind, str], ...]  # kinds and ids, each id a UUID; empty where there is a recall
    value: int  # -1, 0 or 1
    digest: bytes = b""  # of the whole request
    recall_id: str = ""  # the recall that is judged; empty for single memories


@dataclass(frozen=True, slots=True)
class RetryCommand:
    """Dead letters to be put back into the queue."""

    request_id: str
    delivery_ids: tuple[int, ...]
    digest: bytes = b""  # of the whole request


@dataclass(frozen=True, slots=True)
class SequenceSpan:
    """Journal sequence numbers from `first` to `last`, both included; what a consistency token names."""

    first: int
    last: int

    def joined(self, other: SequenceSpan) -> SequenceSpan:
        """The shortest span that covers both."""
        return SequenceSpan(min(self.first, other.first), max(self.last, other.last))


@dataclass(frozen=True, slots=True)
class Appended:
    """Where the turns of one command went."""

    interaction_ids: tuple[str, ...]
    first_position: int
    span: SequenceSpan
    replayed: bool  # an earlier call with this request id wrote them
    verdicts: tuple[Verdict, ...] = ()  # of the write gate, on each of the turns


@dataclass(frozen=True, slots=True)
class FeedbackRecorded:
    """A judgement that is durable."""

    span: SequenceSpan
    memory_count: int  # how many memories are judged
    replayed: bool


@dataclass(frozen=True, slots=True)
class Interaction:
    """One turn in the log."""

    tenant_id: str
    interaction_id: str
    user_id: str
    conversation_id: str
    position: int
    turn: Turn
    scope: Scope
    create_time: datetime
    verdict: Verdict = UNJUDGED  # of the write gate

    @property
    def text_chars(self) -> int:
        """Characters of all texts of the turn: what it weighs on its way."""
        turn = self.turn
        chars = len(turn.content) + len(turn.speaker) + sum(map(len, turn.sources))
        chars += sum(len(a.uri) + len(a.mime_type) + len(a.caption) for a in turn.attachments)
        return chars + sum(len(key) + len(value) for key, value in turn.metadata.items())


@dataclass(frozen=True, slots=True)
class RecallRecord:
    """What one recall returned."""

    tenant_id: str
    recall_id: str  # a UUID
    user_id: str
    memories: tuple[tuple[MemoryKind, str], ...]  # kinds and ids, each id a UUID
    create_time: datetime
    principal_id: str = ""  # who asked: for the audit log, not stored here
    query: str = ""  # as it was asked; empty where it is long, or a memory that was returned has been erased
    scope: Scope = GLOBAL_SCOPE  # the reader's
    procedure_ids: tuple[str, ...] = ()  # procedures that were applied
    counts_use: bool = True  # whether its notes count as used together; not read back
    also_read: tuple[str, ...] = ()  # ids of turns that were returned and are not judged; for the audit log alone
    method: str = "Recall"  # by which it was asked: for the audit log, not stored here

    def ids(self, kind: MemoryKind) -> list[str]:
        """The returned memories of a kind, best first."""
        return [memory_id for memory_kind, memory_id in self.memories if memory_kind is kind]

    @property
    def read_ids(self) -> list[str]:
        """All that was read, each once: what was returned, and the procedures that were applied."""
        return list(
            dict.fromkeys([*(memory_id for _, memory_id in self.memories), *self.also_read, *self.procedure_ids])
        )


@dataclass(frozen=True, slots=True)
class Feedback:
    """One judgement in the log."""

    tenant_id: str
    feedback_id: str
    user_id: str
    memories: tuple[tuple[MemoryKind, str], ...]  # kinds and ids
    value: int  # -1, 0 or 1
    recall: RecallRecord | None = None  # the recall that is judged, where its record is there

    def ids(self, kind: MemoryKind) -> list[str]:
        """The judged memories of a kind."""
        return [memory_id for memory_kind, memory_id in self.memories if memory_kind is kind]


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """What the session tier had for the log, and the log did not take."""

    tenant_id: str
    event_id: str  # a UUID
    user_id: str
    payload: bytes  # mneme.session.internal.v1.LogEvent


@dataclass(frozen=True, slots=True)
class Delivery:
    """One thing that one tier has still to take."""

    tenant_id: str
    delivery_id: int
    tier: Tier
    attempts: int
    trace_context: str
    subject: Interaction | Feedback | SessionEvent
    create_time: datetime


@dataclass(frozen=True, slots=True)
class DeliveryFailure:
    """Why a tier refused one delivery."""

    delivery: Delivery
    reason: str  # an error reason
    permanent: bool  # trying again cannot help
    detail: str = ""  # what the tier said, without user content


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """What came of a batch."""

    done: tuple[Delivery, ...] = ()
    failed: tuple[DeliveryFailure, ...] = ()

    def __add__(self, other: DeliveryOutcome) -> DeliveryOutcome:
        """Both outcomes as one."""
        return DeliveryOutcome(self.done + other.done, self.failed + other.failed)


class DeliveryState(IntEnum):
    """What became of the deliveries of a span."""

    PENDING = 1  # some wait, or are under way
    DELIVERED = 2  # the tiers have taken all of them
    GIVEN_UP = 3  # none waits, and some are dead letters: what they carry is not visible


@dataclass(frozen=True, slots=True)
class Removed:
    """What a removal took out of the journal."""

    interactions: int = 0
    feedback: int = 0
    deliveries: int = 0  # dead letters included
    recalls: int = 0  # records of what a recall returned
    requests: int = 0  # idempotency records
    grants: int = 0
    data_keys: int = 0  # destroyed keys that content was encrypted with
    documents: int = 0

    def __add__(self, other: Removed) -> Removed:
        """Both together."""
        return Removed(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))


@dataclass(frozen=True, slots=True)
class Conversation:
    """An entry of the conversation log."""

    conversation_id: str
    user_id: str
    interaction_count: int
    create_time: datetime
    update_time: datetime


@dataclass(frozen=True, slots=True)
class TierBacklog:
    """Deliveries of one tier that wait or were given up."""

    tier: Tier
    pending_count: int
    dead_count: int
    oldest_create_time: datetime | None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A delivery that was given up."""

    delivery_id: int
    tier: Tier
    subject_id: str
    user_id: str
    attempts: int
    last_reason: str
    last_detail: str
    given_up_time: datetime


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a listing."""

    items: tuple[T, ...]
    next_cursor: tuple[str | int | float, ...] | None = None  # where the next page begins, None on the last


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When a refused delivery is tried again, and when it is given up."""

    first_delay: DurationOrNone = timedelta(seconds=1)  # wait after the first refusal
    factor: Factor = 2.0  # by which the wait grows with each
    delay_max: Duration = timedelta(minutes=5)  # longest wait
    attempts_max: Count = 12  # with the delays above: given up after some 30 minutes of refusals

    def delay(self, attempts: int) -> timedelta:
        """The wait after the given number of failed attempts, from 1."""
        seconds = self.first_delay.total_seconds() * self.factor ** min(attempts - 1, 32)
        return min(timedelta(seconds=seconds), self.delay_max)


@dataclass(frozen=True, slots=True)
class JournalLimits:
    """Bounds of what one call may write."""

    turns_per_item_max: Count = 256  # turns of one interaction
    items_per_batch_max: Count = 100  # interactions in one RememberBatch
    turns_per_batch_max: Count = 1_000  # turns of them together
    id_chars_max: Count = 128  # user, session, interaction and request ids
    memory_ids_max: Count = 200  # memories named in one Feedback


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf the journal is written."""

    tenant_id: str
    principal_id: str
    trace_context: str = field(default="")  # W3C traceparent, stored with deliveries

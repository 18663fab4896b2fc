"""What `build_context` returns: plain frozen data, no message of the wire format."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mneme_client.enums import ContextSectionKind, ContextSectionState, MemoryKind, Role
from mneme_client.results import Conflict, Explanation, QueryReading, TierReport
from mneme_client.trust import SourceTrust


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One line of a context. Its text is data, never an instruction."""

    text: str
    memory_id: str
    interaction_ids: tuple[str, ...]
    pruned: bool = False  # sentences were left out
    duplicate_memory_ids: tuple[str, ...] = ()  # memories that say nearly the same and are not in the text


@dataclass(frozen=True, slots=True)
class ContextTurn:
    """One turn of a passage. Its text is data, never an instruction."""

    memory_id: str
    speaker: str  # may be empty
    role: Role
    time: datetime | None
    position: int  # place in the conversation, from 0
    text: str  # in whole sentences; "…" stands where some were left out
    pruned: bool
    duplicate_memory_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContextPassage:
    """A run of neighbouring turns of one conversation."""

    text: str  # as it stands in the context
    conversation_id: str  # empty for the running one
    speakers: tuple[str, ...]  # names or roles, in order of appearance
    start_time: datetime | None
    end_time: datetime | None
    turns: tuple[ContextTurn, ...]  # oldest first
    rank: int  # of its best turn among the memories, from 1; 0 in the running conversation


@dataclass(frozen=True, slots=True)
class ContextSection:
    """One part of a context."""

    kind: ContextSectionKind
    items: tuple[ContextItem, ...]
    token_count: int
    token_budget: int  # upper bound of token_count
    passages: tuple[ContextPassage, ...] = ()  # the turns of memories and of the running conversation


@dataclass(frozen=True, slots=True)
class ContextSectionReport:
    """The state of one section, also of one that is not in the text."""

    kind: ContextSectionKind
    state: ContextSectionState
    token_budget: int
    token_count: int
    candidate_count: int  # memories that were candidates
    included_count: int  # in the text or cited as duplicates
    duplicate_count: int
    pruned_count: int  # without some of their sentences


@dataclass(frozen=True, slots=True)
class ContextReason:
    """Why a memory of a context was recalled."""

    memory_id: str
    kind: MemoryKind
    score: float  # comparable within one kind of one response
    explanation: Explanation
    superseded_by: str = ""  # the memory that contradicts it and stands
    source_trust: SourceTrust = SourceTrust.UNSPECIFIED  # whose words it rests on


@dataclass(frozen=True, slots=True)
class ContextResult:
    """Text within a token budget, ready to put into a prompt."""

    text: str
    token_count: int
    tokenizer: str  # name of the tokenizer that counted
    sections: tuple[ContextSection, ...]
    tiers: tuple[TierReport, ...]
    degraded: bool
    reading: QueryReading
    recall_id: str  # in the service's logs and traces, and for feedback
    section_reports: tuple[ContextSectionReport, ...] = ()
    reasons: tuple[ContextReason, ...] = ()  # why each memory of the text was recalled
    conflicts: tuple[Conflict, ...] = ()
    consistent: bool | None = None  # None without a consistency token

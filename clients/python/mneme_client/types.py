"""What callers pass to the client, and the enums of its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Self


class WireEnum(IntEnum):
    """An enum of the wire format. A number of a newer server that this client does not know reads as 0."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        del value
        return cls(0)


class Role(WireEnum):
    """Who speaks in a turn."""

    UNSPECIFIED = 0
    USER = 1
    ASSISTANT = 2
    SYSTEM = 3
    TOOL = 4


class ScopeLevel(WireEnum):
    """How far a memory may be seen."""

    UNSPECIFIED = 0
    GLOBAL = 1
    PROJECT = 2
    SESSION = 3
    TASK = 4


class Tier(WireEnum):
    """A memory tier, or a part of one that takes deliveries of its own."""

    UNSPECIFIED = 0
    SESSION = 1
    EPISODIC = 2
    SEMANTIC = 3
    AGENTIC = 4
    PROFILE = 5


class FeedbackValue(WireEnum):
    """A judgement of memories."""

    UNSPECIFIED = 0
    GOOD = 1
    BAD = 2
    NONE = 3  # withdraws an earlier judgement


class TierState(WireEnum):
    """How a tier took part in a recall."""

    UNSPECIFIED = 0
    RESPONDED = 1
    SKIPPED = 2
    FAILED = 3


class MemoryKind(WireEnum):
    """What a recalled memory is."""

    UNSPECIFIED = 0
    EPISODE = 1
    FACT = 2
    NOTE = 3


class ErasureState(WireEnum):
    """How far an erasure is."""

    UNSPECIFIED = 0
    PENDING = 1
    DONE = 2


class ErasureStore(WireEnum):
    """A part of Mneme that holds memories."""

    UNSPECIFIED = 0
    JOURNAL = 1
    SESSION = 2
    EPISODIC = 3
    SEMANTIC = 4
    AGENTIC = 5


class ContextSectionKind(WireEnum):
    """What a section of a prompt's context holds."""

    UNSPECIFIED = 0
    RECENT_TURNS = 1
    FACTS = 2
    MEMORIES = 3
    NOTES = 4
    PROCEDURES = 5


class ContextSectionState(WireEnum):
    """Whether a section is in a prompt's context, and why not."""

    UNSPECIFIED = 0
    INCLUDED = 1
    EMPTY = 2
    BUDGET_TOO_SMALL = 3
    EXCLUDED = 4
    FAILED = 5
    ABSENT = 6


class ContextOrder(WireEnum):
    """In which order memories stand in a prompt's context."""

    UNSPECIFIED = 0
    BEST_FIRST = 1
    CHRONOLOGICAL = 2


class TaskType(WireEnum):
    """What a recall is for."""

    UNSPECIFIED = 0
    FACTUAL = 1
    RECOMMENDATION = 2
    CONVERSATIONAL = 3
    PROCEDURAL = 4
    DEBUGGING = 5
    GENERAL = 6


class ConflictPolicy(WireEnum):
    """Which of two memories that contradict each other stands."""

    UNSPECIFIED = 0
    RECENCY = 1
    CONFIDENCE = 2
    IMPORTANCE = 3
    USER_OVERRIDE = 4


class ConflictKind(WireEnum):
    """How memories contradict each other."""

    UNSPECIFIED = 0
    NEGATION = 1
    VALUE = 2


class ConflictReason(WireEnum):
    """What made the winner of a conflict win."""

    UNSPECIFIED = 0
    LATER = 1
    CONFIDENCE = 2
    IMPORTANCE = 3
    USER_CHOICE = 4
    STILL_VALID = 5
    RANK = 6


class FactCategory(WireEnum):
    """What a fact is about."""

    UNSPECIFIED = 0
    PREFERENCE = 1
    COMMITMENT = 2
    RELATIONSHIP = 3
    CONSTRAINT = 4
    INSTRUCTION = 5
    CONTEXT = 6
    PERSONAL_INFO = 7


class FactStatus(WireEnum):
    """How far a fact is established, and whether searches find it."""

    UNSPECIFIED = 0
    TENTATIVE = 1
    STABLE = 2
    DEPRECATED = 3
    MERGED_INTO = 4
    ARCHIVED = 5


class FactUse(WireEnum):
    """What facts are searched for; it decides how much confidence they need."""

    UNSPECIFIED = 0
    EXPLICIT_SEARCH = 1  # of at least 0.3
    PASSIVE_CONTEXT = 2  # above 0.5


class FactAdmission(WireEnum):
    """Why a search may return a fact."""

    UNSPECIFIED = 0
    CONFIDENT = 1
    EXPLICIT = 2


class FactVersionReason(WireEnum):
    """Why a state of a fact was replaced."""

    UNSPECIFIED = 0
    CONFIRMED = 1
    SUPERSEDED = 2
    CORRECTED = 3


class EpisodeStatus(WireEnum):
    """Where an episode is in its life cycle."""

    UNSPECIFIED = 0
    PENDING_EMBEDDING = 1
    ACTIVE = 2
    ARCHIVED = 3


class NoteStatus(WireEnum):
    """Whether searches find a note."""

    UNSPECIFIED = 0
    ACTIVE = 1
    ARCHIVED = 2


class LinkType(WireEnum):
    """How two notes are related."""

    UNSPECIFIED = 0
    RELATED_TO = 1
    SUPPORTS = 2
    CONTRADICTS = 3
    DERIVED_FROM = 4
    PART_OF = 5


class LinkOrigin(WireEnum):
    """Why a link was made."""

    UNSPECIFIED = 0
    SIMILARITY = 1
    CONVERSATION = 2
    CALLER = 3


class NoteKind(WireEnum):
    """What a note holds."""

    UNSPECIFIED = 0
    FACT = 1
    CONCEPT = 2
    PROCEDURE = 3
    OBSERVATION = 4
    PREFERENCE = 5


@dataclass(frozen=True, slots=True)
class Scope:
    """A place in the hierarchy GLOBAL > PROJECT > SESSION > TASK.

    A reader sees the memories of its own scope and of those above it on its path. An isolated context, such as an
    agent's, is a hierarchy of its own: from within nothing else is seen, and nobody else sees what is in it, without a
    grant.
    """

    level: ScopeLevel = ScopeLevel.GLOBAL
    project_id: str = ""  # required at PROJECT, optional below it
    session_id: str = ""  # required at SESSION, optional at TASK
    task_id: str = ""  # required at TASK
    context_id: str = ""  # of an isolated context; empty for the hierarchy that all share


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image, a sound or a file by reference."""

    uri: str = ""
    mime_type: str = ""
    caption: str = ""  # what it shows, in words; searched with the text


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said once."""

    content: str
    role: Role = Role.USER
    speaker: str = ""  # distinguishes the people of one conversation; may be empty
    time: datetime | None = None  # aware; None means now, on writing
    attachments: tuple[Attachment, ...] = ()
    confidence: float | None = None  # in [0, 1], where known
    importance: float | None = None  # in [0, 1]: how much it matters to remember it; None: it is scored
    sources: tuple[str, ...] = ()  # what supports it
    metadata: Mapping[str, str] = field(default_factory=dict)  # returned with the turn, not searched


@dataclass(frozen=True, slots=True)
class Scoring:
    """How recalled turns are ranked."""

    profile: str = ""  # evidence, light, balanced, assistant, narrative or interaction; empty: the service's choice
    weights: Mapping[str, float] = field(default_factory=dict)  # what replaces weights of the profile, by name


@dataclass(frozen=True, slots=True)
class ConflictChoice:
    """How contradicting memories are resolved."""

    policy: ConflictPolicy = ConflictPolicy.UNSPECIFIED  # the service's choice, RECENCY by default
    preferred_memory_ids: Sequence[str] = ()  # memories and facts that win with USER_OVERRIDE; empty with any other
    drop_superseded: bool = False  # omit what loses; otherwise it is marked


TurnInput = Turn | str
"""A turn, or just what the user said."""


@dataclass(frozen=True, slots=True)
class RememberItem:
    """Turns of one conversation, as one item of a batch or of a stream: all are taken or none."""

    user_id: str
    conversation_id: str
    turns: TurnInput | Sequence[TurnInput]
    scope: Scope | None = None  # None means GLOBAL
    request_id: str | None = None  # idempotency key; None means a new one

"""Facts and the statements behind them. Pure data."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Final, NewType

from services.common.owners import InteractionId, UserId
from services.common.scope import GLOBAL_SCOPE, Scope

FactId = NewType("FactId", str)
StatementId = NewType("StatementId", str)


class FactCategory(IntEnum):
    """What a fact is about; the numbers are those of the wire format."""

    PREFERENCE = 1
    COMMITMENT = 2
    RELATIONSHIP = 3
    CONSTRAINT = 4
    INSTRUCTION = 5
    CONTEXT = 6
    PERSONAL_INFO = 7


class FactStatus(IntEnum):
    """How far a fact is established; the numbers are those of the wire format."""

    TENTATIVE = 1
    STABLE = 2
    DEPRECATED = 3
    MERGED_INTO = 4
    ARCHIVED = 5


ACTIVE: Final = frozenset({FactStatus.TENTATIVE, FactStatus.STABLE})
"""The statuses of facts that searches find."""
RETIRED: Final = frozenset({FactStatus.DEPRECATED, FactStatus.ARCHIVED})
"""The statuses of facts that were active once and have no successor."""


class VersionReason(IntEnum):
    """Why a state of a fact was replaced; the numbers are those of the wire format."""

    CONFIRMED = 1
    SUPERSEDED = 2
    CORRECTED = 3


class FactUse(IntEnum):
    """What facts are wanted for; the numbers are those of the wire format."""

    EXPLICIT_SEARCH = 1
    PASSIVE_CONTEXT = 2


@dataclass(frozen=True, slots=True)
class FactDraft:
    """What somebody claims: found in an interaction or stated by a caller."""

    text: str  # the statement in plain words, in the third person
    category: FactCategory
    confidence: float  # in [0, 1]
    importance: float  # in [0, 1]
    subject: str = ""  # empty where not known, as the next two
    predicate: str = ""  # a word of the vocabulary, such as "lives_in"
    object: str = ""
    valid_from: datetime | None = None  # aware, UTC
    valid_to: datetime | None = None  # aware, UTC; None: it holds
    sentence: str = field(default="", compare=False)  # that it was read in; empty where not known


@dataclass(frozen=True, slots=True)
class Statement:
    """One utterance of a fact: its evidence.

    A fact's state is a function of its statements and of those of the facts that contradict it.
    """

    statement_id: StatementId  # of an extracted one the interaction's id
    time: datetime  # when it was said; aware, UTC
    draft: FactDraft
    interaction_ids: tuple[InteractionId, ...]
    is_correction: bool = False  # replaces what earlier statements say, instead of confirming it
    recorded_time: datetime | None = None  # when it was stored; None: when it was said
    sentences: tuple[int, ...] = ()  # of the turn that it was read in, by their numbers, also those of corrections
    shares_sentence: bool = False  # another fact was read in one of them

    @property
    def order(self) -> tuple[datetime, str]:
        """Place among statements: by when they were said, never by when they arrived; ties by id."""
        return (self.time, self.statement_id)

    @property
    def known_time(self) -> datetime:
        """Since when it is known here: an imported statement may be older."""
        return self.time if self.recorded_time is None else max(self.time, self.recorded_time)

    @property
    def effective_time(self) -> datetime:
        """Since when it is true as far as known: what it says itself, else when it was said."""
        return self.draft.valid_from or self.time


@dataclass(frozen=True, slots=True)
class Support:
    """An interaction that supports a fact by a statement of its own, which says the same in other words."""

    interaction_id: InteractionId
    time: datetime  # when it was said; aware, UTC
    recorded_time: datetime  # when it was stored; aware, UTC
    # The facts that it was given to, ascending: the supported one itself, and those merged into it. Not stored with it.
    given_to: tuple[FactId, ...] = field(default=(), compare=False)

    @property
    def known_time(self) -> datetime:
        """Since when it is known here."""
        return max(self.time, self.recorded_time)


@dataclass(frozen=True, slots=True)
class SimilarFact:
    """An active fact that is near to a statement, as far as the comparison of both depends on it."""

    fact_id: FactId
    text: str
    predicate: str  # empty where not known
    valid_from_time: datetime | None
    similarity: float = 1.0  # cosine of both, in [-1, 1]


@dataclass(frozen=True, slots=True)
class FactVersion:
    """An earlier state of a fact."""

    text: str
    confidence: float  # in [0, 1]
    replaced_time: datetime  # when what replaced it was said
    reason: VersionReason


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement with its evidence."""

    fact_id: FactId
    user_id: UserId
    text: str
    subject: str
    predicate: str
    object: str
    category: FactCategory
    confidence: float  # in [0, 1]
    importance: float  # in [0, 1]
    first_observed_time: datetime  # aware, UTC
    last_confirmed_time: datetime  # aware, UTC
    valid_from_time: datetime | None = None
    valid_to_time: datetime | None = None
    derived_from: tuple[InteractionId, ...] = ()  # the newest of them, oldest first
    evidence_count: int = 0  # how many interactions support it, those that say it in other words among them
    contradictions: tuple[FactId, ...] = ()  # ascending
    status: FactStatus = FactStatus.TENTATIVE
    merged_into_fact_id: FactId | None = None
    versions: tuple[FactVersion, ...] = ()  # oldest first
    scope: Scope = GLOBAL_SCOPE
    revision: int = 1  # counts writes that changed it
    fade_time: datetime | None = None  # when it is deprecated if no evidence comes; None: never, or not read
    feedback: int = 0  # the last judgement: -1, 0 or 1
    superseded_by: InteractionId | None = None  # the turn that ended it; computed from marks when it is read

    @property
    def etag(self) -> str:
        """Names this state of the fact. Ids are not used again, so that its revision is enough."""
        return str(self.revision)


@dataclass(frozen=True, slots=True)
class ScoredFact:
    """A hit of a search."""

    fact: Fact  # without versions
    similarity: float  # cosine to the query, in [-1, 1]
    confidence_now: float | None = None  # with decay, in [0, 1]; None: that of the fact


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """The facts that one interaction gave rise to or confirmed; the same for a repeat."""

    interaction_id: InteractionId
    fact_ids: tuple[FactId, ...]


@dataclass(frozen=True, slots=True)
class FactRecord:
    """A fact with all it follows from, as it is stored."""

    fact_id: FactId
    identity: bytes  # equal for statements of the same thing; see `identity.py`
    text_identity: bytes  # of its present text
    topic: bytes | None  # equal for facts that may exclude each other
    statements: tuple[Statement, ...]  # the newest of them where it has many
    scope: Scope
    fact: Fact | None = None  # its stored state; None before the first
    supports: tuple[Support, ...] = ()  # its own and those of facts merged into it; the newest where it has many
    judgement: int | None = None  # -1, 0 or 1, instead of the stored state's; None: that one holds
    earlier_evidence: int = 0  # interactions of the statements and supports that are not here
    is_context: bool = False  # loaded since another one contradicts it: not all that it follows from is loaded
    is_reduced: bool = False  # evidence was removed: all of it is loaded, and the stored state bounds nothing

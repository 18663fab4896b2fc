"""The resources of the tiers: episodes, facts, notes, links, profiles. Plain frozen data.

Times are aware and in UTC, and None where the service sent none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from mneme_client.enums import (
    EpisodeStatus,
    FactAdmission,
    FactCategory,
    FactStatus,
    FactVersionReason,
    LinkOrigin,
    LinkType,
    NoteKind,
    NoteStatus,
    Role,
)
from mneme_client.results_supersessions import Supersession
from mneme_client.types import Attachment, Scope


@dataclass(frozen=True, slots=True)
class Episode:
    """One event: a turn of a conversation."""

    episode_id: str  # a UUID: that of its interaction
    user_id: str
    conversation_id: str
    position: int  # place in the conversation, from 0
    role: Role
    speaker: str
    query: str  # what a person said; empty for a turn of the assistant
    response: str  # what the assistant said; empty for a turn of a person
    attachments: tuple[Attachment, ...]
    sources: tuple[str, ...]
    confidence: float | None  # in [0, 1], where known
    feedback: int  # -1 bad, 0 none, 1 good
    importance: float  # in [0, 1]
    decay_factor: float  # in (0, 1], at the time of the response
    access_count: int  # how often a recall returned it
    last_access_time: datetime | None  # None if never
    time: datetime | None  # when it happened
    create_time: datetime | None  # when it was stored
    scope: Scope
    status: EpisodeStatus
    metadata: Mapping[str, str]
    summary: str = ""  # of a long episode, once it is indexed
    superseded_by: str = ""  # the turn that superseded it or a part of it; "" none
    superseded_statements: tuple[Supersession, ...] = ()  # what of it holds no more; the rest may still hold
    marks_missing: bool = False  # the two fields before may lack something: the semantic tier did not respond in time

    @property
    def text(self) -> str:
        """What was said."""
        return self.query or self.response


@dataclass(frozen=True, slots=True)
class ScoredEpisode:
    """An episode that a search found."""

    episode: Episode
    score: float  # similarity x decay_factor x feedback factor
    similarity: float  # cosine, to the query


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """A question to compare two embedding models on."""

    query: str  # at most 8,192 characters
    relevant_episode_ids: tuple[str, ...] = ()  # that are right for it, where they are known; at most 200
    relevant_fact_ids: tuple[str, ...] = ()  # the same, where facts are compared
    relevant_note_ids: tuple[str, ...] = ()  # the same, where notes are compared


@dataclass(frozen=True, slots=True)
class ModelQuestionComparison:
    """What two embedding models find for a question: the ten nearest episodes, facts or notes each."""

    overlap: float  # share of them that both find, in [0, 1]; 1 where neither finds any
    first_recall: float | None  # share of the right ones that the present model finds; None: none is known
    second_recall: float | None  # the same of the second model


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """What the present and the second embedding model find for questions."""

    questions: tuple[ModelQuestionComparison, ...]  # in the order of the request
    first_model: str  # fingerprint
    second_model: str
    first_piece_count: int  # pieces of the user's episodes in the index of each model
    second_piece_count: int  # where it is smaller, the second index is not filled yet


@dataclass(frozen=True, slots=True)
class TextModelComparison:
    """What the present and the second embedding model find for questions among a user's facts or notes."""

    questions: tuple[ModelQuestionComparison, ...]  # in the order of the request
    first_model: str  # fingerprint
    second_model: str
    compared_count: int  # facts or notes that were compared
    truncated: bool  # the user has more of them


@dataclass(frozen=True, slots=True)
class FactVersion:
    """An earlier state of a fact."""

    text: str
    confidence: float  # in [0, 1]
    replaced_time: datetime | None  # when what replaced this state was said
    reason: FactVersionReason


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement about the user's world, with its provenance."""

    fact_id: str  # a UUID
    user_id: str
    text: str
    subject: str
    predicate: str
    object: str
    category: FactCategory
    status: FactStatus
    confidence: float  # in [0, 1]
    importance: float  # in [0, 1]
    first_observed_time: datetime | None
    last_confirmed_time: datetime | None
    valid_from_time: datetime | None  # since when it is true in the world, where known
    valid_to_time: datetime | None  # None while it holds
    derived_from: tuple[str, ...]  # ids of the newest interactions it comes from, oldest first
    evidence_count: int  # how many interactions support it
    contradictions: tuple[str, ...]  # ids of facts that say something else
    merged_into_fact_id: str  # with status MERGED_INTO
    versions: tuple[FactVersion, ...]  # earlier states, oldest first; empty in searches
    scope: Scope
    revision: int  # counts changes, from 1
    etag: str  # names this state, for updates and deletes
    feedback: int = 0  # the last judgement: -1 bad, 0 none, 1 good
    superseded_by: str = ""  # the turn whose statement superseded it, from `valid_to_time` on


@dataclass(frozen=True, slots=True)
class ScoredFact:
    """A fact that a search found."""

    fact: Fact
    similarity: float  # cosine, to the query
    admission: FactAdmission  # why the search may return it
    current_confidence: float | None = None  # with its decay, in [0, 1]


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a user stated about the responses it wants. Empty values were not stated."""

    response_format: str = ""
    detail_level: str = ""
    citation_style: str = ""
    language: str = ""  # BCP 47
    preferred_sources: tuple[str, ...] = ()
    excluded_sources: tuple[str, ...] = ()
    other: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProfileStatistics:
    """What was counted about a user."""

    user_turn_count: int
    assistant_turn_count: int
    conversation_count: int
    question_count: int
    mean_confidence: float | None
    peak_hours: tuple[int, ...]  # UTC, the busiest first
    first_interaction_time: datetime | None
    last_interaction_time: datetime | None
    good_feedback_count: int = 0  # turns that were judged good
    bad_feedback_count: int = 0
    mean_session_turns: float = 0.0  # of a conversation on one day, UTC
    mean_session_length: timedelta | None = None  # from its first to its last turn
    topics: tuple[tuple[str, int], ...] = ()  # words of most questions with their counts, the most frequent first
    query_types: tuple[tuple[str, int], ...] = ()  # types of questions, such as "who", with their counts


@dataclass(frozen=True, slots=True)
class Profile:
    """A user's profile; one that was never written is empty, with an empty etag."""

    user_id: str
    preferences: Preferences
    statistics: ProfileStatistics
    etag: str  # names this state of the preferences, for updates and deletes
    update_time: datetime | None
    learned_preferences: Preferences = field(default_factory=Preferences)  # what was set takes precedence
    fact_confidence_min: float = 0.0  # recalls return facts above it, unless tentative ones are included


@dataclass(frozen=True, slots=True)
class Note:
    """A note of the agentic tier."""

    note_id: str  # a UUID
    user_id: str
    content: str
    kind: NoteKind
    importance: float  # in [0, 1]
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    attachments: tuple[Attachment, ...]
    metadata: Mapping[str, str]
    derived_from: tuple[str, ...]  # ids of the interactions it comes from
    time: datetime | None  # when what it says happened
    scope: Scope
    status: NoteStatus
    access_count: int  # how often a search returned it
    last_access_time: datetime | None  # None if never
    create_time: datetime | None
    update_time: datetime | None  # accesses do not count
    etag: str  # names this state, for updates and deletes
    feedback: int = 0  # the last judgement: -1 bad, 0 none, 1 good
    source_note_ids: tuple[str, ...] = ()  # of a concept or summary that maintenance made: from which notes
    successor_id: str = ""  # of an archived note: the one that stands for it
    decay: float = 1.0  # share of the importance that the time since the last access has left, in (0, 1]
    superseded_by: str = ""  # the turn that superseded what it repeats; "" none, and in recalls, which name it beside
    superseded_statements: tuple[Supersession, ...] = ()  # the statement that it repeats and that holds no more
    marks_missing: bool = False  # the two fields before may lack something: the semantic tier did not respond in time


@dataclass(frozen=True, slots=True)
class Link:
    """An edge between two notes. RELATED_TO and CONTRADICTS have no direction."""

    from_note_id: str
    to_note_id: str
    type: LinkType
    strength: float  # in [0, 1]
    origin: LinkOrigin  # why it was made
    create_time: datetime | None
    update_time: datetime | None  # when its strength was last set
    etag: str  # names this state, for updates
    feedback: int = 0  # the last judgement of what holds both notes: -1 bad, 0 none, 1 good


@dataclass(frozen=True, slots=True)
class LinkedNote:
    """A note with links of it, strongest first."""

    note: Note
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class WalkedLink:
    """A step of a walk over links."""

    note_id: str  # the note that the step leaves
    strength: float  # in [0, 1]


@dataclass(frozen=True, slots=True)
class ScoredNote:
    """A note that a search found."""

    note: Note
    score: float  # the larger of its similarity and the score of the best path to it
    similarity: float  # cosine, to the query
    path: tuple[WalkedLink, ...]  # from a note found by similarity to this one; empty where it was found by similarity
    matched_attachment: int | None = None  # place of the attachment whose caption is similar; None: the note's text is


@dataclass(frozen=True, slots=True)
class NoteState:
    """What archiving and restoring change of a note."""

    note_id: str
    status: NoteStatus
    etag: str

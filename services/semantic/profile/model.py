"""Profiles: preferences that were set or learned, and statistics. Pure data and functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, Final

from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, UserId
from services.common.turns import MessageRole
from services.semantic.profile.reading import preferences_stated, query_type_of, topics_of

HOURS_A_DAY: Final = 24
CONFIDENCE_UNIT: Final = 1_000_000
"""Confidences are summed in millionths: sums of integers do not depend on the order of their parts."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a user wants of responses. Empty means: not known."""

    response_format: str = ""  # such as "bullet_points"
    detail_level: str = ""  # such as "brief"
    citation_style: str = ""  # such as "footnotes"
    language: str = ""  # BCP 47 tag
    preferred_sources: tuple[str, ...] = ()
    excluded_sources: tuple[str, ...] = ()
    other: Mapping[str, str] = field(default_factory=dict)


PREFERENCE_NAMES: Final = tuple(f.name for f in fields(Preferences))
"""What a mask may name."""


@dataclass(frozen=True, slots=True)
class ProfileStatistics:
    """What was counted from the turns of one hierarchy of scopes."""

    user_turn_count: int = 0
    assistant_turn_count: int = 0
    conversation_count: int = 0
    question_count: int = 0  # user turns that ask
    mean_confidence: float | None = None  # of turns that state one; None without any
    peak_hours: tuple[int, ...] = ()  # UTC, the busiest first, ties by hour
    first_interaction_time: datetime | None = None
    last_interaction_time: datetime | None = None
    good_feedback_count: int = 0  # turns judged good
    bad_feedback_count: int = 0
    mean_session_turns: float = 0.0  # of a session: the turns of a conversation on one day, UTC
    mean_session_length: timedelta | None = None  # from its first to its last turn
    topics: tuple[tuple[str, int], ...] = ()  # words of most questions with their counts, ties by word
    query_types: tuple[tuple[str, int], ...] = ()  # the same of the types of questions


@dataclass(frozen=True, slots=True)
class Learned:
    """What follows from what turns state and how they were judged."""

    preferences: Preferences = field(default_factory=Preferences)
    fact_confidence_min: float = 0.0  # facts must be above it to be used unasked


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of how a user likes to be served."""

    user_id: UserId
    preferences: Preferences = field(default_factory=Preferences)
    statistics: ProfileStatistics = field(default_factory=ProfileStatistics)
    etag: str = ""  # of the preferences; empty if they were never written
    update_time: datetime | None = None  # of the preferences
    learned: Learned = field(default_factory=Learned)


@dataclass(frozen=True, slots=True)
class Observation:
    """What counts of one interaction."""

    interaction_id: InteractionId
    user_id: UserId
    conversation_id: str
    role: MessageRole
    time: datetime  # aware, UTC
    confidence: int | None = None  # in millionths
    context_id: str = ""  # of an isolated context
    scope_key: str = "1"  # where what it teaches may be seen
    query_type: str = ""  # empty for what asks nothing
    topics: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    stated: Mapping[str, Any] | None = None  # preferences, as of `preferences_to_values`


@dataclass(frozen=True, slots=True)
class Lesson:
    """A turn that states preferences or was judged."""

    interaction_id: InteractionId
    stated: Mapping[str, Any] | None
    feedback: int  # -1, 0, 1
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of observed turns as a store sums them; from these follow the statistics."""

    user_turns: int
    assistant_turns: int
    conversations: int
    questions: int
    confidences: int
    confidence_sum: int  # in millionths
    good: int
    bad: int
    first_time: datetime
    last_time: datetime
    sessions: int  # conversations by days
    session_seconds: float  # of all of them
    hours: Mapping[int, int]  # user turns by hour of the day, UTC
    topics: tuple[tuple[str, int], ...]  # most frequent first, ties by name
    query_types: tuple[tuple[str, int], ...]

    def statistics(self, turns: int, *, peak_hours_max: int) -> ProfileStatistics:
        """The statistics of so many turns, one at least."""
        by_hour = [self.hours.get(hour, 0) for hour in range(HOURS_A_DAY)]
        return ProfileStatistics(
            user_turn_count=self.user_turns,
            assistant_turn_count=self.assistant_turns,
            conversation_count=self.conversations,
            question_count=self.questions,
            mean_confidence=self.confidence_sum / self.confidences / CONFIDENCE_UNIT if self.confidences else None,
            peak_hours=peak_hours(by_hour, count_max=peak_hours_max),
            first_interaction_time=self.first_time,
            last_interaction_time=self.last_time,
            good_feedback_count=self.good,
            bad_feedback_count=self.bad,
            mean_session_turns=turns / self.sessions,
            mean_session_length=timedelta(seconds=round(self.session_seconds / self.sessions)),
            topics=self.topics,
            query_types=self.query_types,
        )


def observation_of(source: SourceInteraction) -> Observation:
    """What an interaction adds to the profile."""
    turn = source.turn
    is_user = turn.role is MessageRole.USER
    query_type = query_type_of(turn.content) if is_user else ""
    return Observation(
        interaction_id=source.interaction_id,
        user_id=source.user_id,
        conversation_id=source.conversation_id,
        role=turn.role,
        time=turn.time,
        confidence=None if turn.confidence is None else round(turn.confidence * CONFIDENCE_UNIT),
        context_id=source.scope.context_id,
        scope_key=source.scope.key,
        query_type=query_type,
        topics=topics_of(turn.content) if query_type else (),
        sources=tuple(dict.fromkeys(turn.sources)),
        stated=(preferences_stated(turn.content) if is_user else None) or None,
    )


def merged(present: Preferences, new: Preferences, names: Sequence[str]) -> Preferences:
    """The present preferences with those of `names` replaced by the new ones'."""
    return replace(present, **{name: getattr(new, name) for name in names})


def peak_hours(counts: Sequence[int], *, count_max: int) -> tuple[int, ...]:
    """The hours with the most turns, the busiest first, ties by hour; hours without a turn are none."""
    busy = [hour for hour, count in enumerate(counts) if count > 0]
    return tuple(sorted(busy, key=lambda hour: (-counts[hour], hour))[:count_max])


def preferences_to_values(preferences: Preferences) -> dict[str, Any]:
    """The preferences as plain JSON values, without the empty ones."""
    return {name: value for name, value in asdict(preferences).items() if value}


def preferences_from_values(values: Mapping[str, Any]) -> Preferences:
    """The inverse of `preferences_to_values`. Names of a newer version are left out."""
    known: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values.items()
        if name in PREFERENCE_NAMES
    }
    return Preferences(**known)

"""Profiles: what was stated about how a user wants to be served, and what was counted. Pure data and functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Final

from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, UserId
from services.common.text import is_question
from services.common.turns import MessageRole

HOURS_A_DAY: Final = 24
CONFIDENCE_UNIT: Final = 1_000_000
"""Confidences are summed in millionths: sums of integers do not depend on the order of their parts."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a user wants of answers. Empty means: nothing was stated."""

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
    """What was counted from interactions."""

    user_turn_count: int = 0
    assistant_turn_count: int = 0
    conversation_count: int = 0
    question_count: int = 0  # user turns that ask
    mean_confidence: float | None = None  # of turns that state one; None without any
    peak_hours: tuple[int, ...] = ()  # UTC, the busiest first, ties by hour
    first_interaction_time: datetime | None = None
    last_interaction_time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything kept about how a user likes to be served."""

    user_id: UserId
    preferences: Preferences = field(default_factory=Preferences)
    statistics: ProfileStatistics = field(default_factory=ProfileStatistics)
    etag: str = ""  # of the preferences; empty if they were never written
    update_time: datetime | None = None  # of the preferences


@dataclass(frozen=True, slots=True)
class Observation:
    """What counts of one interaction."""

    interaction_id: InteractionId
    user_id: UserId
    conversation_id: str
    role: MessageRole
    time: datetime  # aware, UTC
    asks: bool
    confidence: int | None  # in millionths


def observation_of(source: SourceInteraction) -> Observation:
    """What an interaction adds to the statistics."""
    turn = source.turn
    return Observation(
        interaction_id=source.interaction_id,
        user_id=source.user_id,
        conversation_id=source.conversation_id,
        role=turn.role,
        time=turn.time,
        asks=turn.role is MessageRole.USER and is_question(turn.content),
        confidence=None if turn.confidence is None else round(turn.confidence * CONFIDENCE_UNIT),
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

"""From profiles to messages of mneme.semantic.v1. Pure functions; requests are read in `commands.py`."""

from __future__ import annotations

from mneme.semantic.v1 import profile_pb2 as pb
from services.common import convert as common
from services.semantic.profile.model import Preferences, Profile, ProfileStatistics


def profile_to_proto(profile: Profile) -> pb.Profile:
    """The profile as a message."""
    message = pb.Profile(
        user_id=profile.user_id,
        preferences=preferences_to_proto(profile.preferences),
        statistics=_statistics(profile.statistics),
        etag=profile.etag,
        learned_preferences=preferences_to_proto(profile.learned.preferences),
        fact_confidence_min=profile.learned.fact_confidence_min,
    )
    if profile.update_time is not None:
        message.update_time.CopyFrom(common.timestamp(profile.update_time))
    return message


def preferences_to_proto(preferences: Preferences) -> pb.Preferences:
    """The preferences as a message."""
    return pb.Preferences(
        response_format=preferences.response_format,
        detail_level=preferences.detail_level,
        citation_style=preferences.citation_style,
        language=preferences.language,
        preferred_sources=preferences.preferred_sources,
        excluded_sources=preferences.excluded_sources,
        other=preferences.other,
    )


def _statistics(statistics: ProfileStatistics) -> pb.ProfileStatistics:
    message = pb.ProfileStatistics(
        user_turn_count=statistics.user_turn_count,
        assistant_turn_count=statistics.assistant_turn_count,
        conversation_count=statistics.conversation_count,
        question_count=statistics.question_count,
        mean_confidence=statistics.mean_confidence,
        peak_hours=statistics.peak_hours,
        good_feedback_count=statistics.good_feedback_count,
        bad_feedback_count=statistics.bad_feedback_count,
        mean_session_turns=statistics.mean_session_turns,
        topics=[pb.ProfileCount(name=name, count=count) for name, count in statistics.topics],
        query_types=[pb.ProfileCount(name=name, count=count) for name, count in statistics.query_types],
    )
    if statistics.mean_session_length is not None:
        message.mean_session_length.FromTimedelta(statistics.mean_session_length)
    if statistics.first_interaction_time is not None:
        message.first_interaction_time.CopyFrom(common.timestamp(statistics.first_interaction_time))
    if statistics.last_interaction_time is not None:
        message.last_interaction_time.CopyFrom(common.timestamp(statistics.last_interaction_time))
    return message

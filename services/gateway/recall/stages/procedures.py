"""Applies learned patterns of other kinds than rewriting to a recall. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from services.gateway.recall.choices import Profile, ScoringChoice
from services.gateway.recall.model import AppliedPattern, AppliedProfile, RecallQuery
from services.gateway.recall.patterns import PatternKind


def with_patterns(
    query: RecallQuery, profile: AppliedProfile, patterns: Sequence[AppliedPattern]
) -> tuple[RecallQuery, AppliedProfile, tuple[AppliedPattern, ...]]:
    """The query ranked as the most confident strategy says, the profile with preferred sources, and what was applied.

    A profile that the caller names stays, and a source that the user excludes is not preferred.

    Args:
        query: What is asked.
        profile: What the user's profile asks for.
        patterns: Those that the query is for, the most confident first.
    """
    by_value = {known.value: known for known in Profile}
    excluded = {source.casefold() for source in profile.excluded_sources}
    may_rank = not query.scoring.is_named and not query.scoring.weights
    applied: list[AppliedPattern] = []
    for pattern in patterns:
        if pattern.kind is PatternKind.RETRIEVAL_STRATEGY:
            if not may_rank or pattern.replacement not in by_value:
                continue
            query = replace(query, scoring=ScoringChoice(by_value[pattern.replacement]))
            may_rank = False
        elif pattern.kind is PatternKind.SOURCE_SELECTION:
            if pattern.replacement.casefold() in excluded:
                continue
            preferred = dict.fromkeys((*profile.preferred_sources, pattern.replacement))
            profile = replace(profile, preferred_sources=tuple(preferred))
        applied.append(pattern)
    return query, profile, tuple(applied)

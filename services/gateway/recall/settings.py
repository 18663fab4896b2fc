"""Settings of a recall."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from services.common.paging import RESPONSE_BYTES_MAX
from services.common.settings_types import Amount, Count, CountOrNone, Factor, PositiveShare, ResponseBytes
from services.gateway.recall.choices import Profile

RETRIEVER_LIMIT_MAX: Final = 1_000
"""Hits of a retriever that the episodic tier returns at most."""


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """Limits and shares of a recall."""

    limit_default: Count = 10  # memories where no number is asked for
    limit_max: Count = 200  # memories of one response
    query_chars_max: Count = 8_192  # a question
    text_chars_max: Count = 1_000_000  # of all memories of a response
    response_bytes_max: ResponseBytes = RESPONSE_BYTES_MAX  # of a response; gRPC clients accept 4 MiB by default
    retriever_limit: Count = 200  # hits of each retriever of turns, at least; the rankers were fitted on so many
    neighbour_seeds: CountOrNone = 60  # best hits whose neighbours become candidates
    light_retriever_limit: Count = 70  # the same for the profile `light`, which trades little recall for time:
    light_neighbour_seeds: CountOrNone = 25  # compared in docs/experiments/2026-11-ranking.md
    neighbour_radius: CountOrNone = 2  # turns before and after
    fact_limit: CountOrNone = 10  # facts asked of the semantic tier; as many as turns where these are more
    note_limit: CountOrNone = 10  # notes asked of the agentic tier; as many as turns where these are more
    derived_limit_max: CountOrNone = 50  # facts, and notes, that a recall of many turns asks for
    derived_candidates: CountOrNone = 5  # facts, and notes, beyond those that take part when conflicts are settled
    candidate_factor: Factor = 4.0  # hits of each retriever of turns for each turn that is asked for, at least
    note_hops: CountOrNone = 2  # links walked from a note found by similarity
    tier_time_share: PositiveShare = 0.7  # of the time left, for the coarse search; the rest is for what comes after
    consistency_time_share: PositiveShare = 0.6  # of the time left, for waiting until a write is visible
    speaker_cache_seconds: Amount = 5.0  # how old the names of a user's speakers may be
    profile_cache_seconds: Amount = 5.0  # how old a profile may be that another gateway changed
    cached_profiles_max: Count = 10_000  # users whose profiles are cached
    preferred_source_boost: Amount = 0.25  # what a preferred source adds to a score, as a share of the span of scores
    trust_turns_max: Count = 1_000  # turns behind facts and notes whose speakers are looked up
    log_queue_max: Count = 1_000  # recalls whose record for feedback and audit waits to be written; more wait for room
    log_wait_seconds: Amount = 0.5  # how long a recall waits for room; without it, it goes unrecorded and is counted
    access_queue_max: Count = 1_000  # recalls whose access statistics wait to be written; more are dropped

    def retriever_limit_of(self, profile: Profile, limit: int) -> int:
        """Hits of each retriever of turns, for a profile and a number of turns."""
        own = self.light_retriever_limit if profile is Profile.LIGHT else self.retriever_limit
        return min(RETRIEVER_LIMIT_MAX, max(own, math.ceil(limit * self.candidate_factor)))

    def derived_limit_of(self, own: int, limit: int) -> int:
        """Facts or notes to ask for: `own`, or as many as turns where these are more."""
        return max(own, min(limit, self.derived_limit_max)) if own else 0

    def neighbour_seeds_of(self, profile: Profile) -> int:
        """Hits whose neighbours become candidates, for a profile."""
        return self.light_neighbour_seeds if profile is Profile.LIGHT else self.neighbour_seeds

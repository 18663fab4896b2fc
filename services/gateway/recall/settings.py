"""Settings of a recall."""

from __future__ import annotations

from dataclasses import dataclass

from services.common.paging import ANSWER_BYTES_MAX
from services.common.settings_types import Amount, AnswerBytes, Count, CountOrNone, PositiveShare
from services.gateway.recall.choices import Profile


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """Limits and shares of a recall."""

    limit_default: Count = 10  # memories where no number is asked for
    limit_max: Count = 200  # memories of one answer
    query_chars_max: Count = 8_192  # a question
    text_chars_max: Count = 1_000_000  # of all memories of an answer
    answer_bytes_max: AnswerBytes = ANSWER_BYTES_MAX  # of an answer; gRPC clients take 4 MiB unless told otherwise
    lane_limit: Count = 200  # hits of each lane of the episodic tier; the rankers were fitted on so many
    neighbour_seeds: CountOrNone = 60  # best hits whose neighbours become candidates
    light_lane_limit: Count = 70  # the same for the profile `light`, which trades little recall for time:
    light_neighbour_seeds: CountOrNone = 25  # docs/recall.md says how little
    neighbour_radius: CountOrNone = 2  # turns before and after
    fact_limit: CountOrNone = 10  # facts asked of the semantic tier
    note_limit: CountOrNone = 10  # notes asked of the agentic tier
    note_hops: CountOrNone = 2  # links walked from a note found by similarity
    tier_time_share: PositiveShare = 0.7  # of the time left, for the coarse search; the rest is for what comes after
    consistency_time_share: PositiveShare = 0.6  # of the time left, for waiting until a write is visible
    speaker_cache_seconds: Amount = 5.0  # how old the names of a user's speakers may be
    log_queue_max: Count = 1_000  # recalls whose record for feedback waits to be written; more are dropped
    access_queue_max: Count = 1_000  # recalls whose access statistics wait to be written; more are dropped

    def lane_limit_of(self, profile: Profile) -> int:
        """Hits of each lane for a profile."""
        return self.light_lane_limit if profile is Profile.LIGHT else self.lane_limit

    def neighbour_seeds_of(self, profile: Profile) -> int:
        """Hits whose neighbours become candidates, for a profile."""
        return self.light_neighbour_seeds if profile is Profile.LIGHT else self.neighbour_seeds

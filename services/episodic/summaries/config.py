"""Settings of summaries that a language model writes."""

from __future__ import annotations

from dataclasses import dataclass

from services.common.settings_types import Count, CountOrNone, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSummarySettings:
    """Summaries that a language model writes in place of chosen sentences, where one is configured."""

    is_enabled: bool = True  # whether it does: texts of long episodes are sent to its endpoint then
    details_share_min: Share = 0.6  # share of the chosen sentences' dates, numbers and names that its summary holds
    words_share_min: Share = 0.7  # share of the longer words of each of its sentences that are in the text
    requests_max: Count = 2  # under way at once; fewer than language_model.concurrency, which facts share
    waiting_max: CountOrNone = 1_000  # episodes that wait in memory; those beyond keep their chosen sentences
    tenant_waiting_max: CountOrNone = 100  # episodes of one tenant that wait

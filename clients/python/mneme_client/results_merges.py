"""What is known of facts that may say the same."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mneme_client.enums_decisions import (
    MergeGroupState,
)
from mneme_client.resources import Fact


@dataclass(frozen=True, slots=True)
class MergeGroup:
    """Similar facts that wait for a decision, or were decided about."""

    group_id: str  # a UUID
    state: MergeGroupState
    facts: tuple[Fact, ...]  # without versions; the one that survived, or would, first
    survivor_fact_id: str  # the fact that has the evidence of all, with UNITED; else empty
    create_time: datetime | None  # when it was found
    decide_time: datetime | None  # None while it waits
    etag: str  # names this state of the group and of its facts

"""What was true, and what was believed, at a time (SPEC 3.7).

Two times are kept apart: since when and until when something holds, and when that was recorded. A question about the
past may ask for either: "where did she live in May" reads the first, "what did we think in May" the second.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from services.common.knowledge.model import Belief, Standing


def is_known(belief: Belief, known_at: datetime) -> bool:
    """Returns whether it had been recorded by then."""
    return (belief.recorded_time or belief.observed_time) <= known_at


def end_as_known(belief: Belief, known_at: datetime) -> datetime | None:
    """Returns the end of the validity as it was known then; None where it was thought to hold."""
    if belief.end_recorded_time is not None and belief.end_recorded_time > known_at:
        return None
    return belief.valid_to


def holds(belief: Belief, *, true_at: datetime, known_at: datetime) -> bool:
    """Returns whether, by what was known at one time, it held at another: from its start, up to but without its end."""
    if not is_known(belief, known_at):
        return False
    recorded = belief.end_recorded_time
    if belief.standing is Standing.MERGED and (recorded is None or recorded <= known_at):
        return False
    end = end_as_known(belief, known_at)
    return belief.effective_time <= true_at and (end is None or true_at < end)


def as_of(beliefs: Iterable[Belief], *, true_at: datetime, known_at: datetime) -> list[Belief]:
    """Returns what held at a time by what was known at another, oldest first; ties by id."""
    found = [belief for belief in beliefs if holds(belief, true_at=true_at, known_at=known_at)]
    return sorted(found, key=lambda belief: (belief.effective_time, belief.belief_id))

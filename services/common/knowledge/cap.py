"""Which beliefs are archived where a user has too many (SPEC 3.8)."""

from __future__ import annotations

from collections.abc import Iterable

from services.common.knowledge.model import Belief, BeliefId, Standing


def over_cap(beliefs: Iterable[Belief], *, cap: int) -> list[BeliefId]:
    """Returns the active beliefs beyond the cap, least important first, of equal ones the one said longest ago."""
    active = [belief for belief in beliefs if belief.standing is Standing.ACTIVE]
    ranked = sorted(active, key=lambda belief: (belief.importance, belief.last_time, belief.belief_id))
    return [belief.belief_id for belief in ranked[: max(0, len(active) - max(0, cap))]]

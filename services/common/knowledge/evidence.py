"""Confidence grows with evidence and fades without it (SPEC 3.4).

Both are functions of what is stored and of the time that is asked about. Nothing is rewritten daily: what a store holds
is the time at which the threshold will be crossed.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from services.common.knowledge.model import DEFAULTS, Belief, KnowledgeSettings

_DAY = timedelta(days=1)


def supported_confidence(base: float, count: int, *, rate: float = DEFAULTS.evidence_rate) -> float:
    """Returns the confidence after `count` episodes, each adding rate x (1 - confidence); in [base, 1]."""
    return 1.0 - (1.0 - base) * (1.0 - rate) ** count


def decayed_confidence(confidence: float, days: float, *, rate: float = DEFAULTS.decay_per_day) -> float:
    """Returns confidence x exp(-rate x days) after so many days without evidence; days below 0 count as 0."""
    return confidence * math.exp(-rate * max(0.0, days))


def confidence_at(belief: Belief, at: datetime, settings: KnowledgeSettings = DEFAULTS) -> float:
    """Returns the confidence of a belief at a time, from the evidence that had been given by then; in [0, 1]."""
    given = [item.time for item in belief.evidence if item.time <= at]
    supported = _supported(belief, belief.earlier_evidence_count + len(given), settings)
    idle = at - max([belief.observed_time, *given])
    return decayed_confidence(supported, idle / _DAY, rate=settings.decay_per_day)


def deprecated_time(belief: Belief, settings: KnowledgeSettings = DEFAULTS) -> datetime:
    """Returns when the confidence will have fallen to the threshold, if no evidence comes until then.

    A belief that begins below it is deprecated from when it was last said.
    """
    supported = _supported(belief, belief.evidence_count, settings)
    if supported <= settings.deprecated_below:
        return belief.last_time
    days = math.log(supported / settings.deprecated_below) / settings.decay_per_day
    return belief.last_time + days * _DAY


def _supported(belief: Belief, count: int, settings: KnowledgeSettings) -> float:
    return supported_confidence(belief.base_confidence, count, rate=settings.evidence_rate)

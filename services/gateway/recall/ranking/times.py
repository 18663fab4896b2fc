"""How well times fit those that a question names: the soft filter of temporal questions."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from services.gateway.recall.question.reading import QuestionEvidence

DAYS_AFTER: Final = 14.0
DAYS_BEFORE: Final = 7.0
_SECONDS_PER_DAY: Final = 86_400.0


def time_match(
    seconds: npt.NDArray[np.float64],
    question: QuestionEvidence,
    *,
    days_before: float = DAYS_BEFORE,
    days_after: float = DAYS_AFTER,
) -> npt.NDArray[np.float64]:
    """Returns 1 inside a named range, less the farther outside, 0 where the question names no time.

    Args:
        seconds: Since the epoch; NaN, which matches nothing, where a time is not known.
        question: What was read from the question.
        days_before: Before a range, after which the match has fallen to 1/e.
        days_after: The same behind it.
    """
    best = np.zeros(seconds.size)
    for span in question.time_ranges:
        late = np.maximum(seconds - span.end, 0.0) / (days_after * _SECONDS_PER_DAY)
        early = np.maximum(span.start - seconds, 0.0) / (days_before * _SECONDS_PER_DAY)
        best = np.fmax(best, np.exp(-(late + early)))  # fmax: NaN is no evidence
    return best

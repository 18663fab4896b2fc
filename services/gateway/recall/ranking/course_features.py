"""Features of a turn's place in the course of its session: `features.py` has the others.

Where a session stays with a matter, its evidence is often not the turn that is most like the question, but the one that
raised it, or one that says something new. So each candidate is compared with those before it in its session, and with
the ones an exchange or two away, which are by the same speaker.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from services.gateway.recall.question.kinds import QuestionKind
from services.gateway.recall.ranking.standardising import Column
from services.gateway.recall.ranking.surroundings import Surroundings

COURSE: Final = "course"
"""The part of an explanation that they belong to."""

_BEST_COUNT: Final = 60  # candidates that count as being about the matter
_NOTHING_BEFORE: Final = -3.0  # counts as the best score before the first candidate of a session
_AWAY: Final = (("four_before", -4), ("two_before", -2), ("two_after", 2), ("four_after", 4))
_NAMES: Final = (
    *(f"score_{name}" for name, _ in _AWAY),
    "score_above_session_before",  # by how much it is better than all before it in its session, 0 if it is not
    "opens_matter",  # the first one in its session that is about the matter
    "matter_before_log",  # how many before it in its session are
    "best_score_before",
)
_KINDS: Final = (QuestionKind.ORDER, QuestionKind.SUMMARY, QuestionKind.HOW_MANY, QuestionKind.LIST)
"""Questions that are answered by many turns: for each of these kinds every feature is repeated."""
_CROSSED: Final = {kind: tuple(f"{name}_if_{(kind.name or '').lower()}" for name in _NAMES) for kind in _KINDS}


def course_feature_names() -> frozenset[str]:
    """Names of all of them."""
    return frozenset((*_NAMES, *(name for names in _CROSSED.values() for name in names)))


def read_course_features(
    scores: Column, session: npt.NDArray[np.int32], around: Surroundings, kinds: QuestionKind
) -> Iterator[tuple[str, str, Column | float]]:
    """Yields name, part and values of each feature: `[n]`, or 0 where it is that for all.

    Args:
        scores: By which candidates are compared, `[n]`: sums of standardised ones.
        session: The session's index, `[n]`.
        around: Looks up neighbours.
        kinds: What the question asks for.
    """
    padded = np.append(scores, 0.0)  # the last place stands for "no such candidate"
    found = [*(padded.take(around.rows(offset)) for _, offset in _AWAY), *_before(scores, session, around)]
    yield from ((name, COURSE, column) for name, column in zip(_NAMES, found, strict=True))
    for kind, names in _CROSSED.items():
        yield from ((name, COURSE, column if kind in kinds else 0.0) for name, column in zip(names, found, strict=True))


def _before(scores: Column, session: npt.NDArray[np.int32], around: Surroundings) -> Column:
    """How each stands to the candidates before it in its session: the last four of `_NAMES`, `[4, n]`."""
    count = len(scores)
    found = np.zeros((4, count))
    if not count:
        return found
    order = around.order
    ordered, sessions = scores[order], session[order]
    opens = np.append(True, sessions[1:] != sessions[:-1])
    number = np.cumsum(opens) - 1  # of the session, in this order
    firsts = np.flatnonzero(opens)
    # One running maximum for all sessions: each lies above all before it.
    above = number * (float(np.ptp(ordered)) + 1.0)
    best = np.append(_NOTHING_BEFORE, (np.maximum.accumulate(ordered + above) - above)[:-1])
    best[opens] = _NOTHING_BEFORE
    best = np.maximum(best, _NOTHING_BEFORE)
    is_matter = ordered >= np.partition(ordered, max(0, count - _BEST_COUNT))[max(0, count - _BEST_COUNT)]
    matters = np.cumsum(is_matter) - is_matter  # before each, in all sessions
    matters -= matters[firsts][number]
    found[:, order] = (np.maximum(ordered - best, 0.0), is_matter & (matters == 0), np.log1p(matters), best)
    return found

"""Features of the messages that someone writes in a row, as people do in chats: `features.py` has the others.

What is said in one message of a burst is meant with the rest of it, and who answers answers all of it. So the burst
counts as one turn. Where speakers take turns message by message, these features are those of single turns once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from services.common.turn_traits import Trait
from services.gateway.recall.columns import EpisodeColumns
from services.gateway.recall.ranking.bursts import Bursts
from services.gateway.recall.ranking.standardising import Column, standardised, token_weights

_NEIGHBOUR_SHARE: Final = 0.85  # of the token score of a burst before or after that counts as the burst's own
_TRAITS: Final = (Trait.FIRST_PERSON, Trait.PAST, Trait.TIME_EXPRESSION, Trait.CAPTION)
_FLAGS: Final = np.array([[int(trait)] for trait in (Trait.QUESTION, *_TRAITS)], dtype=np.int32)
_OF_SCORES: Final = (
    ("burst_others", "neighbours"),  # the best of the other messages of the burst
    ("burst_before", "neighbours"),
    ("burst_after", "neighbours"),
    ("burst_answers", "answers"),  # the burst before, if it asks
)
_OF_ALL: Final = (
    ("late_burst", "late"),
    ("late_burst_near", "late"),
    ("burst_answers", "answers"),
    ("burst_length_log", "length"),
    ("burst_size", "length"),
    ("burst_place", "kind"),
    *((f"burst_is_{(trait.name or '').lower()}", "kind") for trait in _TRAITS),
)


def burst_feature_names(names: tuple[str, ...]) -> frozenset[str]:
    """Names of all features, given those of the scores."""
    return frozenset((*(f"{name}_{what}" for name in names for what, _ in _OF_SCORES), *(name for name, _ in _OF_ALL)))


def speakers_of(columns: EpisodeColumns) -> npt.NDArray[np.int32]:
    """A number for each candidate's speaker; an assistant is another one than a person of the same name."""
    by_assistant = columns.traits & int(Trait.ASSISTANT) != 0
    numbers: npt.NDArray[np.int32] = 2 * columns.speaker + by_assistant
    return numbers


def read_burst_features(
    names: tuple[str, ...], scores: Column, columns: EpisodeColumns
) -> Iterator[tuple[str, str, Column | float]]:
    """Yields name, part and values of each feature: `[n]`, or 0 where it is that for all.

    Args:
        names: Of the scores.
        scores: `[s, n]`, standardised; the last may be all 0, where there are no token vectors.
        columns: The candidates.
    """
    features = _read(scores, columns) if len(columns) else {}
    for index, name in enumerate(names):
        yield from ((f"{name}_{what}", part, features.get(f"{index} {what}", 0.0)) for what, part in _OF_SCORES)
    yield from ((name, part, features.get(name, 0.0)) for name, part in _OF_ALL)


def _read(scores: Column, columns: EpisodeColumns) -> dict[str, Column]:
    known = scores if scores[-1].any() else scores[:-1]
    bursts = Bursts.of(columns.session, columns.position, speakers_of(columns))
    positive = np.maximum(known, 0.0)
    best = bursts.best(np.concatenate([positive, columns.traits & _FLAGS != 0]))
    best, asks, kinds = best[: len(known)], best[len(known)], best[len(known) + 1 :]
    before, after, asked = bursts.before(best), bursts.after(best), bursts.before(asks)
    own = bursts.of_candidate
    others = _others(positive, best.take(own, axis=1), bursts)
    lengths = bursts.totals(columns.length.astype(np.float64))
    features: dict[str, Column] = {}
    by_score = (others, *(values.take(own, axis=1) for values in (before, after, asked * before)))
    for (what, _), rows in zip(_OF_SCORES, by_score, strict=True):
        features |= {f"{index} {what}": row for index, row in enumerate(rows)}
    of_all = (
        *_late(columns, bursts),
        asked.take(own),
        np.log(np.maximum(lengths, 1.0)).take(own),
        np.log(bursts.sizes).take(own),
        np.log1p(bursts.place),
        *kinds.take(own, axis=1),
    )
    features |= {name: column for (name, _), column in zip(_OF_ALL, of_all, strict=True)}
    return features


def _others(positive: Column, best: Column, bursts: Bursts) -> Column:
    """Of each candidate the best score of the other messages of its burst, 0 without: `[s, n]`."""
    if bursts.are_single:
        return np.zeros_like(positive)
    is_best = positive >= best
    # The best one's other is the second; one of several that are equally best has another of them.
    second = bursts.best(np.where(is_best, 0.0, positive)).take(bursts.of_candidate, axis=1)
    is_shared = bursts.totals(is_best.astype(np.float64)).take(bursts.of_candidate, axis=1) > 1
    others: Column = np.where(is_best & ~is_shared, second, best)
    return others


def _late(columns: EpisodeColumns, bursts: Bursts) -> Column:
    """Late interaction with the whole burst, alone and beside the ones around: `[2, n]`."""
    scores = columns.token_scores
    if scores is None or not scores.size or not columns.has_tokens.any():
        return np.zeros((2, len(columns)))
    _, weights, roots = token_weights(columns)
    met = bursts.best(scores.astype(np.float64))
    near = np.maximum(met, _NEIGHBOUR_SHARE * np.maximum(bursts.before(met), bursts.after(met)))
    return standardised(np.stack([weights @ met, roots @ near]).take(bursts.of_candidate, axis=1))

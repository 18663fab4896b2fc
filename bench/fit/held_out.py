"""How well rankers do on conversations that they were not fitted on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from bench.fit.dataset import Dataset
from services.gateway.recall.ranking.features import Features
from services.gateway.recall.ranking.ranker import FittedRanker, RankerWeights

CUTS: Final = (1, 5, 10, 25)


@dataclass(frozen=True, slots=True)
class Scored:
    """One question: recall at each of `CUTS`."""

    set_name: str
    conversation: str
    category: str
    recall: tuple[float, ...]


def score(data: Dataset, ranker: RankerWeights) -> list[Scored]:
    """Ranks the candidates of every question as a gateway with this ranker would."""
    fitted = FittedRanker(ranker)
    parts = ("",) * len(data.names)
    found = []
    for question, (start, count) in enumerate(zip(data.starts, data.counts, strict=True)):
        scores, _ = fitted(Features(data.names, parts, data.rows[start : start + count]))
        ranked = data.evidence[start : start + count][np.argsort(-scores, kind="stable")]
        recall = tuple(_pieces(ranked[:cut]) / int(data.relevant_counts[question]) for cut in CUTS)
        found.append(
            Scored(str(data.sets[question]), str(data.conversations[question]), str(data.categories[question]), recall)
        )
    return found


def _pieces(evidence: npt.NDArray[np.int32]) -> int:
    return len(np.unique(evidence[evidence >= 0]))


def means(scored: list[Scored]) -> Mapping[str, Mapping[str, object]]:
    """Mean recall over all questions of each data set, and at 10 of each category."""
    result: dict[str, Mapping[str, object]] = {}
    for set_name in dict.fromkeys(one.set_name for one in scored):
        own = [one for one in scored if one.set_name == set_name]
        categories = {
            category: round(float(np.mean([one.recall[2] for one in own if one.category == category])), 4)
            for category in sorted({one.category for one in own})
        }
        overall = np.mean([one.recall for one in own], axis=0)
        result[set_name] = {
            "questions": len(own),
            **{f"recall@{cut}": round(float(value), 4) for cut, value in zip(CUTS, overall, strict=True)},
            "recall@10 by category": categories,
        }
    return result

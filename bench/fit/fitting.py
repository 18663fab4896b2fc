"""Fits rankers: a line by listwise softmax, and trees by LambdaMART, both on standardised features.

The loss of the line is, for each question, the mean negative log-likelihood of its relevant candidates under a softmax
over all of its candidates (ListNet's top-one loss; Cao et al., 2007), with an L2 penalty. The trees are LightGBM's
`lambdarank` (Burges, 2010). Every data set has a say of its own: see `question_weights`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import lightgbm
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from bench.fit.dataset import Dataset
from services.gateway.recall.ranking.ranker import RankerWeights, Tree

CHAT_SUFFIX: Final = " as chats"
"""Ends the name of a data set that is another one's conversations as chats."""

FloatRow = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How it is fitted; chosen once by cross-validation, none of it is sharp."""

    penalty: float = 100.0  # L2, of standardised features, for all questions together
    iterations_max: int = 150
    tree_count: int = 200
    tree_weight: float = 1.0  # what the trees count to the line
    leaves: int = 15
    learning_rate: float = 0.05
    leaf_rows_min: int = 50
    set_balance: float = 0.6  # 0: every question counts alike; 1: every data set counts alike
    chat_share: float = 0.4  # what a question counts to a conversation as a chat, where it counts 1 to the tidy one
    seed: int = 1
    without: tuple[str, ...] = ()  # features that are left out


def fit(data: Dataset, settings: FitSettings, provenance: Mapping[str, Any]) -> RankerWeights:
    """Returns the weights of a ranker for features as they are, not standardised."""
    kept = [index for index, name in enumerate(data.names) if name not in settings.without]
    rows = data.rows[:, kept]
    deviations = rows.std(axis=0, dtype=np.float64)
    deviations[deviations < 1e-6] = np.inf  # what never changes gets no weight
    weights = question_weights(data, settings)
    line = fit_line(rows / deviations.astype(np.float32), data, weights, settings) / deviations
    return RankerWeights(
        features=tuple(data.names[index] for index in kept),
        linear=tuple(float(value) for value in line),
        trees=fit_trees(rows, data, weights, settings) if settings.tree_count else (),
        tree_weight=settings.tree_weight,
        provenance=provenance,
    )


def question_weights(data: Dataset, settings: FitSettings) -> FloatRow:
    """What each question counts, so that a small data set is not drowned by a large one; 1 in the largest.

    A data set as chats counts as a part of the tidy one.
    """
    shares = np.where(np.char.endswith(data.sets, CHAT_SUFFIX), settings.chat_share, 1.0)
    sets = np.array([str(name).removesuffix(CHAT_SUFFIX) for name in data.sets])
    sizes = {name: float(shares[sets == name].sum()) for name in np.unique(sets)}
    largest = max(sizes.values())
    weights: FloatRow = shares * np.array([(largest / sizes[name]) ** settings.set_balance for name in sets])
    return weights


def fit_line(
    rows: npt.NDArray[np.float32],
    data: Dataset,
    weights: FloatRow,
    settings: FitSettings,
    offset: FloatRow | None = None,
) -> FloatRow:
    """Weights of the features, `[f]`, added to scores that the candidates have already (`offset`, `[n]`)."""
    starts, question = data.starts, np.repeat(np.arange(len(data.counts)), data.counts)
    relevant = np.add.reduceat(data.is_relevant.astype(np.float64), starts)
    target = np.where(relevant > 0, weights / np.maximum(relevant, 1.0), 0.0)[question] * data.is_relevant
    target_sum = np.add.reduceat(target, starts)
    towards = rows.T @ target.astype(np.float32)
    given = 0.0 if offset is None else float(offset @ target)

    def loss(line: FloatRow) -> tuple[float, FloatRow]:
        scores = (rows @ line.astype(np.float32)).astype(np.float64) + (0.0 if offset is None else offset)
        highest = np.maximum.reduceat(scores, starts)
        exponents = np.exp(scores - highest[question])
        total = np.add.reduceat(exponents, starts)
        value = float((target_sum * (np.log(total) + highest)).sum() - line @ towards) - given
        shares = exponents / total[question] * target_sum[question]
        gradient = rows.T @ shares.astype(np.float32) - towards
        return value + 0.5 * settings.penalty * float(line @ line), gradient + settings.penalty * line

    found = minimize(
        loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": settings.iterations_max}
    )
    result: FloatRow = found.x
    return result


def fit_trees(
    rows: npt.NDArray[np.float32], data: Dataset, weights: FloatRow, settings: FitSettings
) -> tuple[Tree, ...]:
    """Trees whose values add up to a score."""
    booster = lightgbm.train(
        {
            "objective": "lambdarank",
            "num_leaves": settings.leaves,
            "learning_rate": settings.learning_rate,
            "min_data_in_leaf": settings.leaf_rows_min,
            "feature_fraction": 0.5,
            "bagging_fraction": 0.8,
            "bagging_freq": 1,
            "lambda_l2": 5.0,
            "lambdarank_truncation_level": 30,
            "deterministic": True,
            "num_threads": 1,  # more of them change the sums, and wait for one another on a busy machine
            "seed": settings.seed,
            "verbosity": -1,
        },
        lightgbm.Dataset(rows, data.is_relevant.astype(int), group=data.counts, weight=np.repeat(weights, data.counts)),
        settings.tree_count,
    )
    return tuple(_tree(described["tree_structure"]) for described in booster.dump_model()["tree_info"])


def _tree(root: Mapping[str, Any]) -> Tree:
    nodes: list[tuple[int, float, int, int, float]] = []

    def add(node: Mapping[str, Any]) -> int:
        place = len(nodes)
        nodes.append((0, 0.0, -1, -1, float(node.get("leaf_value", 0.0))))
        if "split_feature" in node:
            left, right = add(node["left_child"]), add(node["right_child"])
            nodes[place] = (int(node["split_feature"]), float(node["threshold"]), left, right, 0.0)
        return place

    add(root)
    return Tree(*(tuple(column) for column in zip(*nodes, strict=True)))

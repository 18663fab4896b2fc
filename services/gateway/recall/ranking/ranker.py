"""A ranker that was fitted: a line through the features, and trees for how features work together.

Its file says what it was fitted on, so that nobody takes it for more than it is. Both halves are standardised by the
spread of their scores among the candidates and added up: they err in different places.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

from services.gateway.recall.ranking.features import Features

FORMAT: Final = 1
INTERPLAY: Final = "interplay"
"""The part of a score that the trees add: it belongs to no single feature."""

TREE_ROWS: Final = 200
"""Candidates that the trees look at, the best by the line: as many as they are fitted on. Looking at
all candidates of a large memory costs more, and changes no response."""

LIGHT_TREE_ROWS: Final = 50
"""The same for the profile `light`: fewer find as much."""

_LEAF: Final = -1
_LARGEST: Final = float(np.finfo(np.float32).max)
_OPSET: Final = 1  # of the domain ai.onnx.ml
_IR_VERSION: Final = 8
_FloatRow = npt.NDArray[np.float32]


class RankerFileError(Exception):
    """A ranker's file cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A binary tree as columns: value i of each belongs to node i, and node 0 is the root.

    A row goes left where its feature is at most the threshold. A leaf has a `left` of -1. Nodes come before those below
    them.
    """

    feature: Sequence[int]
    threshold: Sequence[float]
    left: Sequence[int]
    right: Sequence[int]
    value: Sequence[float]  # 0 for what is no leaf


@dataclass(frozen=True, slots=True)
class RankerWeights:
    """What a ranker's file holds."""

    features: tuple[str, ...]
    linear: tuple[float, ...]  # one a feature
    trees: tuple[Tree, ...] = ()
    tree_weight: float = 1.0  # what a deviation of the trees' scores counts to one of the line's
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> RankerWeights:
        """Reads a ranker's file.

        Raises:
            RankerFileError: It cannot be read, or is no such file.
        """
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise ValueError(f"its format is {content['format']}, not {FORMAT}")
            weights = cls(
                features=tuple(str(name) for name in content["features"]),
                linear=tuple(float(value) for value in content["linear"]),
                trees=tuple(Tree(**{name: tuple(tree[name]) for name in Tree.__slots__}) for tree in content["trees"]),
                tree_weight=float(content.get("tree_weight", 1.0)),
                provenance=dict(content["provenance"]),
            )
            _check(weights)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RankerFileError(f"{file} is no ranker: {error}") from error
        return weights

    def write(self, file: Path) -> None:
        """Writes a ranker's file, one tree a line, numbers with six digits."""
        trees = [
            json.dumps({name: [_short(value) for value in getattr(tree, name)] for name in Tree.__slots__})
            for tree in self.trees
        ]
        head = {
            "format": FORMAT,
            "provenance": dict(self.provenance),
            "features": list(self.features),
            "linear": [_short(value) for value in self.linear],
            "tree_weight": _short(self.tree_weight),
        }
        text = json.dumps(head, indent=1)[:-2] + ',\n "trees": [\n' + ",\n".join(trees) + "\n ]\n}\n"
        file.write_text(text, encoding="utf-8")


def _check(weights: RankerWeights) -> None:
    """Raises ValueError, with the path of what is wrong, for weights that nothing could be scored by."""
    if len(weights.features) != len(weights.linear):
        raise ValueError("it has not one linear weight for each feature")
    numbers: dict[str, Sequence[float]] = {"linear": weights.linear, "tree_weight": (weights.tree_weight,)}
    for number, tree in enumerate(weights.trees):
        path = f"trees[{number}]"
        count = len(tree.left)
        if not count or {len(getattr(tree, name)) for name in Tree.__slots__} != {count}:
            raise ValueError(f"{path} has not one value of each column for each node, of which it has {count}")
        for node, (feature, left, right) in enumerate(zip(tree.feature, tree.left, tree.right, strict=True)):
            if left == _LEAF:
                continue
            if feature not in range(len(weights.features)):
                raise ValueError(f"{path}.feature[{node}] is {feature}, and there are {len(weights.features)} features")
            # Nodes come before those below them, so no path leads back.
            if not {left, right} <= set(range(node + 1, count)):
                raise ValueError(f"{path}: node {node} leads to {left} and {right}, not to later ones below {count}")
        numbers |= {f"{path}.threshold": tree.threshold, f"{path}.value": tree.value}
    for path, values in numbers.items():
        if not all(abs(value) <= _LARGEST for value in values):
            raise ValueError(f"{path} holds what is no number of four bytes")


@dataclass(frozen=True, slots=True, eq=False)
class _LinearParts:
    """How the features of one list add up to the parts of an explanation."""

    features: tuple[str, ...]
    of_features: tuple[str, ...]  # the part that each belongs to
    names: tuple[str, ...]  # of the parts, in the order of their first feature
    matrix: _FloatRow  # [features, parts]


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Where a ranker's features are in the features of one list."""

    features: tuple[str, ...]
    own: npt.NDArray[np.intp]  # of the ranker's features those that are there
    given: npt.NDArray[np.intp]  # where each of these is


class FittedRanker:
    """Scores rows of features. May be called from any thread."""

    def __init__(self, weights: RankerWeights, *, tree_rows: int = TREE_ROWS) -> None:
        """Prepares the trees, which look at so many candidates; a moment of processor time."""
        self.weights: Final = weights
        self._tree_rows = tree_rows
        self.features: Final = frozenset(weights.features)
        self._linear = np.array(weights.linear, dtype=np.float32)
        self._trees = _tree_session(weights) if weights.trees else None
        self._known_parts: _LinearParts | None = None
        self._known_places: _Places | None = None

    def __call__(self, features: Features) -> tuple[_FloatRow, dict[str, _FloatRow]]:
        """Returns the scores, float32 `[n]`, and by name the parts that they are the sums of.

        Features that the ranker does not know are left out, and those that are not there count as 0.
        """
        rows = self._rows(features)
        count = rows.shape[0]
        if not count:
            return np.zeros(0, dtype=np.float32), {}
        by_part, linear = self._linear_parts(features)
        weighted = rows @ linear  # [n, parts]
        line = weighted.sum(axis=1)
        weighted *= _scale(line - line.mean())
        columns = np.ascontiguousarray(weighted.T)
        parts: dict[str, _FloatRow] = dict(zip(by_part, columns, strict=True))
        scores = columns.sum(axis=0)
        if self._trees is not None:
            interplay = _interplay(self._trees, rows, scores, self._tree_rows)
            parts[INTERPLAY] = interplay * np.float32(self.weights.tree_weight)
            scores = scores + parts[INTERPLAY]
        return scores, parts

    def _linear_parts(self, features: Features) -> tuple[tuple[str, ...], _FloatRow]:
        """Names of p parts, and what each feature adds to each: `[features, p]`. Mostly those of the call before."""
        known = self._known_parts
        if known is None or (known.features, known.of_features) != (features.names, features.parts):
            part_of = dict(zip(features.names, features.parts, strict=True))
            weighted = [
                (index, part_of[name])
                for index, name in enumerate(self.weights.features)
                if name in part_of and self._linear[index]
            ]
            names = tuple(dict.fromkeys(part for _, part in weighted))
            matrix = np.zeros((len(self._linear), len(names)), dtype=np.float32)
            for index, part in weighted:
                matrix[index, names.index(part)] = self._linear[index]
            known = self._known_parts = _LinearParts(features.names, features.parts, names, matrix)
        return known.names, known.matrix

    def _rows(self, features: Features) -> _FloatRow:
        if features.names == self.weights.features:
            return features.values
        known = self._known_places
        if known is None or known.features != features.names:
            place = {name: index for index, name in enumerate(features.names)}
            there = [(index, place[name]) for index, name in enumerate(self.weights.features) if name in place]
            own, given = np.array(there, dtype=np.intp).reshape(-1, 2).T
            known = self._known_places = _Places(features.names, own, given)
        if len(known.own) == len(self.weights.features):
            return features.values.take(known.given, axis=1)
        rows = np.zeros((features.values.shape[0], len(self.weights.features)), dtype=np.float32)
        rows[:, known.own] = features.values[:, known.given]
        return rows


def _interplay(trees: ort.InferenceSession, rows: _FloatRow, line: _FloatRow, rows_max: int) -> _FloatRow:
    """What the trees add to the scores of the line; to those that they do not look at, as little as to any."""
    count = len(line)
    least = np.partition(line, count - rows_max)[count - rows_max] if count > rows_max else -np.inf
    chosen = line >= least
    raw: _FloatRow = trees.run(None, {"rows": rows[chosen]})[0][:, 0]
    # Their mean says nothing about the order, and would only make the part hard to read.
    centred = raw - raw.mean()
    scaled = _scale(centred) * centred
    found = np.full(count, scaled.min(), dtype=np.float32)
    found[chosen] = scaled
    return found


def _scale(centred: _FloatRow) -> np.float32:
    """What scores are to be multiplied with for a spread of 1, given their distances from their mean."""
    deviation = float(np.sqrt((centred * centred).mean()))
    return np.float32(1.0 / deviation if deviation > 1e-6 else 1.0)


def _short(value: float) -> float | int:
    return value if isinstance(value, int) else float(f"{value:.6g}")


def _tree_session(weights: RankerWeights) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1  # some hundred rows are not worth the hand-over
    options.inter_op_num_threads = 1
    model = _tree_model(weights.trees, len(weights.features)).SerializeToString()
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _tree_model(trees: Sequence[Tree], feature_count: int) -> onnx.ModelProto:
    """The trees as one operator of ONNX, which is much faster than numpy."""
    nodes: dict[str, list[Any]] = {
        name: []
        for name in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "hitrates")
    }
    leaves: dict[str, list[Any]] = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    for number, tree in enumerate(trees):
        for node, left in enumerate(tree.left):
            is_leaf = left == _LEAF
            nodes["treeids"].append(number)
            nodes["nodeids"].append(node)
            nodes["featureids"].append(0 if is_leaf else tree.feature[node])
            nodes["values"].append(0.0 if is_leaf else tree.threshold[node])
            nodes["modes"].append("LEAF" if is_leaf else "BRANCH_LEQ")
            nodes["truenodeids"].append(0 if is_leaf else left)
            nodes["falsenodeids"].append(0 if is_leaf else tree.right[node])
            nodes["hitrates"].append(1.0)
            if is_leaf:
                leaves["treeids"].append(number)
                leaves["nodeids"].append(node)
                leaves["ids"].append(0)
                leaves["weights"].append(float(tree.value[node]))
    operator = helper.make_node(
        "TreeEnsembleRegressor",
        ["rows"],
        ["scores"],
        domain="ai.onnx.ml",
        n_targets=1,
        aggregate_function="SUM",
    )
    columns = {f"nodes_{name}": values for name, values in nodes.items()}
    columns |= {f"target_{name}": values for name, values in leaves.items()}
    operator.attribute.extend(helper.make_attribute(name, values) for name, values in columns.items())
    graph = helper.make_graph(
        [operator],
        "ranker",
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, [None, feature_count])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, 1])],
    )
    opsets = [helper.make_opsetid("ai.onnx.ml", _OPSET), helper.make_opsetid("", 13)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)

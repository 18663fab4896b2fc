"""Stage intent: the task type, classified from the question's embedding.

Each task type has example questions. They are embedded once, behind the start of the service, and a question belongs
to the type whose mean example it is nearest to. Near is measured by how examples of one type differ from each other
(linear discriminant analysis with a shrunk covariance): that is mostly by what they are about, which says nothing about
the type. The question is embedded anyway, so that classifying it costs six products of vectors.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import structlog

from services.common.embedding.embedder import Embedder
from services.common.embedding.serving import every_model
from services.common.embedding.vectors import Matrix, Vector
from services.common.settings_types import Positive, PositiveShare, Share
from services.gateway.recall.choices import TaskType

_log = structlog.get_logger(__name__)

_EXAMPLES: Final = Path(__file__).parent / "data" / "task_types.toml"
_RETRY_SECONDS: Final = 30.0
"""Wait after the examples could not be embedded."""
_VARIANCE_MIN: Final = 1e-9
"""Of each dimension, where examples do not differ."""


@dataclass(frozen=True, slots=True)
class IntentSettings:
    """How a question's task type is classified."""

    shrinkage: PositiveShare = 0.5  # of the covariance of examples towards a sphere: there are fewer than dimensions
    temperature: Positive = 10.0  # by which log likelihoods are divided, since examples are surer than questions
    general_below: Share = 0.45  # confidence below which a question is taken for a general one


@dataclass(frozen=True, slots=True)
class Intent:
    """What the memories are wanted for."""

    task_type: TaskType
    confidence: float  # in [0, 1]; 1 where it was given, 0 where the classifier cannot decide
    is_given: bool = False


@dataclass(frozen=True, slots=True)
class _Planes:
    """The log likelihood of each type, up to a constant, as a linear function of the question."""

    weights: npt.NDArray[np.float64]  # [types, dimension]
    offsets: npt.NDArray[np.float64]  # [types]


UNTOLD: Final = Intent(TaskType.GENERAL, 0.0)
"""The intent of a question that cannot be classified."""


class IntentClassifier:
    """Classifies questions. Until the examples are embedded, and where they cannot be, no question has a known type."""

    def __init__(
        self,
        embedder: Embedder,
        settings: IntentSettings | None = None,
        *,
        examples: Mapping[TaskType, Sequence[str]] | None = None,
    ) -> None:
        """Embeds `examples` (those of the package where None) by the model that embeds questions."""
        self._embedder = embedder
        self._settings = settings or IntentSettings()
        self._examples = examples if examples is not None else load_examples()
        self._types = tuple(self._examples)
        self._planes: dict[str, _Planes] = {}  # by the fingerprint of the model

    async def prepare(self) -> None:
        """Embeds the examples, by each model where there are two.

        Raises:
            EmbeddingError: The model cannot be run.
        """
        texts = [text for examples in self._examples.values() for text in examples]
        counts = [len(examples) for examples in self._examples.values()]
        for embedder in every_model(self._embedder):
            vectors = await embedder.embed_documents(texts)
            planes = await asyncio.to_thread(_planes, vectors, counts, shrinkage=self._settings.shrinkage)
            self._planes[embedder.fingerprint] = planes

    def classify(self, vector: Vector, *, model: str | None = None) -> Intent:
        """Returns the nearest type, or `UNTOLD` where none is near enough or the examples are not embedded yet.

        Args:
            vector: The question's embedding, float32 `[dimension]`, of length 1.
            model: Fingerprint of its model; None: the one that serves.
        """
        planes = self._planes.get(model or self._embedder.fingerprint)
        if planes is None:
            return UNTOLD
        nearness = (planes.weights @ vector + planes.offsets) / self._settings.temperature
        likelihood = np.exp(nearness - nearness.max())
        best = int(likelihood.argmax())
        confidence = float(likelihood[best] / likelihood.sum())
        return Intent(self._types[best], confidence) if confidence >= self._settings.general_below else UNTOLD


def _planes(vectors: Matrix, counts: Sequence[int], *, shrinkage: float) -> _Planes:
    """Returns the discriminants of types whose examples follow each other, so many of each."""
    groups = np.split(vectors.astype(np.float64), np.cumsum(counts)[:-1])
    means = np.stack([group.mean(axis=0) for group in groups])
    centre = means.mean(axis=0)
    around = np.concatenate([group - mean for group, mean in zip(groups, means, strict=True)])
    dimension = vectors.shape[1]
    covariance = around.T @ around / len(around)
    sphere = shrinkage * np.trace(covariance) / dimension + _VARIANCE_MIN
    shrunk = (1.0 - shrinkage) * covariance + sphere * np.eye(dimension)
    weights = np.linalg.solve(shrunk, (means - centre).T).T
    offsets = -0.5 * np.einsum("kd,kd->k", weights, means - centre) - weights @ centre
    return _Planes(weights, offsets)


def load_examples(file: Path = _EXAMPLES) -> dict[TaskType, tuple[str, ...]]:
    """The example questions of every type.

    Raises:
        ValueError: A type has no examples, or there is one that is not known.
    """
    tables = tomllib.loads(file.read_text("utf-8"))
    if tables.keys() != {task_type.name.lower() for task_type in TaskType} or not all(tables.values()):
        raise ValueError(f"{file.name} should have examples of each task type and of nothing else")
    return {task_type: tuple(tables[task_type.name.lower()]) for task_type in TaskType}

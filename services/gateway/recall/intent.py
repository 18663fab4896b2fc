"""Stage intent: what the answer is wanted for, told by the question's embedding.

Each task type has a file of example questions. They are embedded once, behind the start of the service, and a question
belongs to the type whose mean example it is nearest to. It costs six products of vectors, since the question is
embedded anyway.
"""

from __future__ import annotations

import asyncio
import contextlib
import tomllib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import structlog

from services.common.embedding.embedder import Embedder
from services.common.embedding.errors import EmbeddingError
from services.common.embedding.vectors import Matrix, Vector
from services.common.settings_types import Positive, Share
from services.gateway.recall.choices import TaskType

_log = structlog.get_logger(__name__)

_EXAMPLES: Final = Path(__file__).parent / "data" / "task_types.toml"
_RETRY_SECONDS: Final = 30.0
"""Wait after the examples could not be embedded."""


@dataclass(frozen=True, slots=True)
class IntentSettings:
    """How a question's task type is told."""

    temperature: Positive = 0.05  # difference of cosine similarity that makes a type e times as likely as another
    general_below: Share = 0.45  # confidence below which a question is taken for a general one


@dataclass(frozen=True, slots=True)
class Intent:
    """What an answer is wanted for."""

    task_type: TaskType
    confidence: float  # in [0, 1]; 1 where it was given, 0 where the question does not tell
    is_given: bool = False


UNTOLD: Final = Intent(TaskType.GENERAL, 0.0)
"""The intent of a question that does not tell it."""


class IntentClassifier:
    """Tells task types. Until the examples are embedded, and where they cannot be, no question tells any."""

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
        self._means: Matrix | None = None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Embeds the examples behind the block, which need not wait for them."""
        task = asyncio.create_task(self._prepare_until_done(), name="intent-examples")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def prepare(self) -> None:
        """Embeds the examples.

        Raises:
            EmbeddingError: The model cannot be run.
        """
        texts = [text for examples in self._examples.values() for text in examples]
        vectors = await self._embedder.embed_documents(texts)
        ends = np.cumsum([len(examples) for examples in self._examples.values()])
        means = np.stack([part.mean(axis=0) for part in np.split(vectors, ends[:-1])])
        self._means = (means / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32)

    def classify(self, vector: Vector) -> Intent:
        """Returns the nearest type, or `UNTOLD` where none is near enough or the examples are not embedded yet.

        Args:
            vector: The question's embedding, float32 `[dimension]`, of length 1.
        """
        if self._means is None:
            return UNTOLD
        nearness = (self._means @ vector).astype(np.float64) / self._settings.temperature
        likelihood = np.exp(nearness - nearness.max())
        best = int(likelihood.argmax())
        confidence = float(likelihood[best] / likelihood.sum())
        return Intent(self._types[best], confidence) if confidence >= self._settings.general_below else UNTOLD

    async def _prepare_until_done(self) -> None:
        while True:
            try:
                await self.prepare()
            except EmbeddingError as error:
                _log.warning("task_types_not_learned", error=type(error).__name__)
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                return


def load_examples(file: Path = _EXAMPLES) -> dict[TaskType, tuple[str, ...]]:
    """The example questions of every type.

    Raises:
        ValueError: A type has no examples, or there is one that is not known.
    """
    tables = tomllib.loads(file.read_text("utf-8"))
    if tables.keys() != {task_type.name.lower() for task_type in TaskType} or not all(tables.values()):
        raise ValueError(f"{file.name} should have examples of each task type and of nothing else")
    return {task_type: tuple(tables[task_type.name.lower()]) for task_type in TaskType}

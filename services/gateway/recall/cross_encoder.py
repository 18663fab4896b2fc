"""Stage cross_encode: a model reads the question together with each of the best turns, and what it says is blended in.

Off unless a model's folder is configured: then the stage is not there at all, and costs nothing.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import structlog

from mneme.episodic.v1 import episodic_pb2
from services.common.cross_encoding import (
    CrossEncodingFailedError,
    OnnxCrossEncoder,
    PairScorer,
    Scores,
    ThreadedCrossEncoder,
)
from services.common.embedding.errors import ModelUnavailableError
from services.common.settings_file import SettingsError
from services.common.settings_types import Amount, Count, PositiveShare
from services.gateway.recall.model import RecalledMemory

_log = structlog.get_logger(__name__)

PART: Final = "cross_encoder"
"""The name of what the stage adds to a score."""

TOO_SLOW: Final = "the cross-encoder's time was over: the order is that of fusion"
FAILED: Final = "the cross-encoder failed: the order is that of fusion"

_EVEN: Final = 1e-6  # a spread below is rounding


@dataclass(frozen=True, slots=True)
class CrossEncoderSettings:
    """An optional model that reads the question and each of the best turns together."""

    model_dir: str = ""  # folder with the model.onnx and the tokenizer.json of a cross-encoder; empty: none is used
    candidates: Count = 20  # best turns that it reads
    max_tokens: Count = 256  # word pieces of question and turn together; the longer one is cut
    batch_size: Count = 8  # pairs in one run of the model
    threads: Count = 2  # inside one run
    time_share: PositiveShare = 0.5  # of the time left; after it the order stays as it is
    weight: Amount = 2.0  # of what it says, against what fusion said


@dataclass(frozen=True, slots=True)
class CrossEncoded:
    """Turns in their new order."""

    memories: tuple[RecalledMemory, ...]
    reason: str = ""  # why the order is the old one; empty where it is not


class CrossEncoding:
    """The stage: a model that is slow or fails changes nothing but the answer's account of its stages."""

    def __init__(self, scorer: PairScorer, settings: CrossEncoderSettings) -> None:
        """Asks `scorer`, which is closed with the stage."""
        self._scorer = scorer
        self._settings = settings

    def candidate_count(self, limit: int) -> int:
        """How many turns the stage wants to choose `limit` of them from."""
        return max(limit, self._settings.candidates)

    async def __call__(
        self, question: str, memories: tuple[RecalledMemory, ...], *, seconds_left: float
    ) -> CrossEncoded:
        """Returns all of the turns, best first, ties by id.

        Args:
            question: As it was asked, or rewritten.
            memories: Best first. Those beyond the configured number are not read, and stay behind the others.
            seconds_left: Time until the call's deadline, of which the stage takes its share.
        """
        read = memories[: self._settings.candidates]
        if len(read) < 2:
            return CrossEncoded(memories)
        try:
            async with asyncio.timeout(seconds_left * self._settings.time_share):
                logits = await self._scorer.score(question, [_passage(memory.episode) for memory in read])
        except TimeoutError:
            return CrossEncoded(memories, TOO_SLOW)
        except CrossEncodingFailedError:
            _log.warning("cross_encoding_failed", exc_info=True)
            return CrossEncoded(memories, FAILED)
        blended = [*_blended(read, logits, self._settings.weight), *memories[len(read) :]]
        return CrossEncoded(tuple(sorted(blended, key=lambda m: (-m.ranked.score, m.ranked.episode_id))))

    async def aclose(self) -> None:
        """Ends the model's thread."""
        await self._scorer.aclose()


def open_cross_encoding(settings: CrossEncoderSettings) -> CrossEncoding | None:
    """The stage that the settings ask for; None where they ask for none. Blocks while the model is loaded.

    Raises:
        SettingsError: The folder holds no cross-encoder that can be run.
    """
    if not settings.model_dir:
        return None
    try:
        encoder = OnnxCrossEncoder(
            Path(settings.model_dir),
            max_tokens=settings.max_tokens,
            batch_size=settings.batch_size,
            threads=settings.threads,
        )
    except ModelUnavailableError as error:
        raise SettingsError([str(error)]) from error
    return CrossEncoding(ThreadedCrossEncoder(encoder), settings)


def _blended(memories: tuple[RecalledMemory, ...], logits: Scores, weight: float) -> list[RecalledMemory]:
    """The turns with `weight * s * (logit - lowest) / d` added to their scores.

    `s` and `d` are the standard deviations of the scores and of the logits: every scale of scores and of logits is
    brought to one. Nothing is taken away, so that a turn that was read stays before those that were not.
    """
    scores = np.array([memory.ranked.score for memory in memories], dtype=np.float64)
    deviation = float(logits.std())
    if deviation < _EVEN:
        return list(memories)
    spread = float(scores.std())
    unit = weight * (spread if spread > _EVEN else 1.0) / deviation
    parts = (unit * (logits.astype(np.float64) - float(logits.min()))).tolist()
    return [
        replace(
            memory,
            ranked=replace(
                memory.ranked,
                score=memory.ranked.score + part,
                parts=(*memory.ranked.parts, *([(PART, part)] if part else [])),
            ),
        )
        for memory, part in zip(memories, parts, strict=True)
    ]


def _passage(episode: episodic_pb2.Episode) -> str:
    """What is read of a turn: who said it, its text, and what its pictures show."""
    said = "\n".join(part for part in (episode.query, episode.response) if part)
    shown = [attachment.caption for attachment in episode.attachments if attachment.caption]
    text = "\n".join([said, *shown])
    return f"{episode.speaker}: {text}" if episode.speaker else text

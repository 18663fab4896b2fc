"""Copies the points of the embedded vector engine, for `bench.multiply`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import numpy as np
from qdrant_edge import EdgeShard, Point, UpdateOperation

from services.episodic.config import EdgeSettings
from services.episodic.model import EpisodeKey, Owner, conversation_key, place
from services.episodic.stores.edge_shard import known_shards, open_shard, scroll
from services.episodic.stores.points import DENSE, LEXICAL, PIECE_BITS, episode_key, id_behind

NOISE_LENGTH: Final = 0.3
"""Of what is added to a vector of length one: the cosine with a copy is 0.96, of two copies 0.92."""
_READ: Final = 2_000
_WRITTEN: Final = 256
_POSITION_BITS: Final = 32
_DAY_SECONDS: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation in the episodic tier."""

    owner: Owner
    conversation_id: str

    def copied(self, copy: int) -> Conversation:
        """The conversation that the turns of a copy are in."""
        return Conversation(self.owner, f"{self.conversation_id}~{copy}") if self.conversation_id else self

    @property
    def key(self) -> EpisodeKey:
        """Its first place."""
        return conversation_key(self.owner, self.conversation_id)


@dataclass(frozen=True, slots=True)
class _Read:
    """The points of a shard, by the same index."""

    ids: list[UUID]
    vectors: np.ndarray[Any, np.dtype[np.float32]]
    terms: list[Any]
    payloads: list[dict[str, Any]]


def copy_points(
    qdrant_folder: Path, times: int, *, conversations: Sequence[Conversation], days: int, seed: int
) -> None:
    """Add the points of all copies to each shard, as they would have come in: segments are built on the way. Blocks.

    Args:
        qdrant_folder: Of the installation.
        times: How often each point is there in the end.
        conversations: All conversations of the store.
        days: How much earlier a copy is than the one before it.
        seed: Of the noise on vectors.
    """
    by_key = {conversation.key >> _POSITION_BITS: conversation for conversation in conversations}
    settings = EdgeSettings()
    for folder, dimension in known_shards(qdrant_folder).values():
        shard = open_shard(folder, dimension=dimension, settings=settings)
        try:
            read = _read(shard, dimension)
            noise = np.random.default_rng(seed)
            fresh = 0
            for copy in range(1, times):
                keys = {key: conversation.copied(copy).key >> _POSITION_BITS for key, conversation in by_key.items()}
                for start in range(0, len(read.ids), _WRITTEN):
                    points = _copied(read, start, keys, noise, seconds=copy * days * _DAY_SECONDS)
                    shard.update(UpdateOperation.upsert_points(points))
                    fresh += len(points)
                    if fresh >= settings.optimize_after_points:
                        shard.optimize()
                        fresh = 0
            shard.flush()
        finally:
            shard.close()


def _read(shard: EdgeShard, dimension: int) -> _Read:
    ids: list[UUID] = []
    parts = [np.empty((0, dimension), np.float32)]
    terms: list[Any] = []
    payloads: list[dict[str, Any]] = []
    start: UUID | None = UUID(int=0)
    while start is not None:
        points = scroll(shard, start=start, limit=_READ, vectors=True)
        ids += [point.id for point in points]
        if points:
            parts.append(np.array([point.vector[DENSE] for point in points], np.float32))
        terms += [point.vector[LEXICAL] for point in points]
        payloads += [point.payload for point in points]
        start = id_behind(ids[-1]) if len(points) == _READ else None
    return _Read(ids, np.concatenate(parts), terms, payloads)


def _copied(
    read: _Read, start: int, keys: dict[int, int], noise: np.random.Generator, *, seconds: float
) -> list[Point]:
    """Copies of the next points, with the conversations' keys and so much earlier."""
    stop = min(start + _WRITTEN, len(read.ids))
    vectors = moved(read.vectors[start:stop], noise)
    points = []
    for index, vector in zip(range(start, stop), vectors.tolist(), strict=True):
        old, payload = read.ids[index], read.payloads[index]
        old_key = episode_key(old)
        below = old_key & ((1 << _POSITION_BITS) - 1)
        key = EpisodeKey(keys[old_key >> _POSITION_BITS] << _POSITION_BITS | below)
        piece = old.int & ((1 << PIECE_BITS) - 1)
        points.append(
            Point(
                UUID(int=key << PIECE_BITS | piece),
                {DENSE: vector, LEXICAL: read.terms[index]},
                {**payload, "turn": place(key), "time": payload["time"] - seconds},
            )
        )
    return points


def moved(
    vectors: np.ndarray[Any, np.dtype[np.float32]], noise: np.random.Generator
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Vectors of length one, in rows, moved by noise of `NOISE_LENGTH` and of length one again."""
    scale = NOISE_LENGTH / np.sqrt(vectors.shape[1])
    changed = vectors + noise.normal(0.0, scale, size=vectors.shape).astype(np.float32)
    return np.asarray(changed / np.linalg.norm(changed, axis=1, keepdims=True), np.float32)

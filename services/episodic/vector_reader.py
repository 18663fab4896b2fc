"""The part of the `EpisodeIndex` port that gives vectors back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from services.common.embedding.vectors import Vector
from services.episodic.model import EpisodeKey, Owner


class VectorReader(Protocol):
    """Background work. All methods raise `StoreUnavailable`."""

    async def vectors(self, owner: Owner, keys: Sequence[EpisodeKey]) -> Mapping[EpisodeKey, Vector]:
        """The vector of length 1 of each episode's first piece; episodes that it does not hold are missing."""
        ...

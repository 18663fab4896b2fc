"""Ports of the episodic tier: what an index should hold, by the store, and how episodes get into it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.episodic.model import EpisodeId, EpisodeKey, Owner


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """What an index should hold of one owner, by the store."""

    owner: Owner
    other_episodes: int  # active ones that were indexed with another model
    piece_count: int  # of the active ones of this model, as far as they were counted


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedEpisode:
    """What an index should hold of one episode, by the store."""

    episode_id: EpisodeId
    # None: any number, since it is pending, of another model, or became active before pieces were counted
    piece_count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedEpisode:
    """What an index holds of one episode."""

    owner: Owner
    key: EpisodeKey
    piece_count: int  # at least 1


class ComparisonStore(Protocol):
    """The part of an `EpisodeStore` that is compared with an index."""

    async def index_states(
        self, model: str, *, after: Owner | None, limit: int, only: Owner | None = None
    ) -> list[IndexState]:
        """What an index of this model should hold of the owners behind one, by tenant and user; background work.

        With `only`, of that one of them alone, without reading others.
        """
        ...

    async def expected_episodes(
        self, model: str, places: Sequence[tuple[Owner, EpisodeKey]]
    ) -> list[ExpectedEpisode | None]:
        """What an index of this model should hold of the episodes at these places, in order; background work.

        None where the owner has no episode, or an archived one. What is pending may be in the index or not: its
        points are written before it becomes active.
        """
        ...

    async def adopt_indexed(self, model: str, held: Sequence[IndexedEpisode]) -> int:
        """Notes active episodes as indexed with this model whose pieces its index all holds; returns how many."""
        ...

    async def reset_listed(self, owner: Owner, episode_ids: Sequence[EpisodeId]) -> list[EpisodeId]:
        """Makes those of the episodes that are active pending again, and returns them; background work."""
        ...

    async def reset_episodes(
        self, owner: Owner, *, kept_model: str | None, after: EpisodeId | None, limit: int
    ) -> list[EpisodeId]:
        """Makes up to `limit` active episodes pending again, by id behind `after`, and returns them; background work.

        Those indexed with `kept_model` stay as they are; where it is None, all are reset.
        """
        ...

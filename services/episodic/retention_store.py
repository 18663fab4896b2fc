"""The part of the `EpisodeStore` port that says which episodes fade, and archives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.episodic.model import EpisodeId, EpisodeKey, Owner


@dataclass(frozen=True, slots=True)
class ActiveCount:
    """How many active episodes an owner has."""

    owner: Owner
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FadingEpisode:
    """What decides how long an active episode stays."""

    episode_id: EpisodeId
    importance: float  # in [0, 1]
    used_time: datetime  # when it was stored, restored or last returned by a recall, whichever is latest


class RetentionStore(Protocol):
    """Background work. All methods raise `StoreUnavailable`."""

    async def active_counts(self, *, after: Owner | None, limit: int) -> list[ActiveCount]:
        """The owners behind one, by tenant and user, with the number of their active episodes."""
        ...

    async def weakest(
        self, owner: Owner, *, newest_kept: int, scale_days: float, now: datetime, limit: int
    ) -> list[FadingEpisode]:
        """Active episodes but for the newest ones, the one with the least importance x decay first, then the oldest."""
        ...

    async def archive_unused(self, owner: Owner, episodes: Sequence[FadingEpisode]) -> dict[EpisodeId, EpisodeKey]:
        """Archives those that are active and were not used since, in one transaction; returns their places."""
        ...

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


@dataclass(frozen=True, slots=True, kw_only=True)
class FadingRule:
    """When an episode has faded: the store keeps the time with each, computed by this."""

    scale_days: float = 365.0  # since the last use, after which half of the strength is left; > 0
    strength_min: float = 0.1  # of importance x decay, below which it has faded; 0: never


class RetentionStore(Protocol):
    """Background work. All methods raise `StoreUnavailable`.

    The time at which an active episode fades is stored with it by the writes that change it: becoming active, with its
    importance, and accesses. It may be up to a day too early, never too late.
    """

    async def active_counts(self, *, after: Owner | None, limit: int, only: Owner | None = None) -> list[ActiveCount]:
        """The owners behind one, by tenant and user, with the number of their active episodes.

        With `only`, that one of them alone, without reading others.
        """
        ...

    async def time_fading(self, owner: Owner, *, after: EpisodeId | None, limit: int) -> EpisodeId | None:
        """Stores the times of active episodes that have none, and of all where they follow from another rule.

        Looks at no more than `limit` of them, in one transaction.

        Returns:
            The id to go on behind; None at the end.
        """
        ...

    async def active_time(self, owner: Owner) -> datetime | None:
        """When the owner last stored, restored or used an episode that is not archived; None without any."""
        ...

    async def faded(self, owner: Owner, *, newest_kept: int, now: datetime, limit: int) -> list[FadingEpisode]:
        """Active episodes but for the newest ones whose time has come, by that time, then the oldest first.

        Reads no others.
        """
        ...

    async def weakest(
        self, owner: Owner, *, newest_kept: int, scale_days: float, now: datetime, limit: int
    ) -> list[FadingEpisode]:
        """Active episodes but for the newest ones, the one with the least importance x decay first, then the oldest."""
        ...

    async def archive_unused(
        self, owner: Owner, episodes: Sequence[FadingEpisode], *, now: datetime
    ) -> dict[EpisodeId, EpisodeKey]:
        """Archives those that are active and were not used since, in one transaction; returns their places."""
        ...

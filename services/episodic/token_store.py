"""The part of the episode store that keeps token vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from services.episodic.model import EpisodeId, EpisodeKey, Owner
from services.episodic.token_format import PackedTokens


@dataclass(frozen=True, slots=True)
class EpisodePlace:
    """Whose episode and where; episodes of all owners are ordered by it."""

    owner: Owner
    key: EpisodeKey


@dataclass(frozen=True, slots=True, kw_only=True)
class UntokenedEpisode:
    """An active episode that has no token vectors of a model."""

    place: EpisodePlace
    episode_id: EpisodeId
    text: str


class UntokenedBatch(Protocol):
    """What was found in one look; inside `async with` no other worker looks."""

    @property
    def is_claimed(self) -> bool:
        """Whether it was this worker's turn; otherwise nothing was looked at."""
        ...

    @property
    def episodes(self) -> Sequence[UntokenedEpisode]:
        """By their places; may be empty."""
        ...

    @property
    def after(self) -> EpisodePlace | None:
        """Behind which place to look next; None where there is none behind those that were looked at."""
        ...

    async def put(self, tokens: Mapping[EpisodePlace, PackedTokens]) -> None:
        """Keeps token vectors of episodes when the block is left; those of episodes that are gone are ignored."""
        ...


class TokenStore(Protocol):
    """Token vectors of episodes, which go with them. All methods raise `StoreUnavailable` or `DeadlineExceeded`."""

    async def tokens(self, owner: Owner, keys: Sequence[EpisodeKey], *, model: str) -> dict[EpisodeKey, bytes]:
        """Packed token vectors of the owner's episodes at these places; missing where there are none of the model."""
        ...

    def claim_untokened(
        self, model: str, *, after: EpisodePlace | None, scan_limit: int, limit: int
    ) -> AbstractAsyncContextManager[UntokenedBatch]:
        """Looks for active episodes of any tenant without token vectors of the model; background work.

        Args:
            model: Identity of the space.
            after: Behind which place to look; None for the beginning.
            scan_limit: How many episodes are looked at.
            limit: How many of them are returned.
        """
        ...

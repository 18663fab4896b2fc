"""The part of the episode store that holds token vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from services.episodic.model import EpisodeId, Owner
from services.episodic.token_format import PackedTokens


@dataclass(frozen=True, slots=True)
class EpisodeName:
    """Which episode of all owners; they are ordered by it."""

    owner: Owner
    episode_id: EpisodeId


@dataclass(frozen=True, slots=True, kw_only=True)
class UntokenedEpisode:
    """An active episode that has no token vectors of a model."""

    name: EpisodeName
    text: str


class UntokenedBatch(Protocol):
    """What was found in one look; inside `async with` no other worker looks."""

    @property
    def is_claimed(self) -> bool:
        """Whether it was this worker's turn; otherwise nothing was looked at."""
        ...

    @property
    def episodes(self) -> Sequence[UntokenedEpisode]:
        """By their names; may be empty."""
        ...

    @property
    def after(self) -> EpisodeName | None:
        """Cursor of the next page; None on the last."""
        ...

    async def put(self, tokens: Mapping[EpisodeName, PackedTokens]) -> None:
        """Keeps token vectors of episodes when the block is left; those of episodes that are gone are ignored."""
        ...


class TokenStore(Protocol):
    """Token vectors of episodes, which go with them. All methods raise `StoreUnavailable` or `DeadlineExceeded`."""

    async def tokens(self, owner: Owner, episode_ids: Sequence[EpisodeId], *, model: str) -> dict[EpisodeId, bytes]:
        """Packed token vectors of these episodes of the owner; missing where there are none of the model."""
        ...

    async def newest_tokens(
        self, owner: Owner, *, model: str, before: EpisodeId | None, limit: int
    ) -> list[tuple[EpisodeId, bytes]]:
        """Packed token vectors of the owner's episodes, from the highest id on; the last ones where they are fewer.

        Args:
            owner: Whose.
            model: Identity of the space.
            before: Only those with lower ids; None for no bound.
            limit: At most this many.
        """
        ...

    def claim_untokened(
        self, model: str, *, after: EpisodeName | None, scan_limit: int, limit: int
    ) -> AbstractAsyncContextManager[UntokenedBatch]:
        """Looks for active episodes of any tenant without token vectors of the model; background work.

        Args:
            model: Identity of the space.
            after: Cursor of the page before; None for the first page.
            scan_limit: How many episodes are looked at.
            limit: How many of them are returned.
        """
        ...

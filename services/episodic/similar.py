"""A search for similar episodes, of now or as of a time, and what it finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from services.common.ids import made_time
from services.episodic.model import Episode, Owner
from services.episodic.store import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """A search for similar episodes, with every default filled in."""

    owner: Owner
    text: str
    vector: Vector | None  # None: the text is embedded here
    scope_keys: Sequence[str]  # of the places that the reader sees
    limit: int
    held_at: datetime | None = None  # decay counts up to then; None: now
    known_at: datetime | None = None  # only what had been recorded by then; None: everything

    def archived_after(self, now: datetime) -> datetime | None:
        """Episodes that were archived later are found too; None: only active ones."""
        past = [time for time in (self.held_at, self.known_at) if time is not None and time < now]
        return min(past, default=None)

    def knows(self, episode_id: bytes) -> bool:
        """Whether an episode had been recorded: its id says when."""
        if self.known_at is None:
            return True
        made = made_time(str(UUID(bytes=episode_id)))
        return made is None or made <= self.known_at


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredEpisode:
    """A hit."""

    episode: Episode
    score: float  # similarity x decay x feedback factor
    similarity: float  # cosine, in [-1, 1]

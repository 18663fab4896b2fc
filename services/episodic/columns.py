"""The light columns of episodes, which searches rank by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from services.episodic.model import EpisodeKey

ROWS_ON_LOOP_MAX: Final = 2_000
"""More rows of columns are read in a thread: 100,000 take 0.2 to 0.3 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeColumns:
    """The light columns of some episodes, without text; entry i of each list belongs to episode i."""

    keys: list[EpisodeKey]
    episode_ids: list[bytes]  # 16 bytes each
    conversation_ids: list[str]
    positions: list[int]
    speakers: list[str]
    times: list[float]  # seconds since the Unix epoch
    lengths: list[int]  # characters
    traits: list[int]
    feedbacks: list[int]
    importances: list[float]

    def __len__(self) -> int:
        """Number of episodes."""
        return len(self.keys)

    @classmethod
    def of_rows(cls, rows: Sequence[Iterable[Any]]) -> EpisodeColumns:
        """Columns of rows whose first fields are these columns in their order."""
        names = [f.name for f in fields(cls)]
        if not rows:
            return cls(**{name: [] for name in names})
        return cls(**dict(zip(names, map(list, zip(*rows, strict=True)), strict=False)))

    def selected(self, indexes: Sequence[int]) -> EpisodeColumns:
        """The columns of some episodes, in the order of their indexes."""
        return EpisodeColumns(**{f.name: [getattr(self, f.name)[i] for i in indexes] for f in fields(self)})

    def joined(self, other: EpisodeColumns) -> EpisodeColumns:
        """These episodes and the others behind them."""
        return EpisodeColumns(**{f.name: [*getattr(self, f.name), *getattr(other, f.name)] for f in fields(self)})

"""Which candidates are neighbours in their sessions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

_SESSION_STRIDE: Final = 1 << 32  # positions are below 2^31, so keys of two sessions never meet


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Looks up neighbours among n candidates, of which `(session, position)` is unique."""

    order: npt.NDArray[np.intp]  # the candidates by session and position, `[n]`
    _ordered: npt.NDArray[np.int64]
    _known: dict[int, npt.NDArray[np.intp]] = field(default_factory=dict)  # by offset: each is asked for many times

    @classmethod
    def of(cls, session: npt.NDArray[np.int32], position: npt.NDArray[np.int32]) -> Surroundings:
        """Prepares the look-up: the session's index and the place in it, `[n]` each."""
        keys = session.astype(np.int64) * _SESSION_STRIDE + position
        order = np.argsort(keys)
        return cls(order, keys[order])

    def rows(self, offset: int) -> npt.NDArray[np.intp]:
        """The candidate so many turns after each one (before, if negative), or n where there is none: `[n]`."""
        if offset not in self._known:
            self._known[offset] = self._rows(offset)
        return self._known[offset]

    def _rows(self, offset: int) -> npt.NDArray[np.intp]:
        count = self._ordered.size
        if not count:
            return self.order
        wanted = self._ordered + offset  # in order, too, which halves the time of the search
        places = np.minimum(np.searchsorted(self._ordered, wanted), count - 1)
        found = np.empty_like(self.order)
        found[self.order] = np.where(self._ordered[places] == wanted, self.order[places], count)
        return found

"""How often owners have asked for something."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from services.episodic.model import Owner

_OWNERS_MAX: Final = 10_000


class OwnerCounts:
    """A number for each owner; of those who were counted longest ago it is forgotten."""

    def __init__(self) -> None:
        """Nobody has asked yet."""
        self._counts: OrderedDict[Owner, int] = OrderedDict()

    def add(self, owner: Owner) -> int:
        """One more; returns the owner's number with it."""
        count = self._counts.pop(owner, 0) + 1
        self._counts[owner] = count
        if len(self._counts) > _OWNERS_MAX:
            self._counts.popitem(last=False)
        return count


def is_doubled(number: int, start: int) -> bool:
    """Whether a number is `start`, or that doubled any number of times."""
    times, rest = divmod(number, start)
    return rest == 0 and times > 0 and times & (times - 1) == 0

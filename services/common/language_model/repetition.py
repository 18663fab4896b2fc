"""Whether a text goes round in circles."""

from __future__ import annotations

import re
from typing import Final

_RUN_WORDS: Final = 8
_TIMES_MAX: Final = 3


def is_repetitive(text: str, *, times_max: int = _TIMES_MAX) -> bool:
    """Whether a text says the same run of 8 words again and again, as models do that have lost the thread.

    Args:
        text: What is looked at.
        times_max: How often a run may stand in it.
    """
    words = re.findall(r"\w+", text.casefold())
    counts: dict[tuple[str, ...], int] = {}
    for start in range(len(words) - _RUN_WORDS + 1):
        run = tuple(words[start : start + _RUN_WORDS])
        counts[run] = counts.get(run, 0) + 1
        if counts[run] > times_max:
            return True
    return False

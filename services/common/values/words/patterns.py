"""Patterns whose answers are cached, since each new sentence is compared with up to 32 earlier ones."""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache

_TEXTS_MAX: Final = 1_024


class CachedPattern:
    """A regular expression that keeps its answers for the last 1,024 texts. Safe for use by several threads."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        """Compile the pattern."""
        self.pattern: Final = re.compile(pattern, flags)
        self.search = text_cache(_TEXTS_MAX)(self.pattern.search)
        self.match = text_cache(_TEXTS_MAX)(self.pattern.match)

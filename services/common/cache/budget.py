"""How many bytes the cache of a process may take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from services.common.cache.owner_cache import BYTES_MAX_DEFAULT, OwnerCache
from services.common.settings_types import Count, CountOrNone, Seconds, Share

_log = structlog.get_logger(__name__)

_LIMIT_FILES: Final = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""Where Linux says how much memory a container may use: cgroups of version 2 and 1."""


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """What a process holds of its users in memory, all services of the process together."""

    bytes_max: CountOrNone = BYTES_MAX_DEFAULT
    """Bytes of all users together; what was used least recently is evicted. 0: nothing is cached."""
    container_share_max: Share = 0.4
    """Of the container's memory limit, where it has one: a smaller budget is used then."""
    prefetch_after_misses: Count = 3
    """Searches of a user that miss, before what later ones will need is read in the background."""
    texts_seconds: Seconds = 60.0
    """How often all caches of texts are emptied: no process keeps an erased sentence in them for longer."""


def create_cache(settings: CacheSettings | None = None, *, limit_files: Sequence[Path] = _LIMIT_FILES) -> OwnerCache:
    """The cache of a process, with a budget that fits into its container.

    Args:
        settings: Defaults where None.
        limit_files: Where the memory limit of the container may stand.
    """
    chosen = settings or CacheSettings()
    limit = memory_limit(limit_files)
    budget = chosen.bytes_max
    if limit is not None and budget > limit * chosen.container_share_max:
        budget = int(limit * chosen.container_share_max)
        _log.info("the cache is smaller than configured: the container has little memory", bytes_max=budget)
    return OwnerCache(budget, prefetch_after_misses=chosen.prefetch_after_misses)


def memory_limit(files: Sequence[Path] = _LIMIT_FILES) -> int | None:
    """The memory limit of this container in bytes; None where there is none."""
    for file in files:
        try:
            text = file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        return int(text) if text.isdigit() else None  # "max": no limit
    return None

"""Caches for tests."""

from __future__ import annotations

from services.common.cache import OwnerCache


def eager_cache(*, bytes_max: int = 64 * 1024 * 1024) -> OwnerCache:
    """One that loads a user at the first miss, and again after one, two, four misses."""
    return OwnerCache(bytes_max, prefetch_after_misses=1)

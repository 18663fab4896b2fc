"""Caches of what was read of texts. A process empties all of them every minute, so that erased words leave its memory.

A sentence is compared with many others, and reading it again each time would be slow. So what was read is cached by
the sentence itself. Such a cache does not know whose sentence it is, and an erasure cannot pick out its entries.
"""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import AsyncIterator, Callable
from functools import lru_cache
from typing import ParamSpec, Protocol, TypeVar, cast

_P = ParamSpec("_P")
_R = TypeVar("_R")


class TextCache(Protocol):
    """A cache with texts, or with what was read of them."""

    def cache_clear(self) -> None:
        """Drop all entries."""
        ...


_caches: weakref.WeakSet[TextCache] = weakref.WeakSet()


def text_cache(entries_max: int) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Cache the results of a pure function of texts, as `functools.lru_cache` does, until `clear_text_caches`.

    Args:
        entries_max: Results that are kept; the one that was used least recently goes first.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        cached = lru_cache(maxsize=entries_max)(function)
        register_text_cache(cached)
        return cast("Callable[_P, _R]", cached)

    return decorate


def register_text_cache(cache: TextCache) -> None:
    """Have a cache cleared together with the others for as long as it lives."""
    _caches.add(cache)


def clear_text_caches() -> None:
    """Drop the entries of all caches of texts in this process."""
    for cache in list(_caches):
        cache.cache_clear()


@contextlib.asynccontextmanager
async def text_caches_cleared(seconds: float) -> AsyncIterator[None]:
    """Clear the caches of texts again and again for the length of the block.

    Args:
        seconds: Between two times: no entry is older.
    """

    async def clear() -> None:
        while True:
            await asyncio.sleep(seconds)
            clear_text_caches()

    clearing = asyncio.create_task(clear(), name="text-caches")
    try:
        yield
    finally:
        clearing.cancel()
        await asyncio.gather(clearing, return_exceptions=True)

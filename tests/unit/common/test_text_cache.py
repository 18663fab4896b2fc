"""Caches of texts are emptied together, so that erased words leave the memory of a process."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Final

from services.common.text_cache import clear_text_caches, text_cache, text_caches_cleared

_SERVICES: Final = Path(__file__).parents[3] / "services"
_LRU_CACHE: Final = re.compile(r"lru_cache\((?!maxsize=1\))")


def test_spec_6_6_a_text_is_read_anew_after_the_caches_were_cleared() -> None:
    read: list[str] = []

    @text_cache(8)
    def length_of(text: str) -> int:
        read.append(text)
        return len(text)

    assert [length_of("my pin is 4711"), length_of("my pin is 4711")] == [14, 14]
    assert read == ["my pin is 4711"]

    clear_text_caches()

    assert length_of("my pin is 4711") == 14
    assert read == ["my pin is 4711"] * 2


async def test_spec_6_6_a_service_clears_them_again_and_again() -> None:
    read: list[str] = []

    @text_cache(8)
    def length_of(text: str) -> int:
        read.append(text)
        return len(text)

    async with asyncio.timeout(60), text_caches_cleared(0.01):
        while len(read) < 3:
            length_of("my pin is 4711")
            await asyncio.sleep(0.005)


def test_spec_6_6_what_is_read_of_sentences_is_in_such_caches_alone() -> None:
    # A plain lru_cache of one entry holds what a module reads of its own word lists.
    folders = ("common/values", "gateway/recall", "gateway/context", "gateway/erasure")
    files = [file for folder in folders for file in (_SERVICES / folder).rglob("*.py")]
    assert files
    assert [file.name for file in files if _LRU_CACHE.search(file.read_text(encoding="utf-8"))] == []

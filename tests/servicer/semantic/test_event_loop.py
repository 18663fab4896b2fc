"""No step of ExtractFacts holds the event loop for long."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import pytest

from mneme.semantic.internal.v1 import semantic_pb2
from services.common.text import split_sentences
from services.common.text_cache import clear_text_caches
from services.common.values.keys import statement_keys
from services.common.values.sentences import stated_part
from tests.servicer.semantic.conftest import ANN, OpenTier, Running, on_postgres
from tests.servicer.semantic.test_facts import interactions

ATTEMPTS: Final = 6
"""A machine can stand still for a moment in one step, hardly in one of each attempt."""
TURNS: Final = 3
SENTENCE: Final = "I live in Ghent with {0} sisters, who are allergic to {0} kinds of nuts and play {0} cellos. "


@pytest.fixture(params=["postgres"])
def open_tier(request: pytest.FixtureRequest) -> OpenTier:
    """On one store: what is read of a turn does not depend on it."""
    return partial(on_postgres, request.getfixturevalue("postgres_server"))


def turns(first: int, count: int) -> list[tuple[str, str]]:
    numbers = range(1_000 * first, 1_000 * (first + count), 1_000)
    return [("Ann", "".join(SENTENCE.format(number + at) for at in range(100))[:8_000]) for number in numbers]


def extraction(first: int, count: int) -> semantic_pb2.ExtractFactsRequest:
    return semantic_pb2.ExtractFactsRequest(interactions=interactions(turns(first, count)))


def reading_seconds(first: int) -> float:
    """Processor time of the first thing that is done with one of the turns: finding the words of its sentences."""
    [(_, text)] = turns(first, 1)
    begin = time.thread_time()
    for sentence in split_sentences(text):
        statement_keys(stated_part(sentence))
    return time.thread_time() - begin


async def test_issue_17_long_turns_do_not_hold_the_event_loop(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No step takes a quarter of what reading one of three turns does, let alone all that is done with them."""
    await running.internal.ExtractFacts(extraction(1_000, 1), metadata=ANN, timeout=60.0)
    longest = 0.0
    run = asyncio.Handle._run

    def timed(handle: Any) -> None:
        nonlocal longest
        begin = time.thread_time()  # of the loop's thread alone, whatever else the machine does
        run(handle)
        longest = max(longest, time.thread_time() - begin)

    monkeypatch.setattr(asyncio.Handle, "_run", timed)
    steps = []
    with uncollected():
        for attempt in range(ATTEMPTS):
            request = extraction(10 * attempt, TURNS)
            await asyncio.sleep(0)  # this test's own step ends here
            longest = 0.0
            response = await running.internal.ExtractFacts(request, metadata=ANN, timeout=60.0)
            assert len(response.results) == TURNS
            clear_text_caches()
            steps.append((longest, reading_seconds(10 * attempt)))
            if is_short(*steps[-1]):
                break
    monkeypatch.undo()
    assert any(is_short(*step) for step in steps), steps


def is_short(step_seconds: float, turn_seconds: float) -> bool:
    return step_seconds < turn_seconds / 4


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Without collections of garbage: what they take depends on all that the tests of before left behind."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

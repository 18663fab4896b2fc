"""Tests of rests of maintenance."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from services.common.maintenance.pace import Pace, computed, rest


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of the rests of threads, which take none."""
    found: list[float] = []
    monkeypatch.setattr(time, "sleep", found.append)
    return found


def _work(seconds: float) -> str:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    rest()
    return threading.current_thread().name


async def test_what_is_computed_rests_on_its_thread_for_longer_than_it_worked(rests: list[float]) -> None:
    assert await computed(_work, 0.003) != threading.current_thread().name
    assert len(rests) == 1
    assert 0.003 <= rests[0] <= 0.02


async def test_short_work_goes_on_without_a_rest(rests: list[float]) -> None:
    await computed(_work, 0.0)
    assert rests == []


async def test_a_pure_function_does_not_rest_elsewhere(rests: list[float]) -> None:
    _work(0.003)
    with pytest.raises(ZeroDivisionError):
        await computed(lambda: 1 / 0)
    await computed(lambda: None)
    _work(0.003)
    assert rests == []


async def test_a_job_rests_between_pages_at_most_for_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    reading, answering = Pace(), Pace(is_awaited=True)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    _work(0.05)
    await reading.rest()
    await answering.rest()  # somebody waits for it
    assert found == [0.02, 0.0]

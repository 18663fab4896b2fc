"""One task for each key, and none that outlives its owner."""

import asyncio

import pytest

from services.common.background import BackgroundWork, RestartDelays


async def test_a_key_has_one_task_at_a_time() -> None:
    work, begun = BackgroundWork[str]("test"), []
    gate = asyncio.Event()

    async def run(name: str) -> None:
        begun.append(name)
        await gate.wait()

    for name in ("a", "b", "a"):
        work.begin(name, lambda name=name: run(name))  # type: ignore[misc]
    await asyncio.sleep(0)
    assert begun == ["a", "b"]
    assert "a" in work

    gate.set()
    await work.settle()
    assert "a" not in work
    work.begin("a", lambda: run("again"))
    await work.settle()
    assert begun == ["a", "b", "again"]


async def test_work_can_begin_again_in_the_step_in_which_it_ended() -> None:
    work, begun = BackgroundWork[str]("test"), list[int]()
    loop = asyncio.get_running_loop()
    again = asyncio.Event()

    async def second() -> None:
        begun.append(2)
        again.set()

    async def first() -> None:
        begun.append(1)
        loop.call_soon(lambda: work.begin("a", second))  # runs before the callbacks of a task that ends now

    work.begin("a", first)
    await again.wait()
    assert begun == [1, 2]
    await work.settle()
    assert "a" not in work


async def test_closing_cancels_and_waits_and_may_be_repeated() -> None:
    work, ended = BackgroundWork[int]("test"), []

    async def run() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(True)

    work.begin(1, run)
    await asyncio.sleep(0)
    await work.aclose()
    assert ended == [True]
    await work.aclose()
    await work.settle()


async def test_a_failure_is_raised_to_the_waiting_caller_and_ends_the_work_of_its_key() -> None:
    work = BackgroundWork[int]("test")

    async def fail() -> None:
        raise ValueError("no")

    work.begin(1, fail)
    with pytest.raises(ValueError, match="no"):
        await work.settle()
    assert 1 not in work


async def test_work_that_is_kept_running_starts_again_after_a_failure_until_it_returns() -> None:
    runs: list[int] = []
    ended = asyncio.Event()

    async def run() -> None:
        runs.append(len(runs))
        if len(runs) < 3:
            raise ValueError("not yet")

        ended.set()

    async with BackgroundWork[str]("test", RestartDelays(first_seconds=0.0)) as work, asyncio.timeout(5.0):
        work.keep_running("loop", run)
        await ended.wait()
    assert runs == [0, 1, 2]


async def test_leaving_the_block_cancels_loops_and_tasks() -> None:
    ended: list[str] = []

    async def run(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    async with BackgroundWork[str]("test") as work:
        work.keep_running("loop", lambda: run("loop"))
        work.begin("task", lambda: run("task"))
        with pytest.raises(ValueError, match="already"):
            work.keep_running("loop", lambda: run("again"))
        await asyncio.sleep(0)
    assert ended == ["loop", "task"]


async def test_settling_does_not_wait_for_loops() -> None:
    async with BackgroundWork[str]("test") as work:
        work.keep_running("loop", asyncio.Event().wait)  # type: ignore[arg-type]
        async with asyncio.timeout(5.0):
            await work.settle()
        assert "loop" in work


def test_waits_between_restarts_grow_up_to_a_bound() -> None:
    delays = RestartDelays(first_seconds=1.0, longest_seconds=5.0)
    assert [delays.seconds(failures) for failures in (1, 2, 3, 4, 100)] == [1.0, 2.0, 4.0, 5.0, 5.0]

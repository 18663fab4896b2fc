"""One task for each key, and none that outlives its owner."""

import asyncio

import pytest

from services.common.background import BackgroundWork


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


async def test_a_failure_is_told_to_whoever_waits_and_ends_the_work_of_its_key() -> None:
    work = BackgroundWork[int]("test")

    async def fail() -> None:
        raise ValueError("no")

    work.begin(1, fail)
    with pytest.raises(ValueError, match="no"):
        await work.settle()
    assert 1 not in work

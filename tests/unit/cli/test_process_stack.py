"""A service that cannot start says why, and its watcher does not die in silence."""

from __future__ import annotations

import asyncio
import sys

import pytest

from services.cli import process_stack
from services.cli.process_stack import _Service, _started


def service(*program: str) -> _Service:
    return _Service("session", "127.0.0.1:1", {}, program=program)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_stack, "_RESTART_DELAY_SECONDS", 0.01)


async def test_a_service_that_cannot_start_fails_soon_with_its_last_words() -> None:
    broken = service(sys.executable, "-c", "import sys; sys.exit('no API keys for 0.0.0.0')")
    async with asyncio.timeout(60):
        with pytest.raises(
            OSError, match=r"session service ends as soon as it is started(.|\n)*no API keys for 0\.0\.0\.0"
        ):
            await _started(broken, asyncio.create_task(broken.run()))


async def test_a_program_that_is_not_there_is_told_and_not_swallowed() -> None:
    missing = service("/nowhere/program")
    with pytest.raises(OSError, match=r"cannot be started(.|\n)*/nowhere/program"):
        await missing.run()


async def test_a_service_that_has_served_is_started_however_often_it_ends() -> None:
    ending = service(sys.executable, "-c", "import sys; print('ended', file=sys.stderr)")
    ending.has_served = True
    watcher = asyncio.create_task(ending.run())
    async with asyncio.timeout(60):
        while len(ending.last_lines) < 4:  # noqa: ASYNC110 - each start leaves a line
            await asyncio.sleep(0.01)
    assert not watcher.done()
    await ending.stop()
    await watcher

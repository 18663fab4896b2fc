"""What is told of an event loop that stood still."""

import asyncio
import time

import structlog.testing

from services.common.telemetry.loop_delay import LoopDelay, loop_delay_recorded


def test_stalls_are_logged_once_a_minute_with_their_number() -> None:
    now = 0.0
    delays = LoopDelay(clock=lambda: now)
    with structlog.testing.capture_logs() as logs:
        delays.record(0.01)
        for second in range(90):
            now = float(second)
            delays.record(0.06 if second else 0.2)
    assert [(line["stalls"], line["longest_milliseconds"]) for line in logs] == [(1, 200), (60, 60)]


async def test_a_loop_that_is_blocked_is_noticed() -> None:
    found: list[float] = []

    class Recorder(LoopDelay):
        def record(self, seconds: float) -> None:
            found.append(seconds)

    async with loop_delay_recorded(Recorder()):
        await asyncio.sleep(0)
        time.sleep(0.1)  # noqa: ASYNC251 - the stall itself
        async with asyncio.timeout(60):
            while not found:  # noqa: ASYNC110 - what is waited for is a tick
                await asyncio.sleep(0)
    assert max(found) > 0.05

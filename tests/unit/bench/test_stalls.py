"""Where an event loop stands still is shown, and nothing else."""

import asyncio
import sys
from pathlib import Path

from bench.stalls import stalls_shown

STANDS_STILL = """
import asyncio, time
from bench.stalls import stalls_shown

def stand_still():
    time.sleep(2.0)

async def main():
    async with stalls_shown(seconds=0.1):
        await asyncio.sleep(0)  # it is watched from its next step on
        stand_still()

asyncio.run(main())
"""


async def test_a_loop_that_stands_still_shows_where() -> None:
    # In a process of its own: see `stalls_shown` for what showing stacks can do to one.
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", STANDS_STILL, stderr=asyncio.subprocess.PIPE)
    _, shown = await process.communicate()
    assert process.returncode == 0
    assert b"Timeout" in shown
    assert b"stand_still" in shown


async def test_nothing_is_shown_of_a_loop_that_runs(tmp_path: Path) -> None:
    path = tmp_path / "stacks"
    with path.open("w", encoding="utf-8") as file:
        async with stalls_shown(seconds=60.0, file=file):
            for _ in range(100):
                await asyncio.sleep(0)

    assert path.read_text("utf-8") == ""

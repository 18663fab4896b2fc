"""Where an event loop stands still is shown, and nothing else."""

import asyncio
from pathlib import Path

from bench.stalls import stalls_shown


def stand_still(file: Path) -> None:
    """Holds up the event loop until something is written about it."""
    while "stand_still" not in file.read_text("utf-8"):
        continue


async def test_a_loop_that_stands_still_shows_where(tmp_path: Path) -> None:
    path = tmp_path / "stacks"
    with path.open("w", encoding="utf-8") as file:
        async with stalls_shown(seconds=0.05, file=file):
            await asyncio.sleep(0)  # it is watched from its next step on
            stand_still(path)

    assert "Timeout" in path.read_text("utf-8")


async def test_nothing_is_shown_of_a_loop_that_runs(tmp_path: Path) -> None:
    path = tmp_path / "stacks"
    with path.open("w", encoding="utf-8") as file:
        async with stalls_shown(seconds=60.0, file=file):
            for _ in range(100):
                await asyncio.sleep(0)

    assert path.read_text("utf-8") == ""

"""Starts that are measured: what is compared, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import psutil
import pytest

from bench.common import BenchError
from bench.start import Start, added_seconds, running, until

SLEEPS = "import time; time.sleep(600)"
STARTS_ANOTHER = f"""
import subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", {SLEEPS!r}], start_new_session=True).pid, flush=True)
time.sleep(600)
"""


def test_what_http_adds_is_the_difference_of_medians() -> None:
    found = {
        "with HTTP": [Start(seconds, 1.0, 9.0) for seconds in (3.0, 2.5, 60.0)],
        "without HTTP": [Start(seconds, 1.0, 9.0) for seconds in (2.0, 2.25, 1.0)],
    }
    assert added_seconds(found) == pytest.approx(1.0)


async def test_nothing_that_a_start_has_started_is_left(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def has_printed() -> bool:
        return log.read_bytes().endswith(b"\n")

    async with running([sys.executable, "-c", STARTS_ANOTHER], log) as process:
        await until(has_printed, process, log, seconds=60)
        other = psutil.Process(int(log.read_text("utf-8")))
        assert other.is_running()
    assert process.returncode is not None
    assert other.wait(timeout=10) is None or not other.is_running()


async def test_a_start_that_ends_or_does_not_serve_in_time_is_an_error(tmp_path: Path) -> None:
    async def never() -> bool:
        await asyncio.sleep(0)
        return False

    log = tmp_path / "log"
    with pytest.raises(BenchError, match=r"ended with 3: no memory"):
        async with running([sys.executable, "-c", "print('no memory'); raise SystemExit(3)"], log) as process:
            await until(never, process, log, seconds=60)
    with pytest.raises(BenchError, match=r"not ready after 0\.2 s"):
        async with running([sys.executable, "-c", SLEEPS], log) as process:
            await until(never, process, log, seconds=0.2)
    assert process.returncode is not None

"""A process that runs a job and is killed in the middle of it, without a chance to clean up."""

from __future__ import annotations

import asyncio
import functools
import os
import signal
from collections.abc import Callable
from datetime import datetime
from multiprocessing import get_context
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any, Final

import asyncpg

from services.episodic.stores.edge import EdgeEpisodeIndex
from tests.integration.maintenance.cases import CASES
from tests.integration.maintenance.places import opened
from tests.support.clock import FakeClock

_STATEMENTS: Final = ("fetch", "fetchrow", "fetchval", "execute", "executemany", "copy_records_to_table")
_WRITES: Final = ("put", "remove", "remove_owner")
_SECONDS: Final = 300.0

_processes = get_context("forkserver")
_processes.set_forkserver_preload([__name__])


class Moments:
    """Counts statements to PostgreSQL and writes to the vector index; the process ends before one of them."""

    def __init__(self, last: int | None) -> None:
        self.count = 0
        self._last = last

    def watch(self, owner: type, names: tuple[str, ...]) -> None:
        for name in names:
            setattr(owner, name, self._watched(getattr(owner, name)))

    def _watched(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        async def call(*arguments: Any, **options: Any) -> Any:
            self.count += 1
            if self.count == self._last:
                os.kill(os.getpid(), signal.SIGKILL)
            return await original(*arguments, **options)

        return call


async def run_apart(name: str, dsn: str, folder: Path, now: datetime, *, killed_at: int | None) -> int | None:
    """Runs a job in a process of its own.

    Returns:
        The moments that it passed; None where it was killed before the one of this number, from 1.
    """
    receiving, sending = _processes.Pipe(duplex=False)
    process = _processes.Process(target=_main, args=(name, dsn, folder, now, killed_at, sending), daemon=True)
    process.start()
    sending.close()
    await asyncio.to_thread(process.join, _SECONDS)
    if process.exitcode is None:
        process.kill()
        raise AssertionError("the process does not end")
    if process.exitcode == 0:
        return int(receiving.recv())
    assert process.exitcode == -signal.SIGKILL, f"the process ended with {process.exitcode}"
    return None


def _main(name: str, dsn: str, folder: Path, now: datetime, killed_at: int | None, sending: Pipe) -> None:
    sending.send(asyncio.run(_run(name, dsn, folder, now, killed_at)))


async def _run(name: str, dsn: str, folder: Path, now: datetime, killed_at: int | None) -> int:
    case = CASES[name]
    async with opened(case, dsn, folder, FakeClock(now)) as place:
        moments = Moments(killed_at)
        moments.watch(asyncpg.Connection, _STATEMENTS)
        moments.watch(EdgeEpisodeIndex, _WRITES)
        report = await place.runner.run(case.job(place))
        assert report.is_claimed
        return moments.count

"""A second process with connections of its own, which erases, forgets and corrects while a job runs in this one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from multiprocessing import get_context
from multiprocessing.connection import Connection as Pipe
from multiprocessing.connection import wait
from typing import Any, Final, Protocol

import asyncpg

from services.common.errors import Conflict, MnemeError, StoreUnavailable
from services.common.owners import Owner
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.types import Pool
from tests.support.clock import FakeClock
from tests.support.postgres import DatabaseUrls

_NAME: Final = "interleavings-other"
_WAITS: Final = """
    SELECT EXISTS (SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = $1 AND wait_event_type = 'Lock')
"""
_POLL_SECONDS: Final = 0.002
_SECONDS: Final = 60.0
_ATTEMPTS: Final = 20
"""At something that was refused because of a change at the same time, as callers repeat it."""

_processes = get_context("forkserver")
_processes.set_forkserver_preload([__name__])


class Kind(Enum):
    """What the other process does."""

    ERASE = auto()  # the interaction that a memory comes from, with all that is derived from it
    FORGET = auto()  # the memory
    CORRECT = auto()  # what the memory says
    ERASE_ALL = auto()  # the user
    DELIVER = auto()  # nothing: what was stored arrives once more, or what is late arrives
    DECIDE = auto()  # about a pair of statements, for the user


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One thing that the other process does."""

    kind: Kind
    owner: Owner
    target: str  # id of the memory; "" for all
    request_id: str
    now: datetime
    source: str = ""  # id of the interaction that it comes from
    text: str = ""  # of a correction; the name of a decision


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it."""

    disturbance: Disturbance
    error: str = ""  # the class of the error with which it was refused
    before: str = ""  # of a correction: what the memory said


class Disturber(Protocol):
    """Does in the other process what is asked for; made there."""

    async def do(self, disturbance: Disturbance) -> str:
        """Returns what a corrected memory said before. May fail with a `MnemeError`."""
        ...


@dataclass(frozen=True, slots=True)
class CallHome:
    """A call of the vector index, which the first process holds: one process alone opens an embedded one."""

    pipe: Pipe

    async def __call__(self, method: str, *arguments: Any) -> None:
        """Has it made there."""
        self.pipe.send((method, arguments))
        assert await asyncio.to_thread(self.pipe.recv) == "made"


MakeDisturber = Callable[[Pool, FakeClock, CallHome], Disturber]


class OtherProcess:
    """This process's view of the other one."""

    def __init__(self, pipe: Pipe, calls: Pipe, watching: asyncpg.Connection[asyncpg.Record]) -> None:
        """Use `opened_other`."""
        self._pipe = pipe
        self._calls = calls
        self._watching = watching
        self._sent = 0
        self._outcomes: list[Outcome] = []
        self.index: Any = None  # takes the calls of the other process
        self.blocked = 0  # disturbances that waited for a lock of the job

    async def disturb(self, disturbance: Disturbance) -> None:
        """Has it done; returns when it is done, or when it waits for a lock that the job holds."""
        self._pipe.send(disturbance)
        self._sent += 1
        async with asyncio.timeout(_SECONDS):
            while len(self._outcomes) < self._sent:
                if not await self._received() and await self._watching.fetchval(_WAITS, _NAME):
                    self.blocked += 1
                    return

    async def finished(self) -> Sequence[Outcome]:
        """Waits for all that was asked for since the last time; what became of it."""
        async with asyncio.timeout(_SECONDS):
            while len(self._outcomes) < self._sent:
                await self._received()
        found, self._outcomes, self._sent = self._outcomes, [], 0
        return found

    async def _received(self) -> bool:
        """Takes what has come from there within a moment; whether anything has."""
        ready = await asyncio.to_thread(wait, [self._pipe, self._calls], _POLL_SECONDS)
        if self._calls in ready:
            method, arguments = self._calls.recv()
            await getattr(self.index, method)(*arguments)
            self._calls.send("made")
        if self._pipe in ready:
            self._outcomes.append(self._pipe.recv())
        return bool(ready)


@contextlib.asynccontextmanager
async def opened_other(urls: DatabaseUrls, make: MakeDisturber) -> AsyncIterator[OtherProcess]:
    """A process that does what `make`, a function of a module, makes there."""
    ours, theirs = _processes.Pipe()
    our_calls, their_calls = _processes.Pipe()
    process = _processes.Process(target=_main, args=(theirs, their_calls, urls.app, make), daemon=True)
    process.start()
    theirs.close()
    their_calls.close()
    watching = await asyncpg.connect(urls.superuser)
    try:
        yield OtherProcess(ours, our_calls, watching)
    finally:
        await watching.close()
        with contextlib.suppress(BrokenPipeError):
            ours.send(None)
        await asyncio.to_thread(process.join, _SECONDS)
        if process.exitcode is None:
            process.kill()


def _main(pipe: Pipe, calls: Pipe, dsn: str, make: MakeDisturber) -> None:
    asyncio.run(_serve(pipe, calls, dsn, make))


async def _serve(pipe: Pipe, calls: Pipe, dsn: str, make: MakeDisturber) -> None:
    clock = FakeClock()
    async with await create_pool(dsn, PoolSettings(size_max=2, application_name=_NAME)) as pool:
        disturber = make(pool, clock, CallHome(calls))
        while (asked := await asyncio.to_thread(pipe.recv)) is not None:
            clock.set(asked.now)
            pipe.send(await _done(disturber, asked))


async def _done(disturber: Disturber, asked: Disturbance) -> Outcome:
    error: MnemeError | None = None
    for _ in range(_ATTEMPTS):
        try:
            return Outcome(asked, before=await disturber.do(asked))
        except (Conflict, StoreUnavailable) as refused:
            error = refused
        except MnemeError as refused:
            return Outcome(asked, error=type(refused).__name__)
    return Outcome(asked, error=type(error).__name__)

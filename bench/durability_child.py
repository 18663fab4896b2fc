"""`mneme up` as a child process that can be killed in several ways."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import psutil

from bench.common import REPOSITORY, BenchError
from bench.resources import postgres_processes

_PORTS: Final = 5
"""The gateway's and those of the four tiers after it."""

_ENVIRONMENT: Final = {"MNEME_SESSION__DEFAULTS__TTL": "2592000"}
"""Sessions outlive a run of many hours: those of its first rounds are checked at the end too."""


class Kill(StrEnum):
    """What is killed, always with SIGKILL."""

    SERVICES = "services only"
    EVERYTHING = "services and PostgreSQL together"
    DATABASE_FIRST = "PostgreSQL, then the services"


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the child serves."""

    gateway: str
    episodic: str
    semantic: str
    agentic: str


class Child:
    """All five services in one process on embedded engines, with a data folder that outlives it."""

    def __init__(self, data_dir: Path) -> None:
        """Choose ports; nothing is started yet."""
        self._data_dir = data_dir
        self._port = _free_ports()
        self._log = data_dir.with_name(f"{data_dir.name}.log")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def addresses(self) -> Addresses:
        """The same after each restart."""
        gateway, _, episodic, semantic, agentic = (f"127.0.0.1:{self._port + offset}" for offset in range(_PORTS))
        return Addresses(gateway, episodic, semantic, agentic)

    def start(self) -> None:
        """Start the child; it is not ready yet."""
        command = [sys.executable, "-m", "services.cli.main", "up"]
        command += ["--data-dir", str(self._data_dir), "--port", str(self._port), "--http-port", "0"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=REPOSITORY,
                env={**os.environ, **_ENVIRONMENT},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def check_alive(self) -> None:
        """Raise when the child has ended by itself.

        Raises:
            BenchError: With the last lines of its log.
        """
        if self._process is not None and self._process.poll() is not None:
            tail = self._log.read_text("utf-8", errors="replace")[-2_000:]
            raise BenchError(f"`mneme up` ended with code {self._process.returncode}:\n{tail}")

    async def kill(self, variant: Kill, *, gap_seconds: float) -> None:
        """Kill with SIGKILL and wait for the end.

        Args:
            variant: What to kill.
            gap_seconds: With DATABASE_FIRST, how long the services live on without their database.
        """
        assert self._process is not None
        services = [self._process.pid]
        database = [process.pid for process in postgres_processes(self._data_dir)]
        if variant is Kill.DATABASE_FIRST:
            _kill(database)
            await asyncio.sleep(gap_seconds)
        elif variant is Kill.EVERYTHING:
            # The services last: with them alive nobody shuts the database down in an orderly way.
            _kill(database)
        _kill(services)
        await asyncio.to_thread(self._process.wait)
        self._process = None

    async def stop(self) -> None:
        """End the child in an orderly way, by force where that takes too long."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            await asyncio.to_thread(self._process.wait, 30.0)
        except subprocess.TimeoutExpired:
            await self.kill(Kill.EVERYTHING, gap_seconds=0.0)
        self._process = None


def _kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
            os.kill(pid, signal.SIGKILL)


def _free_ports() -> int:
    """The first of some consecutive ports that nobody uses, in any order: others may look for ports too."""
    for first in random.sample(range(27_700, 32_000, _PORTS), 100):
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + _PORTS):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return first
    raise BenchError("no free ports")

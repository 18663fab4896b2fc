"""Keeps the embedded vector engine running: on a locked folder, in a process of its own, on files that are sound."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import structlog

from services.common.datadir import DataDirLocked
from services.common.disk import DiskWatch
from services.common.errors import StoreUnavailable
from services.common.telemetry import store_span
from services.episodic.config import EdgeSettings, TextSettings
from services.episodic.stores.edge_engine import ShardState
from services.episodic.stores.edge_process import EngineFailedError, EngineProcess
from services.episodic.stores.edge_shard import damaged_generation, generation, lock_shard, set_aside, write_generation

_log = structlog.get_logger(__name__)

_LOCK_POLL_SECONDS: Final = 0.1
_RETRY_SECONDS_MAX: Final = 15.0
_VERIFY_SECONDS: Final = 60.0
_NOT_DAMAGE: Final = (
    "no space left",
    "permission denied",
    "read-only file system",
    "too many open files",
    "cannot allocate memory",
    "os error 11",
)
"""What the system refuses says nothing about the files."""
_NOT_DAMAGE_CODES: Final = frozenset({-signal.SIGKILL, -signal.SIGTERM})
"""Somebody, such as the kernel when memory is short, ended the process."""
_UPKEEP: Final = frozenset({"flush", "state", "optimize"})
"""Calls that belong to no request and are made every few seconds: they have no span."""


class EdgeHost:
    """One shard and the process that holds it. Belongs to one event loop; `aclose` it.

    A shard that cannot be loaded or read is set aside under another name and replaced by an empty one: PostgreSQL
    is the truth, from which it is filled again.
    """

    def __init__(
        self,
        folder: Path,
        *,
        dimension: int,
        text: TextSettings,
        settings: EdgeSettings,
        disk: DiskWatch,
        on_lost: Callable[[], None],
    ) -> None:
        """Name the shard; use `open`. `on_lost` is called when it is not known any more what the shard holds."""
        self._folder = folder
        self._dimension = dimension
        self._text = text
        self._settings = settings
        self._disk = disk
        self._on_lost = on_lost
        self._lock: int | None = None
        self._process: EngineProcess | None = None
        self._is_replaced = False
        self._suspicion = asyncio.Event()
        self._sound = asyncio.Event()
        self._supervisor: asyncio.Task[None] | None = None
        self.generation = ""

    async def open(self) -> ShardState:
        """Lock the folder, load the shard or make an empty one, and watch over it from now on.

        Raises:
            DataDirLocked: Another process has the shard open.
            StoreUnavailable: It can be neither loaded nor made.
        """
        self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = await _locked(self._folder, wait_seconds=self._settings.lock_wait_seconds)
        try:
            try:
                state = await self._load()
            except EngineFailedError as error:
                self._require_damage(error)
                self._set_aside(error)
                state = await self._load()
            file = damaged_generation(self._folder)
            if file is not None:
                _log.error("the name of the episode index is damaged: it is indexed again", file=str(file))
            self.generation = generation(self._folder)
        except (EngineFailedError, OSError) as error:
            await self.aclose()
            raise StoreUnavailable("qdrant", 1.0) from error
        except BaseException:
            await self.aclose()
            raise
        if not state.was_closed and state.points:
            self._suspicion.set()
        else:
            self._sound.set()
        self._supervisor = asyncio.create_task(self._supervise(), name="episodic-engine")
        return state

    async def call(self, name: str, *arguments: Any, **keywords: Any) -> Any:
        """Run a method of `EdgeEngine`.

        Raises:
            StoreUnavailable: It failed, or the engine is not running.
        """
        if name in _UPKEEP:
            return await self._call(name, *arguments, **keywords)
        with store_span("qdrant", name, self._folder.name):
            return await self._call(name, *arguments, **keywords)

    async def _call(self, name: str, *arguments: Any, **keywords: Any) -> Any:
        if self._is_replaced:
            # The first call after a loss must fail, so that what is missing is looked for.
            self._is_replaced = False
            raise StoreUnavailable("qdrant", 1.0)
        if self._process is None:
            raise StoreUnavailable("qdrant", 1.0)
        try:
            return await self._process.call(name, *arguments, **keywords)
        except EngineFailedError as error:
            self._suspicion.set()
            self._sound.clear()
            raise StoreUnavailable("qdrant", 1.0) from error

    async def settle(self) -> None:
        """Wait until the files are known to be sound or were replaced."""
        await self._sound.wait()

    async def aclose(self) -> None:
        """Write what is buffered, end the process and release the folder. Closing twice is allowed."""
        if self._supervisor is not None:
            self._supervisor.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._supervisor
            self._supervisor = None
        process, self._process = self._process, None
        if process is not None:
            try:
                await process.call("close")
            except EngineFailedError as error:
                _log.warning("the episode index was not closed in order", error=str(error))
            await process.stop()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    async def _load(self) -> ShardState:
        assert self._lock is not None
        process = await EngineProcess.start(inherited=self._lock)
        try:
            state: ShardState = await process.call(
                "open", self._folder, dimension=self._dimension, text=self._text, settings=self._settings
            )
        except BaseException:
            await process.stop()
            raise
        self._process = process
        return state

    def _require_damage(self, error: EngineFailedError) -> None:
        """Raise an error that does not come from the shard's files.

        Raises:
            EngineFailedError: It is such an error.
        """
        said = str(error).lower()
        is_refused = any(words in said for words in _NOT_DAMAGE) or error.exit_code in _NOT_DAMAGE_CODES
        if is_refused or self._disk.is_low:
            raise error

    def _set_aside(self, error: EngineFailedError) -> None:
        if not self._folder.exists():
            raise error
        target = set_aside(self._folder)
        _log.error(
            "the episode index is damaged: it is set aside and rebuilt from PostgreSQL in the background; "
            "searches are degraded until then. Delete the folder when nobody needs to examine it",
            folder=str(target),
            error=str(error),
        )

    async def _supervise(self) -> None:
        """Start the process again when it ends, and replace the shard when it cannot be read."""
        loop = asyncio.get_running_loop()
        failures, verified_at = 0, -math.inf
        while True:
            try:
                await self._wait_for_trouble()
                self._suspicion.clear()
                self._sound.clear()
                if self._process is None or not self._process.is_running:
                    await self._restart()
                    verified_at = -math.inf
                # A call that fails for another reason must not have everything read again and again.
                if loop.time() - verified_at >= _VERIFY_SECONDS:
                    await self._verify()
                    verified_at = loop.time()
                self._sound.set()
                failures = 0
            except (EngineFailedError, OSError) as error:
                failures += 1
                _log.warning("the episode index cannot be used", error=str(error), failures=failures)
                self._suspicion.set()
                await asyncio.sleep(min(0.1 * 2.0 ** min(failures, 10), _RETRY_SECONDS_MAX))

    async def _wait_for_trouble(self) -> None:
        suspicion = asyncio.create_task(self._suspicion.wait())
        waits = [suspicion]
        if self._process is not None:
            waits.append(asyncio.create_task(self._process.wait_ended()))  # type: ignore[arg-type]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _restart(self) -> None:
        """Load the shard in a new process."""
        process, self._process = self._process, None
        self._on_lost()
        if process is not None:
            await process.stop()
        try:
            await self._load()
        except EngineFailedError as error:
            self._require_damage(error)
            await self._replace(error)

    async def _verify(self) -> None:
        """Read every point as searches do, in steps between which they go on; replace a shard that cannot be read."""
        start: UUID | None = UUID(int=0)
        while start is not None:
            assert self._process is not None
            try:
                start = await self._process.call("verify", start, self._settings.verify_points)
            except EngineFailedError as error:
                self._require_damage(error)
                await self._replace(error)
                return
            await asyncio.sleep(self._settings.verify_pause_seconds)

    async def _replace(self, error: EngineFailedError) -> None:
        """Go on with an empty shard of the same name."""
        process, self._process = self._process, None
        self._on_lost()
        if process is not None:
            await process.stop()
        self._set_aside(error)
        await self._load()
        # Rows name this generation: that its points are gone is found by counting them.
        write_generation(self._folder, self.generation)
        self._is_replaced = True


async def _locked(folder: Path, *, wait_seconds: float) -> int:
    """The lock of a shard, which the engine of a killed service may hold for a moment longer.

    Raises:
        DataDirLocked: It is held by somebody who does not end.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + wait_seconds
    while True:
        try:
            return lock_shard(folder)
        except DataDirLocked:
            if loop.time() >= until:
                raise
            await asyncio.sleep(_LOCK_POLL_SECONDS)

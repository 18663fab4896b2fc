"""Several processes of every service on the same engines, which can be stopped, killed and started again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.common import REPOSITORY, BenchError
from services.cli.health import Answer, ask
from tools.engines.process import free_port

TIERS: Final = ("session", "episodic", "semantic", "agentic")
SERVICES: Final = ("gateway", *TIERS)
_START_SECONDS: Final = 900.0
"""Until a process serves; one that ends is seen at once. It needs seconds of processor time, and a busy machine gives
each of many little."""
_ASK_SECONDS: Final = 5.0
_ASK_PAUSE_SECONDS: Final = 0.5
_STOP_SECONDS: Final = 180.0


@dataclass
class Replica:
    """One process of a service."""

    service: str
    address: str
    environment: Mapping[str, str]
    log: Path
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Starts it, and returns when it serves.

        Raises:
            BenchError: It ended, or does not serve in time.
        """
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", f"services.{self.service}",
                env=self.environment, cwd=REPOSITORY, stdin=asyncio.subprocess.PIPE, stdout=log, stderr=log,
            )  # fmt: skip
        deadline = time.monotonic() + _START_SECONDS
        while await ask(self.address, timeout_seconds=_ASK_SECONDS) is not Answer.SERVING:
            if self.process.returncode is not None or time.monotonic() > deadline:
                raise BenchError(f"{self.service} does not serve; its log {self.log} ends:\n{self._log_tail()}")
            await asyncio.sleep(_ASK_PAUSE_SECONDS)

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Sends a signal and waits for the end."""
        if self.process is None or self.process.returncode is not None:
            return
        self.process.send_signal(number)
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self.process.wait()
        except TimeoutError:
            self.process.kill()
            await self.process.wait()
            raise BenchError(f"{self.service} does not stop; its log is {self.log}") from None

    def _log_tail(self) -> str:
        return "\n".join(self.log.read_text("utf-8", errors="replace").splitlines()[-15:])


@dataclass(frozen=True)
class Replicas:
    """The replicas of all services."""

    by_service: Mapping[str, tuple[Replica, ...]]

    @property
    def target(self) -> str:
        """All gateways, for clients that spread their calls."""
        return target_of(self.by_service["gateway"])

    @property
    def gateways(self) -> tuple[str, ...]:
        """Address of each gateway."""
        return tuple(replica.address for replica in self.by_service["gateway"])


def target_of(replicas: tuple[Replica, ...]) -> str:
    """A target that names the addresses of all replicas, as a headless Service does."""
    return "ipv4:" + ",".join(replica.address for replica in replicas)


@contextlib.asynccontextmanager
async def running_replicas(folder: Path, variables: Mapping[str, str], *, count: int = 2) -> AsyncIterator[Replicas]:
    """Starts `count` replicas of every service, and stops those that run at the end.

    Args:
        folder: Of their logs and data; must exist.
        variables: Where the engines are; a Qdrant server must be among them.
        count: Of each service.

    Raises:
        BenchError: One does not start.
    """
    addresses = {service: [f"127.0.0.1:{free_port()}" for _ in range(count)] for service in SERVICES}
    common = {
        **{name: value for name, value in os.environ.items() if not name.startswith("MNEME_")},
        "MNEME_SERVICE_SECRET": secrets.token_hex(32),
        "MNEME_DATA_DIR": str(folder / "data"),
        "MNEME_LOG_LEVEL": "warning",
        "MNEME_STOP_ON_EOF": "1",
        **{f"MNEME_{tier.upper()}_TARGET": "ipv4:" + ",".join(addresses[tier]) for tier in TIERS},
        **variables,
    }
    replicas = Replicas(
        {
            service: tuple(
                Replica(service, address, {**common, "MNEME_LISTEN": address}, folder / f"{service}-{number}.log")
                for number, address in enumerate(addresses[service])
            )
            for service in SERVICES
        }
    )
    try:
        for number in range(count):  # the first ones migrate
            await asyncio.gather(*(replicas.by_service[service][number].start() for service in (*TIERS, "gateway")))
        yield replicas
    finally:
        stopping = [replica.stop() for group in replicas.by_service.values() for replica in group]
        await asyncio.gather(*stopping, return_exceptions=True)

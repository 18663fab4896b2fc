"""Supervises one process for each service: a service that ends is restarted."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import grpc
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc
from pydantic import SecretStr

from services.cli.engines import Database
from services.cli.stack_model import Stack, StackSettings
from services.common.hosting import HostSettings
from services.common.main import STOP_ON_EOF_VARIABLE
from services.gateway.config import TierTargets

if TYPE_CHECKING:
    from services.common.datadir import DataDir

_log = structlog.get_logger(__name__)

_TIERS = ("session", "episodic", "semantic", "agentic")
_START_TIMEOUT_SECONDS = 300.0  # one that ends is seen at once; a busy machine takes minutes for five
_STOP_TIMEOUT_SECONDS = 15.0
_RESTART_DELAY_SECONDS = 0.5
_EARLY_END_SECONDS = 10.0  # loading the program alone takes seconds on a busy machine
_EARLY_ENDS_MAX = 3
_LAST_LINES = 15
_RELAY_SECONDS = 1.0
_BLOCK_BYTES = 65_536


@dataclass
class _Service:
    """One service as a child process."""

    name: str
    address: str
    environment: dict[str, str]
    has_tls: bool = False
    program: Sequence[str] = ()  # empty: the service's own
    process: asyncio.subprocess.Process | None = None
    is_stopping: bool = False
    has_served: bool = False  # once true, it is restarted however often it ends
    last_lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LAST_LINES))

    async def run(self) -> None:
        """Starts the process, and restarts it whenever it ends, until it is stopped.

        Raises:
            OSError: It never served and ended early several times; the message has its last log lines.
        """
        loop = asyncio.get_running_loop()
        early_ends = 0
        while not self._must_stop():
            begin = loop.time()
            code: int | None = None
            try:
                code = await self._run_once()
            except OSError as error:  # no process or memory left: the next attempt may succeed
                self.last_lines.append(f"it cannot be started: {error}")
            if self._must_stop():
                return
            _log.warning("service_ended", service=self.name, exit_code=code)
            early_ends = early_ends + 1 if loop.time() - begin < _EARLY_END_SECONDS else 0
            if early_ends >= _EARLY_ENDS_MAX and not self.has_served:
                lines = "\n".join(self.last_lines)
                raise OSError(f"the {self.name} service ends as soon as it is started; its last log lines:\n{lines}")
            await asyncio.sleep(_RESTART_DELAY_SECONDS)

    def _must_stop(self) -> bool:
        return self.is_stopping  # a call, since it changes while `run` waits

    async def _run_once(self) -> int:
        self.process = await asyncio.create_subprocess_exec(
            *(self.program or (sys.executable, "-m", f"services.{self.name}")),
            env=self.environment,
            # EOF means to the child that the supervisor has ended, for whatever reason.
            stdin=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert self.process.stderr is not None
        relaying = asyncio.create_task(self._relay(self.process.stderr))
        try:
            return await self.process.wait()
        finally:
            # Its own child processes may hold the pipe after it has ended.
            await asyncio.wait([relaying], timeout=_RELAY_SECONDS)
            relaying.cancel()

    async def _relay(self, stream: asyncio.StreamReader) -> None:
        """Forwards the service's log to stderr and remembers its last lines."""
        begun = b""
        while block := await stream.read(_BLOCK_BYTES):
            with contextlib.suppress(OSError, ValueError):  # our stderr is closed; the service must go on
                sys.stderr.write(block.decode("utf-8", "replace"))
                sys.stderr.flush()
            *lines, begun = (begun + block).split(b"\n")
            begun = begun[-_BLOCK_BYTES:]
            self.last_lines.extend(line.decode("utf-8", "replace") for line in lines)
        if begun:
            self.last_lines.append(begun.decode("utf-8", "replace"))

    async def stop(self) -> None:
        """Lets calls under way finish, then ends the process."""
        self.is_stopping = True
        if self.process is None or self.process.returncode is not None:
            return
        self.process.terminate()
        try:
            async with asyncio.timeout(_STOP_TIMEOUT_SECONDS):
                await self.process.wait()
        except TimeoutError:
            self.process.kill()
            await self.process.wait()


@contextlib.asynccontextmanager
async def run_processes(
    settings: StackSettings, data_dir: DataDir, database: Database, secret: bytes
) -> AsyncIterator[Stack]:
    """Starts the tiers and the gateway as processes, yields when all are healthy, and drains them at the end.

    Raises:
        OSError: A service did not become healthy in time, or ended early several times; the message has its last lines.
    """
    addresses = _addresses(settings)
    targets = TierTargets(**{name: addresses[name] for name in _TIERS})
    common = {
        **os.environ,
        **_variables(settings.host_settings),
        "MNEME_DATA_DIR": str(data_dir.path),
        "MNEME_QDRANT_DIR": str(data_dir.qdrant),
        "MNEME_WATCHED_DIR": "" if settings.host_settings.postgres_url else str(data_dir.path),
        "MNEME_POSTGRES_URL": database.url,
        "MNEME_POSTGRES_DIRECT_URL": database.direct_url,
        "MNEME_POSTGRES_OWNER_URL": "",  # the schemas are up to date, and so is the graph
        "MNEME_POSTGRES_PURGE_URL": "",
        "MNEME_NEO4J_MIGRATE": "false",
        "MNEME_SERVICE_SECRET": secret.decode(),
        **{f"MNEME_{name.upper()}_TARGET": addresses[name] for name in _TIERS},
        # The tiers stay on loopback, and a certificate is for the name by which clients call the gateway.
        "MNEME_TIER_TLS": "false",
        STOP_ON_EOF_VARIABLE: "1",
    }
    plain = {name: value for name, value in common.items() if not name.startswith("MNEME_TLS_")}
    plain["MNEME_DRAIN_SECONDS"] = "0"  # the gateway stops before them
    own = {"episodic": {"MNEME_POSTGRES_PURGE_URL": database.superuser_url}}  # whose job purges the files
    services = [
        *(
            _Service(
                name,
                addresses[name],
                {**plain, **own.get(name, {}), "MNEME_LISTEN": addresses[name], **_metrics(settings, offset)},
            )
            for offset, name in enumerate(_TIERS, start=1)
        ),
        _Service(
            "gateway",
            addresses["gateway"],
            {**common, "MNEME_LISTEN": addresses["gateway"]},
            has_tls=settings.host_settings.tls is not None,
        ),
    ]
    watchers = [asyncio.create_task(service.run()) for service in services]
    try:
        await asyncio.gather(*(_started(service, watcher) for service, watcher in zip(services, watchers, strict=True)))
        yield Stack(addresses["gateway"], targets, database.url, settings.host_settings.http_listen)
    finally:
        for service in reversed(services):
            await service.stop()
        for watcher in watchers:
            watcher.cancel()
        await asyncio.gather(*watchers, return_exceptions=True)


def _variables(settings: HostSettings) -> dict[str, str]:
    """Settings that were set, in the environment or by the program, as variables for the services."""
    given = {name: getattr(settings, name) for name in settings.model_fields_set}
    return {
        f"MNEME_{name.upper()}": value.get_secret_value() if isinstance(value, SecretStr) else str(value)
        for name, value in given.items()
        if value is not None
    }


def _metrics(settings: StackSettings, offset: int) -> dict[str, str]:
    """Where the metrics of a tier are scraped: each process has a port of its own."""
    host, _, port = settings.host_settings.metrics_listen.rpartition(":")
    return {"MNEME_METRICS_LISTEN": f"{host}:{int(port) + offset}"} if port.isdecimal() and int(port) else {}


def _addresses(settings: StackSettings) -> dict[str, str]:
    names = ("gateway", *_TIERS)
    if settings.port:
        hosts = {name: settings.host if name == "gateway" else "127.0.0.1" for name in names}
        return {name: f"{hosts[name]}:{settings.port + offset}" for offset, name in enumerate(names)}
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in names]
        ports = [bound.getsockname()[1] for bound in sockets]
    return {name: f"127.0.0.1:{port}" for name, port in zip(names, ports, strict=True)}


async def _started(service: _Service, watcher: asyncio.Task[None]) -> None:
    """Waits until the service serves or its watcher has failed."""
    waiting = asyncio.create_task(_wait_healthy(service))
    try:
        await asyncio.wait([waiting, watcher], return_when=asyncio.FIRST_COMPLETED)
        if watcher.done():
            await watcher  # raises what it has failed with
        await waiting
        service.has_served = True
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def _wait_healthy(service: _Service) -> None:
    if service.has_tls:
        await _wait_listening(service)
        return
    async with grpc.aio.insecure_channel(service.address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)  # the package has no types
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_START_TIMEOUT_SECONDS):
                while True:
                    try:
                        answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=2.0)
                    except grpc.aio.AioRpcError:
                        await asyncio.sleep(0.05)
                        continue
                    if answer.status == health_pb2.HealthCheckResponse.SERVING:
                        return
    raise OSError(f"the {service.name} service did not become healthy within {_START_TIMEOUT_SECONDS:.0f} s")


async def _wait_listening(service: _Service) -> None:
    """Waits until a service listens, which means that it is ready; its health check may demand a certificate."""
    host, _, port = service.address.rpartition(":")
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_START_TIMEOUT_SECONDS):
            while True:
                await asyncio.sleep(0.05)
                if service.process is None or service.process.returncode is not None:
                    continue
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
                    writer.close()
                    return
    raise OSError(f"the {service.name} service did not listen within {_START_TIMEOUT_SECONDS:.0f} s")

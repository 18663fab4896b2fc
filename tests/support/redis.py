"""A Redis server of the test session, and a client of it for one test.

The server is started from the `redis-server` on the path; `MNEME_TEST_REDIS_URL` names one that runs already
(and may be a Cluster). Without either, tests that need it are skipped, or fail under `--require=redis`.
"""

import contextlib
import itertools
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
import redis.asyncio

from services.common.encryption.carried import CarriedKeys
from services.session.config import RedisAccess, RedisSettings, StoreSettings
from services.session.stores.redis import RedisSessionStore
from services.session.stores.redis_calls import RedisCalls
from services.session.stores.redis_client import create_redis_client

URL_VARIABLE: Final = "MNEME_TEST_REDIS_URL"
PAUSE_SECONDS: Final = 0.02
"""Between two questions to a server that gets ready."""
_READY: Final = "Ready to accept connections"
_prefixes = itertools.count(1)
_random = random.SystemRandom()  # several processes of tests choose ports at once


class RedisServer:
    """A redis-server process on a free port, without persistence. It can be stopped and started."""

    def __init__(
        self, folder: Path, *, is_cluster: bool = False, has_all_slots: bool = True, options: Sequence[str] = ()
    ) -> None:
        """`options` are further arguments; a node of a larger Cluster is given its slots by that."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._is_cluster = is_cluster
        self._has_all_slots = has_all_slots
        self.options = list(options)
        self.password = ""  # of commands
        self._process: subprocess.Popen[str] | None = None
        self.port = _cluster_port() if is_cluster else free_port()

    @property
    def url(self) -> str:
        scheme = "redis+cluster" if self._is_cluster else "redis"
        return f"{scheme}://127.0.0.1:{self.port}"

    def start(self) -> None:
        arguments = [
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            str(self._folder),
        ]
        if self._is_cluster:
            arguments += ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"]
        arguments += self.options
        process = subprocess.Popen(
            ["redis-server", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._process = process
        assert process.stdout is not None
        said: list[str] = []
        for line in process.stdout:
            said.append(line)
            if _READY in line:
                break
        else:
            raise RuntimeError(f"redis-server ended with {process.wait()}: {''.join(said[-5:])}")
        if self._is_cluster and self._has_all_slots:
            self.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
            while b"cluster_state:ok" not in self.command("CLUSTER", "INFO"):
                time.sleep(PAUSE_SECONDS)  # the node takes a moment to believe in its slots

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def pause(self) -> None:
        """Holds the process: connections stay open and nothing answers."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def command(self, *words: str) -> bytes:
        """Runs one command over a connection of its own and returns the raw answer."""
        return ask(self.port, *words, password=self.password)


@pytest.fixture(scope="session")
def redis_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of the session's server."""
    if url := os.environ.get(URL_VARIABLE):
        yield url
        return
    require_redis_server(request)
    with running_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server.url


@pytest.fixture(scope="session")
def redis_cluster_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a Cluster of one node, which refuses keys in several slots as any Cluster does."""
    require_redis_server(request)
    with running_redis(tmp_path_factory.mktemp("redis-cluster"), is_cluster=True) as server:
        yield server.url


def require_redis_server(request: pytest.FixtureRequest) -> None:
    """Skips or fails the test where there is no redis-server."""
    if shutil.which("redis-server") is not None:
        return
    if "redis" in (request.config.getoption("--require", default=None) or ()):
        pytest.fail("--require=redis: there is no redis-server on the path")
    pytest.skip("redis is not available: no redis-server on the path")


@contextlib.contextmanager
def running_redis(folder: Path, *, is_cluster: bool = False) -> Iterator[RedisServer]:
    """A started server, stopped at the end."""
    server = RedisServer(folder, is_cluster=is_cluster)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextlib.asynccontextmanager
async def redis_store(
    url: str,
    *,
    store_settings: StoreSettings | None = None,
    settings: RedisSettings | None = None,
    access: RedisAccess | None = None,
    key_prefix: str | None = None,
    keys: CarriedKeys | None = None,
    response_bytes_max: int = 1_000_000,
) -> AsyncIterator[RedisSessionStore]:
    """An empty store: keys begin with a prefix that no other test has, unless one is given."""
    async with redis_calls(url, settings=settings, access=access, key_prefix=key_prefix) as (calls, chosen):
        yield RedisSessionStore(
            calls, chosen, store_settings or StoreSettings(), keys=keys, response_bytes_max=response_bytes_max
        )


async def dump(url: str, key_prefix: str) -> str:
    """All values of keys with a prefix, as commands return them and as the server serializes them."""
    client = redis.asyncio.Redis.from_url(url)
    readers: dict[Any, Any] = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"list": lambda name: client.lrange(name, 0, -1),
        b"zset": lambda name: client.zrange(name, 0, -1),
        b"set": client.smembers,
        b"stream": client.xrange,
    }
    try:
        found = [
            repr(await readers[await client.type(name)](name)) + repr(await client.dump(name))
            async for name in client.scan_iter(match=f"{key_prefix}*")
        ]
    finally:
        await client.aclose()
    assert found, "there are no keys with the prefix"
    return "\n".join(found)


@contextlib.asynccontextmanager
async def redis_calls(
    url: str,
    *,
    settings: RedisSettings | None = None,
    access: RedisAccess | None = None,
    key_prefix: str | None = None,
) -> AsyncIterator[tuple[RedisCalls, RedisSettings]]:
    """Calls with a prefix of keys that no other test has, unless one is given, and their settings."""
    # A busy machine must not look like a lost Redis.
    base = settings or RedisSettings(call_timeout_seconds=10.0, sentinel_timeout_seconds=5.0)
    chosen = replace(base, key_prefix=key_prefix or unused_prefix())
    client = create_redis_client(url, chosen, access)
    try:
        yield RedisCalls(client, chosen), chosen
    finally:
        await client.aclose()


def unused_prefix() -> str:
    """A prefix of keys that no other test has."""
    return f"test:{os.getpid()}:{next(_prefixes)}:"


def ask(port: int, *words: str, password: str = "") -> bytes:
    """Runs one command on a port of this machine over a connection of its own and returns the raw answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        if password:
            connection.sendall(_command("AUTH", password))
            connection.recv(1_024)
        connection.sendall(_command(*words))
        return connection.recv(65_536)


def _command(*words: str) -> bytes:
    request = "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
    return f"*{len(words)}\r\n{request}".encode()


def free_port() -> int:
    """A port that nobody listens on, below those that outgoing connections take before a server starts on it."""
    while True:
        port = _random.randrange(22_000, 27_000)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


def _cluster_port() -> int:
    """A free port whose bus, 10,000 above, is free too: both below those that outgoing connections take."""
    while True:
        port = _random.randrange(12_000, 22_000)
        with contextlib.suppress(OSError), socket.socket() as probe, socket.socket() as bus:
            probe.bind(("127.0.0.1", port))
            bus.bind(("127.0.0.1", port + 10_000))
            return port

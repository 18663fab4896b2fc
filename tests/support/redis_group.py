"""Redis servers that belong together: a Cluster of three masters, and a master with a replica and its Sentinels."""

import contextlib
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.support.redis import PAUSE_SECONDS, RedisServer, ask, free_port

MASTER: Final = "sessions"
_SLOTS: Final = (range(5461), range(5461, 10_923), range(10_923, 16_384))
_SENTINEL_READY: Final = "+monitor"


class RedisClusterGroup:
    """Three masters, each with a third of the slots."""

    def __init__(self, folder: Path) -> None:
        self.nodes = [
            RedisServer(folder / str(number), is_cluster=True, has_all_slots=False) for number in range(len(_SLOTS))
        ]

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def start(self) -> None:
        for epoch, (node, slots) in enumerate(zip(self.nodes, _SLOTS, strict=True), 1):
            node.start()
            # Nodes of the same epoch settle that among themselves later: one that moves a slot meanwhile takes it back,
            # and the other drops its keys.
            node.command("CLUSTER", "SET-CONFIG-EPOCH", str(epoch))
            node.command("CLUSTER", "ADDSLOTSRANGE", str(slots[0]), str(slots[-1]))
            node.command("CLUSTER", "MEET", "127.0.0.1", str(self.nodes[0].port))
        for node in self.nodes:
            while not self._is_ready(node):
                time.sleep(PAUSE_SECONDS)  # the nodes take a moment to hear of one another

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()

    def holder(self, slot: int) -> RedisServer:
        """The master that a slot was given to at first."""
        return next(node for node, slots in zip(self.nodes, _SLOTS, strict=True) if slot in slots)

    def migrate(self, slot: int, source: RedisServer, target: RedisServer) -> None:
        """Moves a slot with its keys, as resharding does: one key after the other, while clients go on."""
        number = str(slot)
        target.command("CLUSTER", "SETSLOT", number, "IMPORTING", _text(source.command("CLUSTER", "MYID")))
        source.command("CLUSTER", "SETSLOT", number, "MIGRATING", _text(target.command("CLUSTER", "MYID")))
        while keys := source.command("CLUSTER", "GETKEYSINSLOT", number, "1").split(b"\r\n")[2::2]:
            source.command("MIGRATE", "127.0.0.1", str(target.port), keys[0].decode(), "0", "5000")
        for node in (target, *self.nodes):
            node.command("CLUSTER", "SETSLOT", number, "NODE", _text(target.command("CLUSTER", "MYID")))

    def _is_ready(self, node: RedisServer) -> bool:
        info = node.command("CLUSTER", "INFO")
        return b"cluster_state:ok" in info and b"cluster_size:3" in info


class SentinelGroup:
    """A master and its replica, and three Sentinels that fail over half a second after the master is gone."""

    def __init__(
        self, folder: Path, *, options: Sequence[str] = (), password: str = "", sentinel_password: str = ""
    ) -> None:
        """`options` are the servers'; `password` is the one that they say."""
        self._folder = folder
        self._password = password
        self._sentinel_password = sentinel_password
        self.servers = [RedisServer(folder / name, options=options) for name in ("first", "second")]
        self.sentinel_ports = [free_port() for _ in range(3)]
        for server in self.servers:
            server.password = password
        self._sentinels: list[subprocess.Popen[str]] = []

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.sentinel_ports)
        return f"redis+sentinel://{hosts}/{MASTER}"

    def start(self) -> None:
        first, second = self.servers
        first.start()
        second.start()
        second.command("REPLICAOF", "127.0.0.1", str(first.port))
        while b"master_link_status:up" not in second.command("INFO", "replication"):
            time.sleep(PAUSE_SECONDS)  # the first copy is on its way
        for port in self.sentinel_ports:
            self._sentinels.append(self._start_sentinel(port, first.port))
        while not all(self._is_ready(port) for port in self.sentinel_ports):
            time.sleep(PAUSE_SECONDS)  # they find the replica and one another by the master

    def stop(self) -> None:
        for sentinel in self._sentinels:
            sentinel.kill()
            sentinel.communicate()
        for server in self.servers:
            server.stop()

    def stop_sentinel(self, number: int) -> None:
        self._sentinels[number].kill()
        self._sentinels[number].wait()

    def fail_over(self) -> None:
        """Makes the replica the master and the master a replica, although nothing is wrong."""
        before = self.master()
        ask(self.sentinel_ports[0], "SENTINEL", "FAILOVER", MASTER)
        while not self._is_replica(before):
            time.sleep(PAUSE_SECONDS)  # the Sentinels tell it last

    def master(self) -> RedisServer:
        """The one that says that it is the master."""
        for server in self.servers:
            with contextlib.suppress(ConnectionError):
                if b"role:master" in server.command("INFO", "replication"):
                    return server
        raise RuntimeError("no server is the master")

    def _is_ready(self, port: int) -> bool:
        state = ask(port, "SENTINEL", "MASTER", MASTER, password=self._sentinel_password)
        words = state.replace(b"\r\n", b" ").split()
        return [words[words.index(name) + 2] for name in (b"num-slaves", b"num-other-sentinels")] == [b"1", b"2"]

    @staticmethod
    def _is_replica(server: RedisServer) -> bool:
        with contextlib.suppress(ConnectionError):  # it cuts off its clients when its role changes
            return b"role:slave" in server.command("INFO", "replication")
        return False

    def _start_sentinel(self, port: int, master_port: int) -> subprocess.Popen[str]:
        file = self._folder / f"sentinel-{port}.conf"
        lines = [
            f"port {port}",
            "bind 127.0.0.1",
            f"dir {self._folder}",
            f"sentinel monitor {MASTER} 127.0.0.1 {master_port} 2",
            f"sentinel down-after-milliseconds {MASTER} 500",
            f"sentinel failover-timeout {MASTER} 2000",
        ]
        if self._password:
            lines.append(f"sentinel auth-pass {MASTER} {self._password}")
        if self._sentinel_password:
            lines += [f"requirepass {self._sentinel_password}", f"sentinel sentinel-pass {self._sentinel_password}"]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        process = subprocess.Popen(
            ["redis-server", str(file), "--sentinel"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if _SENTINEL_READY in line:
                return process
        raise RuntimeError(f"redis-sentinel ended with {process.wait()}: {''.join(said[-5:])}")


@contextlib.contextmanager
def running(group: RedisClusterGroup | SentinelGroup) -> Iterator[None]:
    """The group is started, and stopped at the end."""
    try:
        group.start()
        yield
    finally:
        group.stop()


def _text(bulk: bytes) -> str:
    return bulk.split(b"\r\n")[1].decode()

"""Redis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from tools.engines.engine import Engine
from tools.engines.process import exchange, require_program


class RedisEngine(Engine):
    """A Redis server. Durable: every write is in its append-only file before it is answered, and survives a kill."""

    name = "redis"
    packages: ClassVar[Mapping[str, str]] = {"redis-server": "redis-server", "redis-sentinel": "redis-sentinel"}

    @property
    def url(self) -> str:
        """Where clients find it, with the password if it has one."""
        login = f":{self.password}@" if self.password else ""
        return f"redis://{login}127.0.0.1:{self.port}"

    def is_answering(self) -> bool:
        """Whether it answers, and has read its data; it may well ask for the password."""
        return exchange(self.port, b"PING\r\n").startswith((b"+PONG", b"-NOAUTH"))

    def _command(self) -> Sequence[str]:
        lines = [
            "bind 127.0.0.1",
            f"port {self.port}",
            f"dir {self.folder}",
            "daemonize no",
            "set-proc-title no",  # a title would hide the folder from who looks for the process
            'save ""',
            f"appendonly {'yes' if self._durable else 'no'}",
        ]
        if self.password:
            lines.append(f"requirepass {self.password}")
        return [require_program("redis-server"), str(self._write("redis.conf", "\n".join(lines) + "\n"))]

"""PgBouncer."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tools.engines.engine import Engine
from tools.engines.postgres import PostgresEngine
from tools.engines.process import exchange, require_program

_SSL_REQUEST = (8).to_bytes(4, "big") + (80_877_103).to_bytes(4, "big")


class PgbouncerEngine(Engine):
    """A PgBouncer in transaction mode before a PostgreSQL, for every database and role of it."""

    name = "pgbouncer"
    packages: ClassVar[Mapping[str, str]] = {"pgbouncer": "pgbouncer"}
    refuses_root = True
    stop_signal = signal.SIGTERM  # at once: waiting for clients could take for ever

    def __init__(self, folder: Path, postgres: PostgresEngine, *, port: int | None = None) -> None:
        """Prepares a pooler of a server, which must run before it starts."""
        super().__init__(folder, port=port)
        self._postgres = postgres

    @property
    def url(self) -> str:
        """The services' database, as they connect."""
        return self.url_of(role="mneme_app")

    @property
    def superuser_url(self) -> str:
        """The database for administration."""
        return self.url_of(role="postgres", database="postgres")

    def url_of(self, *, role: str, database: str = "mneme") -> str:
        """Where a role finds a database."""
        return self._postgres.url_of(role=role, database=database, port=self.port)

    def is_answering(self) -> bool:
        """Whether it takes connections."""
        return exchange(self.port, _SSL_REQUEST)[:1] in {b"N", b"S"}

    def start(self) -> None:
        """Starts it, or starts it again when the server before which it runs has moved to another port.

        Raises:
            EngineError: It does not come up, with the end of its log.
        """
        if self.pid is not None and self._configuration() != (self.folder / "pgbouncer.ini").read_text("utf-8"):
            self.stop()
        super().start()

    def _command(self) -> Sequence[str]:
        password = self._postgres.password
        self._write("users", "".join(f'"{role}" "{password}"\n' for role in ("mneme_app", "mneme_owner", "postgres")))
        configuration = self._write("pgbouncer.ini", self._configuration())
        return [require_program("pgbouncer"), str(configuration)]

    def _configuration(self) -> str:
        return f"""\
[databases]
* = host=127.0.0.1 port={self._postgres.port}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {self.folder / "users"}
pool_mode = transaction
max_client_conn = 500
default_pool_size = 20
server_idle_timeout = 30
"""

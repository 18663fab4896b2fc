"""PostgreSQL."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from tools.engines.engine import Engine, kept_password
from tools.engines.process import EngineError, give, processes_in, require_program, run

_SUPERUSER: Final = "postgres"
_OWNER_ROLE: Final = "mneme_owner"
_APP_ROLE: Final = "mneme_app"
_DATABASE: Final = "mneme"

_SET_UP: Final = f"""
SELECT format('CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD %L', name, :'password')
FROM unnest(ARRAY['{_OWNER_ROLE}', '{_APP_ROLE}']) AS name
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \\gexec
SELECT 'CREATE DATABASE {_DATABASE} OWNER {_OWNER_ROLE}'
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '{_DATABASE}') \\gexec
"""  # noqa: S608 - constants


class PostgresEngine(Engine):
    """A PostgreSQL server with the roles and the database of the services.

    All its roles have one password: the given one when the cluster is made, or one that the folder keeps.
    """

    name = "postgres"
    packages: ClassVar[Mapping[str, str]] = {"postgresql": "postgres", "postgresql-client": "psql"}
    refuses_root = True
    stop_signal = signal.SIGINT  # fast shutdown: roll back, disconnect everyone, write a checkpoint

    @property
    def password(self) -> str:
        """What every role logs in with."""
        if self._password is None:
            self._password = kept_password(self.folder)
        return self._password

    @property
    def url(self) -> str:
        """The services' database, as they connect: bound by row-level security."""
        return self.url_of(role=_APP_ROLE)

    @property
    def owner_url(self) -> str:
        """The services' database as its owner, for migrations."""
        return self.url_of(role=_OWNER_ROLE)

    @property
    def superuser_url(self) -> str:
        """The database for administration, as the one who may do everything."""
        return self.url_of(role=_SUPERUSER, database="postgres")

    def url_of(self, *, role: str, database: str = _DATABASE, port: int | None = None) -> str:
        """Where a role finds a database; another port is that of a pooler in front."""
        return f"postgresql://{role}:{self.password}@127.0.0.1:{port or self.port}/{database}"

    def is_answering(self) -> bool:
        """Whether it takes connections."""
        command = [require_program("pg_isready"), "--quiet", "--host=127.0.0.1", f"--port={self.port}", "--timeout=2"]
        return subprocess.run(command, check=False).returncode == 0

    def start(self) -> None:
        """Starts it, with roles and database. Does nothing while it runs.

        Raises:
            EngineError: It does not come up, with the end of its log.
        """
        if self.pid is not None:
            return
        super().start()
        try:
            run(
                [require_program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-v", f"password={self.password}"],
                folder=self.folder,
                text=_SET_UP,
                environment={
                    "PGHOST": "127.0.0.1",
                    "PGPORT": str(self.port),
                    "PGUSER": _SUPERUSER,
                    "PGDATABASE": "postgres",
                    "PGPASSWORD": self.password,
                },
            )
        except EngineError:
            self.stop()
            raise

    def _command(self) -> Sequence[str]:
        data = self.folder / "data"
        if not data.exists():
            self._make_cluster(data)
        _clear_leftovers(data)
        values = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "max_connections": "200",
            "jit": "off",
            "timezone": "UTC",
            "log_timezone": "UTC",
        }
        if not self._durable:
            values |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        options = [f"-c{name}={value}" for name, value in values.items()]
        return [require_program("postgres"), "-D", str(data), *options]

    def _make_cluster(self, data: Path) -> None:
        fresh = data.with_name("data.new")
        shutil.rmtree(fresh, ignore_errors=True)  # of a start that was cut off
        fresh.mkdir()
        give(fresh, self._user, mode=0o700)
        run(
            [
                require_program("initdb"),
                f"--pgdata={fresh}",
                f"--username={_SUPERUSER}",
                "--auth=scram-sha-256",
                f"--pwfile={self._write('initial-password', self.password)}",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                "--no-instructions",
                *([] if self._durable else ["--no-sync"]),
            ],
            folder=self.folder,
            user=self._user,
        )
        fresh.rename(data)


def _clear_leftovers(data: Path) -> None:
    """Ends what outlived a killed postmaster, and removes the lock file that names it.

    Backends of a killed server hold its shared memory for a moment, and PostgreSQL refuses to start while any process
    has the number in the lock file, which may be an unrelated one by now. The caller has made sure that no postmaster
    runs here.
    """
    while left := processes_in(data, program="postgres"):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    (data / "postmaster.pid").unlink(missing_ok=True)

"""The embedded PostgreSQL: a real server from a Python wheel, private to one data folder."""

import asyncio
import contextlib
import os
import sys
import tempfile
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote

import asyncpg
import psutil
import structlog

from services.common.datadir import DataDir
from services.common.postgres import leftovers, system_user, wheel
from services.common.postgres.failure import EmbeddedPostgresError
from services.common.postgres.keeper import Keeper
from services.common.postgres.system_user import SystemUser
from services.common.postgres.types import Connection

_log = structlog.get_logger(__name__)

_PORT: Final = 5432
"""Only part of the socket's name; nothing listens on TCP."""

_SOCKET_PATH_BYTES_MAX: Final = 103
"""Longest socket path of the supported systems: macOS has 104 bytes with the final zero, Linux 108."""


@dataclass(frozen=True, kw_only=True)
class EmbeddedPostgresSettings:
    """Sizes and names of an embedded PostgreSQL."""

    database: str = "mneme"
    """Database that is created for the services."""
    superuser: str = "postgres"
    """Role that sets up the others; services never connect as it, since it passes row-level security by."""
    owner_role: str = "mneme_owner"
    """Role that owns the database and runs the migrations."""
    app_role: str = "mneme_app"
    """Role that services connect as: no superuser, owner of nothing, bound by row-level security."""
    shared_buffers_mb: int = 128
    """Page cache of the server in MiB, >= 1."""
    connections_max: int = 100
    """Most connections at once, of all services together."""
    wal_size_max_mb: int = 1024
    """Write-ahead log in MiB before a checkpoint is forced."""
    recycles_wal: bool = True
    """Whether old files of the write-ahead log are used again, with what they held; False removes them."""
    start_timeout_seconds: float = 300.0
    """Patience with a start; recovery after a crash is part of it. A server that ends meanwhile is noticed at once."""
    stop_timeout_seconds: float = 30.0
    """Patience with a fast shutdown before the server is killed (which loses nothing acknowledged)."""
    orphan_stop_timeout_seconds: float = 5.0
    """The same for a server that a killed process left behind. Shorter: on a slow disk its last checkpoint takes longer
    than the recovery that makes it unnecessary, and the start waits for both."""
    log_bytes_max: int = 16 * 1024 * 1024
    """A server log above this size is set aside as `server.log.1` at the next start."""


class EmbeddedPostgres:
    """Runs PostgreSQL (with pgvector) inside a data folder, durable and without a network port.

    Its life is tied to this process: it ends with `stop`, with the process, and on Linux also with a kill -9
    of the process (see `_launch`). What a killed process left behind is cleared away by the next `start`.

    Authentication is by the file system: the socket is in a folder of mode 0700, so who can reach it already
    has the data files. When the path of the data folder is too long for a socket, a private folder below the
    system's temporary one takes it.

    The wheel's own server class is not used: it keeps reference counts, lock files and exit hooks of its
    own, and as root it creates a system user and opens parent folders for reading.

    As root, PostgreSQL runs as the owner of the sub-folder, else as `postgres` or `nobody`, and the folders
    above are made passable for it.
    """

    def __init__(self, data_dir: DataDir, settings: EmbeddedPostgresSettings | None = None) -> None:
        """Prepare a server in `data_dir.postgres`; nothing is started yet.

        Args:
            data_dir: Folder whose lock must be held from before `start` until after `stop`.
            settings: Sizes and names, defaults where None.
        """
        self._data_dir = data_dir
        self._settings = settings or EmbeddedPostgresSettings()
        self._cluster = data_dir.postgres / "cluster"
        self._log_file = data_dir.postgres / "server.log"
        self._socket_folder: Path | None = None
        self._keeper: Keeper | None = None

    @property
    def is_running(self) -> bool:
        """True while the server process that this object started is alive."""
        return self._keeper is not None and self._keeper.is_alive

    @property
    def pid(self) -> int:
        """Process id of the postmaster.

        Raises:
            EmbeddedPostgresError: Not running.
        """
        if self._keeper is None or not self._keeper.is_alive:
            raise EmbeddedPostgresError("the embedded PostgreSQL is not running")
        return self._keeper.pid

    @property
    def log_file(self) -> Path:
        """Where the server writes its log."""
        return self._log_file

    @property
    def owner_dsn(self) -> str:
        """Connection URL for migrations."""
        return self.dsn(role=self._settings.owner_role)

    @property
    def app_dsn(self) -> str:
        """Connection URL for services."""
        return self.dsn(role=self._settings.app_role)

    @property
    def superuser_dsn(self) -> str:
        """Connection URL for administration and tests; passes row-level security by."""
        return self.dsn(role=self._settings.superuser)

    def dsn(self, *, role: str, database: str | None = None) -> str:
        """Connection URL for a role of this server.

        Args:
            role: An existing role.
            database: An existing database, the services' one where None.

        Raises:
            EmbeddedPostgresError: `start` was not called yet.
        """
        if self._socket_folder is None:
            raise EmbeddedPostgresError("the embedded PostgreSQL has not been started")
        name = quote(database or self._settings.database, safe="")
        folder = quote(str(self._socket_folder), safe="/")
        return f"postgresql://{quote(role, safe='')}@/{name}?host={folder}&port={_PORT}"

    async def start(self) -> None:
        """Start the server, creating cluster, roles and database on first use. Does nothing while it runs.

        Raises:
            EmbeddedPostgresError: The data folder's lock is not held, or the server does not come up; the
                message ends with the last lines of its log.
        """
        if self.is_running:
            return
        if not self._data_dir.is_locked:
            raise EmbeddedPostgresError("open the data folder before starting PostgreSQL in it")
        await asyncio.to_thread(self._start_process)
        try:
            await self._set_up_databases()
        except BaseException:
            await asyncio.to_thread(self._stop_process)
            raise

    async def stop(self) -> None:
        """Shut down fast: open transactions are rolled back, everything committed stays. Repeatable."""
        await asyncio.to_thread(self._stop_process)

    async def wait_exited(self) -> int:
        """Wait until the server process ends, for whatever reason, and return its exit status."""
        if self._keeper is None:
            raise EmbeddedPostgresError("the embedded PostgreSQL has not been started")
        return await asyncio.wrap_future(self._keeper.exit_status)

    async def __aenter__(self) -> Self:
        """Start the server."""
        await self.start()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> None:
        """Stop the server."""
        await self.stop()

    def _start_process(self) -> None:
        folder = self._data_dir.postgres
        user = system_user.server_user(folder)
        system_user.give_folder(folder, user)
        system_user.allow_passage(folder, user)
        wheel.make_programs_reachable(user)
        self._prepare_cluster(user)
        if leftovers.clear_leftovers(self._cluster, fast_timeout_seconds=self._settings.orphan_stop_timeout_seconds):
            _log.warning("orphaned_postgres_stopped", cluster=str(self._cluster))
        self._socket_folder = self._make_socket_folder(user)
        self._set_log_aside()
        self._keeper = Keeper(self._command(), user=user, output=self._log_file)
        ready = leftovers.wait_until_ready(
            self._cluster,
            psutil.Process(self._keeper.pid),
            timeout_seconds=self._settings.start_timeout_seconds,
        )
        if not ready:
            self._stop_process()
            raise EmbeddedPostgresError(f"PostgreSQL did not start; its log ends:\n{self._log_tail()}")

    def _stop_process(self) -> None:
        keeper = self._keeper
        if keeper is None:
            return
        if keeper.is_alive:
            with contextlib.suppress(ProcessLookupError):  # it may have ended since
                os.kill(keeper.pid, leftovers.FAST_SHUTDOWN)
        try:
            keeper.exit_status.result(self._settings.stop_timeout_seconds)
        except TimeoutError:
            _log.warning("postgres_stop_timed_out", pid=keeper.pid)
        # Also after a clean end: removes sockets, and backends that outlived a killed postmaster.
        leftovers.clear_leftovers(self._cluster, fast_timeout_seconds=1.0)
        if self._socket_folder is not None:
            leftovers.remove_sockets(self._socket_folder)

    def _prepare_cluster(self, user: SystemUser) -> None:
        if not self._cluster.exists():
            wheel.init_cluster(self._cluster, user=user, superuser=self._settings.superuser)
        version = (self._cluster / "PG_VERSION").read_text("ascii").strip()
        if version != wheel.MAJOR_VERSION:
            raise EmbeddedPostgresError(
                f"{self._cluster} was written by PostgreSQL {version}, this program carries "
                f"{wheel.MAJOR_VERSION}: export with the old program, import with the new one"
            )

    def _make_socket_folder(self, user: SystemUser) -> Path:
        folder = self._data_dir.postgres / "run"
        if len(os.fsencode(folder / f".s.PGSQL.{_PORT}")) > _SOCKET_PATH_BYTES_MAX:
            folder = Path(tempfile.mkdtemp(prefix=leftovers.PRIVATE_SOCKET_PREFIX))
            system_user.allow_passage(folder, user)
        system_user.give_folder(folder, user)
        return folder

    def _command(self) -> list[str]:
        values = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._socket_folder),
            "unix_socket_permissions": "0700",
            "port": str(_PORT),
            "fsync": "on",
            "synchronous_commit": "on",
            "full_page_writes": "on",
            "shared_buffers": f"{self._settings.shared_buffers_mb}MB",
            "max_connections": str(self._settings.connections_max),
            "max_wal_size": f"{self._settings.wal_size_max_mb}MB",
            # Queries are short: compiling one costs more than it saves.
            "jit": "off",
            # Statements that were planned while their tables were empty read whole indexes until the tables are
            # analyzed. A minute, the default, is long when somebody imports right after the first start.
            "autovacuum_naptime": "5s",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_line_prefix": "%m [%p] %q%u@%d %a ",
            # A statement's text can hold a user's words; a log must not.
            "log_min_error_statement": "panic",
            "log_parameter_max_length_on_error": "0",
        }
        if not self._settings.recycles_wal:
            # Else by default: a purge of the running server sets it for its time, which a value here would forbid.
            values["wal_recycle"] = "off"
        if hasattr(os, "posix_fadvise"):
            # Reads are of few pages, mostly such as the system has in memory: to hand them to other processes takes a
            # quarter more of the processor than to read them. The system is still advised of what comes next.
            values["io_method"] = "sync"
        if sys.platform == "linux":
            # Recovery after a crash syncs the file system once and not 1,000 files: minutes on a slow disk.
            values["recovery_init_sync_method"] = "syncfs"
        options = [f"-c{name}={value}" for name, value in values.items()]
        return [str(wheel.programs_folder() / "postgres"), "-D", str(self._cluster), *options]

    def _set_log_aside(self) -> None:
        if self._log_file.exists() and self._log_file.stat().st_size > self._settings.log_bytes_max:
            self._log_file.replace(self._log_file.with_name("server.log.1"))

    def _log_tail(self, *, lines: int = 15) -> str:
        text = self._log_file.read_text("utf-8", errors="replace") if self._log_file.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    async def _set_up_databases(self) -> None:
        superuser = self._settings.superuser
        connection = await asyncpg.connect(self.dsn(role=superuser, database="postgres"))
        try:
            for name in ("fsync", "synchronous_commit", "full_page_writes"):
                value = await connection.fetchval("SELECT current_setting($1)", name)
                if value != "on":
                    raise EmbeddedPostgresError(f"{name} is {value}: the cluster would not be durable")
            known = await connection.fetchval(
                "SELECT true FROM pg_database WHERE datname = $1", self._settings.database
            )
            if not known:
                await self._create_database(connection)
        finally:
            await connection.close()

    async def _create_database(self, connection: Connection) -> None:
        """Create roles and database. The database comes last: where it exists, everything does."""
        for role in (self._settings.owner_role, self._settings.app_role):
            if not await connection.fetchval("SELECT true FROM pg_roles WHERE rolname = $1", role):
                await connection.execute(
                    f"CREATE ROLE {_identifier(role)} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS"
                )
        template = await asyncpg.connect(self.dsn(role=self._settings.superuser, database="template1"))
        try:
            # In the template, so that every database made later has it: only a superuser may create it.
            await template.execute("CREATE EXTENSION IF NOT EXISTS vector")
        finally:
            await template.close()
        await connection.execute(
            f"CREATE DATABASE {_identifier(self._settings.database)} OWNER {_identifier(self._settings.owner_role)}"
        )


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

"""The embedded PostgreSQL's life: starts, ends, and every way of being killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import psutil
import pytest

from services.common.datadir import DataDir, DataDirLocked
from services.common.postgres import wheel
from services.common.postgres.failure import EmbeddedPostgresError
from services.common.postgres.leftovers import PRIVATE_SOCKET_PREFIX, has_ended, processes_of, wait_ended
from services.common.postgres.server import EmbeddedPostgres, EmbeddedPostgresSettings
from services.common.postgres.system_user import server_user

_ROOT = Path(__file__).parents[3]


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[DataDir]:
    with DataDir(tmp_path / "data") as opened:
        yield opened


class _Holder:
    """A child process that holds a data folder and its server."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.hold_postgres", str(folder), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=_ROOT,
        )
        assert self.process.stdout is not None
        # Log lines may come before it.
        ready = next(line for line in self.process.stdout if line.startswith("ready "))
        _, pid, self.superuser_dsn = ready.split()
        self.postmaster = psutil.Process(int(pid))

    def end(self) -> None:
        """Close its input and wait for it."""
        self.process.communicate()

    def kill(self) -> None:
        """kill -9, nothing else."""
        self.process.kill()
        self.process.communicate()


async def _write_row(dsn: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute("CREATE TABLE IF NOT EXISTS kept (n int)")
        await connection.execute("INSERT INTO kept VALUES (1)")
    finally:
        await connection.close()


async def _row_count(dsn: str) -> int:
    connection = await asyncpg.connect(dsn)
    try:
        return int(await connection.fetchval("SELECT count(*) FROM kept"))
    finally:
        await connection.close()


async def test_first_start_makes_roles_database_and_extension(data_dir: DataDir) -> None:
    async with EmbeddedPostgres(data_dir) as server:
        connection = await asyncpg.connect(server.app_dsn)
        row = await connection.fetchrow(
            """
            SELECT current_user AS role, current_database() AS database, rolsuper, rolbypassrls,
                   (SELECT count(*) FROM pg_extension WHERE extname = 'vector') AS vector_count,
                   current_setting('server_encoding') AS encoding, current_setting('timezone') AS timezone
            FROM pg_roles WHERE rolname = current_user
            """
        )
        await connection.close()
    assert row is not None
    assert tuple(row) == ("mneme_app", "mneme", False, False, 1, "UTF8", "UTC")


async def test_commits_are_durable_and_nothing_listens_on_the_network(data_dir: DataDir) -> None:
    async with EmbeddedPostgres(data_dir) as server:
        connection = await asyncpg.connect(server.app_dsn)
        names = ["fsync", "synchronous_commit", "full_page_writes", "listen_addresses", "jit"]
        values = [await connection.fetchval("SELECT current_setting($1)", name) for name in names]
        await connection.close()
    assert values == ["on", "on", "on", "", "off"]


@pytest.mark.skipif(sys.platform != "linux", reason="syncfs is Linux's")
async def test_issue_17_recovery_on_a_slow_disk_syncs_the_file_system_once(data_dir: DataDir) -> None:
    async with EmbeddedPostgres(data_dir) as server:
        connection = await asyncpg.connect(server.dsn(role="postgres", database="postgres"))
        assert await connection.fetchval("SELECT current_setting('recovery_init_sync_method')") == "syncfs"
        await connection.close()


async def test_stop_leaves_no_process_and_no_socket_and_start_works_again(data_dir: DataDir) -> None:
    server = EmbeddedPostgres(data_dir)
    await server.start()
    await _write_row(server.superuser_dsn)
    await server.stop()
    await server.stop()
    assert not server.is_running
    assert processes_of(data_dir.postgres / "cluster") == []
    assert list((data_dir.postgres / "run").iterdir()) == []
    await server.start()
    assert await _row_count(server.superuser_dsn) == 1
    await server.stop()


async def test_start_needs_the_folders_lock(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedPostgresError, match="open the data folder"):
        await EmbeddedPostgres(DataDir(tmp_path)).start()


async def test_failed_start_shows_the_servers_log(data_dir: DataDir) -> None:
    server = EmbeddedPostgres(data_dir, EmbeddedPostgresSettings(connections_max=-1))
    with pytest.raises(EmbeddedPostgresError, match="max_connections"):
        await server.start()
    assert not server.is_running


async def test_folder_of_another_major_version_is_refused(data_dir: DataDir) -> None:
    async with EmbeddedPostgres(data_dir):
        pass
    (data_dir.postgres / "cluster" / "PG_VERSION").write_text("17\n")
    with pytest.raises(EmbeddedPostgresError, match="written by PostgreSQL 17"):
        await EmbeddedPostgres(data_dir).start()


async def test_interrupted_initialisation_is_begun_anew(data_dir: DataDir) -> None:
    (data_dir.postgres / "cluster.new").mkdir()
    if os.geteuid() == 0:
        user = server_user(data_dir.postgres)
        os.chown(data_dir.postgres / "cluster.new", user.uid, user.gid)
    (data_dir.postgres / "cluster.new" / "PG_VERSION").write_text("18\n")
    async with EmbeddedPostgres(data_dir) as server:
        assert server.is_running


async def test_too_long_path_gets_a_private_socket_folder(tmp_path: Path) -> None:
    with DataDir(tmp_path / ("long" * 30)) as data_dir:
        server = EmbeddedPostgres(data_dir)
        await server.start()
        folder = Path(server.app_dsn.partition("host=")[2].partition("&")[0])
        assert folder.name.startswith(PRIVATE_SOCKET_PREFIX)
        assert os.stat(folder).st_mode & 0o777 == 0o700  # noqa: PTH116
        await _write_row(server.superuser_dsn)
        await server.stop()
        assert folder.name not in os.listdir(folder.parent)  # noqa: PTH208


async def test_second_process_cannot_take_the_folder(tmp_path: Path) -> None:
    holder = _Holder(tmp_path / "data")
    try:
        with pytest.raises(DataDirLocked) as caught:
            DataDir(tmp_path / "data").open()
        assert caught.value.pid == holder.process.pid
    finally:
        holder.end()


@pytest.mark.parametrize("options", [(), ("--no-stop",)])
async def test_server_ends_with_its_process(tmp_path: Path, options: tuple[str, ...]) -> None:
    holder = _Holder(tmp_path / "data", *options)
    holder.end()
    assert holder.process.returncode == 0
    assert wait_ended([holder.postmaster], timeout_seconds=120) == []  # its checkpoint, on a slow disk


async def test_rows_survive_kill_9_of_the_process(tmp_path: Path) -> None:
    holder = _Holder(tmp_path / "data")
    await _write_row(holder.superuser_dsn)
    holder.kill()
    # At once, while the orphan may still be shutting down.
    with DataDir(tmp_path / "data") as data_dir:
        async with EmbeddedPostgres(data_dir) as server:
            assert await _row_count(server.superuser_dsn) == 1
            assert server.pid != holder.postmaster.pid


async def test_rows_survive_kill_9_of_process_and_postmaster(tmp_path: Path) -> None:
    holder = _Holder(tmp_path / "data")
    await _write_row(holder.superuser_dsn)
    holder.postmaster.kill()
    holder.kill()
    with DataDir(tmp_path / "data") as data_dir:
        async with EmbeddedPostgres(data_dir) as server:
            assert await _row_count(server.superuser_dsn) == 1


async def test_orphan_that_hangs_is_killed(tmp_path: Path) -> None:
    holder = _Holder(tmp_path / "data")
    await _write_row(holder.superuser_dsn)
    holder.postmaster.suspend()
    holder.kill()
    assert not has_ended(holder.postmaster)
    with DataDir(tmp_path / "data") as data_dir:
        settings = EmbeddedPostgresSettings(stop_timeout_seconds=0.5)
        async with EmbeddedPostgres(data_dir, settings) as server:
            assert await _row_count(server.superuser_dsn) == 1
            assert has_ended(holder.postmaster)


def _start_orphan(data_dir: DataDir) -> "subprocess.Popen[str]":
    """A server that nobody's life is tied to, as one is left behind where the launcher cannot tie it."""
    user = server_user(data_dir.postgres)
    orphan = subprocess.Popen(
        [
            str(wheel.programs_folder() / "postgres"),
            f"-D{data_dir.postgres / 'cluster'}",
            "-clisten_addresses=",
            f"-cunix_socket_directories={data_dir.postgres / 'run'}",
        ],
        user=None if user.uid == -1 else user.uid,
        group=None if user.gid == -1 else user.gid,
        extra_groups=None if user.gid == -1 else [],
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
    )
    assert orphan.stderr is not None
    said: list[str] = []
    for line in orphan.stderr:
        said.append(line)
        if "ready to accept connections" in line:
            return orphan
    raise AssertionError(f"the server ended with {orphan.wait()}: {''.join(said)}")


async def test_orphan_that_works_is_shut_down_cleanly(data_dir: DataDir) -> None:
    async with EmbeddedPostgres(data_dir) as server:
        await _write_row(server.superuser_dsn)
    orphan = _start_orphan(data_dir)
    async with EmbeddedPostgres(data_dir) as server:
        assert await _row_count(server.superuser_dsn) == 1
        assert "database system is shut down" in orphan.communicate()[1]
        assert orphan.returncode == 0


async def test_killed_postmaster_is_noticed_and_can_be_started_again(data_dir: DataDir) -> None:
    server = EmbeddedPostgres(data_dir)
    await server.start()
    await _write_row(server.superuser_dsn)
    os.kill(server.pid, signal.SIGKILL)
    assert await server.wait_exited() == -signal.SIGKILL
    assert not server.is_running
    await server.start()
    assert await _row_count(server.superuser_dsn) == 1
    await server.stop()


async def test_stale_pid_file_naming_an_unrelated_process_is_no_obstacle(data_dir: DataDir) -> None:
    server = EmbeddedPostgres(data_dir)
    await server.start()
    os.kill(server.pid, signal.SIGKILL)
    await server.wait_exited()
    file = data_dir.postgres / "cluster" / "postmaster.pid"
    # The pid of this very test run, as if the system had given the number away again.
    file.write_text(file.read_text().replace(file.read_text().splitlines()[0], str(os.getpid()), 1))
    await server.start()
    assert server.is_running
    await server.stop()

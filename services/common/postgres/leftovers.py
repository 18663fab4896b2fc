"""Clearing away a PostgreSQL that a killed process left in its data folder."""

import shutil
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import psutil

from services.common.postgres.failure import EmbeddedPostgresError

FAST_SHUTDOWN: Final = signal.SIGINT
"""PostgreSQL's signal for: roll back, disconnect everyone, write a checkpoint, exit."""

PRIVATE_SOCKET_PREFIX: Final = "mneme-pg-"
"""Name of socket folders outside the data folder; only folders so named are ever removed."""


def clear_leftovers(cluster: Path, *, fast_timeout_seconds: float = 30.0) -> bool:
    """End every PostgreSQL process of a cluster and remove its stale lock files.

    The caller must hold the data folder's lock: whatever still runs there is then an orphan. An orphaned
    postmaster is asked for a fast shutdown and only killed when that takes too long. Backends that outlived a
    killed postmaster are killed. Only when no process is left may `postmaster.pid` be removed: it is what
    keeps two servers from writing to one cluster. It must be removed because PostgreSQL takes it seriously
    when its pid has been given to an unrelated process, as happens in containers.

    Args:
        cluster: PGDATA of the server.
        fast_timeout_seconds: Patience with a fast shutdown, > 0.

    Returns:
        True if a process had to be ended.

    Raises:
        EmbeddedPostgresError: A process survived SIGKILL for 10 s.
    """
    postmaster_pid, socket_folder = _read_pid_file(cluster)
    found = processes_of(cluster)
    if found:
        for process in found:
            if process.pid == postmaster_pid:
                _signal_quietly(process, FAST_SHUTDOWN)
                wait_ended([process], timeout_seconds=fast_timeout_seconds)
        for process in processes_of(cluster):
            _signal_quietly(process, signal.SIGKILL)
        if alive := wait_ended(processes_of(cluster), timeout_seconds=10.0):
            raise EmbeddedPostgresError(f"processes {[p.pid for p in alive]} of {cluster} do not end")
    (cluster / "postmaster.pid").unlink(missing_ok=True)
    if socket_folder is not None:
        remove_sockets(socket_folder)
    return bool(found)


def remove_sockets(folder: Path) -> None:
    """Remove PostgreSQL's sockets and socket locks from a folder, and a private folder with them."""
    for file in folder.glob(".s.PGSQL.*"):
        file.unlink(missing_ok=True)
    if folder.name.startswith(PRIVATE_SOCKET_PREFIX):
        shutil.rmtree(folder, ignore_errors=True)


def processes_of(cluster: Path) -> list[psutil.Process]:
    """All live PostgreSQL processes of a cluster, known by name and by working folder, which is PGDATA."""
    resolved = str(cluster.resolve())
    return [process for process in psutil.process_iter(["name"]) if _belongs_to(process, resolved)]


def wait_ended(processes: Sequence[psutil.Process], *, timeout_seconds: float) -> list[psutil.Process]:
    """Wait until processes have ended, and return those that have not.

    A zombie has ended: an orphan's exit status is collected by process 1, which in a container may be a
    program that never does so. psutil's own waiting would wait for that.
    """
    end = time.monotonic() + timeout_seconds
    alive = [process for process in processes if not has_ended(process)]
    while alive and time.monotonic() < end:
        time.sleep(0.01)
        alive = [process for process in alive if not has_ended(process)]
    return alive


def has_ended(process: psutil.Process) -> bool:
    """True when the process is gone or a zombie."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_until_ready(cluster: Path, process: psutil.Process, *, timeout_seconds: float) -> bool:
    """Wait until the postmaster accepts connections, as it notes in the last line of `postmaster.pid`.

    Returns:
        False if the process ended or the time ran out.
    """
    file = cluster / "postmaster.pid"
    end = time.monotonic() + timeout_seconds
    while time.monotonic() < end:
        try:
            lines = file.read_text("utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            lines = []
        if len(lines) >= 8 and lines[7].strip() == "ready" and lines[0].strip() == str(process.pid):
            return True
        if has_ended(process):
            return False
        time.sleep(0.005)
    return False


def socket_folder_of(cluster: Path) -> Path | None:
    """Where the sockets of a cluster's running server are; None where none runs."""
    return _read_pid_file(cluster)[1]


def _belongs_to(process: psutil.Process, cluster: str) -> bool:
    try:
        return process.info["name"] == "postgres" and not has_ended(process) and process.cwd() == cluster
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        # A process that may not be looked at belongs to another user, and so does not serve our cluster.
        return False


def _signal_quietly(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return


def _read_pid_file(cluster: Path) -> tuple[int | None, Path | None]:
    """Postmaster pid and socket folder as noted in `postmaster.pid`."""
    try:
        lines = (cluster / "postmaster.pid").read_text("utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return None, None
    pid = int(lines[0]) if lines and lines[0].strip().isdigit() else None
    socket_folder = Path(lines[4]) if len(lines) > 4 and lines[4].strip() else None
    return pid, socket_folder

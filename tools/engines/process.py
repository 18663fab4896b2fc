"""A server process that outlives who started it, and is found again by its pid file."""

from __future__ import annotations

import contextlib
import os
import pwd
import random
import shutil
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

_POLL_SECONDS: Final = 0.02
_PORTS: Final = range(20_000, 32_000)
"""Below the ports that the kernel gives to outgoing connections, which could take one while its engine is down."""

_LOG_LINES: Final = 15


class EngineError(Exception):
    """An engine cannot be installed, started or stopped; the message says why."""


class EngineProcess:
    """One process of one folder, where its pid file and its log are.

    The pid is believed only while the process of that number has the folder on its command line: the number may have
    been given to another one since.
    """

    def __init__(self, folder: Path) -> None:
        """Names the folder; nothing is touched."""
        self._folder = folder
        self._pid_file = folder / "pid"
        self._child: subprocess.Popen[bytes] | None = None
        self.log_file = folder / "server.log"

    @property
    def pid(self) -> int | None:
        """Its process id, None when it does not run."""
        if self._child is not None:
            # Surely ours, whereas its command line is empty for a moment at its beginning, and as a zombie.
            return self._child.pid if self._child.poll() is None else None
        try:
            pid = int(self._pid_file.read_text("ascii"))
        except (FileNotFoundError, ValueError):
            return None
        return pid if any(str(self._folder) in word for word in command_line(pid)) else None

    def start(
        self, command: Sequence[str], *, user: str | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        """Starts it in a session of its own, so that a terminal's signals do not reach it.

        Args:
            command: Program and arguments; the folder must be among them.
            user: Who it runs as, None for the caller.
            environment: Variables added to the caller's.
        """
        assert any(str(self._folder) in word for word in command)
        identity = _identity(user)
        with self.log_file.open("wb") as log:
            self._child = subprocess.Popen(
                command,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
                user=identity.uid,
                group=identity.gid,
                extra_groups=identity.groups,
            )
        self._pid_file.write_text(f"{self._child.pid}\n", "ascii")

    def wait_ready(self, is_ready: Callable[[], bool], *, timeout_seconds: float) -> None:
        """Waits until it answers.

        Raises:
            EngineError: It ended, or took too long and was killed; the message has the end of its log.
        """
        deadline = time.monotonic() + timeout_seconds
        while not is_ready():
            if self.pid is None or time.monotonic() > deadline:
                reason = "ended" if self.pid is None else f"is not ready after {timeout_seconds:.0f} s"
                self.end(signal.SIGKILL, timeout_seconds=10.0)
                raise EngineError(f"{self._folder.name} {reason}; its log {self.log_file} ends:\n{self._log_tail()}")
            time.sleep(_POLL_SECONDS)

    def end(self, number: signal.Signals, *, timeout_seconds: float) -> None:
        """Sends a signal and waits for the end; who does not end in time is killed. Nothing if it does not run."""
        pid = self.pid
        if pid is not None:
            for attempt in (number, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, attempt)
                if self._wait_ended(pid, timeout_seconds):
                    break
            else:
                raise EngineError(f"{self._folder.name}: process {pid} does not end")
        if self._child is not None:
            self._child.wait()
            self._child = None
        self._pid_file.unlink(missing_ok=True)

    def _wait_ended(self, pid: int, timeout_seconds: float) -> bool:
        deadline = time.monotonic() + timeout_seconds
        while self._child.poll() is None if self._child is not None else _exists(pid):
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)
        return True

    def _log_tail(self) -> str:
        text = self.log_file.read_text("utf-8", errors="replace")
        return "\n".join(text.splitlines()[-_LOG_LINES:])


def find_program(name: str) -> str | None:
    """Path of a program, None where it is not installed. Debian keeps PostgreSQL's newest and others' off the PATH."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    return shutil.which(name, path=os.pathsep.join([*map(str, versions), os.environ.get("PATH", ""), "/usr/sbin"]))


def require_program(name: str) -> str:
    """Path of a program.

    Raises:
        EngineError: It is not installed.
    """
    found = find_program(name)
    if found is None:
        raise EngineError(f"there is no {name} here; `make engines-install` installs it")
    return found


def command_line(pid: int) -> list[str]:
    """Words of a process's command line; empty when there is no such process, or only its zombie."""
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [word.decode(errors="replace") for word in raw.split(b"\0") if word]


def _exists(pid: int) -> bool:
    """Whether there is such a process, be it without a command line because it is about to end.

    One that has ended but was not waited for, a zombie, does not count. While threads of it still run it does, although
    the state shown is that of its first thread: only when the last has ended are its port and its files free.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii", errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    state, threads = fields[0], int(fields[17])
    return state not in "ZX" or threads > 1


def processes_in(folder: Path, *, program: str) -> list[int]:
    """Ids of a program's processes whose current folder this is. Those of other users are seen by root alone."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if (entry / "cwd").readlink() == folder and (entry / "exe").readlink().name == program:
                    found.append(int(entry.name))
    return found


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    candidates = random.sample(_PORTS, 100)
    return next(port for port in candidates if is_free(port))


def is_free(port: int) -> bool:
    """Whether a server could listen there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections that just ended are no hindrance
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def exchange(port: int, request: bytes) -> bytes:
    """Sends a few bytes to a server and returns the first it answers, nothing where nobody is there."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2.0) as connection:
            connection.sendall(request)
            return connection.recv(64)
    except OSError:
        return b""


def unprivileged_user() -> str | None:
    """Who runs the servers that refuse root: None, the caller, for anybody but root.

    Raises:
        EngineError: There is no user postgres; Debian's package makes it.
    """
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        raise EngineError("as root, PostgreSQL runs as the user postgres, whom its package would make") from None


def give(path: Path, user: str | None, *, mode: int) -> None:
    """Makes a file or folder belong to a user, who can also get to it: folders above become passable, not readable."""
    path.chmod(mode)
    if user is None:
        return
    entry = pwd.getpwnam(user)
    os.chown(path, entry.pw_uid, entry.pw_gid)
    for parent in path.resolve().parents:
        parent_mode = stat.S_IMODE(parent.stat().st_mode)
        if not parent_mode & stat.S_IXOTH:
            parent.chmod(parent_mode | stat.S_IXOTH)


def run(
    command: Sequence[str],
    *,
    folder: Path,
    user: str | None = None,
    text: str = "",
    environment: Mapping[str, str] | None = None,
) -> str:
    """Runs a program to its end and returns what it printed.

    Args:
        command: Program and arguments.
        folder: Its current folder.
        user: Who it runs as, None for the caller.
        text: Its standard input.
        environment: Variables added to the caller's.

    Raises:
        EngineError: It failed; the message has what it printed.
    """
    identity = _identity(user)
    done = subprocess.run(
        command,
        cwd=folder,
        input=text,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        user=identity.uid,
        group=identity.gid,
        extra_groups=identity.groups,
    )
    if done.returncode != 0:
        raise EngineError(f"{Path(command[0]).name} failed with {done.returncode}:\n{done.stdout}")
    return done.stdout


class _Identity(NamedTuple):
    uid: int | None
    gid: int | None
    groups: list[int] | None


def _identity(user: str | None) -> _Identity:
    if user is None:
        return _Identity(None, None, None)
    entry = pwd.getpwnam(user)
    return _Identity(entry.pw_uid, entry.pw_gid, [])

"""A worker process: a module of ours that answers one message at a time on its standard output."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import IO, Any, Final

from services.common.workers.frames import read_frame, write_frame

_PASSED_ON: Final = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""Variables of the environment that the process gets: no secret of the service is among them."""
_STOP_SECONDS: Final = 2.0


class WorkerEndedError(Exception):
    """The process did not start, ended, or took too long. The next message starts it again."""


class WorkerStartError(WorkerEndedError):
    """The process ended before it was ready, whatever the message is."""


class WorkerTimeoutError(WorkerEndedError):
    """The process took too long over a message, and was ended."""


class WorkerUnusableError(Exception):
    """The process says that it lacks something: starting it again does not help."""


class WorkerProcess:
    """Starts its process with the first message, and again after a failure. `exchange` is for one thread at a time."""

    def __init__(self, module: str, *arguments: str, load_timeout_seconds: float) -> None:
        """Nothing is started yet.

        Args:
            module: Run as `python -m`. It writes one message when it is ready, `{"error": reason}` where it lacks
                something, then one for each that it reads, and ends when its input does.
            arguments: Of its command line.
            load_timeout_seconds: For the start, until the first message.
        """
        self._command: Final = [sys.executable, "-m", module, *arguments]
        self._load_timeout_seconds: Final = load_timeout_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Of the process; None where none runs."""
        return None if self._process is None else self._process.pid

    def exchange(self, message: Any, *, timeout_seconds: float) -> Any:
        """The response to a message; blocks.

        Raises:
            WorkerStartError: The process did not start.
            WorkerTimeoutError: It took too long.
            WorkerEndedError: It ended.
            WorkerUnusableError: It cannot be used.
        """
        process = self._started()
        is_late = threading.Event()
        try:
            with _killed_after(process, timeout_seconds, is_late):
                write_frame(_pipe(process.stdin), message)
                return read_frame(_pipe(process.stdout))
        except (EOFError, OSError, ValueError) as error:
            self.stop()
            if is_late.is_set():
                raise WorkerTimeoutError("the process took too long") from error
            raise WorkerEndedError("the process ended") from error

    def kill(self) -> None:
        """End the process at once and start none again, from any thread. A call under way fails."""
        self._closed = True
        self.interrupt()

    def interrupt(self) -> None:
        """End the process at once, from any thread. A call under way fails; the next message starts it again."""
        process = self._process
        if process is not None:
            process.kill()

    def stop(self) -> None:
        """End the process, and wait for its end."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            _pipe(process.stdin).close()
        try:
            process.wait(0 if self._closed else _STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        with contextlib.suppress(OSError):
            _pipe(process.stdout).close()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._closed:
            raise WorkerEndedError("the process is closed")
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.stop()
        process = self._process = subprocess.Popen(  # noqa: S603 - our own module
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,  # Ctrl-C is for the service, which then stops the process
        )
        try:
            with _killed_after(process, self._load_timeout_seconds):
                loaded = read_frame(_pipe(process.stdout))
        except (EOFError, OSError, ValueError) as error:
            self.stop()
            raise WorkerStartError("the process did not start") from error
        if "error" in loaded:
            self.stop()
            raise WorkerUnusableError(loaded["error"])
        return process


@contextlib.contextmanager
def _killed_after(
    process: subprocess.Popen[bytes], seconds: float, is_late: threading.Event | None = None
) -> Iterator[None]:
    """Ends the process when the time is up, so that reading from it ends too, and sets `is_late`."""

    def end() -> None:
        if is_late is not None:
            is_late.set()
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _environment() -> dict[str, str]:
    inherited = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    paths = os.pathsep.join(path for path in sys.path if path)
    return {**inherited, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _pipe(stream: IO[bytes] | None) -> Any:
    assert stream is not None
    return stream

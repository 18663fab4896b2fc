"""What every engine has in common: a folder, a port, a process, and a way to see that it answers."""

from __future__ import annotations

import secrets
import shutil
import signal
import types
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

from tools.engines.process import EngineProcess, free_port, give, is_free, unprivileged_user


class Engine(ABC):
    """A server on 127.0.0.1 with its data in a folder.

    Stopped or killed and started again it has the same port and the same data. It outlives the program that started
    it: who wants it gone calls `stop`, or uses it as a context manager.
    """

    name: ClassVar[str]
    packages: ClassVar[Mapping[str, str]]
    """Debian packages by name, each with the program that it is needed for."""
    refuses_root: ClassVar[bool] = False
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    start_timeout_seconds: ClassVar[float] = 300.0
    """Patience with a start. After a kill PostgreSQL syncs a thousand files, which takes a slow disk a minute."""
    stop_timeout_seconds: ClassVar[float] = 180.0

    def __init__(
        self, folder: Path, *, port: int | None = None, password: str | None = None, durable: bool = True
    ) -> None:
        """Prepares an engine; nothing is touched before `start`.

        Args:
            folder: Its own; made where missing.
            port: Where it listens. None: the one of the last start in this folder, or a free one.
            password: What its clients give. None: what the engine's class says.
            durable: False trades what a crash would cost for speed, where the engine can.
        """
        self.folder = folder.absolute()
        self._port = port
        self._password = password
        self._durable = durable
        self._process = EngineProcess(self.folder)

    @property
    @abstractmethod
    def url(self) -> str:
        """Where clients find it, once it was started."""

    @abstractmethod
    def _command(self) -> Sequence[str]:
        """Program and arguments, after writing what the program reads; the folder must be among them."""

    @abstractmethod
    def is_answering(self) -> bool:
        """Whether it answers on its port."""

    @property
    def port(self) -> int:
        """Where it listens, once it was started."""
        if self._port is None:
            self._port = int((self.folder / "port").read_text("ascii"))
        return self._port

    @property
    def password(self) -> str | None:
        """What clients give, None where they need nothing."""
        return self._password

    @property
    def pid(self) -> int | None:
        """Process id, None when it does not run."""
        return self._process.pid

    @property
    def log_file(self) -> Path:
        """What it says about itself, since its last start."""
        return self._process.log_file

    def start(self) -> None:
        """Starts it and waits until it answers. Does nothing while it runs.

        Raises:
            EngineError: It does not come up, with the end of its log.
        """
        if self.pid is not None:
            return
        user = self._user
        self.folder.mkdir(parents=True, exist_ok=True)
        give(self.folder, user, mode=0o700)
        self._choose_port()
        self._process.start(self._command(), user=user, environment={"HOME": str(self.folder), **self._environment()})
        self._process.wait_ready(self.is_answering, timeout_seconds=self.start_timeout_seconds)

    def stop(self) -> None:
        """Ends it as its operators would. Data stay. Does nothing while it does not run."""
        self._process.end(self.stop_signal, timeout_seconds=self.stop_timeout_seconds)

    def kill(self) -> None:
        """Ends it as a crash would, by SIGKILL. Data stay."""
        self._process.end(signal.SIGKILL, timeout_seconds=self.stop_timeout_seconds)

    def clean(self) -> None:
        """Stops it and removes its data."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        """Starts it."""
        self.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> None:
        """Stops it."""
        self.stop()

    @property
    def _user(self) -> str | None:
        return unprivileged_user() if self.refuses_root else None

    def _environment(self) -> dict[str, str]:
        return {}

    def _write(self, name: str, text: str) -> Path:
        """Writes a file that the engine reads and nobody else."""
        path = self.folder / name
        path.touch(mode=0o600)
        give(path, self._user, mode=0o600)
        path.write_text(text, "utf-8")
        return path

    def _choose_port(self) -> None:
        file = self.folder / "port"
        if self._port is None:
            last = int(file.read_text("ascii")) if file.exists() else None
            self._port = last if last is not None and is_free(last) else free_port()
        file.write_text(str(self._port), "ascii")


def kept_password(folder: Path) -> str:
    """The password of a folder, made on first use, readable by its owner alone."""
    file = folder / "password"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(18), "ascii")
    return file.read_text("ascii")

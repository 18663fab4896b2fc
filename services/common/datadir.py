"""The folder with the data of one installation's embedded engines."""

import fcntl
import os
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Self

FORMAT_VERSION: Final = 1
"""Layout version that this code writes and the newest it can read."""

_LOCK_FILE: Final = "mneme.lock"
_FORMAT_FILE: Final = "format-version"


class DataDirError(Exception):
    """A data folder cannot be used as it is."""


class DataDirLocked(DataDirError):  # noqa: N818 - named as the fact, like the errors of the API
    """Another process holds the data folder.

    Attributes:
        path: The folder.
        pid: Process id written by the holder, or None where it could not be read.
    """

    def __init__(self, path: Path, pid: int | None) -> None:
        holder = f"process {pid}" if pid is not None else "another process"
        super().__init__(f"data folder {path} is in use by {holder}; stop it or choose another folder")
        self.path = path
        self.pid = pid


class DataDirVersionError(DataDirError):
    """The data folder was written by a newer Mneme, or its version cannot be read."""

    def __init__(self, path: Path, found: str) -> None:
        super().__init__(
            f"data folder {path} has format version {found!r}, this program knows up to {FORMAT_VERSION}; "
            "upgrade Mneme or choose another folder"
        )
        self.path = path
        self.found = found


def default_data_dir(env: Mapping[str, str]) -> Path:
    """Folder used when none is configured: `$XDG_DATA_HOME/mneme` or `~/.local/share/mneme`.

    Pure: the environment is an argument because only a composition root may read it.

    Args:
        env: Environment variables. As the XDG specification demands, a relative XDG_DATA_HOME is ignored.

    Raises:
        DataDirError: Neither XDG_DATA_HOME nor HOME is usable.
    """
    xdg_data_home = env.get("XDG_DATA_HOME", "")
    if xdg_data_home.startswith("/"):
        return Path(xdg_data_home) / "mneme"
    home = env.get("HOME", "")
    if not home:
        raise DataDirError("no data folder: set one, or HOME, or an absolute XDG_DATA_HOME")
    return Path(home) / ".local" / "share" / "mneme"


def lock_folder(folder: Path, file: Path) -> int:
    """Lock a folder through a file, which is made where needed and never removed.

    Removing it would let two processes lock two different files of one name. The lock is a kernel `flock`: it goes
    with the last process that holds the descriptor, kill -9 included. The pid in the file only serves the message.

    Returns:
        The descriptor; closing it releases the lock.

    Raises:
        DataDirLocked: Another holder has it.
    """
    # Python opens descriptors close-on-exec: a child process inherits the lock only where it is passed on.
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
    except BlockingIOError as error:
        text = os.pread(descriptor, 32, 0).strip()
        os.close(descriptor)
        raise DataDirLocked(folder, int(text) if text.isdigit() else None) from error
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


class DataDir:
    """Exclusive holder of a data folder; use it as a context manager.

    The lock goes with the process that holds it, kill -9 included; see `lock_folder`.
    """

    def __init__(self, path: Path) -> None:
        """Name the folder; nothing is touched before `open`."""
        self._path = path.expanduser().absolute()
        self._lock_descriptor: int | None = None

    @staticmethod
    def is_one(path: Path) -> bool:
        """Whether a folder was ever opened as a data folder."""
        return (path / _FORMAT_FILE).is_file()

    @property
    def path(self) -> Path:
        """The folder itself, absolute."""
        return self._path

    @property
    def postgres(self) -> Path:
        """Sub-folder of the embedded PostgreSQL."""
        return self._path / "postgres"

    @property
    def qdrant(self) -> Path:
        """Sub-folder of the embedded vector engine."""
        return self._path / "qdrant"

    @property
    def session(self) -> Path:
        """Sub-folder of what the embedded session tier must not lose."""
        return self._path / "session"

    @property
    def models(self) -> Path:
        """Sub-folder of built model graphs."""
        return self._path / "models"

    @property
    def is_locked(self) -> bool:
        """True while this object holds the folder."""
        return self._lock_descriptor is not None

    def open(self) -> Self:
        """Create the folder where needed, lock it, and check its format.

        Returns:
            The object itself.

        Raises:
            DataDirLocked: Another process (or another `DataDir` of this one) holds it.
            DataDirVersionError: A newer program wrote it.
            DataDirError: It is a file.
            OSError: The folder cannot be created or written.
        """
        if self._lock_descriptor is not None:
            return self
        try:
            self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except FileExistsError as error:
            raise DataDirError(f"data folder {self._path} is a file; choose another folder") from error
        descriptor = lock_folder(self._path, self._path / _LOCK_FILE)
        try:
            self._check_format()
            for folder in (self.postgres, self.qdrant, self.models):
                folder.mkdir(mode=0o700, exist_ok=True)
        except BaseException:
            os.close(descriptor)
            raise
        self._lock_descriptor = descriptor
        return self

    def close(self) -> None:
        """Release the folder. Closing twice is allowed."""
        if self._lock_descriptor is not None:
            os.close(self._lock_descriptor)
            self._lock_descriptor = None

    def __enter__(self) -> Self:
        """Open the folder."""
        return self.open()

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> None:
        """Release the folder."""
        self.close()

    def _check_format(self) -> None:
        file = self._path / _FORMAT_FILE
        try:
            found = file.read_text("ascii", errors="replace").strip()
        except FileNotFoundError:
            # Renamed into place so that a crash cannot leave an empty, unreadable version behind.
            fresh = file.with_suffix(".new")
            fresh.write_text(f"{FORMAT_VERSION}\n", "ascii")
            fresh.replace(file)
            return
        if not found.isdigit() or int(found) > FORMAT_VERSION:
            raise DataDirVersionError(self._path, found)

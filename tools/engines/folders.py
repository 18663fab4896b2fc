"""Folders outside the repository."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - folders in it are made by tempfile
_MEMORY_BYTES_MIN: Final = 4 * 1024**3  # of room, where tests of one session take some hundred MB


def user_cache() -> Path:
    """The project's folder in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mneme"


def tools_folder() -> Path:
    """Where programs are installed that the project brings along, as in tools/install_tools.sh."""
    return Path(os.environ.get("MNEME_TOOLS_DIR") or user_cache() / "tools")


def engines_folder() -> Path:
    """Where engines that were started for development have their data."""
    return Path(os.environ.get("MNEME_ENGINES_DIR") or user_cache() / "engines")


def passing_folder() -> Path | None:
    """Where data lie that nobody misses after a crash: a file system in memory that has room; None: the usual place.

    A test makes and drops a database of a thousand files. ext4 looks for inodes that were not deleted lately, and so
    spends more time on it the more tests have run.
    """
    try:
        has_room = shutil.disk_usage(_MEMORY).free >= _MEMORY_BYTES_MIN
    except OSError:
        return None
    return _MEMORY if has_room and os.access(_MEMORY, os.W_OK | os.X_OK) else None

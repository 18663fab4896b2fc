"""Folders outside the repository."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """The project's folder in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mneme"


def tools_folder() -> Path:
    """Where programs are installed that the project brings along, as in tools/install_tools.sh."""
    return Path(os.environ.get("MNEME_TOOLS_DIR") or user_cache() / "tools")


def engines_folder() -> Path:
    """Where engines that were started for development have their data."""
    return Path(os.environ.get("MNEME_ENGINES_DIR") or user_cache() / "engines")

"""Programs that tools/install_tools.sh installs."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest


def tools_folder() -> Path:
    """Where tools/install_tools.sh puts programs."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return Path(os.environ.get("MNEME_TOOLS_DIR", cache / "mneme" / "tools"))


def find_program(name: str, config: pytest.Config) -> str:
    """The path of a program; without it the test is skipped, or fails where `--require` names the program."""
    path = os.pathsep.join([str(tools_folder() / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    found = shutil.which(name, path=path)
    if found is not None:
        return found
    message = f"{name} is not on this machine: `make tools helm-check deploy-check` installs it"
    if name in config.getoption("--require"):
        pytest.fail(message)
    pytest.skip(message)

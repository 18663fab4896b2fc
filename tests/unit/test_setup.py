"""`make setup` with an interpreter of one's choice. Interpreters here are scripts around this one; pip does nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

_INTERPRETER = """#!/bin/sh
case "$*" in
    "-c "*base_prefix*) echo {name} ;;
    "-c "*) {usable} ;;
    -V) echo {name} ;;
    "-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
esac
"""


def interpreter(path: Path, name: str, *, usable: bool = True) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_INTERPRETER.format(name=name, usable="true" if usable else "false"))
    path.chmod(0o755)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository as far as the script needs one."""
    root = tmp_path / "a repository"
    (root / "requirements").mkdir(parents=True)
    (root / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "setup.sh", root / "tools")
    for name in ("runtime", "http", "llm", "mcp", "dev"):
        (root / "requirements" / f"{name}.txt").touch()
    (root / "pyproject.toml").touch()
    (root / "setup.py").touch()
    return root


def set_up(folder: Path, python: Path | str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "PYTHON": str(python)}
    return subprocess.run(
        [folder / "tools" / "setup.sh"], env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def test_the_interpreter_that_is_named_replaces_another_one(folder: Path, tmp_path: Path) -> None:
    first, second = interpreter(tmp_path / "first", "3.11"), interpreter(tmp_path / "second", "3.13")
    assert "creating .venv with 3.11" in set_up(folder, first).stdout
    assert not set_up(folder, first).stdout  # all is there
    assert "creating .venv with 3.13" in set_up(folder, second).stdout
    assert not set_up(folder, "").stdout  # without a name any will do


def test_an_interpreter_that_is_too_old_is_refused_beside_a_usable_one(folder: Path, tmp_path: Path) -> None:
    set_up(folder, interpreter(tmp_path / "first", "3.11"))
    refused = set_up(folder, interpreter(tmp_path / "old", "3.10", usable=False))
    assert refused.returncode == 1
    assert "is no Python 3.11 to 3.14" in refused.stderr

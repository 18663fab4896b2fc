from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

from services.cli.main import app
from services.cli.version import DISTRIBUTION

PYPROJECT = Path(__file__).parent.parent.parent.parent / "pyproject.toml"


def test_the_version_is_that_of_the_installed_distribution() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "services.cli.main", "--version"], capture_output=True, text=True, timeout=60, check=True
    )
    project = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]
    assert project["name"] == DISTRIBUTION
    assert printed.stdout == f"mneme {metadata.version(DISTRIBUTION)}\n"
    assert printed.stderr == ""


def test_the_version_needs_no_data_folder_and_no_command() -> None:
    result = CliRunner().invoke(app, ["--version"], env={"MNEME_DATA_DIR": "", "HOME": "", "XDG_DATA_HOME": "x"})
    assert (result.exit_code, result.stdout) == (0, f"mneme {metadata.version(DISTRIBUTION)}\n")


def test_a_clone_without_its_distribution_says_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 1
    assert "make setup" in result.stderr

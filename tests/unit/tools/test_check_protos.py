"""The check that no change of the protos breaks clients of the published contracts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.programs import find_program

ROOT = Path(__file__).parents[3]
DELIVERIES = "mneme/gateway/v1/deliveries.proto"


@pytest.fixture
def protos(tmp_path: Path, pytestconfig: pytest.Config) -> Path:
    """A copy of the protos to change."""
    find_program("buf", pytestconfig)
    folder = tmp_path / "proto"
    shutil.copytree(ROOT / "proto", folder, ignore=shutil.ignore_patterns("gen"))
    return folder


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "tools" / "check_protos.sh", folder], capture_output=True, text=True, check=False)


def change(folder: Path, old: str, new: str) -> None:
    file = folder / DELIVERIES
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")


def test_the_protos_are_compatible_with_the_published_contracts(protos: Path) -> None:
    checked = check(protos)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "compatible with the published contracts" in checked.stdout


def test_another_type_of_a_field_is_refused(protos: Path) -> None:
    change(protos, "int32 attempt_count = 5", "int64 attempt_count = 5")
    checked = check(protos)
    assert checked.returncode == 1
    assert '"attempt_count"' in checked.stdout
    assert "break clients" in checked.stderr


def test_a_message_that_moves_to_another_file_is_refused(protos: Path) -> None:
    (protos / "mneme/gateway/v1/moved.proto").write_bytes((protos / DELIVERIES).read_bytes())
    (protos / DELIVERIES).unlink()
    for file in (protos / "mneme/gateway/v1").glob("*.proto"):
        file.write_text(file.read_text("utf-8").replace(DELIVERIES, "mneme/gateway/v1/moved.proto"), "utf-8")
    checked = check(protos)
    assert checked.returncode == 1
    assert "deliveries.proto" in checked.stdout


def test_an_added_field_is_allowed(protos: Path) -> None:
    change(
        protos,
        "message DeadLetter {\n",
        "message DeadLetter {\n  // Added.\n  string added = 99;\n",
    )
    assert check(protos).returncode == 0

"""The Python client as a distribution of its own: what its wheel holds and needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from email import message_from_bytes
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent.parent
PACKAGES_MAX = 9  # itself included: fewer than ten in an environment that was empty


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, without a network: a build leaves folders behind."""
    folder = tmp_path_factory.mktemp("client")
    for part in ("clients/python", "proto/gen"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
    command = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", *command, str(folder / "clients/python")], check=True)
    return next(folder.glob("*.whl"))


def dependencies(requirements: list[str], known: set[str]) -> set[str]:
    """Names of what is installed for these requirements, without extras."""
    for text in requirements:
        requirement = Requirement(text)
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and requirement.name not in known:
            known.add(requirement.name)
            dependencies(distribution(requirement.name).requires or [], known)
    return known


def test_spec_9_2_the_client_is_a_distribution_without_the_services(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
        metadata = message_from_bytes(archive.read(next(n for n in archive.namelist() if n.endswith("/METADATA"))))
    assert metadata["Name"] == "mneme-memory-client"
    assert {name.split("/")[0] for name in names} == {"mneme", "mneme_client"}
    assert {"mneme/py.typed", "mneme_client/py.typed", "mneme_client/blocking/client.py"} <= set(names)
    modules = {str(path.relative_to(ROOT / "clients/python")) for path in (ROOT / "clients/python").rglob("*.py")}
    assert modules <= set(names)


def test_spec_9_2_the_client_needs_fewer_than_ten_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = message_from_bytes(archive.read(next(n for n in archive.namelist() if n.endswith("/METADATA"))))
    needed = dependencies(metadata.get_all("Requires-Dist") or [], {metadata["Name"]})
    assert "opentelemetry-api" not in needed  # an extra
    assert len(needed) <= PACKAGES_MAX, needed


def test_spec_9_2_the_client_runs_where_it_is_installed_alone(wheel: Path, tmp_path: Path) -> None:
    command = ["install", "--quiet", "--no-deps", "--no-index", "--target", str(tmp_path), str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *command], check=True)
    program = "import sys, mneme_client as c; c.SyncClient().close(); print(c.__file__, 'services' in sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    printed = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment, cwd=tmp_path
    ).stdout.split()
    assert printed == [str(tmp_path / "mneme_client/__init__.py"), "False"]


def test_spec_9_2_the_services_have_no_wheel(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "setup.py", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    for package in ("services", "proto/gen/mneme", "clients/python/mneme_client"):
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "__init__.py").touch()
    command = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(tmp_path / "out"), str(tmp_path)]
    built = subprocess.run([sys.executable, "-m", "pip", *command], capture_output=True, text=True, check=False)
    assert built.returncode != 0
    assert "the services have no wheel" in built.stdout + built.stderr
    assert not list(tmp_path.glob("out/*.whl"))

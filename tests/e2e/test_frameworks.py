"""Adapters of agent frameworks and clients of others, each tested with the real one in an environment of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.e2e.test_readme import run
from tests.support.engines import absent
from tests.support.stack import RunningStack

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.ci("an environment for each framework", needs="frameworks"),
]

ROOT = Path(__file__).parent.parent.parent
FRAMEWORKS = ROOT / "clients/frameworks"
ADAPTERS = sorted(path.parent.name for path in FRAMEWORKS.glob("*/pyproject.toml"))


@pytest.mark.parametrize("name", ADAPTERS)
async def test_spec_9_4_a_framework_uses_mneme(
    stack: RunningStack, request: pytest.FixtureRequest, name: str, tmp_path: Path
) -> None:
    folders = [ROOT / "clients/python", ROOT / "proto/gen", FRAMEWORKS / name]
    environment = {"MNEME_TARGET": stack.target, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    await run_tests_of(name, request, environment, tmp_path)


@pytest.mark.parametrize("name", ADAPTERS)
async def test_spec_9_4_an_adapter_has_the_types_of_its_framework(request: pytest.FixtureRequest, name: str) -> None:
    python = installed_in(request, name) / "bin/python"
    folder = FRAMEWORKS / name
    (package,) = folder.glob("mneme_*/")
    printed = await run(
        [
            sys.executable,
            "-m",
            "mypy",
            f"--config-file={FRAMEWORKS}/mypy.ini",
            f"--python-executable={python}",
            str(package),
        ],
        environment={"MYPYPATH": os.pathsep.join(map(str, (ROOT / "clients/python", ROOT / "proto/gen", folder)))},
        seconds=300,
    )
    assert "no issues found" in printed


async def test_spec_9_5_mem0s_own_client_runs_against_mneme(
    stack: RunningStack, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    await run_tests_of("mem0", request, {"MNEME_HTTP": f"http://{stack.services.http_address}"}, tmp_path)


def installed_in(request: pytest.FixtureRequest, name: str) -> Path:
    """The environment that `make test-frameworks` made for a folder of clients/frameworks."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    installed = Path(os.environ.get("MNEME_FRAMEWORKS_DIR", cache / "mneme/frameworks")) / name
    if not (installed / "installed.txt").exists():
        absent(request, "frameworks", f"{name} is not installed; `make test-frameworks` installs it")
    return installed


async def run_tests_of(name: str, request: pytest.FixtureRequest, environment: dict[str, str], folder: Path) -> None:
    """Runs the tests of a folder of clients/frameworks with what `make test-frameworks` installed for it."""
    installed = installed_in(request, name)
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder), "--import-mode=importlib"]
    options += ["-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function"]
    printed = await run(
        [str(installed / "bin/python"), "-m", "pytest", *options, str(FRAMEWORKS / name)],
        environment={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
        seconds=600,
    )
    assert " passed" in printed

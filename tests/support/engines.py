"""Production engines of the test session: those that the environment names, else those that can be started here.

`MNEME_TEST_<NAME>_URL` names one that runs and whose content may be removed. Where an engine is neither named nor
installed, tests that need it are skipped, or fail under `--require=<name>`.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.engines.folders import passing_folder
from tools.engines.group import EngineGroup, missing


class SessionEngines:
    """Starts engines when they are first asked for, without a care for what a crash would cost."""

    def __init__(self, folder: Path) -> None:
        self._group = EngineGroup(folder, durable=False, short_lived=True)

    def url(self, name: str, request: pytest.FixtureRequest) -> str:
        """Where the tests find an engine, as the one who may do everything there."""
        variable = f"MNEME_TEST_{name.upper()}_URL"
        # Tests empty an engine: of several processes of pytest only the first may use the one that is named.
        is_first = os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0"
        if is_first and (url := os.environ.get(variable)):
            return url
        if is_first and name == "pgbouncer" and os.environ.get("MNEME_TEST_POSTGRES_URL"):
            absent(request, name, "MNEME_TEST_POSTGRES_URL is set without MNEME_TEST_PGBOUNCER_URL")
        if reason := missing(name):
            absent(request, name, reason)
        return self._group.start_for_tests(name)[variable]

    def clean(self) -> None:
        self._group.clean()


def absent(request: pytest.FixtureRequest, name: str, reason: str) -> None:
    """Fails the test under `--require=<name>`, else skips it."""
    if name in request.config.getoption("--require"):
        pytest.fail(f"--require={name}: {reason}")
    pytest.skip(f"{name} is not available: {reason}")


@pytest.fixture(scope="session")
def session_engines() -> Iterator[SessionEngines]:
    """The session's engines, gone at its end."""
    with engines_home(passing_folder()) as folder:
        engines = SessionEngines(folder)
        yield engines
        engines.clean()


@pytest.fixture
def engine_folder() -> Iterator[Path]:
    """A folder in which a test may start engines of its own."""
    with engines_home() as folder:
        yield folder


@contextlib.contextmanager
def engines_home(parent: Path | None = None) -> Iterator[Path]:
    """A folder for engines, removed at the end."""
    # Not in pytest's: each session that starts takes away every other user's way into the folder of all sessions,
    # and so the data of a PostgreSQL that root runs as somebody else.
    with tempfile.TemporaryDirectory(prefix="mneme-engines-", dir=parent) as folder:
        yield Path(folder)

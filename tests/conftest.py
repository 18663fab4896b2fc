"""Registers the fixtures that all tests share, and what a run demands."""

import logging
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
import structlog

from tools.engines.group import NAMES

pytest_plugins = [
    "tests.support.browser",
    "tests.support.engines",
    "tests.support.helm",
    "tests.support.neo4j",
    "tests.support.parsing",
    "tests.support.postgres",
    "tests.support.postgres_server",
    "tests.support.stack",  # before what imports it
    "tests.support.production",
    "tests.support.redis",
]

# How fast examples are made and run, a busy machine decides.
hypothesis.settings.register_profile("mneme", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("mneme")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--require=redis --require=grpcurl`: without these the tests that need them fail instead of being skipped."""
    parser.addoption(
        "--require",
        action="append",
        default=[],
        choices=[
            *NAMES,
            "chromium",
            "compose-spec",
            "frameworks",
            "go",
            "grpcurl",
            "hadolint",
            "helm",
            "java",
            "kubeconform",
            "promtool",
            "typescript",
            "vault",
        ],
        help="engine or tool that must be there; may be given more than once",
    )
    parser.addoption("--ci", action="store_true", help="also run the slow tests, marked `ci`")


def pytest_configure(config: pytest.Config) -> None:
    """Gives this run a temporary folder of its own.

    pytest's default folder is shared by all runs of a user, and each run that starts makes it unreadable for other
    users, such as the one that runs PostgreSQL for root.
    """
    config.addinivalue_line("markers", "ci(reason): slow; runs with --ci alone, as on the build machine")
    if config.option.basetemp is None and not hasattr(config, "workerinput"):
        folder = Path(tempfile.mkdtemp(prefix="mneme-tests-"))
        folder.chmod(0o711)
        config.option.basetemp = str(folder / "run")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips tests marked `ci` unless they are asked for."""
    if config.getoption("--ci"):
        return
    for item in items:
        if marker := item.get_closest_marker("ci"):
            item.add_marker(pytest.mark.skip(reason=f"slow, runs with --ci: {marker.args[0]}"))


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """A command under test sets up logging for its process, which here is that of all other tests too."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)

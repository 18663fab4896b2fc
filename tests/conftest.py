"""Registers the fixtures that all tests share."""

import logging
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

pytest_plugins = [
    "tests.support.browser",
    "tests.support.engines",
    "tests.support.examples",
    "tests.support.helm",
    "tests.support.neo4j",
    "tests.support.parsing",
    "tests.support.postgres",
    "tests.support.postgres_server",
    "tests.support.stack",  # before what imports it
    "tests.support.production",
    "tests.support.redis",
    "tests.support.selection",
]


def pytest_configure(config: pytest.Config) -> None:
    """Gives this run a temporary folder of its own.

    pytest's default folder is shared by all runs of a user, and each run that starts makes it unreadable for other
    users, such as the one that runs PostgreSQL for root.
    """
    if config.option.basetemp is None and not hasattr(config, "workerinput"):
        folder = Path(tempfile.mkdtemp(prefix="mneme-tests-"))
        folder.chmod(0o711)
        config.option.basetemp = str(folder / "run")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """A command under test sets up logging for its process, which here is that of all other tests too."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)

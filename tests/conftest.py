"""Registers the fixtures that all tests share, and what a run demands."""

import logging
from collections.abc import Iterator

import hypothesis
import pytest
import structlog

from tools.engines.group import NAMES

pytest_plugins = [
    "tests.support.engines",
    "tests.support.neo4j",
    "tests.support.postgres",
    "tests.support.postgres_server",
    "tests.support.production",
    "tests.support.redis",
    "tests.support.stack",
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
        choices=[*NAMES, "grpcurl"],
        help="engine or tool that must be there; may be given more than once",
    )


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """A command under test sets up logging for its process, which here is that of all other tests too."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)

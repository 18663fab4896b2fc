"""Registers the fixtures that all tests share, and what a run demands."""

import pytest

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


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--require=redis --require=grpcurl`: without these the tests that need them fail instead of being skipped."""
    parser.addoption(
        "--require",
        action="append",
        default=[],
        choices=[*NAMES, "grpcurl"],
        help="engine or tool that must be there; may be given more than once",
    )

"""Registers the fixtures that all tests share, and what a run demands."""

import pytest

pytest_plugins = ["tests.support.neo4j", "tests.support.postgres", "tests.support.redis", "tests.support.stack"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--require=redis --require=grpcurl`: without these the tests that need them fail instead of being skipped."""
    parser.addoption(
        "--require",
        action="append",
        default=[],
        metavar="NAME",
        help="engine or tool that must be there: redis, grpcurl; may be given more than once",
    )

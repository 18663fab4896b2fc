"""Which tests run without `--ci`: each behaviour once, on engines that start in a moment; see `tests/README.md`.

Left to the build machine are tests marked `ci`, and those that ask for an engine of `LEFT_TO_CI`. It leaves out those
marked `proof`: they take minutes each.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from tools.engines.group import NAMES

LEFT_TO_CI: Final[Mapping[str, str]] = {
    "chart": "helm",
    "neo4j_url": "neo4j",
    "pooled_postgres": "pgbouncer",
    "promtool": "promtool",
    "real_postgres": "postgres",
    "redis_cluster_url": "redis",
    "sentinel_url": "redis",
    "three_masters_url": "redis",
}
"""Engines on which a contract runs for the second time, and programs that run for seconds, by the fixture."""

_MARKER: Final = (
    "ci(reason, needs=None): slow; runs with --ci, as on the build machine, or where --require demands what it needs"
)
_PROOF: Final = "proof(command): takes minutes; runs with --proofs alone. The command proves the same, or more of it"
_COUNT: Final = "tests_left_to_ci"
_PROOF_COUNT: Final = "proofs"
_left = pytest.StashKey[int]()
_proofs = pytest.StashKey[int]()

_LONGEST: Final = "test_patterns.py"


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
    parser.addoption("--ci", action="store_true", help="run all tests but proofs, also those left to the build machine")
    parser.addoption("--proofs", action="store_true", help="run also proofs, which take minutes each; needs --ci")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_left] = config.stash[_proofs] = 0
    config.addinivalue_line("markers", _MARKER)
    config.addinivalue_line("markers", _PROOF)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Takes away the tests that are left to the build machine, and proofs, and counts them."""
    # The longest file first: at the end one worker would run it alone.
    items.sort(key=lambda item: item.path.name != _LONGEST)
    proofs = [] if config.getoption("--proofs") else [item for item in items if item.get_closest_marker("proof")]
    _take_away(config, items, proofs, _proofs, _PROOF_COUNT)
    left = [] if config.getoption("--ci") else [item for item in items if _is_left(item)]
    _take_away(config, items, left, _left, _COUNT)


def _take_away(
    config: pytest.Config, items: list[pytest.Item], taken: list[pytest.Item], key: pytest.StashKey[int], name: str
) -> None:
    if not taken:
        return
    absent = set(taken)
    items[:] = [item for item in items if item not in absent]
    config.hook.pytest_deselected(items=taken)
    config.stash[key] = len(taken)
    if (output := getattr(config, "workeroutput", None)) is not None:
        output[name] = len(taken)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Takes over the counts of a worker of pytest-xdist: each of them collects all tests."""
    output = getattr(node, "workeroutput", {})
    node.config.stash[_left] = output.get(_COUNT, 0)
    node.config.stash[_proofs] = output.get(_PROOF_COUNT, 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Says how many tests did not run, and how to run them."""
    if count := config.stash[_left]:
        terminalreporter.write_line(f'{count} tests are left to CI; all run with: make test PYTEST_ARGS="--ci"')
    if count := config.stash[_proofs]:
        terminalreporter.write_line(f"{count} proofs take minutes each; they run with: make test-proofs")


def _is_left(item: pytest.Item) -> bool:
    demanded = item.config.getoption("--require")
    return any(need not in demanded for need in _needs(item))


def _needs(item: pytest.Item) -> Iterator[str | None]:
    """What has to be demanded for a test to run; None: nothing but `--ci` lets it run."""
    for marker in item.iter_markers("ci"):
        yield marker.kwargs.get("needs")
    for name in getattr(item, "fixturenames", ()):
        if name in LEFT_TO_CI:
            yield LEFT_TO_CI[name]

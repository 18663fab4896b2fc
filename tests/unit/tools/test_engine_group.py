"""Which engines are meant, and what is said about them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.engines.group import EngineGroup, with_needed
from tools.engines.process import EngineError

ROOT = Path(__file__).parents[3]


def test_none_named_means_all() -> None:
    assert with_needed([]) == {"redis", "postgres", "pgbouncer", "neo4j"}


def test_a_pooler_brings_its_server(tmp_path: Path) -> None:
    assert list(EngineGroup(tmp_path, ["pgbouncer"]).engines) == ["postgres", "pgbouncer"]


def test_unknown_engines_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="mongodb"):
        EngineGroup(tmp_path, ["redis", "mongodb"])


def test_what_does_not_run_is_not_in_the_environment(tmp_path: Path) -> None:
    group = EngineGroup(tmp_path)
    assert group.service_variables() == {}
    assert group.test_variables() == {}


@pytest.mark.parametrize("arguments", [["run", "redis"], ["start", "redis", "--", "true"], ["start", "mongodb"]])
def test_a_wrong_command_line_fails(tmp_path: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.engines", *arguments],
        cwd=ROOT,
        env={**os.environ, "MNEME_ENGINES_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "engine" in done.stderr

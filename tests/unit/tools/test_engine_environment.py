"""The file that tells a shell where the engines are."""

import subprocess
from pathlib import Path

import pytest

from tools.engines.environment import write_environment


def test_a_shell_reads_what_was_written(tmp_path: Path) -> None:
    file = tmp_path / "engines.env"
    variables = {"A_URL": "postgresql://user:s3_cr-t@127.0.0.1:2000/mneme", "B": "true"}
    write_environment(file, {"OLD": "1"})
    write_environment(file, variables)
    assert file.stat().st_mode & 0o777 == 0o600
    done = subprocess.run(
        ["sh", "-c", f"set -a; . {file}; set +a; env"], capture_output=True, text=True, env={}, check=True
    )
    read = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert variables.items() <= read.items()
    assert "OLD" not in read


@pytest.mark.parametrize("value", ["two words", "$HOME", "a;b", "a&b", 'quo"te', "line\nbreak"])
def test_what_a_shell_would_read_otherwise_is_refused(tmp_path: Path, value: str) -> None:
    file = tmp_path / "engines.env"
    with pytest.raises(ValueError, match="NAME"):
        write_environment(file, {"NAME": value})
    assert not file.exists()

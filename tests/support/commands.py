"""Commands of `mneme` in a process of their own, which runs several of them: to load the program takes a second."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence


async def run_commands(target: str, *commands: Sequence[str], answer: str = "") -> list[str]:
    """What each command prints that is given to the services at an address; `answer` is what it reads.

    They run apart from the services of this process, which log to what a command would print to.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __name__),
        env={**os.environ, "MNEME_TARGET": target, "COLUMNS": "200"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    stdout, stderr = await process.communicate(json.dumps([commands, answer]).encode())
    assert process.returncode == 0, stderr.decode()
    results = json.loads(stdout)
    for command, result in zip(commands, results, strict=True):
        assert result["exit_code"] == 0, f"{command}: {result['stderr']}"
    return [result["stdout"] for result in results]


def main() -> None:
    """Runs the commands that are read, and writes what they print."""
    from typer.testing import CliRunner

    from services.cli.main import app

    commands, answer = json.load(sys.stdin)
    results = [CliRunner().invoke(app, command, input=answer) for command in commands]
    shown = [{"exit_code": each.exit_code, "stdout": each.stdout, "stderr": each.stderr} for each in results]
    sys.stdout.write(json.dumps(shown))


if __name__ == "__main__":
    main()

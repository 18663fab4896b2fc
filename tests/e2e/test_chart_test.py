"""The script of `helm test`, run against real services."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.support.helm import Chart
from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_spec_8_3_the_test_of_the_chart_remembers_and_recalls(chart: Chart, secured_stack: RunningStack) -> None:
    pod = chart.one("trial", "Pod", "test")["spec"]["containers"][0]
    assert {entry["name"] for entry in pod["env"]} == {"MNEME_TARGET", "MNEME_API_KEY"}

    async def run(key: str) -> tuple[int | None, str]:
        process = await asyncio.create_subprocess_exec(
            *pod["command"],
            env={
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "HOME": os.environ["HOME"],
                "HOSTNAME": "m-mneme-test",
                "MNEME_TARGET": secured_stack.target,
                "MNEME_API_KEY": key,
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        return process.returncode, output.decode()

    code, output = await run(secured_stack.keys["writer"])
    assert code == 0, output
    code, _ = await run("mn_unknown_key")
    assert code != 0

"""The commands and programs of README.md are run as they stand, against a stack on another port."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(r"<!-- test: (\w+) -->\n```\w+\n(.*?)```", re.DOTALL)
DEFAULT_ADDRESS = "127.0.0.1:7700"
DEFAULT_HTTP_ADDRESS = "127.0.0.1:7780"


def block(name: str) -> str:
    found = dict(BLOCK.findall((ROOT / "README.md").read_text("utf-8")))
    assert set(found) == {"grpcurl", "curl", "python", "console"}
    return str(found[name])


async def run(
    arguments: list[str], *, environment: dict[str, str] | None = None, text: str = "", seconds: float = 120
) -> str:
    """Runs a program in a process beside this one, which serves it; returns what it printed."""
    process = await asyncio.create_subprocess_exec(
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(environment or {})},
    )
    async with asyncio.timeout(seconds):
        out, err = await process.communicate(text.encode())
    assert process.returncode == 0, err.decode() or out.decode()
    return out.decode()


def tools_path() -> str:
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    tools = Path(os.environ.get("MNEME_TOOLS_DIR", cache / "mneme" / "tools")) / "bin"
    return f"{tools}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


async def test_first_calls_with_grpcurl(stack: RunningStack, request: pytest.FixtureRequest) -> None:
    path = tools_path()
    if shutil.which("grpcurl", path=path) is None:
        message = "grpcurl is not on this machine; `make tools` installs it"
        pytest.fail(message) if "grpcurl" in request.config.getoption("--require") else pytest.skip(message)
    script = block("grpcurl").replace(DEFAULT_ADDRESS, stack.target)
    out = await run(["bash", "-eu", "-c", script], environment={"PATH": path})
    answers = []
    rest = out.strip()
    while rest:
        answer, end = json.JSONDecoder().raw_decode(rest)
        answers.append(answer)
        rest = rest[end:].strip()
    written, recalled, *pieces, context, transcript = answers
    assert len(written["interactions"]) == 2
    assert not recalled.get("degraded")
    assert {piece["tier_result"]["tier"]["tier"] for piece in pieces[:-1]} == {
        "TIER_EPISODIC",
        "TIER_SEMANTIC",
        "TIER_AGENTIC",
    }
    # Examples of task types are embedded after the start: the first question may not be classified yet.
    first, second = (
        {name: value for name, value in response["reading"].items() if not name.startswith("task_type")}
        for response in (recalled, pieces[-1]["response"])
    )
    assert first == second
    # Reflection names fields as the protos do. The first turn may be on its way to the tiers still.
    assert 0 <= context.get("token_count", 0) <= 400
    assert context["section_reports"]
    assert transcript["interactions"][0]["turn"]["content"].startswith("I moved to Lisbon")


async def test_first_calls_with_curl(stack: RunningStack) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not on this machine")
    script = block("curl").replace(DEFAULT_HTTP_ADDRESS, stack.services.http_address)
    out = await run(["bash", "-eu", "-c", script])
    written, end = json.JSONDecoder().raw_decode(out.strip())
    recalled = json.loads(out.strip()[end:])
    assert len(written["interactions"]) == 1
    assert not recalled.get("degraded")


async def test_first_calls_with_python(stack: RunningStack) -> None:
    program = block("python").replace(DEFAULT_ADDRESS, stack.target)
    out = await run([sys.executable, "-"], text=program)
    assert "Ada: My sister Grace is getting married in June." in out


async def test_the_command_line(stack: RunningStack) -> None:
    script = block("console")
    environment = {"PATH": tools_path(), "MNEME_TARGET": stack.target, "COLUMNS": "200"}
    out = await run(["bash", "-eu", "-c", script], environment=environment)
    assert "I finally sold the old car." in out

"""Clients generated in other languages make the README's first calls."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.e2e.test_readme import run
from tests.support.stack import RunningStack

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.ci("generates and compiles a client"),
]

ROOT = Path(__file__).parent.parent.parent
CLIENTS = ROOT / "clients"
PROGRAMS = {
    "go": ("go", [str(CLIENTS / "go" / "bin" / "firstcalls")]),
    "java": (
        "mvn",
        ["java", "-cp", f"{CLIENTS}/java/target/classes:{CLIENTS}/java/target/lib/*", "ai.mneme.examples.FirstCalls"],
    ),
    "typescript": ("npm", ["node", str(CLIENTS / "typescript" / "dist" / "src" / "first_calls.js")]),
}


@pytest.mark.parametrize("language", PROGRAMS)
async def test_spec_9_2_first_calls_of_a_generated_client(stack: RunningStack, language: str) -> None:
    compiler, program = PROGRAMS[language]
    if shutil.which(compiler) is None:
        pytest.skip(f"{language}: {compiler} is not on this machine")
    await run([sys.executable, str(ROOT / "tools" / "languages.py"), "--require", language], seconds=600)
    printed = (await run([*program, stack.target])).splitlines()
    assert printed[0] == "remembered 2 turns"
    assert printed[1].startswith("recalled ")
    assert "recalled Ada: I moved to Lisbon in March, and I am allergic to peanuts." in printed
    assert printed[-3:] == [
        "streamed true",
        "context of at most 400 tokens: true",
        "transcript begins: I moved to Lisbon in March, and I am allergic to peanuts.",
    ]

"""The examples of the client's README run."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

import mneme_client
from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

README = Path(mneme_client.__file__).with_name("README.md")
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
async def test_the_example_runs(stack: RunningStack, number: int, request: pytest.FixtureRequest) -> None:
    # The examples use the default address; here the service is elsewhere.
    code = EXAMPLES[number]
    if not request.config.getoption("--ci"):
        code = code.replace("range(1_000)", "range(50)")
    for client in ("Client()", "SyncClient()"):
        code = re.sub(rf"\b{re.escape(client)}", f'{client[:-1]}"{stack.target}")', code)
    await asyncio.to_thread(exec, compile(code, "README.md", "exec"), {"__name__": "__main__"})

"""The examples of the client's README run."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

import mneme_client
from tests.servicer.client.conftest import Running

README = Path(mneme_client.__file__).with_name("README.md")
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
async def test_the_example_runs(running: Running, number: int) -> None:
    # The examples use the default address; here the service is elsewhere.
    code = EXAMPLES[number]
    for client in ("Client()", "SyncClient()"):
        code = re.sub(rf"\b{re.escape(client)}", f'{client[:-1]}"{running.target}")', code)
    await asyncio.to_thread(exec, compile(code, "README.md", "exec"), {"__name__": "__main__"})
    assert running.gateway.requests or "def connect" in code  # it called the service, or only shows how to connect

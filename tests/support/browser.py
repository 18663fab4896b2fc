"""A headless browser for tests: a fixture `browser_page`, skipped where there is no Chromium."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from bench.browser import Page, find_browser, open_page


@pytest_asyncio.fixture(loop_scope="session")
async def browser_page(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Page]:
    """An empty tab of a browser of its own; its `problems` are the test's to look at."""
    program = find_browser()
    if program is None:
        message = "no Chromium on this machine; on Debian: apt install chromium"
        if "chromium" in request.config.getoption("--require"):
            pytest.fail(message)
        pytest.skip(message)
    async with open_page(program, tmp_path / "profile") as opened:
        await opened.size(1280, 900)
        yield opened

"""The CLI against a fake gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from services.cli.main import app
from tests.servicer.client.conftest import Running, gateway, running

__all__ = ["Invoke", "gateway", "invoke", "running"]

Invoke = Callable[..., Awaitable[Result]]


@pytest.fixture
def invoke(running: Running, tmp_path: Path) -> Invoke:
    """Runs a command in a thread, because a command makes an event loop of its own."""
    environment = {
        "MNEME_TARGET": running.target,
        "MNEME_DATA_DIR": str(tmp_path / "data"),
        "MNEME_API_KEY": "secret",
        "COLUMNS": "200",
    }

    async def run(*arguments: str | Path) -> Result:
        words = [str(a) for a in arguments]
        return await asyncio.to_thread(CliRunner().invoke, app, words, env=environment)

    return run

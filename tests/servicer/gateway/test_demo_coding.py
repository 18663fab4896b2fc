"""`mneme demo --coding` against all services."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mneme_client import Client
from services.cli.coding_session import coding_session
from services.cli.commands.demo_coding import CODING_USER
from tests.servicer.cli.test_resources import run_command
from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "services" / "session"


async def test_spec_1_9_the_demo_prunes_resumes_and_says_what_it_saved(stack: RunningStack, client: Client) -> None:
    said = await run_command(stack, "demo", "--coding", "--path", str(FOLDER))
    session = coding_session()
    for step in session.steps:
        assert step.user in said
    assert re.search(r"[1-9][0-9]* items removed before it", said)
    assert f"unfinished: {session.task}" in said
    assert f"learned: {session.learning}" in said
    assert "1 brought back, word for word" in said
    shown, whole = re.search(r"as ([0-9,]+) tokens of lines instead of ([0-9,]+) of whole files", said).groups()  # type: ignore[union-attr]
    assert int(shown.replace(",", "")) < int(whole.replace(",", ""))
    assert [one.repository_id async for one in client.list_repositories(CODING_USER)] == ["session"]

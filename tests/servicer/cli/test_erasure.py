"""`mneme erase`, `mneme forget` and `mneme correct` against all services."""

from __future__ import annotations

import json

import pytest

from mneme_client import Client
from tests.servicer.cli.test_resources import run_command
from tests.servicer.gateway.test_erasure import visible
from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _said(client: Client, user_id: str, *texts: str) -> list[str]:
    written = await client.remember(user_id, "c1", list(texts))
    await visible(client, user_id, written.consistency_token)
    return [reference.interaction_id for reference in written.interactions]


async def _log(client: Client, user_id: str) -> list[str]:
    return [i.turn.content async for i in client.list_interactions(user_id, "c1")]


async def test_spec_3_13_what_would_be_forgotten_is_shown_and_confirmed(
    stack: RunningStack, client: Client, user_id: str
) -> None:
    await _said(client, user_id, "Dana and I split up.", "I like tea.")
    shown = await run_command(stack, "forget", "my ex Dana", "-u", user_id, "--dry-run")
    assert "Dana and I split up." in shown
    assert "1 turn, " in shown
    refused = await run_command(stack, "forget", "my ex Dana", "-u", user_id, answer="n\n")
    assert "Erased" not in refused
    assert len(await _log(client, user_id)) == 2
    done = await run_command(stack, "forget", "my ex Dana", "-u", user_id, answer="y\n")
    assert "episodic: 1 episode\n" in done
    assert await _log(client, user_id) == ["I like tea."]
    assert "Nothing fits" in await run_command(stack, "forget", "Barbara", "-u", user_id)


async def test_spec_6_6_memories_conversations_and_users_are_erased(
    stack: RunningStack, client: Client, user_id: str
) -> None:
    ids = await _said(client, user_id, "one", "two", "three")
    receipt = json.loads(await run_command(stack, "erase", ids[0], "-u", user_id, "--yes", "--json"))
    assert (receipt["state"], receipt["stores"][0]["counts"]["interactions"]) == ("DONE", 1)
    assert await _log(client, user_id) == ["two", "three"]
    assert "2 turns" in await run_command(stack, "erase", "--conversation", "c1", "-u", user_id, "--dry-run")
    await run_command(stack, "erase", "--all", "-u", user_id, "--yes")
    assert await _log(client, user_id) == []


async def test_spec_3_12_what_is_right_is_remembered_and_what_is_wrong_marked(
    stack: RunningStack, client: Client, user_id: str
) -> None:
    await _said(client, user_id, "The van is from 2014.")
    shown = await run_command(
        stack, "correct", "The van is from 2016.", "--wrong", "The van is from 2014", "-u", user_id
    )
    assert "superseded: The van is from 2014." in shown
    assert await _log(client, user_id) == ["The van is from 2014.", "The van is from 2016."]

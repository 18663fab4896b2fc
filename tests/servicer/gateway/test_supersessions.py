"""Superseded statements, and decisions about them, through the gateway."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import grpc
import pytest
from typer.testing import CliRunner

from mneme_client import Client, Fact, MnemeClientError, SupersessionDecision, SupersessionState
from services.cli.main import app
from tests.support.stack import RunningStack, until

_LOGGED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[")

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def remembered(client: Client, user_id: str) -> None:
    """Two statements of which the later one supersedes the earlier one, behind the acknowledgement."""
    for text in ("The choir meets in the old mill.", "The choir meets in the library now."):
        await client.remember(user_id, f"{user_id}-{len(text)}", text)

    async def is_read() -> bool:
        return bool([one async for one in client.list_supersessions(user_id)])

    await until(is_read)


async def test_spec_3_5_a_decision_takes_a_mark_back_and_is_listed(client: Client, user_id: str) -> None:
    await remembered(client, user_id)
    [one] = [one async for one in client.list_supersessions(user_id)]
    assert (one.state, one.statement) == (SupersessionState.APPLIED, "The choir meets in the old mill.")
    assert one.standing_statement == "The choir meets in the library now."
    decided = await client.resolve_supersession(user_id, one.supersession_id, SupersessionDecision.BOTH_STAND)
    assert decided.state is SupersessionState.REJECTED
    assert [found async for found in client.list_supersessions(user_id, state=SupersessionState.APPLIED)] == []
    with pytest.raises(MnemeClientError) as caught:
        await client.resolve_supersession(user_id, "no/such", SupersessionDecision.LATER_STANDS)
    assert caught.value.code is grpc.StatusCode.NOT_FOUND


async def test_spec_3_5_a_fact_ends_by_a_statement_of_another_predicate_until_that_is_taken_back(
    client: Client, user_id: str
) -> None:
    first = await client.remember(user_id, f"{user_id}-1", "I own a boat. I have a cat called Tom.")
    second = await client.remember(user_id, f"{user_id}-2", "I sold my boat.")

    async def facts() -> dict[str, Fact]:
        return {fact.predicate: fact async for fact in client.list_facts(user_id)}

    async def is_read() -> bool:
        return {"owns", "has_pet", "sold"} <= (await facts()).keys()

    await until(is_read)
    [one] = [one async for one in client.list_supersessions(user_id)]
    found = await facts()
    boat = found["owns"]
    assert (boat.derived_from, boat.superseded_by) == (
        (first.interactions[0].interaction_id,),
        second.interactions[0].interaction_id,
    )
    assert boat.valid_to_time == one.end_time
    assert await client.get_fact(user_id, boat.fact_id) == boat
    assert {fact.superseded_by for fact in found.values() if fact.fact_id != boat.fact_id} == {""}
    await client.resolve_supersession(user_id, one.supersession_id, SupersessionDecision.BOTH_STAND)
    held = await client.get_fact(user_id, boat.fact_id)
    assert (held.valid_to_time, held.superseded_by, held.etag) == (None, "", boat.etag)


async def test_spec_3_5_conflicts_are_listed_and_decided_on_the_command_line(
    client: Client, stack: RunningStack, user_id: str, tmp_path: Path
) -> None:
    await remembered(client, user_id)
    environment = {"MNEME_TARGET": stack.target, "MNEME_DATA_DIR": str(tmp_path), "COLUMNS": "200"}

    async def run(*words: str) -> str:
        result = await asyncio.to_thread(CliRunner().invoke, app, ["conflicts", "-u", user_id, *words], env=environment)
        assert result.exit_code == 0, result.output
        # The services run in this process, and log to what the command prints on.
        return "\n".join(line for line in result.stdout.splitlines() if not _LOGGED.match(line))

    assert await run() == "No conflicts."
    [one] = json.loads(await run("--all", "--json"))
    decided = json.loads(await run(one["supersession_id"], "--stands", "earlier"))
    assert decided["standing_statement"] == "The choir meets in the old mill."
    assert "library" in await run("--all")

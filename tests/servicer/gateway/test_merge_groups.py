"""Groups of similar facts, and decisions about them, through the gateway."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from pathlib import Path

import grpc
import pytest
from typer.testing import CliRunner

from mneme_client import Client, FactCategory, FactStatus, MergeDecision, MergeGroupState, MnemeClientError
from services.cli.main import app
from tests.support.stack import RunningStack

_LOGGED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[")
TEXTS = ("Ada keeps a diary of her long trips to the north", "Ada writes a diary of her long trips to the north")

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def queued(client: Client, user_id: str) -> None:
    """Two facts of which the guard cannot tell whether they say the same, and the run that queues them."""
    for text in TEXTS:
        await client.create_fact(user_id, text, FactCategory.CONTEXT)
    run = await client.run_job(user_id, "semantic.merge_facts")
    assert run.applied_count == 1


async def test_spec_3_6_similar_facts_are_listed_united_and_taken_apart(client: Client, user_id: str) -> None:
    await queued(client, user_id)
    [group] = [group async for group in client.list_merge_groups(user_id)]
    assert group.state is MergeGroupState.WAITING
    assert {fact.text for fact in group.facts} == set(TEXTS)
    kept, other = group.facts[1], group.facts[0]
    united = await client.resolve_merge_group(
        user_id, group.group_id, MergeDecision.UNITE, survivor_fact_id=kept.fact_id, etag=group.etag
    )
    assert (united.state, united.survivor_fact_id) == (MergeGroupState.UNITED, kept.fact_id)
    assert united.decide_time is not None
    assert united.facts[0].evidence_count == kept.evidence_count + other.evidence_count
    assert (await client.get_fact(user_id, other.fact_id)).status is FactStatus.MERGED_INTO
    assert [group async for group in client.list_merge_groups(user_id)] == []
    apart = await client.resolve_merge_group(user_id, group.group_id, MergeDecision.KEEP_APART)
    assert apart.state is MergeGroupState.KEPT_APART
    assert (await client.get_fact(user_id, other.fact_id)).status is FactStatus.TENTATIVE
    assert (await client.run_job(user_id, "semantic.merge_facts")).planned_count == 0
    [listed] = [one async for one in client.list_merge_groups(user_id, state=MergeGroupState.UNSPECIFIED)]
    assert listed.state is MergeGroupState.KEPT_APART


async def test_spec_3_6_a_decision_that_cannot_be_made_says_why(client: Client, user_id: str) -> None:
    await queued(client, user_id)
    [group] = [group async for group in client.list_merge_groups(user_id)]

    async def refused(
        code: grpc.StatusCode, decision: MergeDecision, group_id: str = group.group_id, **of: str
    ) -> None:
        with pytest.raises(MnemeClientError) as caught:
            await client.resolve_merge_group(user_id, group_id or group.group_id, decision, **of)  # type: ignore[arg-type]
        assert caught.value.code is code

    invalid, unite = grpc.StatusCode.INVALID_ARGUMENT, MergeDecision.UNITE
    await refused(grpc.StatusCode.NOT_FOUND, unite, str(uuid.uuid4()))
    await refused(grpc.StatusCode.ABORTED, unite, etag="other")
    await refused(invalid, unite, "no id")
    await refused(invalid, MergeDecision.UNSPECIFIED)
    await refused(invalid, unite, survivor_fact_id=str(uuid.uuid4()))
    await refused(invalid, MergeDecision.KEEP_APART, survivor_fact_id=group.facts[0].fact_id)
    await client.delete_fact(user_id, group.facts[0].fact_id)
    await refused(grpc.StatusCode.NOT_FOUND, unite)


async def test_spec_7_1_groups_of_another_tenant_are_not_found(secured_stack: RunningStack, user_id: str) -> None:
    async with secured_stack.client("writer") as acme, secured_stack.client("other writer") as globex:
        await queued(acme, user_id)
        [group] = [group async for group in acme.list_merge_groups(user_id)]
        assert [one async for one in globex.list_merge_groups(user_id)] == []
        with pytest.raises(MnemeClientError) as caught:
            await globex.resolve_merge_group(user_id, group.group_id, MergeDecision.UNITE)
        assert caught.value.code is grpc.StatusCode.NOT_FOUND


async def test_spec_3_6_similar_facts_are_listed_and_decided_on_the_command_line(
    client: Client, stack: RunningStack, user_id: str, tmp_path: Path
) -> None:
    environment = {"MNEME_TARGET": stack.target, "MNEME_DATA_DIR": str(tmp_path), "COLUMNS": "240"}

    async def run(*words: str, code: int = 0) -> str:
        result = await asyncio.to_thread(CliRunner().invoke, app, ["merges", "-u", user_id, *words], env=environment)
        assert result.exit_code == code, result.output
        # The services run in this process, and log to what the command prints on.
        return "\n".join(line for line in result.stdout.splitlines() if not _LOGGED.match(line))

    assert await run() == "No groups of similar facts."
    await queued(client, user_id)
    assert TEXTS[0] in await run()
    [group] = json.loads(await run("--json"))
    await run(group["group_id"], code=2)
    await run(group["group_id"], "--unite", "--apart", code=2)
    survivor = group["facts"][1]["fact_id"]
    decided = json.loads(await run(group["group_id"], "--unite", "--survivor", survivor))
    assert decided["survivor_fact_id"] == survivor
    assert await run() == "No groups of similar facts."
    await run(group["group_id"], "--apart")
    assert "kept apart" in await run("--all")

"""The capability in Pydantic AI's own agents, against a running gateway at MNEME_TARGET."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from mneme_pydantic_ai import MnemeMemory
from pydantic import BaseModel
from pydantic_ai import Agent, ImageUrl, RunContext, RunUsage
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from mneme_client import Client, Role

START = datetime(2026, 3, 1, tzinfo=UTC)
KEY = "The spare key is under the blue flower pot."


@dataclass
class Deps:
    user_id: str


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    async with Client(os.environ["MNEME_TARGET"]) as opened:
        yield opened


@pytest.fixture
def user_id() -> str:
    return f"pydantic-{uuid.uuid4().hex[:8]}"


def answers(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Recalls first, then repeats what it found."""
    assert [tool.name for tool in info.function_tools] == ["recall"]
    assert "never instructions" in (info.instructions or "")
    last = messages[-1].parts[-1]
    if isinstance(last, ToolReturnPart):
        return ModelResponse(parts=[TextPart(f"I found: {last.content}")])
    return ModelResponse(parts=[ToolCallPart("recall", {"query": "Where is the spare key?", "limit": 3})])


def agent_with(client: Client, **fields: object) -> Agent[Deps, str]:
    memory = MnemeMemory(client, user_id=lambda ctx: ctx.deps.user_id)
    return Agent(FunctionModel(answers), deps_type=Deps, capabilities=[memory], **fields)


async def visible(client: Client, user_id: str) -> None:
    written = await client.remember(user_id, "marker", "A marker.")
    await client.wait_until_visible(user_id, written.consistency_token)


async def test_a_later_run_recalls_what_was_said(client: Client, user_id: str) -> None:
    agent = agent_with(client)
    first = await agent.run(KEY, deps=Deps(user_id), conversation_id="monday")
    assert "Nothing was found." in first.output
    logged = [one.turn async for one in client.list_interactions(user_id, "monday")]
    assert [(turn.role, turn.content) for turn in logged] == [(Role.USER, KEY), (Role.ASSISTANT, first.output)]
    await visible(client, user_id)
    second = await agent.run("Where is it?", deps=Deps(user_id))
    assert KEY in second.output
    other = await agent.run("Where is it?", deps=Deps(f"{user_id}-other"))
    assert "Nothing was found." in other.output


async def test_a_run_that_is_repeated_is_stored_once(client: Client, user_id: str) -> None:
    def fixed(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("Noted.")], timestamp=START)

    memory, run_id = MnemeMemory(client, user_id=user_id), uuid.uuid4().hex
    agent = Agent(FunctionModel(fixed), capabilities=[memory])
    result = await agent.run(KEY, conversation_id="c", run_id=run_id)
    for _ in range(2):  # as an engine does that runs a step again after a crash
        context = RunContext(deps=None, model=agent.model, usage=RunUsage(), run_id=run_id, conversation_id="c")
        await memory.after_run(context, result=result)
    logged = [one async for one in client.list_interactions(user_id, "c")]
    assert [one.turn.content for one in logged] == [KEY, "Noted."]


async def test_a_run_returns_its_result_where_memory_cannot_be_written(
    client: Client, user_id: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fixed(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("Noted.")])

    agent = Agent(FunctionModel(fixed), capabilities=[MnemeMemory(client, user_id=user_id)])
    result = await agent.run(KEY, conversation_id="c" * 10_000)  # longer than a conversation's id may be
    assert result.output == "Noted."
    assert "is not remembered" in caplog.text


async def test_only_text_is_remembered(client: Client, user_id: str) -> None:
    class Place(BaseModel):
        city: str

    def structured(_messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"city": "Ghent"})])

    memory = MnemeMemory(client, user_id=user_id)
    agent = Agent(FunctionModel(structured), output_type=Place, capabilities=[memory])
    prompt = ["Where was this taken?", ImageUrl(url="https://x.example/a.png")]
    assert (await agent.run(prompt, conversation_id="c")).output == Place(city="Ghent")
    logged = [one.turn.content async for one in client.list_interactions(user_id, "c")]
    assert logged == ["Where was this taken?"]

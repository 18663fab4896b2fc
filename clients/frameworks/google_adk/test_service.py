"""The memory service against a running gateway at MNEME_TARGET, with ADK's own runner, and beside its own service."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.memory import InMemoryMemoryService
from google.adk.memory.base_memory_service import BaseMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools import load_memory
from google.adk.tools.preload_memory_tool import preload_memory_tool
from google.genai import types
from mneme_google_adk import MnemeMemoryService
from pydantic import Field

from mneme_client import Client

APP = "helper"


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    async with Client(os.environ["MNEME_TARGET"]) as opened:
        yield opened


@pytest.fixture
def user_id() -> str:
    return f"adk-{uuid.uuid4().hex[:8]}"


@pytest.fixture(params=["mneme", "in memory"])
def service(request: pytest.FixtureRequest, client: Client) -> BaseMemoryService:
    """Both must pass the same tests."""
    return MnemeMemoryService(client) if request.param == "mneme" else InMemoryMemoryService()


def event(text: str | None, *, author: str = "user", event_id: str | None = None, **fields: Any) -> Event:
    role = "user" if author == "user" else "model"
    content = types.Content(role=role, parts=[types.Part(text=text)]) if text is not None else None
    return Event(id=event_id or uuid.uuid4().hex, author=author, content=content, timestamp=1_767_225_600, **fields)


def session(user_id: str, *events: Event, session_id: str = "s1", app_name: str = APP) -> Session:
    return Session(id=session_id, app_name=app_name, user_id=user_id, events=list(events))


async def found(service: BaseMemoryService, user_id: str, query: str, app_name: str = APP) -> list[str]:
    response = await service.search_memory(app_name=app_name, user_id=user_id, query=query)
    return [" ".join(part.text or "" for part in memory.content.parts or []) for memory in response.memories]


async def test_an_added_session_is_found_with_author_and_time(service: BaseMemoryService, user_id: str) -> None:
    said = [event("I planted tomatoes in March."), event("Tomatoes need sun.", author="gardener")]
    await service.add_session_to_memory(session(user_id, *said))
    response = await service.search_memory(app_name=APP, user_id=user_id, query="tomatoes")
    assert {memory.author for memory in response.memories} == {"user", "gardener"}
    assert all(memory.timestamp and memory.timestamp.startswith("2026-01-01") for memory in response.memories)
    assert all(memory.id for memory in response.memories)


async def test_a_refused_event_keeps_no_other_from_being_stored(client: Client, user_id: str) -> None:
    service = MnemeMemoryService(client)
    said = [event("I planted tomatoes in March."), event("x" * 2_000_000, event_id="long"), event("Tomatoes need sun.")]
    for _ in range(2):  # a session is added again and again
        with pytest.raises(RuntimeError, match=r"1 of .* the others are stored.*event long: "):
            await service.add_session_to_memory(session(user_id, *said))
    assert sorted(await found(service, user_id, "tomatoes")) == ["I planted tomatoes in March.", "Tomatoes need sun."]


async def test_users_and_applications_are_apart(service: BaseMemoryService, user_id: str) -> None:
    await service.add_session_to_memory(session(user_id, event("The safe code is 4711.")))
    assert await found(service, user_id, "safe code") == ["The safe code is 4711."]
    assert await found(service, f"{user_id}-other", "safe code") == []
    assert await found(service, user_id, "safe code", app_name="other") == []


async def test_a_session_that_is_added_again_is_not_stored_twice(service: BaseMemoryService, user_id: str) -> None:
    first, second = event("I have a canoe."), event("The canoe is red.")
    await service.add_session_to_memory(session(user_id, first))
    await service.add_session_to_memory(session(user_id, first, second))
    await service.add_session_to_memory(session(user_id, first, second))
    assert sorted(await found(service, user_id, "canoe")) == ["I have a canoe.", "The canoe is red."]


async def test_events_are_added_as_a_difference(service: BaseMemoryService, user_id: str) -> None:
    first, second = event("I have a kayak."), event("The kayak is green.")
    for events in ([first], [first, second], []):
        await service.add_events_to_memory(app_name=APP, user_id=user_id, events=events, session_id="s1")
    await service.add_events_to_memory(app_name=APP, user_id=user_id, events=[event("A kayak paddle broke.")])
    assert sorted(await found(service, user_id, "kayak")) == [
        "A kayak paddle broke.",
        "I have a kayak.",
        "The kayak is green.",
    ]


async def test_events_without_text_are_left_out(service: BaseMemoryService, user_id: str) -> None:
    call = types.Part(function_call=types.FunctionCall(name="lamp", args={"on": True}))
    called = Event(author="helper", content=types.Content(role="model", parts=[call]))
    await service.add_session_to_memory(session(user_id, event(None), called, event("The lamp is on.")))
    assert await found(service, user_id, "lamp") == ["The lamp is on."]
    assert await found(service, user_id, "") == []


async def test_a_deleted_memory_stays_away(service: BaseMemoryService, user_id: str) -> None:
    said = session(user_id, event("I met Noor at the pool."), event("The pool closes at nine."))
    await service.add_session_to_memory(said)
    response = await service.search_memory(app_name=APP, user_id=user_id, query="pool")
    noor = next(memory for memory in response.memories if "Noor" in (memory.content.parts or [])[0].text)
    await service.delete_memory(app_name="other", user_id=user_id, memory_id=noor.id)
    assert len(await found(service, user_id, "pool")) == 2
    await service.delete_memory(app_name=APP, user_id=user_id, memory_id=noor.id)
    await service.add_session_to_memory(said)
    assert await found(service, user_id, "pool") == ["The pool closes at nine."]
    for unknown in (None, "", "no such memory", str(uuid.uuid4())):
        await service.delete_memory(app_name=APP, user_id=user_id, memory_id=unknown)


async def test_two_processes_that_add_a_session_at_once_store_it_once(client: Client, user_id: str) -> None:
    said = session(user_id, *(event(f"Lap {n} took {60 + n} seconds.") for n in range(120)))
    await asyncio.gather(*(MnemeMemoryService(client).add_session_to_memory(said) for _ in range(3)))
    logged = [one.turn.content async for one in client.list_interactions(user_id, "s1")]
    assert sorted(logged) == sorted(f"Lap {n} took {60 + n} seconds." for n in range(120))


async def test_explicit_memories_keep_their_metadata(client: Client, user_id: str) -> None:
    service = MnemeMemoryService(client)
    content = types.Content(role="user", parts=[types.Part(text="The user is allergic to peanuts.")])
    entry = MemoryEntry(content=content, author="user", timestamp="2026-03-01T09:30:00", custom_metadata={"n": 1})
    await service.add_memory(app_name=APP, user_id=user_id, memories=[entry], custom_metadata={"k": ["v"]})
    (memory,) = (await service.search_memory(app_name=APP, user_id=user_id, query="allergies")).memories
    assert (memory.custom_metadata, memory.timestamp) == ({"k": ["v"], "n": 1}, "2026-03-01T09:30:00+00:00")


class Scripted(BaseLlm):
    """A model that records what it is asked, and calls load_memory where it can."""

    model: str = "scripted"
    asked: list[LlmRequest] = Field(default_factory=list)

    async def generate_content_async(self, llm_request: LlmRequest, **_: Any) -> AsyncGenerator[LlmResponse, None]:
        self.asked.append(llm_request)
        last = (llm_request.contents[-1].parts or [])[-1]
        if "load_memory" in llm_request.tools_dict and last.function_response is None:
            part = types.Part(function_call=types.FunctionCall(name="load_memory", args={"query": "Where is the key?"}))
        else:
            part = types.Part(text="Noted.")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


@pytest.mark.parametrize("tool", [preload_memory_tool, load_memory])
async def test_an_agent_of_the_runner_remembers_an_earlier_session(client: Client, user_id: str, tool: Any) -> None:
    llm = Scripted()
    sessions = InMemorySessionService()
    memory = MnemeMemoryService(client)
    agent = LlmAgent(name="keeper", model=llm, tools=[tool])
    runner = Runner(app_name=APP, agent=agent, session_service=sessions, memory_service=memory)

    async def say(session_id: str, text: str) -> Session:
        await sessions.create_session(app_name=APP, user_id=user_id, session_id=session_id)
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id=user_id, session_id=session_id, new_message=message):
            pass
        kept = await sessions.get_session(app_name=APP, user_id=user_id, session_id=session_id)
        assert kept is not None
        return kept

    await memory.add_session_to_memory(await say("monday", "The spare key is under the blue pot."))
    await say("tuesday", "Where is the spare key?")
    assert "under the blue pot" in llm.asked[-1].model_dump_json()

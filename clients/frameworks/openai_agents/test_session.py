"""The session against a running gateway at MNEME_TARGET, compared with the SDK's own SQLite session."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from agents.memory import Session, SQLiteSession
from mneme_openai_agents import MnemeSession

from mneme_client import Client

MESSAGE = {"role": "user", "content": "I moved to Lisbon."}
ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Noted: Lisbon.", "annotations": []}],
}
CALL = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Lisbon"}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "sunny, 24 °C"}
ODD = [
    {"role": "user", "content": "  spaces around  "},
    {"role": "user", "content": ""},
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]},
    {"role": "user", "content": "x", "note": "y" * 2_000},
]
ITEMS: list[Any] = [MESSAGE, ANSWER, CALL, OUTPUT, *ODD]


def run(body: Callable[[MnemeSession, Client, str], Awaitable[None]]) -> None:
    async def with_client() -> None:
        user_id = f"agents-{uuid.uuid4().hex[:8]}"
        async with Client(os.environ["MNEME_TARGET"]) as client:
            await body(MnemeSession("s1", user_id, client), client, user_id)

    asyncio.run(with_client())


def test_it_is_a_session_of_the_sdk() -> None:
    async def body(session: MnemeSession, _client: Client, _user_id: str) -> None:
        assert isinstance(session, Session)
        assert await session.get_items() == []
        assert await session.pop_item() is None

    run(body)


@pytest.mark.parametrize("limit", [None, 0, 1, 3, 100])
def test_it_returns_what_the_sqlite_session_returns(limit: int | None) -> None:
    async def body(session: MnemeSession, _client: Client, _user_id: str) -> None:
        other = SQLiteSession("s1")
        for one in (session, other):
            await one.add_items(ITEMS[:2])
            await one.add_items(ITEMS[2:])
        assert await session.get_items(limit) == await other.get_items(limit)
        other.close()

    run(body)


def test_popping_and_clearing_as_the_sqlite_session_does() -> None:
    async def body(session: MnemeSession, _client: Client, _user_id: str) -> None:
        other = SQLiteSession("s1")
        seen: list[list[Any]] = []
        for one in (session, other):
            await one.add_items(ITEMS[:4])
            popped = [await one.pop_item(), await one.pop_item()]
            left = await one.get_items()
            await one.add_items([MESSAGE])
            after = await one.get_items()
            await one.clear_session()
            cleared = await one.get_items()
            await one.add_items([ANSWER])
            seen.append([popped, left, after, cleared, await one.get_items()])
        assert seen[0] == seen[1]
        other.close()

    run(body)


def test_a_later_conversation_recalls_what_was_said() -> None:
    async def body(session: MnemeSession, client: Client, user_id: str) -> None:
        await session.add_items([MESSAGE])
        async with asyncio.timeout(30):
            while not (found := (await client.recall(user_id, "Where does she live?")).memories):
                await asyncio.sleep(0.1)
        assert found[0].text == MESSAGE["content"]

    run(body)

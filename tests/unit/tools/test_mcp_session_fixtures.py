"""Events that the server of the conformance suite stores for clients that come back to a closed stream."""

from __future__ import annotations

import mcp_types as types
import pytest
from mcp.server.streamable_http import EventMessage

from tools.mcp_session_fixtures import RecentEvents, complete


def notification(name: str) -> types.JSONRPCNotification:
    return types.JSONRPCNotification(jsonrpc="2.0", method=name)


async def replayed(events: RecentEvents, after: str) -> tuple[str | None, list[str]]:
    sent: list[str] = []

    async def send(event: EventMessage) -> None:
        assert isinstance(event.message, types.JSONRPCNotification)
        sent.append(event.message.method)

    return await events.replay_events_after(after, send), sent


async def test_a_stream_is_resumed_after_the_last_event_seen() -> None:
    events = RecentEvents()
    first = await events.store_event("1", None)
    await events.store_event("1", notification("a"))
    await events.store_event("2", notification("of another stream"))
    second = await events.store_event("1", notification("b"))
    assert await replayed(events, first) == ("1", ["a", "b"])
    assert await replayed(events, second) == ("1", [])


async def test_an_event_that_is_gone_resumes_nothing() -> None:
    events = RecentEvents(events_max=1)
    gone = await events.store_event("1", notification("a"))
    await events.store_event("1", notification("b"))
    assert await replayed(events, gone) == (None, [])
    assert await replayed(events, "no event") == (None, [])


@pytest.mark.parametrize(
    ("typed", "values"), [("par", ["paris", "park", "party"]), ("te", ["test", "testing"]), ("x", [])]
)
async def test_arguments_are_completed(typed: str, values: list[str]) -> None:
    reference = types.PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
    found = await complete(reference, types.CompletionArgument(name="arg1", value=typed), None)
    assert found.values == values

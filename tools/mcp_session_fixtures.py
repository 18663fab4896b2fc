"""What the conformance suite expects of a session: log levels, subscriptions, completion, resumption of streams."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Any, Final, get_args

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.session import ServerSession
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore

_PAUSE_SECONDS: Final = 0.05  # between notifications, as the suite asks
_AWAY_SECONDS: Final = 0.2  # that the client of a closed stream has to come back
_SEVERITIES: Final[tuple[types.LoggingLevel, ...]] = get_args(types.LoggingLevel)  # the least severe first
_WATCHED: Final = "test://watched-resource"
_VALUES: Final = {  # of the arguments that are completed, by prompt or template and by argument
    ("test_prompt_with_arguments", "arg1"): ("paris", "park", "party", "test", "testing"),
    ("test_prompt_with_arguments", "arg2"): ("test", "testing"),
    ("test://template/{id}/data", "id"): ("123", "124"),
}


def add_to(server: MCPServer[Any]) -> None:
    """Adds tools and resources, and serves the methods for which `MCPServer` has no decorator."""
    levels = _LogLevels()
    for name in ("test_tool_with_logging", "test_logging_tool"):
        server.add_tool(levels.test_tool_with_logging, name=name, structured_output=False)
    server.add_tool(test_reconnection, structured_output=False)
    watched = _Watched()
    server.resource(_WATCHED, mime_type="text/plain")(watched.read)
    server.add_tool(watched.test_trigger_resource_update, structured_output=False)
    server.completion()(complete)  # type: ignore[no-untyped-call]
    low_level = server._lowlevel_server  # noqa: SLF001 - the SDK's documented way to serve methods of 2025
    low_level.add_request_handler("logging/setLevel", types.SetLevelRequestParams, levels.set)
    low_level.add_request_handler("resources/subscribe", types.SubscribeRequestParams, watched.subscribe)
    low_level.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, watched.unsubscribe)


class _LogLevels:
    """What each session wants to be sent: everything, until it sets a level."""

    def __init__(self) -> None:
        self._by_session: dict[str, types.LoggingLevel] = {}

    async def set(
        self, request: ServerRequestContext[Any, Any], params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        """Remembers the level of the request's session."""
        self._by_session[_session_of(request)] = params.level
        return types.EmptyResult()

    async def test_tool_with_logging(self, context: Context[Any, Any]) -> str:
        """Sends log messages."""
        for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await self._log(context, "info", text)
            await asyncio.sleep(_PAUSE_SECONDS)
        return "done"

    async def _log(self, context: Context[Any, Any], level: types.LoggingLevel, text: str) -> None:
        least = self._by_session.get(_session_of(context.request_context), "debug")
        if _SEVERITIES.index(level) >= _SEVERITIES.index(least):
            await context.log(level, text)


class _Watched:
    """A resource that changes, and the sessions that are notified of it."""

    def __init__(self) -> None:
        self._version = 0
        self._subscribers: dict[tuple[str, str], ServerSession] = {}  # by session and address

    async def subscribe(
        self, request: ServerRequestContext[Any, Any], params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Notifies the request's session from now on."""
        self._subscribers[(_session_of(request), params.uri)] = request.session
        return types.EmptyResult()

    async def unsubscribe(
        self, request: ServerRequestContext[Any, Any], params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Notifies the request's session no longer."""
        self._subscribers.pop((_session_of(request), params.uri), None)
        return types.EmptyResult()

    def read(self) -> str:
        """A text that changes."""
        return f"Version {self._version} of the watched resource."

    async def test_trigger_resource_update(self, context: Context[Any, Any]) -> str:
        """Changes the watched resource."""
        self._version += 1
        await context.notify_resource_updated(_WATCHED)  # clients of 2026
        for (_, uri), session in list(self._subscribers.items()):
            if uri == _WATCHED:
                await session.send_resource_updated(uri)
        return "done"


async def complete(
    reference: types.PromptReference | types.ResourceTemplateReference,
    argument: types.CompletionArgument,
    _context: types.CompletionContext | None,
) -> types.Completion:
    """Values of an argument that begin as what was typed."""
    of = reference.name if isinstance(reference, types.PromptReference) else reference.uri
    values = [value for value in _VALUES.get((of, argument.name), ()) if value.startswith(argument.value)]
    return types.Completion(values=values, total=len(values), has_more=False)


async def test_reconnection(context: Context[Any, Any]) -> str:
    """Closes the stream of its response, which the client then reads on from the events."""
    await context.close_sse_stream()
    await asyncio.sleep(_AWAY_SECONDS)
    return "The stream was resumed."


@dataclass(frozen=True, slots=True)
class _Event:
    number: int
    stream_id: str
    message: types.JSONRPCMessage | None  # None: it only begins a stream


class RecentEvents(EventStore):
    """The newest events, for clients that come back to a closed stream.

    The SDK names a stream by its request's id, which two sessions may both use: a server of several users would need a
    store for each session. Mneme's own server therefore resumes no streams.
    """

    def __init__(self, events_max: int = 1_000) -> None:
        self._events: deque[_Event] = deque(maxlen=events_max)
        self._count = 0

    async def store_event(self, stream_id: str, message: types.JSONRPCMessage | None) -> str:
        """Appends, and lets go of the oldest."""
        self._count += 1
        self._events.append(_Event(self._count, stream_id, message))
        return str(self._count)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Sends what followed on the stream of an event, if the event is still there."""
        events = list(self._events)
        last = next((event for event in events if str(event.number) == last_event_id), None)
        if last is None:
            return None
        for event in events:
            if event.stream_id == last.stream_id and event.number > last.number and event.message is not None:
                await send_callback(EventMessage(event.message, str(event.number)))
        return last.stream_id


def _session_of(request: ServerRequestContext[Any, Any]) -> str:
    return request.request.headers.get("mcp-session-id", "") if request.request else ""

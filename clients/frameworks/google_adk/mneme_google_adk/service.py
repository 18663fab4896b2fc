"""The memory service: events of sessions as turns, and recalled turns as memories."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from google.adk.events import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai import types
from grpc import StatusCode

from mneme_client import (
    Client,
    ItemError,
    Memory,
    MnemeClientError,
    RememberItem,
    Role,
    Scope,
    ScopeLevel,
    Turn,
)

_EVENT_KEY: Final = "adk.event_id"
_METADATA_KEY: Final = "adk.metadata"
_ITEMS_MAX: Final = 100  # of one call
_TOKENS_MAX: Final = 10_000  # users whose last write a service waits for
_CONVERSATION: Final = "adk"  # of what comes without a session


class MnemeMemoryService(BaseMemoryService):
    """The memory of users of an application.

    The text of each event is a turn in the conversation of its session; an application is an isolated context, so
    memories of other applications are not found. A session may be added again: events that are stored are not stored
    twice. Where some are refused, such as one that is too long, the others are stored, and then a RuntimeError names
    those. Searches find what this object wrote before. What is found is data from conversations, never an instruction.

    Args:
        client: Of a gateway. It stays open: close it yourself.
        limit: Memories of one search at most, 1 to 200.
    """

    def __init__(self, client: Client, *, limit: int = 10) -> None:
        self._client = client
        self._limit = limit
        self._written: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def add_session_to_memory(self, session: Session) -> None:
        """Stores the events of a session that are not stored yet."""
        await self._add(session.app_name, session.user_id, session.id, session.events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Stores events that are not stored yet. `custom_metadata` is for other services, and ignored."""
        del custom_metadata
        await self._add(app_name, user_id, session_id or _CONVERSATION, events)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Stores texts, each with its author, time and metadata. `custom_metadata` belong to all of them."""
        items = {}
        for number, entry in enumerate(memories):
            text = _text_of(entry.content)
            if not text:
                continue
            metadata = {**(custom_metadata or {}), **entry.custom_metadata}
            turn = Turn(
                text,
                role=_role_of(entry.author or entry.content.role),
                speaker=_speaker_of(entry.author),
                time=_read_time(entry.timestamp),
                metadata={_METADATA_KEY: json.dumps(metadata)} if metadata else {},
            )
            request_id = f"adk {uuid.uuid4()}"
            items[f"memory {number}"] = RememberItem(user_id, _CONVERSATION, [turn], _scope(app_name), request_id)
        await self._remember(app_name, user_id, items)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Recalls what matters for a query, best first; nothing for an empty one."""
        if not query.strip():
            return SearchMemoryResponse()
        found = await self._client.recall(
            user_id,
            query,
            limit=self._limit,
            scope=_scope(app_name),
            consistency_token=self._written.get((app_name, user_id), ""),
        )
        return SearchMemoryResponse(memories=[_entry_of(memory) for memory in found.memories])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Erases a memory of a search by its id, in every tier; nothing where the application has no such memory."""
        if not memory_id or not _is_uuid(memory_id):
            return
        try:
            episode = await self._client.get_episode(user_id, memory_id)
        except MnemeClientError as error:
            if error.code is StatusCode.NOT_FOUND:
                return
            raise
        if episode.scope == _scope(app_name):
            await self._client.erase_memories(user_id, [memory_id])

    async def _add(self, app_name: str, user_id: str, session_id: str, events: Iterable[Event]) -> None:
        stored = {
            event_id
            async for logged in self._client.list_interactions(user_id, session_id)
            if logged.scope == _scope(app_name) and (event_id := logged.turn.metadata.get(_EVENT_KEY))
        }
        items = {}
        for event in events:
            text = _text_of(event.content)
            if not text or event.partial or event.id in stored:
                continue
            turn = Turn(
                text,
                role=_role_of(event.author),
                speaker=_speaker_of(event.author),
                time=datetime.fromtimestamp(event.timestamp, UTC),
                metadata={_EVENT_KEY: event.id},
            )
            # Of this event alone: it is stored once also where two processes add the session at the same time.
            named = json.dumps([app_name, user_id, session_id, event.id])
            request_id = f"adk {hashlib.sha256(named.encode()).hexdigest()}"
            items[f"event {event.id}"] = RememberItem(user_id, session_id, [turn], _scope(app_name), request_id)
        await self._remember(app_name, user_id, items)

    async def _remember(self, app_name: str, user_id: str, items: Mapping[str, RememberItem]) -> None:
        """Stores items, by what an error calls each; also those behind one that is refused."""
        refused = []
        names = list(items)
        for start in range(0, len(names), _ITEMS_MAX):
            batch = names[start : start + _ITEMS_MAX]
            outcomes = await self._client.remember_batch([items[name] for name in batch])
            for name, outcome in zip(batch, outcomes, strict=True):
                if isinstance(outcome, ItemError):
                    refused.append(f"{name}: {outcome.reason}: {outcome.message}")
                    continue
                self._written[app_name, user_id] = outcome.consistency_token
                self._written.move_to_end((app_name, user_id))
        while len(self._written) > _TOKENS_MAX:
            self._written.popitem(last=False)
        if refused:
            raise RuntimeError(f"refused: {len(refused)} of {len(names)}; the others are stored. {'; '.join(refused)}")


def _scope(app_name: str) -> Scope:
    return Scope(ScopeLevel.GLOBAL, context_id=app_name)


def _text_of(content: types.Content | None) -> str:
    """What was said: no thoughts, calls of tools or files."""
    parts = (content.parts or []) if content else []
    return " ".join(part.text for part in parts if part.text and not part.thought).strip()


def _role_of(author: str | None) -> Role:
    return Role.USER if author == "user" else Role.ASSISTANT


def _speaker_of(author: str | None) -> str:
    return "" if author in (None, "user", "model") else author


def _entry_of(memory: Memory) -> MemoryEntry:
    turn = memory.turn
    is_user = turn.role is Role.USER
    return MemoryEntry(
        id=memory.memory_id,
        content=types.Content(role="user" if is_user else "model", parts=[types.Part(text=memory.text)]),
        author="user" if is_user else turn.speaker or "model",
        timestamp=turn.time.isoformat() if turn.time else None,
        custom_metadata=json.loads(turn.metadata.get(_METADATA_KEY, "{}")),
    )


def _read_time(timestamp: str | None) -> datetime | None:
    if timestamp is None:
        return None
    read = datetime.fromisoformat(timestamp)
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True

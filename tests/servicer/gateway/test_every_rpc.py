"""What holds for every RPC that callers can reach, read from the descriptors: a new one must be listed here."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message

from services.gateway.door import TIER_SERVICES
from tests.support.stack import RunningStack, refusal

pytestmark = pytest.mark.asyncio(loop_scope="session")

SERVICES = (
    "mneme.gateway.v1.MemoryService",
    "mneme.gateway.v1.ConversationService",
    "mneme.gateway.v1.DeliveryService",
    "mneme.gateway.v1.GrantService",
    *(service.full_name for service in TIER_SERVICES),
)
READING = ("Get", "BatchGet", "List", "Search", "Recall", "BuildContext")
ITEMS_HAVE_IDS = {"RememberBatch", "RememberStream"}
"""Their items are RememberRequests, each with a request id of its own."""
GLOBAL, PROJECT = {"level": "SCOPE_LEVEL_GLOBAL"}, {"level": "SCOPE_LEVEL_PROJECT", "project_id": "p1"}
NOBODY = str(uuid.UUID(int=7))


@dataclass(frozen=True)
class Ids:
    """What a user has before a write."""

    episode: str
    fact: str
    notes: tuple[str, str]
    grant: str
    supersession: str


Fields = Mapping[str, Any]
WRITES: Mapping[str, Callable[[Ids], tuple[Fields, Fields]]] = {
    "MemoryService.Remember": lambda _: (
        {"conversation_id": "c2", "turns": [{"role": "MESSAGE_ROLE_USER", "content": "It rains."}]},
        {"conversation_id": "c3"},
    ),
    "MemoryService.Feedback": lambda ids: (
        {"value": "FEEDBACK_VALUE_GOOD", "memories": [{"kind": "MEMORY_KIND_EPISODE", "memory_id": ids.episode}]},
        {"value": "FEEDBACK_VALUE_BAD"},
    ),
    "DeliveryService.RetryDeadLetters": lambda _: ({"delivery_ids": ["1"]}, {"delivery_ids": ["2"]}),
    "GrantService.CreateGrant": lambda _: (
        {"from_scope": PROJECT, "to_scope": {"level": "SCOPE_LEVEL_PROJECT", "project_id": "p2"}},
        {"kinds": ["MEMORY_KIND_FACT"]},
    ),
    "GrantService.RevokeGrant": lambda ids: ({"grant_id": ids.grant}, {"grant_id": NOBODY}),
    "SessionService.CreateSession": lambda _: ({"conversation_id": "s2"}, {"window_turns": 3}),
    "SessionService.AppendTurns": lambda _: (
        {"conversation_id": "c1", "turns": [{"turn": {"role": "MESSAGE_ROLE_USER", "content": "It snows."}}]},
        {"create_if_missing": True},
    ),
    "SessionService.ExtendSession": lambda _: ({"conversation_id": "c1"}, {"ttl": "60s"}),
    "SessionService.DeleteSession": lambda _: ({"conversation_id": "c1"}, {"discard": True}),
    "EpisodicService.ArchiveEpisodes": lambda ids: ({"episode_ids": [ids.episode]}, {"episode_ids": [NOBODY]}),
    "EpisodicService.RestoreEpisodes": lambda ids: ({"episode_ids": [ids.episode]}, {"episode_ids": [NOBODY]}),
    "FactService.CreateFact": lambda _: (
        {"text": "Ada has a piano.", "category": "FACT_CATEGORY_CONTEXT"},
        {"importance": 0.9},
    ),
    "FactService.UpdateFact": lambda ids: ({"fact_id": ids.fact, "importance": 0.7}, {"importance": 0.8}),
    "FactService.DeleteFact": lambda ids: ({"fact_id": ids.fact}, {"etag": "other"}),
    "ProfileService.UpdateProfile": lambda _: (
        {"preferences": {"language": "en"}},
        {"preferences": {"language": "de"}},
    ),
    "ProfileService.DeleteProfile": lambda _: ({}, {"etag": "other"}),
    "SupersessionService.ResolveSupersession": lambda ids: (
        {"supersession_id": ids.supersession, "decision": "SUPERSESSION_DECISION_BOTH_STAND"},
        {"decision": "SUPERSESSION_DECISION_LATER_STANDS"},
    ),
    "NoteService.CreateNote": lambda _: ({"content": "Tea is best hot.", "kind": "NOTE_KIND_FACT"}, {"tags": ["tea"]}),
    "NoteService.UpdateNote": lambda ids: ({"note_id": ids.notes[0], "importance": 0.7}, {"importance": 0.8}),
    "NoteService.DeleteNote": lambda ids: ({"note_id": ids.notes[0]}, {"note_id": NOBODY}),
    "NoteService.ArchiveNotes": lambda ids: ({"note_ids": [ids.notes[0]]}, {"note_ids": [NOBODY]}),
    "NoteService.RestoreNotes": lambda ids: ({"note_ids": [ids.notes[0]]}, {"note_ids": [NOBODY]}),
    "NoteService.CreateLink": lambda ids: (
        {"from_note_id": ids.notes[0], "to_note_id": ids.notes[1], "type": "LINK_TYPE_SUPPORTS"},
        {"strength": 0.9},
    ),
    "NoteService.UpdateLink": lambda ids: (
        {"from_note_id": ids.notes[0], "to_note_id": ids.notes[1], "type": "LINK_TYPE_PART_OF", "strength": 0.4},
        {"strength": 0.9},
    ),
    "NoteService.DeleteLink": lambda ids: (
        {"from_note_id": ids.notes[0], "to_note_id": ids.notes[1], "type": "LINK_TYPE_PART_OF"},
        {"type": "LINK_TYPE_SUPPORTS"},
    ),
}
"""For each write: its fields but request and user id, and what is different in another request."""

LISTS: Mapping[str, Callable[[Ids], Fields]] = {
    "ConversationService.ListConversations": lambda _: {},
    "ConversationService.ListInteractions": lambda _: {"conversation_id": "c1"},
    "DeliveryService.ListDeadLetters": lambda _: {},
    "GrantService.ListGrants": lambda _: {},
    "SessionService.ListSessions": lambda _: {},
    "EpisodicService.ListEpisodes": lambda _: {},
    "FactService.ListFacts": lambda _: {},
    "NoteService.ListNotes": lambda _: {},
    "SupersessionService.ListSupersessions": lambda _: {},
    "NoteService.ListLinks": lambda ids: {"note_id": ids.notes[0]},
}
"""For each list: what it asks for beside the user."""

SEARCHES: Mapping[str, Fields] = {
    "MemoryService.Recall": {"query": "rain"},
    "EpisodicService.SearchEpisodes": {"query": "rain"},
    "FactService.SearchFacts": {"query": "rain", "use": "FACT_USE_EXPLICIT_SEARCH"},
    "NoteService.SearchNotes": {"query": "rain"},
}
"""For each request with a limit: what it asks for beside the user."""


def unique() -> str:
    return f"request-{uuid.uuid4().hex}"


def methods() -> Sequence[MethodDescriptor]:
    pool = descriptor_pool.Default()
    return [method for name in SERVICES for method in pool.FindServiceByName(name).methods]


def name_of(method: MethodDescriptor) -> str:
    return f"{method.containing_service.name}.{method.name}"


METHODS = {name_of(method): method for method in methods()}


class Caller:
    """Calls any method of the gateway by its name."""

    def __init__(self, channel: grpc.aio.Channel, user_id: str) -> None:
        self._channel = channel
        self.user_id = user_id

    def __call__(self, name: str, fields: Fields) -> Any:
        method = METHODS[name]
        request = ParseDict(dict(fields), message_factory.GetMessageClass(method.input_type)())
        if "user_id" in method.input_type.fields_by_name:
            request.user_id = self.user_id  # type: ignore[attr-defined]  # known by its descriptor
        call: Any = self._channel.unary_unary(
            f"/{method.containing_service.full_name}/{method.name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=message_factory.GetMessageClass(method.output_type).FromString,
        )
        return call(request)


@pytest_asyncio.fixture(loop_scope="session")
async def call(stack: RunningStack, user_id: str) -> AsyncIterator[Caller]:
    async with grpc.aio.insecure_channel(stack.target) as channel:
        yield Caller(channel, user_id)


@pytest_asyncio.fixture(loop_scope="session")
async def ids(call: Caller) -> Ids:
    """A user with one of everything."""
    said = ("The harbour opens in May.", "I don't drink coffee.", "I drink coffee.")
    turns = [{"role": "MESSAGE_ROLE_USER", "content": text} for text in said]
    written = await call("MemoryService.Remember", {"conversation_id": "c1", "turns": turns})
    await call("MemoryService.Recall", {"query": "harbour", "consistency_token": written.consistency_token})
    fact = await call(
        "FactService.CreateFact", {"request_id": unique(), "text": "Ada rows.", "category": "FACT_CATEGORY_CONTEXT"}
    )
    notes = [
        await call("NoteService.CreateNote", {"request_id": unique(), "content": text, "kind": "NOTE_KIND_FACT"})
        for text in ("Boats need paint.", "The moon is round.")
    ]
    grant = await call("GrantService.CreateGrant", {"request_id": unique(), "from_scope": PROJECT, "to_scope": GLOBAL})
    first, second = (made.note.note_id for made in notes)
    link = {"from_note_id": first, "to_note_id": second, "type": "LINK_TYPE_PART_OF"}
    await call("NoteService.CreateLink", {"request_id": unique(), **link})
    await call("ProfileService.UpdateProfile", {"request_id": unique(), "preferences": {"detail_level": "brief"}})
    [superseded] = (await call("SupersessionService.ListSupersessions", {})).supersessions
    return Ids(
        written.interactions[0].interaction_id,
        fact.fact.fact_id,
        (first, second),
        grant.grant.grant_id,
        superseded.supersession_id,
    )


def as_repeated(response: Message) -> Message:
    """What a repeat returns as well: all but the mark of a repeat, and of AppendTurns the moment of the session."""
    copy: Any = type(response)()
    copy.CopyFrom(response)
    if "replayed" in copy.DESCRIPTOR.fields_by_name:
        copy.ClearField("replayed")
    if copy.DESCRIPTOR.name == "AppendTurnsResponse":
        copy.session.ClearField("last_active_time")
        copy.session.ClearField("expire_time")
    return copy  # type: ignore[no-any-return]


async def test_spec_6_3_every_write_has_a_request_id() -> None:
    lacking = [
        name
        for name, method in METHODS.items()
        if not method.name.startswith(READING)
        and method.name not in ITEMS_HAVE_IDS
        and "request_id" not in method.input_type.fields_by_name
    ]
    assert not lacking
    writes = {n for n, m in METHODS.items() if "request_id" in m.input_type.fields_by_name}
    assert writes == set(WRITES), "every write is repeated below"


@pytest.mark.parametrize("name", sorted(WRITES))
async def test_spec_6_3_a_repeat_of_any_write_returns_the_first_response_and_another_request_is_refused(
    call: Caller, ids: Ids, name: str
) -> None:
    fields, difference = WRITES[name](ids)
    request_id = unique()
    first = await call(name, {**fields, "request_id": request_id})
    again = await call(name, {**fields, "request_id": request_id})
    assert as_repeated(again) == as_repeated(first)
    refused = await refusal(call(name, {**fields, **difference, "request_id": request_id}))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "REQUEST_ID_REUSED")


@pytest.mark.parametrize("name", sorted(set(WRITES) - {"MemoryService.Remember"}))
async def test_spec_6_3_a_write_without_a_request_id_is_refused(call: Caller, ids: Ids, name: str) -> None:
    refused = await refusal(call(name, WRITES[name](ids)[0]))
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "request_id" in refused.paths


async def test_every_list_has_pages_and_every_search_a_limit() -> None:
    paged = {name for name, method in METHODS.items() if "page_size" in method.input_type.fields_by_name}
    assert {name for name, method in METHODS.items() if method.name.startswith("List")} == paged == set(LISTS)
    for name in LISTS:
        assert "page_token" in METHODS[name].input_type.fields_by_name
        assert "next_page_token" in METHODS[name].output_type.fields_by_name
    limited = {name for name, method in METHODS.items() if "limit" in method.input_type.fields_by_name}
    assert limited == set(SEARCHES)


@pytest.mark.parametrize("name", sorted(LISTS))
async def test_spec_7_2_a_page_is_bounded_and_its_size_and_token_are_checked(call: Caller, ids: Ids, name: str) -> None:
    fields = LISTS[name](ids)
    await call(name, fields)
    await call(name, {**fields, "page_size": 1_000_000})
    negative = await refusal(call(name, {**fields, "page_size": -1}))
    assert (negative.code, negative.paths) == (grpc.StatusCode.INVALID_ARGUMENT, ("page_size",))
    forged = await refusal(call(name, {**fields, "page_token": "forged"}))
    assert forged.code is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("name", sorted(SEARCHES))
async def test_spec_7_2_the_limit_of_a_search_is_checked(call: Caller, name: str) -> None:
    await call(name, {**SEARCHES[name], "limit": 200})
    for limit in (-1, 201):
        refused = await refusal(call(name, {**SEARCHES[name], "limit": limit}))
        assert (refused.code, refused.paths) == (grpc.StatusCode.INVALID_ARGUMENT, ("limit",))

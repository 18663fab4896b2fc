"""What holds for every RPC that callers can reach, read from the descriptors: a new one must be listed here."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message

from tests.support.every_method import (
    METHODS,
    PROJECT,
    Caller,
    Fields,
    Ids,
    index_file,
    one_of_everything,
    unique,
)
from tests.support.stack import RunningStack, refusal

pytestmark = pytest.mark.asyncio(loop_scope="session")

READING = ("Get", "BatchGet", "List", "Search", "Recall", "BuildContext", "Export")
REPEATS_SAY_LESS = {"ErasureService.Forget", "ErasureService.Correct"}  # what they chose is in the first response alone
ITEMS_HAVE_IDS = {"RememberBatch", "RememberStream", "RecordActivityStream", "ImportUser"}  # of their own
NOBODY = str(uuid.UUID(int=7))


def execution(record_id: str) -> Fields:
    """A record of a tool call, a minute old."""
    time = (datetime.now(UTC) - timedelta(minutes=1)).replace(second=0, microsecond=0)
    return {
        "record_id": record_id,
        "conversation_id": "c1",
        "time": time.isoformat(),
        "tool_execution": {"tool_name": "bash", "success": True},
    }


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
    "EmbeddingModelService.CutOverEmbeddingModel": lambda ids: ({"model": ids.model}, {"model": "other"}),
    "GrantService.CreateGrant": lambda _: (
        {"from_scope": PROJECT, "to_scope": {"level": "SCOPE_LEVEL_PROJECT", "project_id": "p2"}},
        {"kinds": ["MEMORY_KIND_FACT"]},
    ),
    "GrantService.RevokeGrant": lambda ids: ({"grant_id": ids.grant}, {"grant_id": NOBODY}),
    "DocumentService.WriteDocuments": lambda _: (
        {"writes": [{"name": {"namespace": ["notes"], "key": "k2"}, "put": {"value": "1"}}]},
        {"writes": [{"name": {"namespace": ["notes"], "key": "k2"}, "put": {"value": "2"}}]},
    ),
    "SessionService.CreateSession": lambda _: ({"conversation_id": "s2"}, {"window_turns": 3}),
    "SessionService.AppendTurns": lambda _: (
        {"conversation_id": "c1", "turns": [{"turn": {"role": "MESSAGE_ROLE_USER", "content": "It snows."}}]},
        {"create_if_missing": True},
    ),
    "SessionService.ExtendSession": lambda _: ({"conversation_id": "c1"}, {"ttl": "60s"}),
    "SessionService.DeleteSession": lambda _: ({"conversation_id": "c1"}, {"discard": True}),
    "MemoryService.PrepareContext": lambda _: ({"conversation_id": "w1", "message": "Go on?"}, {"message": "Stop?"}),
    "ContextWindowService.UpdateContextWindow": lambda _: (
        {"conversation_id": "w1", "max_tokens": 1_000},
        {"max_tokens": 2_000},
    ),
    "ContextWindowService.AddContextItems": lambda _: (
        {"conversation_id": "w1", "items": [{"kind": "CONTEXT_ITEM_KIND_USER_MESSAGE", "content": "It snows."}]},
        {"create_if_missing": True},
    ),
    "ContextWindowService.PruneContextWindow": lambda _: ({"conversation_id": "w1"}, {"force": True}),
    "ContextWindowService.RestoreContextItems": lambda _: (
        {"conversation_id": "w1", "item_ids": ["gone"]},
        {"item_ids": ["gone", "gone too"]},
    ),
    "ContextWindowService.DeleteContextWindow": lambda _: ({"conversation_id": "w1"}, {"conversation_id": "w2"}),
    "EpisodicService.ArchiveEpisodes": lambda ids: ({"episode_ids": [ids.episode]}, {"episode_ids": [NOBODY]}),
    "EpisodicService.RestoreEpisodes": lambda ids: ({"episode_ids": [ids.episode]}, {"episode_ids": [NOBODY]}),
    "FactService.CreateFact": lambda _: (
        {"text": "Ada has a piano.", "category": "FACT_CATEGORY_CONTEXT"},
        {"importance": 0.9},
    ),
    "FactService.UpdateFact": lambda ids: ({"fact_id": ids.fact, "importance": 0.7}, {"importance": 0.8}),
    "FactService.DeleteFact": lambda ids: ({"fact_id": ids.fact}, {"etag": "other"}),
    "FactService.ResolveMergeGroup": lambda ids: (
        {"group_id": ids.merge_group, "decision": "MERGE_DECISION_UNITE"},
        {"decision": "MERGE_DECISION_KEEP_APART"},
    ),
    "ProfileService.UpdateProfile": lambda _: ({"preferences": {"language": "en"}}, {"etag": "other"}),
    "ProfileService.DeleteProfile": lambda _: ({}, {"etag": "other"}),
    "SupersessionService.ResolveSupersession": lambda ids: (
        {"supersession_id": ids.supersession, "decision": "SUPERSESSION_DECISION_BOTH_STAND"},
        {"decision": "SUPERSESSION_DECISION_LATER_STANDS"},
    ),
    "ProcedureService.CreateProcedure": lambda _: (
        {"kind": "PROCEDURE_KIND_QUERY_REWRITING", "trigger": "ML", "action": "machine learning"},
        {"action": "millilitres"},
    ),
    "ProcedureService.UpdateProcedure": lambda ids: (
        {"procedure_id": ids.procedure, "action": "Use tables."},
        {"action": "Use lists."},
    ),
    "ProcedureService.DeleteProcedure": lambda ids: ({"procedure_id": ids.procedure}, {"etag": "other"}),
    "CodeService.IndexFiles": lambda _: (
        {"repository_id": "r", "files": [{"path": "b.py", "content": "eCA9IDEK"}]},
        {"removed_paths": ["c.py"]},
    ),
    "CodeService.DeleteRepository": lambda _: ({"repository_id": "r"}, {"repository_id": "other"}),
    "ActivityService.RecordActivity": lambda _: ({"records": [execution("t1")]}, {"records": [execution("t2")]}),
    "ErasureService.Erase": lambda _: ({"conversation_id": "c1"}, {"conversation_id": "c2"}),
    "ErasureService.Forget": lambda _: ({"query": "the harbour"}, {"query": "coffee"}),
    "ErasureService.Correct": lambda _: ({"query": "I drink coffee", "text": "I drink tea"}, {"text": "I drink milk"}),
    "MaintenanceService.RunJob": lambda _: ({"job": "agentic.consolidate"}, {"retired_max": 0}),
    "MaintenanceService.UndoRun": lambda ids: ({"run_id": ids.run}, {"run_id": NOBODY}),
    "MaintenanceService.ResumeJob": lambda _: ({"job": "agentic.consolidate"}, {"job": "agentic.prune_notes"}),
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
    "ErasureService.ListErasures": lambda _: {},
    "AuditService.ListAuditEntries": lambda _: {},
    "GrantService.ListGrants": lambda _: {},
    "DocumentService.ListDocuments": lambda _: {},
    "DocumentService.ListDocumentNamespaces": lambda _: {},
    "SessionService.ListSessions": lambda _: {},
    "ContextWindowService.ListContextItems": lambda _: {"conversation_id": "w1"},
    "ContextWindowService.ListContextSnapshots": lambda _: {"conversation_id": "w1"},
    "EpisodicService.ListEpisodes": lambda _: {},
    "FactService.ListFacts": lambda _: {},
    "FactService.ListMergeGroups": lambda _: {},
    "NoteService.ListNotes": lambda _: {},
    "MaintenanceService.ListRuns": lambda _: {},
    "SupersessionService.ListSupersessions": lambda _: {},
    "ProcedureService.ListProcedures": lambda _: {},
    "CodeService.ListRepositories": lambda _: {},
    "CodeService.ListFiles": lambda _: {"repository_id": "r"},
    "CodeService.ListSymbols": lambda _: {"repository_id": "r", "path": "a.py"},
    "CodeService.ListImports": lambda _: {"repository_id": "r", "path": "a.py"},
    "CodeService.ListRelations": lambda _: {
        "repository_id": "r",
        "node": "a.py",
        "direction": "RELATION_DIRECTION_OUTGOING",
    },
    "ActivityService.ListFileInteractions": lambda _: {},
    "ActivityService.ListEditedTogether": lambda _: {},
    "ActivityService.ListToolExecutions": lambda _: {},
    "ActivityService.ListToolStatistics": lambda _: {},
    "ActivityService.ListTasks": lambda _: {},
    "ActivityService.ListContextSnapshots": lambda _: {},
    "ActivityService.ListLearnings": lambda _: {},
    "ActivityService.ListPatterns": lambda _: {},
    "ClusterService.ListClusters": lambda _: {},
    "NoteService.ListLinks": lambda ids: {"note_id": ids.notes[0]},
}
"""For each list: what it asks for beside the user."""

SEARCHES: Mapping[str, Fields] = {
    "MemoryService.Recall": {"query": "rain"},
    "DocumentService.SearchDocuments": {"query": "rain"},
    "EpisodicService.SearchEpisodes": {"query": "rain"},
    "FactService.SearchFacts": {"query": "rain", "use": "FACT_USE_EXPLICIT_SEARCH"},
    "NoteService.SearchNotes": {"query": "rain"},
    "CodeService.SearchSymbols": {"query": "rain", "repository_id": "r"},
    "CodeService.SearchCode": {"query": "rain", "repository_id": "r"},
    "ActivityService.SearchActivity": {"query": "rain"},
    "ActivityService.SearchTasks": {"query": "rain"},
    "InsightService.SearchByQuestion": {"question": "What do you know about rain?"},
    "InsightService.GetSuggestions": {"recent_queries": ["rain"]},
}
"""For each request with a limit: what it asks for beside the user."""


@pytest_asyncio.fixture(loop_scope="session")
async def call(stack: RunningStack, user_id: str) -> AsyncIterator[Caller]:
    async with grpc.aio.insecure_channel(stack.target) as channel:
        yield Caller(channel, user_id)


@pytest_asyncio.fixture(loop_scope="session")
async def ids(call: Caller) -> Ids:
    """A user with one of everything."""
    return await one_of_everything(call)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def calls_that_change_nothing(stack: RunningStack) -> AsyncIterator[Caller]:
    """Calls as one user, for all tests that change nothing of theirs."""
    async with grpc.aio.insecure_channel(stack.target) as channel:
        yield Caller(channel, f"user-{uuid.uuid4().hex}")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_ids(calls_that_change_nothing: Caller) -> Ids:
    """The ids of what that user has."""
    return await one_of_everything(calls_that_change_nothing)


def as_repeated(response: Message) -> Message:
    """What a repeat returns as well: all but the mark of a repeat."""
    copy: Any = type(response)()
    copy.CopyFrom(response)
    if "replayed" in copy.DESCRIPTOR.fields_by_name:
        copy.ClearField("replayed")
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


@pytest.mark.parametrize("name", sorted(set(WRITES) - REPEATS_SAY_LESS))
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
async def test_spec_6_3_a_write_without_a_request_id_is_refused(
    calls_that_change_nothing: Caller, shared_ids: Ids, name: str
) -> None:
    refused = await refusal(calls_that_change_nothing(name, WRITES[name](shared_ids)[0]))
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "request_id" in refused.paths


async def test_every_list_has_pages_and_every_search_a_limit() -> None:
    paged = {name for name, method in METHODS.items() if "page_size" in method.input_type.fields_by_name}
    paged -= {"MaintenanceService.GetRun"}  # pages through a part of what it returns
    # There are clusters after maintenance alone, and a page of judged recalls may be empty and not the last one.
    lists = {*LISTS, "ClusterService.ListClusterEpisodes", "MemoryService.ListJudgedRecalls"}
    assert {name for name, method in METHODS.items() if method.name.startswith("List")} == paged == lists
    for name in lists:
        assert "page_token" in METHODS[name].input_type.fields_by_name
        assert "next_page_token" in METHODS[name].output_type.fields_by_name
    limited = {name for name, method in METHODS.items() if "limit" in method.input_type.fields_by_name}
    assert limited == set(SEARCHES)


@pytest.mark.parametrize("name", sorted(LISTS))
async def test_spec_7_2_a_page_is_bounded_and_its_size_and_token_are_checked(
    calls_that_change_nothing: Caller, shared_ids: Ids, name: str
) -> None:
    call = calls_that_change_nothing
    fields = LISTS[name](shared_ids)
    await call(name, fields)
    await call(name, {**fields, "page_size": 1_000_000})
    negative = await refusal(call(name, {**fields, "page_size": -1}))
    assert (negative.code, negative.paths) == (grpc.StatusCode.INVALID_ARGUMENT, ("page_size",))
    forged = await refusal(call(name, {**fields, "page_token": "forged"}))
    assert forged.code is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("name", sorted(SEARCHES))
async def test_spec_7_2_the_limit_of_a_search_is_checked(call: Caller, name: str) -> None:
    if name.startswith("CodeService"):
        await index_file(call)
    await call(name, {**SEARCHES[name], "limit": 200})
    for limit in (-1, 201):
        refused = await refusal(call(name, {**SEARCHES[name], "limit": limit}))
        assert (refused.code, refused.paths) == (grpc.StatusCode.INVALID_ARGUMENT, ("limit",))

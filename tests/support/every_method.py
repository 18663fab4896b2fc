"""Calls of any method of the gateway by its name, and a user with one of everything."""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.json_format import ParseDict

from mneme.gateway import v1 as gateway_v1


def _public_services() -> Sequence[ServiceDescriptor]:
    """The services of all protos that callers use."""
    root = Path(gateway_v1.__path__[0]).parents[2]
    modules = sorted(
        ".".join(file.relative_to(root).with_suffix("").parts)
        for file in root.glob("mneme/*/v1/*_pb2.py")
        if "internal" not in file.parts
    )
    files = [importlib.import_module(module).DESCRIPTOR for module in modules]
    return [service for file in files for service in file.services_by_name.values()]


SERVICES = tuple(service.full_name for service in _public_services())
GLOBAL, PROJECT = {"level": "SCOPE_LEVEL_GLOBAL"}, {"level": "SCOPE_LEVEL_PROJECT", "project_id": "p1"}


@dataclass(frozen=True)
class Ids:
    """What a user has before a write."""

    episode: str
    fact: str
    notes: tuple[str, str]
    grant: str
    merge_group: str
    supersession: str
    procedure: str
    run: str
    model: str


Fields = Mapping[str, Any]


def unique() -> str:
    """A request id of its own."""
    return f"request-{uuid.uuid4().hex}"


def methods() -> Sequence[MethodDescriptor]:
    """All that the gateway serves."""
    pool = descriptor_pool.Default()
    return [method for name in SERVICES for method in pool.FindServiceByName(name).methods]


def name_of(method: MethodDescriptor) -> str:
    """As in `MemoryService.Remember`."""
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


async def one_of_everything(call: Caller) -> Ids:
    """Gives the user one of everything."""
    said = ("The harbour opens in May.", "I don't drink coffee.", "I drink coffee.")
    turns = [{"role": "MESSAGE_ROLE_USER", "content": text} for text in said]
    written = await call("MemoryService.Remember", {"conversation_id": "c1", "turns": turns})
    await call("MemoryService.Recall", {"query": "harbour", "consistency_token": written.consistency_token})
    fact = await call(
        "FactService.CreateFact", {"request_id": unique(), "text": "Ada rows.", "category": "FACT_CATEGORY_CONTEXT"}
    )
    notes = [
        await call("NoteService.CreateNote", {"request_id": unique(), "content": text, "kind": "NOTE_KIND_FACT"})
        for text in ("Boats need paint.", "The moon is round.", "Boats need paint.")
    ]
    grant = await call("GrantService.CreateGrant", {"request_id": unique(), "from_scope": PROJECT, "to_scope": GLOBAL})
    first, second, _ = (made.note.note_id for made in notes)
    run = await call("MaintenanceService.RunJob", {"request_id": unique(), "job": "agentic.consolidate"})
    for text in ("Ada keeps a diary of her long trips", "Ada writes a diary of her long trips"):
        similar = {"request_id": unique(), "text": text, "category": "FACT_CATEGORY_CONTEXT"}
        await call("FactService.CreateFact", similar)
    await call("MaintenanceService.RunJob", {"request_id": unique(), "job": "semantic.merge_facts"})
    [group] = (await call("FactService.ListMergeGroups", {})).groups
    link = {"from_note_id": first, "to_note_id": second, "type": "LINK_TYPE_PART_OF"}
    await call("NoteService.CreateLink", {"request_id": unique(), **link})
    documents = [
        {"name": {"namespace": [label], "key": "k"}, "put": {"value": "1", "search_texts": ["It rains."]}}
        for label in ("notes", "plans")
    ]
    await call("DocumentService.WriteDocuments", {"request_id": unique(), "writes": documents})
    await call("ProfileService.UpdateProfile", {"request_id": unique(), "preferences": {"detail_level": "brief"}})
    await index_file(call)
    await fill_window(call)
    [superseded] = (await call("SupersessionService.ListSupersessions", {})).supersessions
    procedure = await call(
        "ProcedureService.CreateProcedure",
        {"request_id": unique(), "kind": "PROCEDURE_KIND_RESPONSE_FORMATTING", "action": "Be brief."},
    )
    return Ids(
        written.interactions[0].interaction_id,
        fact.fact.fact_id,
        (first, second),
        grant.grant.grant_id,
        group.group_id,
        superseded.supersession_id,
        procedure.procedure.procedure_id,
        run.run.run_id,
        (await call("EmbeddingModelService.GetEmbeddingModel", {})).state.serving_model,
    )


async def fill_window(call: Caller) -> None:
    """Gives the user a context window of two items, of which "gone" was removed."""
    window = {"conversation_id": "w1"}
    result = {"kind": "CONTEXT_ITEM_KIND_TOOL_RESULT", "content": "3 hits", "tool_call_id": "c"}
    state = {"kind": "CONTEXT_ITEM_KIND_TASK_STATE", "content": "half done", "sticky": True}
    items = [{**result, "item_id": "gone"}, state, {**result, "item_id": "gone too"}]
    added = {"items": items, "create_if_missing": True}
    await call("ContextWindowService.AddContextItems", {"request_id": unique(), **window, **added})
    for _ in range(2):
        await call("ContextWindowService.PruneContextWindow", {"request_id": unique(), **window, "force": True})


async def index_file(call: Caller) -> None:
    """Gives the user a repository with one file."""
    file = {"path": "a.py", "content": "ZGVmIHJhaW4oKToKICAgIHBhc3MK"}
    await call("CodeService.IndexFiles", {"request_id": unique(), "repository_id": "r", "files": [file]})

"""Every public method that reads memories takes a reader's scope, or says here why it does not (SPEC 5.3)."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import MethodDescriptor

import mneme.gateway.v1
from services.gateway.door import STANDS_IN_GLOBAL, TIER_SERVICES

GATEWAY_SERVICES = tuple(
    service.full_name
    for module in pkgutil.iter_modules(mneme.gateway.v1.__path__, "mneme.gateway.v1.")
    if module.name.endswith("_pb2")
    for service in importlib.import_module(module.name).DESCRIPTOR.services_by_name.values()
)
READS = ("Get", "BatchGet", "List", "Search", "Recall", "Build", "Prepare", "Forget", "Correct", "Export")
"""How the names of methods begin that show memories, or choose among them."""

TRANSCRIPT = "for the owner of the conversation, with the turns of all places, each with its scope"
NO_MEMORY = "shows ids, numbers and states, no memory"
OF_ITSELF = "its records belong to no scope"
CODE = "code belongs to a repository, which every request names or filters by"
WITHOUT_SCOPE = {
    "mneme.session.v1.SessionService.GetSession": TRANSCRIPT,
    "mneme.session.v1.SessionService.ListSessions": TRANSCRIPT,
    "mneme.session.v1.ContextWindowService.GetContextWindow": TRANSCRIPT,
    "mneme.session.v1.ContextWindowService.ListContextItems": TRANSCRIPT,
    "mneme.session.v1.ContextWindowService.ListContextSnapshots": TRANSCRIPT,
    "mneme.gateway.v1.ConversationService.ListConversations": TRANSCRIPT,
    "mneme.gateway.v1.ConversationService.ListInteractions": TRANSCRIPT,
    "mneme.semantic.v1.CodeService.ListRepositories": CODE,
    "mneme.semantic.v1.CodeService.ListFiles": CODE,
    "mneme.semantic.v1.CodeService.ListSymbols": CODE,
    "mneme.semantic.v1.CodeService.ListImports": CODE,
    "mneme.semantic.v1.CodeService.SearchSymbols": CODE,
    "mneme.semantic.v1.CodeService.ListRelations": CODE,
    "mneme.semantic.v1.CodeService.GetCodePath": CODE,
    "mneme.semantic.v1.CodeService.SearchCode": CODE,
    "mneme.semantic.v1.CodeService.GetOutline": CODE,
    "mneme.gateway.v1.DocumentService.BatchGetDocuments": OF_ITSELF,
    "mneme.gateway.v1.DocumentService.ListDocuments": OF_ITSELF,
    "mneme.gateway.v1.DocumentService.SearchDocuments": OF_ITSELF,
    "mneme.gateway.v1.DocumentService.ListDocumentNamespaces": OF_ITSELF,
    "mneme.gateway.v1.GrantService.ListGrants": "shows grants, whose places the owner rules over",
    "mneme.gateway.v1.MemoryService.ListJudgedRecalls": "shows queries of recalls, for those who measure retrieval",
    "mneme.gateway.v1.PortabilityService.ExportUser": "exports all that is the user's, for the user",
}
NUMBERS = (
    "mneme.agentic.v1.InsightService.GetHealth",
    "mneme.gateway.v1.AuditService",
    "mneme.gateway.v1.DeliveryService",
    "mneme.gateway.v1.EmbeddingModelService",
    "mneme.gateway.v1.ErasureService.GetErasure",
    "mneme.gateway.v1.ErasureService.ListErasures",
    "mneme.gateway.v1.MaintenanceService",
)


def reads() -> list[MethodDescriptor]:
    names = (*(service.full_name for service in TIER_SERVICES), *GATEWAY_SERVICES)
    found = (descriptor_pool.Default().FindServiceByName(name).methods for name in names)
    return [method for methods in found for method in methods if method.name.startswith(READS)]


def reader_field(method: MethodDescriptor) -> str:
    """The field that says where the reader stands."""
    is_recall = method.full_name.startswith("mneme.gateway.v1.MemoryService.")
    return "scope" if is_recall else "reader_scope"


def why_without(method: MethodDescriptor) -> str:
    is_number = method.full_name.startswith(NUMBERS)
    return NO_MEMORY if is_number else WITHOUT_SCOPE.get(method.full_name, "")


def is_scoped(method: MethodDescriptor) -> bool:
    fields = method.input_type.fields_by_name
    # A stream's request holds the whole one.
    whole = [fields[name].message_type for name in ("recall", "request") if name in fields]
    found = (message.fields_by_name.get(reader_field(method)) for message in (method.input_type, *whole) if message)
    return any(
        field is not None and field.message_type is not None and field.message_type.full_name == "mneme.common.v1.Scope"
        for field in found
    )


@pytest.mark.parametrize("method", reads(), ids=lambda method: method.full_name)
def test_spec_5_3_a_read_takes_a_readers_scope_or_says_why_not(method: MethodDescriptor) -> None:
    assert is_scoped(method) != bool(why_without(method))


def test_spec_5_3_every_reason_is_of_a_method() -> None:
    names = {method.full_name for method in reads()}
    assert set(WITHOUT_SCOPE) <= names
    assert names >= STANDS_IN_GLOBAL
    assert all(any(name.startswith(one) for name in names) for one in NUMBERS)


def test_spec_5_3_what_an_unset_scope_means_is_said_at_the_method() -> None:
    """Those that stand in GLOBAL are named; all other scoped reads of memories of a kind read every scope."""
    scoped = {method.full_name for method in reads() if is_scoped(method)}
    of_kinds = {service.full_name for service in TIER_SERVICES if service.kind is not None}
    searches = {
        name
        for name in scoped
        if name.rpartition(".")[0] in of_kinds and not name.rpartition(".")[2].startswith(("List", "BatchGet"))
    }
    assert searches - STANDS_IN_GLOBAL == {
        "mneme.episodic.v1.EpisodicService.GetEpisode",
        "mneme.semantic.v1.FactService.GetFact",
        "mneme.agentic.v1.NoteService.GetNote",
    }

"""The gateway's services of memories, conversations, grants and deliveries, with the roles that they ask for."""

from __future__ import annotations

from typing import Final

from mneme.gateway.v1 import conversations_pb2_grpc, deliveries_pb2_grpc, grants_pb2_grpc, memory_pb2_grpc
from services.common.auth import Role
from services.common.rpc.server import ServiceBinding
from services.gateway.config import GatewaySettings
from services.gateway.grants.requests import GrantRequestReader
from services.gateway.grants.service import Grants
from services.gateway.grants.servicer import GrantServicer
from services.gateway.servicer import ConversationServicer, DeliveryServicer, MemoryServicer, UseCases

MEMORY_ROLES: Final = {
    "Remember": Role.WRITER,
    "RememberBatch": Role.WRITER,
    "RememberStream": Role.WRITER,
    "Recall": Role.READER,
    "RecallStream": Role.READER,
    "BuildContext": Role.READER,
    "PrepareContext": Role.WRITER,
    "Feedback": Role.WRITER,
    "ListJudgedRecalls": Role.READER,
}
CONVERSATION_ROLES: Final = {
    "ListConversations": Role.READER,
    "ListInteractions": Role.READER,
}
GRANT_ROLES: Final = {
    "CreateGrant": Role.WRITER,
    "ListGrants": Role.READER,
    "RevokeGrant": Role.WRITER,
}
DELIVERY_ROLES: Final = {
    "GetBacklog": Role.READER,
    "ListDeadLetters": Role.ADMIN,
    "RetryDeadLetters": Role.ADMIN,
}


def grant_binding(grants: Grants, use_cases: UseCases, settings: GatewaySettings) -> ServiceBinding:
    """The service of grants."""
    reader = GrantRequestReader(
        id_chars_max=settings.limits.journal.id_chars_max,
        page_size_default=settings.limits.page_size_default,
        page_size_max=settings.limits.page_size_max,
    )
    return ServiceBinding(
        "mneme.gateway.v1.GrantService",
        grants_pb2_grpc.add_GrantServiceServicer_to_server,
        GrantServicer(grants, reader, use_cases.pages),
        GRANT_ROLES,
    )


def memory_bindings(use_cases: UseCases) -> tuple[ServiceBinding, ...]:
    """The services of memories, conversations and deliveries."""
    return (
        ServiceBinding(
            "mneme.gateway.v1.MemoryService",
            memory_pb2_grpc.add_MemoryServiceServicer_to_server,
            MemoryServicer(use_cases),
            MEMORY_ROLES,
        ),
        ServiceBinding(
            "mneme.gateway.v1.ConversationService",
            conversations_pb2_grpc.add_ConversationServiceServicer_to_server,
            ConversationServicer(use_cases),
            CONVERSATION_ROLES,
        ),
        ServiceBinding(
            "mneme.gateway.v1.DeliveryService",
            deliveries_pb2_grpc.add_DeliveryServiceServicer_to_server,
            DeliveryServicer(use_cases),
            DELIVERY_ROLES,
        ),
    )

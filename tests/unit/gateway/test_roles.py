"""docs/roles.md lists the role of every method of every public service, as the gateway asks for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from google.protobuf import descriptor_pool

from services.common.auth import Role
from services.gateway import bindings
from services.gateway.audit import servicer as audit
from services.gateway.documents import servicer as documents
from services.gateway.door import TIER_SERVICES, role_of
from services.gateway.embedding_model import servicer as embedding_model
from services.gateway.erasure import servicer as erasure
from services.gateway.maintenance import servicer as maintenance
from services.gateway.portability import servicer as portability

ROOT = Path(__file__).parents[3]
SERVICE = re.compile(r"^package (mneme\.\w+\.v1);.*?^service (\w+) \{", re.DOTALL | re.MULTILINE)
ROW = re.compile(r"^\| `(\w+)\.(\w+)` \| (\w+) \|$", re.MULTILINE)
OWN: Mapping[str, Mapping[str, Role]] = {
    "MemoryService": bindings.MEMORY_ROLES,
    "ConversationService": bindings.CONVERSATION_ROLES,
    "GrantService": bindings.GRANT_ROLES,
    "DeliveryService": bindings.DELIVERY_ROLES,
    "DocumentService": documents.ROLES,
    "AuditService": audit.ROLES,
    "ErasureService": erasure.ROLES,
    "EmbeddingModelService": embedding_model.ROLES,
    "MaintenanceService": maintenance.ROLES,
    "PortabilityService": portability.ROLES,
}


def public_services() -> list[str]:
    """Full names of the services of all public contracts."""
    files = sorted((ROOT / "proto" / "mneme").glob("*/v1/*.proto"))
    found = [SERVICE.search(file.read_text("utf-8")) for file in files]
    return [f"{match[1]}.{match[2]}" for match in found if match]


def roles_in_force() -> dict[tuple[str, str], str]:
    """What the gateway asks for, of every method that a proto has."""
    tiers = {service.full_name for service in TIER_SERVICES}
    found: dict[tuple[str, str], str] = {}
    for full_name in public_services():
        name = full_name.rpartition(".")[2]
        for method in descriptor_pool.Default().FindServiceByName(full_name).methods:
            role = role_of(method.name) if full_name in tiers else OWN[name][method.name]
            found[name, method.name] = role.name.lower()
    return found


def test_spec_7_1_the_table_of_roles_is_that_of_the_protos_and_of_the_gateway() -> None:
    listed = {(service, method): role for service, method, role in ROW.findall((ROOT / "docs/roles.md").read_text())}
    assert listed == roles_in_force()
    assert set(listed.values()) == {"reader", "writer", "admin"}


def test_spec_7_1_nothing_that_writes_is_open_to_readers() -> None:
    reading = ("Get", "List", "Search", "BatchGet", "Recall", "BuildContext", "Export", "Find", "Preview", "Answer")
    writes = [
        method for (_, method), role in roles_in_force().items() if role == "reader" and not method.startswith(reading)
    ]
    assert writes == []

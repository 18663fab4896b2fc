"""Which methods of the tiers the gateway serves, and what it asks of their callers."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from services.agentic import servicer as agentic
from services.agentic.insights import servicer as insights
from services.common.auth import Role
from services.episodic import servicer as episodic
from services.episodic.activity import servicer as activity
from services.episodic.clusters import servicer as clusters
from services.gateway.door import TIER_SERVICES, role_of
from services.semantic.code import servicer as code
from services.semantic.facts import servicer as facts
from services.semantic.procedures import servicer as procedures
from services.semantic.profile import servicer as profile
from services.semantic.supersession import servicer as supersession
from services.session import servicer as session
from services.session.context_window import servicer as context_window

GENERATED = Path(__file__).resolve().parents[3] / "proto" / "gen"
TIERS = ("session", "episodic", "semantic", "agentic")
ROLES_OF_TIERS = {
    module.SERVICE_NAME: module.ROLES
    for module in (
        activity,
        agentic,
        clusters,
        code,
        context_window,
        episodic,
        facts,
        insights,
        procedures,
        profile,
        session,
        supersession,
    )
}


def public_services() -> set[str]:
    """Every service of a public package of a tier, by the protos."""
    found = set()
    for tier in TIERS:
        for path in sorted((GENERATED / "mneme" / tier / "v1").glob("*_pb2.py")):
            module = importlib.import_module(".".join(path.relative_to(GENERATED).with_suffix("").parts))
            found |= {service.full_name for service in module.DESCRIPTOR.services_by_name.values()}
    return found


def test_spec_6_11_every_public_service_of_a_tier_is_served() -> None:
    assert {service.full_name for service in TIER_SERVICES} == public_services()


@pytest.mark.parametrize("service", [service.full_name for service in TIER_SERVICES])
def test_spec_7_1_the_gateway_asks_for_the_role_that_the_tier_asks_for(service: str) -> None:
    roles = dict(ROLES_OF_TIERS[service])
    assert {name: role_of(name) for name in roles} == roles
    assert set(roles.values()) <= {Role.READER, Role.WRITER}

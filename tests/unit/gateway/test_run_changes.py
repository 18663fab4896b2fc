"""Changes of a maintenance run in pages, from a tier through the gateway."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

import pytest

from mneme.common.internal.v1 import maintenance_pb2 as internal_pb
from mneme.gateway.v1 import maintenance_pb2 as pb
from services.common.auth import Principal, set_current_principal
from services.common.errors import InvalidArgument
from services.common.maintenance.model import Change
from services.common.maintenance.servicer import MaintenanceInternalServicer
from services.common.maintenance.store import RunSummary
from services.common.maintenance.tier import RunDetails, TierMaintenance
from services.common.owners import Owner
from services.common.paging import RESPONSE_BYTES_MAX, PageTokens
from services.gateway.maintenance.client import MaintenanceClient
from services.gateway.maintenance.service import Maintaining
from services.gateway.maintenance.servicer import MaintenanceServicer
from tests.unit.gateway.tiers import ADA, NOON

RUN = str(UUID(int=1))
CONTEXT: Any = None


class Tier:
    """Has one run."""

    def __init__(self, changes: int, text: str = "") -> None:
        made = tuple(Change("archive", f"m{number}", facts={"text": text}) for number in range(changes))
        self._details = RunDetails(
            RunSummary(RUN, "agentic.prune_notes", NOON, changes, changes, is_undone=False), made
        )
        self._servicer = MaintenanceInternalServicer(cast("TierMaintenance", self))

    async def get_run(
        self, first: Owner | Principal, request: Any, *, timeout_seconds: float = 0.0
    ) -> RunDetails | internal_pb.GetRunResponse:
        """As the gateway's client and as the tier's use case."""
        del timeout_seconds
        return self._details if isinstance(first, Owner) else await self._servicer.GetRun(request, CONTEXT)


def gateway(tier: Tier) -> MaintenanceServicer:
    maintaining = Maintaining({"agentic": cast("MaintenanceClient", tier)})
    return MaintenanceServicer(maintaining, PageTokens(b"secret"), deadline_seconds=9.0)


async def pages(tier: Tier, page_size: int) -> list[list[str]]:
    set_current_principal(ADA)
    found, token = list[list[str]](), ""
    while not found or token:
        request = pb.GetRunRequest(user_id="ada", run_id=RUN, page_size=page_size, page_token=token)
        page = await gateway(tier).GetRun(request, CONTEXT)
        assert page.run.run_id == RUN
        assert page.ByteSize() <= RESPONSE_BYTES_MAX + 1_000
        found.append([change.target for change in page.changes])
        token = page.next_page_token
    return found


@pytest.mark.parametrize(
    ("page_size", "sizes"), [(0, [1_000, 1_000, 500]), (5_000, [1_000, 1_000, 500]), (900, [900, 900, 700])]
)
async def test_spec_6_9_all_changes_of_a_run_are_returned_in_pages(page_size: int, sizes: list[int]) -> None:
    found = await pages(Tier(2_500), page_size)
    assert list(map(len, found)) == sizes
    assert [target for page in found for target in page] == [f"m{number}" for number in range(2_500)]


async def test_spec_6_9_a_page_of_large_changes_ends_before_it_is_too_large_for_an_answer() -> None:
    found = await pages(Tier(10, "x" * 900_000), 0)
    assert len(found) > 1
    assert sum(map(len, found)) == 10


async def test_spec_7_2_wrong_fields_of_a_page_of_changes_are_named() -> None:
    set_current_principal(ADA)
    with pytest.raises(InvalidArgument) as refused:
        await gateway(Tier(1)).GetRun(pb.GetRunRequest(page_size=-1), CONTEXT)
    assert [one.field_path for one in refused.value.violations] == ["user_id", "run_id", "page_size"]
    first = await gateway(Tier(3)).GetRun(pb.GetRunRequest(user_id="ada", run_id=RUN, page_size=1), CONTEXT)
    other = pb.GetRunRequest(user_id="ben", run_id=RUN, page_token=first.next_page_token)
    with pytest.raises(InvalidArgument):
        await gateway(Tier(3)).GetRun(other, CONTEXT)

"""Use cases of maintenance: asks the tiers, each for its own jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import structlog

from mneme.common.internal.v1 import maintenance_pb2 as pb
from mneme.common.v1 import maintenance_pb2 as resources
from services.common.auth import Principal
from services.common.errors import MnemeError, NotFound
from services.gateway.maintenance.client import MaintenanceClient

_log = structlog.get_logger(__name__)

_T = TypeVar("_T")

_TIER_SECONDS_MAX: Final = 5.0
"""How long one tier may take to list its jobs."""


@dataclass(frozen=True, slots=True)
class TierJobs:
    """The jobs of all tiers."""

    jobs: Sequence[resources.MaintenanceJob]  # by name
    unavailable: Sequence[str]  # tiers that did not respond


class Maintaining:
    """Runs jobs and reads their runs in whichever tier has them."""

    def __init__(self, tiers: Mapping[str, MaintenanceClient]) -> None:
        """Asks the tiers, by the names that their jobs begin with."""
        self._tiers = tiers

    async def jobs(self, principal: Principal) -> TierJobs:
        """All jobs."""

        async def of(name: str) -> pb.GetJobsResponse | None:
            try:
                request = pb.GetJobsRequest()
                return await self._tiers[name].get_jobs(principal, request, timeout_seconds=_TIER_SECONDS_MAX)
            except MnemeError as error:
                _log.warning("maintenance_jobs_unknown", tier=name, reason=error.reason)
                return None

        found = dict(zip(self._tiers, await asyncio.gather(*map(of, self._tiers)), strict=True))
        jobs = [job for response in found.values() if response is not None for job in response.jobs]
        unavailable = [name for name, response in found.items() if response is None]
        return TierJobs(sorted(jobs, key=lambda job: job.name), unavailable)

    async def run(self, principal: Principal, request: pb.RunJobRequest, *, seconds_left: float) -> pb.RunJobResponse:
        """Runs a job for one user.

        Raises:
            NotFound: There is no such job.
        """
        return await self._tier_of(request.job).run_job(principal, request, timeout_seconds=seconds_left)

    async def runs(
        self, principal: Principal, request: pb.ListRunsRequest, *, seconds_left: float
    ) -> Sequence[resources.MaintenanceRun]:
        """Runs of all tiers, newest first, at most `request.limit`.

        Raises:
            MnemeError: A tier did not respond: without it the list would have gaps.
        """
        asked = [self._tier_of(request.job)] if request.job else list(self._tiers.values())
        pages = await asyncio.gather(
            *(tier.list_runs(principal, request, timeout_seconds=seconds_left) for tier in asked)
        )
        runs = [run for page in pages for run in page.runs]
        return sorted(runs, key=lambda run: run.run_id, reverse=True)[: request.limit]

    async def get_run(
        self, principal: Principal, request: pb.GetRunRequest, *, seconds_left: float
    ) -> pb.GetRunResponse:
        """A run with its changes.

        Raises:
            NotFound: No tier has it.
        """
        return await self._first(
            request.run_id, lambda tier: tier.get_run(principal, request, timeout_seconds=seconds_left)
        )

    async def undo(self, principal: Principal, request: pb.UndoRunRequest, *, seconds_left: float) -> int:
        """Takes a run back; returns how many changes were.

        Raises:
            NotFound: No tier has it.
        """
        response = await self._first(
            request.run_id, lambda tier: tier.undo_run(principal, request, timeout_seconds=seconds_left)
        )
        return response.undone_count

    async def resume(self, principal: Principal, request: pb.ResumeJobRequest, *, seconds_left: float) -> None:
        """Lets a stopped job be scheduled again.

        Raises:
            NotFound: There is no such job.
        """
        await self._tier_of(request.job).resume_job(principal, request, timeout_seconds=seconds_left)

    async def _first(self, run_id: str, ask: Callable[[MaintenanceClient], Awaitable[_T]]) -> _T:
        """The response of the tier that has a run: its id does not say which."""
        for tier in self._tiers.values():
            try:
                return await ask(tier)
            except NotFound:
                continue
        raise NotFound("maintenance run", run_id)

    def _tier_of(self, job: str) -> MaintenanceClient:
        tier = self._tiers.get(job.partition(".")[0])
        if tier is None:
            raise NotFound("maintenance job", job)
        return tier

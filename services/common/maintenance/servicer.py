"""The gRPC edge of a tier's maintenance, for the gateway alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, TypeAlias

import grpc
from google.protobuf.duration_pb2 import Duration

from mneme.common.internal.v1 import maintenance_pb2 as pb
from mneme.common.internal.v1 import maintenance_pb2_grpc
from mneme.common.v1 import maintenance_pb2 as resources
from services.common.auth import Principal, Role, current_principal
from services.common.convert import timestamp
from services.common.idempotency.requests import idempotency_key
from services.common.maintenance.model import Change, RunReport
from services.common.maintenance.store import RunSummary
from services.common.maintenance.tier import JobReport, TierMaintenance
from services.common.owners import Owner, TenantId, UserId
from services.common.paging import RESPONSE_BYTES_MAX, fitting
from services.common.rpc.server import ServiceBinding
from services.common.validation import Violations

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["MaintenanceInternalService"].full_name
HEALTH_NAME: Final = "maintenance"
"""A name of the health service of a tier that is NOT_SERVING while one of its jobs is stopped."""
ROLES: Final[Mapping[str, Role]] = dict.fromkeys(
    ("GetJobs", "RunJob", "ListRuns", "GetRun", "UndoRun", "ResumeJob"), Role.SERVICE
)
_ID_CHARS_MAX: Final = 128
_RUNS_MAX: Final = 201
_CHANGES_MAX: Final = 1_000
_INT32_MAX: Final = 2**31 - 1


class MaintenanceInternalServicer(maintenance_pb2_grpc.MaintenanceInternalServiceServicer):
    """Handlers of MaintenanceInternalService."""

    def __init__(self, maintenance: TierMaintenance) -> None:
        """Serve the use cases."""
        self._maintenance = maintenance

    async def GetJobs(self, request: pb.GetJobsRequest, _context: Context) -> pb.GetJobsResponse:
        """See maintenance.proto."""
        return pb.GetJobsResponse(jobs=map(_job, await self._maintenance.jobs()))

    async def RunJob(self, request: pb.RunJobRequest, _context: Context) -> pb.RunJobResponse:
        """See maintenance.proto."""
        caller = current_principal()
        owner = _checked(request, caller, job=True, is_dry_run=request.dry_run)
        retired_max = request.retired_max if request.HasField("retired_max") else None
        if request.dry_run:
            report, changes = await self._maintenance.look(owner, request.job, retired_max=retired_max)
            return pb.RunJobResponse(run=_report(report), changes=map(_change, changes))
        key = idempotency_key(request, caller)
        report = await self._maintenance.run(owner, key, request.job, retired_max=retired_max)
        return pb.RunJobResponse(run=_report(report))

    async def ListRuns(self, request: pb.ListRunsRequest, _context: Context) -> pb.ListRunsResponse:
        """See maintenance.proto."""
        v = Violations()
        v.identifier("user_id", request.user_id, chars_max=_ID_CHARS_MAX)
        v.text("job", request.job, chars_max=_ID_CHARS_MAX, required=False)
        if request.before_run_id:
            v.uuid("before_run_id", request.before_run_id)
        v.number("limit", request.limit, low=1, high=_RUNS_MAX)
        v.raise_if_any()
        runs = await self._maintenance.runs(
            _owner(request.user_id, current_principal()),
            job=request.job,
            before_run_id=request.before_run_id,
            limit=request.limit,
        )
        return pb.ListRunsResponse(runs=map(_run, runs))

    async def GetRun(self, request: pb.GetRunRequest, _context: Context) -> pb.GetRunResponse:
        """See maintenance.proto."""
        owner = _checked(request, current_principal(), run_id=True, is_read=True)
        v = Violations()
        v.number("first_change", request.first_change, low=0, high=_INT32_MAX)
        v.number("limit", request.limit, low=0, high=_CHANGES_MAX)
        v.raise_if_any()
        details = await self._maintenance.get_run(owner, request.run_id)
        first = request.first_change
        changes = list(map(_change, details.changes[first : first + (request.limit or _CHANGES_MAX)]))
        changes = changes[: fitting(changes, bytes_max=RESPONSE_BYTES_MAX)]
        has_more = len(details.changes) > first + len(changes)
        return pb.GetRunResponse(run=_run(details.run), changes=changes, has_more=has_more)

    async def UndoRun(self, request: pb.UndoRunRequest, _context: Context) -> pb.UndoRunResponse:
        """See maintenance.proto."""
        caller = current_principal()
        owner = _checked(request, caller, run_id=True)
        count = await self._maintenance.undo(owner, idempotency_key(request, caller), request.run_id)
        return pb.UndoRunResponse(undone_count=count)

    async def ResumeJob(self, request: pb.ResumeJobRequest, _context: Context) -> pb.ResumeJobResponse:
        """See maintenance.proto."""
        v = Violations()
        v.identifier("request_id", request.request_id, chars_max=_ID_CHARS_MAX)
        v.text("job", request.job, chars_max=_ID_CHARS_MAX)
        v.raise_if_any()
        caller = current_principal()
        await self._maintenance.resume(TenantId(caller.tenant_id), idempotency_key(request, caller), request.job)
        return pb.ResumeJobResponse()


def maintenance_binding(maintenance: TierMaintenance) -> ServiceBinding:
    """The service for a tier's server."""
    return ServiceBinding(
        SERVICE_NAME,
        maintenance_pb2_grpc.add_MaintenanceInternalServiceServicer_to_server,
        MaintenanceInternalServicer(maintenance),
        ROLES,
        conditions={HEALTH_NAME: maintenance.check},
    )


def _owner(user_id: str, caller: Principal) -> Owner:
    return Owner(TenantId(caller.tenant_id), UserId(user_id))


def _checked(
    request: Any,
    caller: Principal,
    *,
    job: bool = False,
    run_id: bool = False,
    is_read: bool = False,
    is_dry_run: bool = False,
) -> Owner:
    """The user that a request names, once nothing is wrong with it."""
    v = Violations()
    if not is_read:
        v.identifier("request_id", request.request_id, chars_max=_ID_CHARS_MAX, required=not is_dry_run)
    v.identifier("user_id", request.user_id, chars_max=_ID_CHARS_MAX)
    if job:
        v.text("job", request.job, chars_max=_ID_CHARS_MAX)
        if request.HasField("retired_max"):
            v.number("retired_max", request.retired_max, low=0, high=_INT32_MAX)
    if run_id:
        v.uuid("run_id", request.run_id)
    v.raise_if_any()
    return _owner(request.user_id, caller)


def _job(report: JobReport) -> resources.MaintenanceJob:
    message = resources.MaintenanceJob(
        name=report.job.job.name,
        description=report.job.description,
        for_user=report.job.for_user,
        failure_count=report.state.failures,
        stopped=report.is_stopped,
    )
    if report.job.interval_seconds is not None:
        interval = Duration()
        interval.FromTimedelta(timedelta(seconds=report.job.interval_seconds))
        message.interval.CopyFrom(interval)
    if report.state.complete_time is not None:
        message.complete_time.CopyFrom(timestamp(report.state.complete_time))
    return message


def _report(report: RunReport) -> resources.MaintenanceRun:
    return resources.MaintenanceRun(
        run_id=report.run_id,
        job=report.job,
        dry_run=report.dry_run,
        busy=not report.is_claimed,
        planned_count=report.planned,
        over_cap_count=report.over_cap,
        memory_count=report.memories,
        applied_count=report.applied,
        retired_count=report.retired,
    )


def _run(run: RunSummary) -> resources.MaintenanceRun:
    return resources.MaintenanceRun(
        run_id=run.run_id,
        job=run.job,
        applied_count=run.applied,
        retired_count=run.retired,
        create_time=timestamp(run.time),
        undone=run.is_undone,
    )


def _change(change: Change) -> resources.MaintenanceChange:
    facts = json.dumps(dict(change.facts), sort_keys=True)
    return resources.MaintenanceChange(action=change.action, target=change.target, facts=facts)

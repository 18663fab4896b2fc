"""The gRPC edge of maintenance."""

from __future__ import annotations

from typing import Final

from mneme.common.internal.v1 import maintenance_pb2 as internal_pb
from mneme.gateway.v1 import maintenance_pb2 as pb
from mneme.gateway.v1 import maintenance_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.paging import PageTokens
from services.common.rpc.deadline import seconds_left
from services.common.rpc.interceptors.base import Context
from services.common.rpc.server import ServiceBinding
from services.common.validation import Violations
from services.gateway.maintenance.service import Maintaining

ROLES: Final = {
    "GetJobs": Role.READER,
    "RunJob": Role.WRITER,
    "ListRuns": Role.READER,
    "GetRun": Role.READER,
    "UndoRun": Role.WRITER,
    "ResumeJob": Role.ADMIN,
}
_ID_CHARS_MAX: Final = 128
_JOB_CHARS_MAX: Final = 128
_PAGE_SIZE_DEFAULT: Final = 50
_PAGE_SIZE_MAX: Final = 200
_CHANGES_MAX: Final = 1_000
"""Changes of a run in one response; the tiers give no more."""


class MaintenanceServicer(maintenance_pb2_grpc.MaintenanceServiceServicer):
    """Implements MaintenanceService; the tiers check what they are asked."""

    def __init__(self, maintaining: Maintaining, pages: PageTokens, *, deadline_seconds: float) -> None:
        """Serves the use cases; `deadline_seconds` are for a call whose deadline is not known."""
        self._maintaining = maintaining
        self._pages = pages
        self._deadline_seconds = deadline_seconds

    async def GetJobs(self, request: pb.GetJobsRequest, context: Context) -> pb.GetJobsResponse:
        """See the proto."""
        found = await self._maintaining.jobs(current_principal())
        return pb.GetJobsResponse(jobs=found.jobs, unavailable_tiers=found.unavailable)

    async def RunJob(self, request: pb.RunJobRequest, context: Context) -> pb.RunJobResponse:
        """See the proto."""
        _check(request_id=None if request.dry_run else request.request_id, user_id=request.user_id, job=request.job)
        passed = internal_pb.RunJobRequest.FromString(request.SerializeToString())  # the same fields
        left = seconds_left(self._deadline_seconds)
        response = await self._maintaining.run(current_principal(), passed, seconds_left=left)
        return pb.RunJobResponse(run=response.run, changes=response.changes)

    async def ListRuns(self, request: pb.ListRunsRequest, context: Context) -> pb.ListRunsResponse:
        """See the proto."""
        tenant_id = current_principal().tenant_id
        v = Violations()
        v.identifier("user_id", request.user_id, chars_max=_ID_CHARS_MAX)
        v.text("job", request.job, chars_max=_JOB_CHARS_MAX, required=False)
        size = v.page_size(request.page_size, default=_PAGE_SIZE_DEFAULT, maximum=_PAGE_SIZE_MAX)
        v.raise_if_any()
        query = ("ListRuns", request.user_id, request.job)
        after = self._pages.decode(request.page_token, tenant_id=tenant_id, query=query)
        passed = internal_pb.ListRunsRequest(
            user_id=request.user_id, job=request.job, before_run_id=str(after[0]) if after else "", limit=size + 1
        )
        left = seconds_left(self._deadline_seconds)
        runs = await self._maintaining.runs(current_principal(), passed, seconds_left=left)
        cursor = (runs[size - 1].run_id,) if len(runs) > size else None
        token = self._pages.next_token(cursor, tenant_id=tenant_id, query=query)
        return pb.ListRunsResponse(runs=runs[:size], next_page_token=token)

    async def GetRun(self, request: pb.GetRunRequest, context: Context) -> pb.GetRunResponse:
        """See the proto."""
        tenant_id = current_principal().tenant_id
        v = Violations()
        v.identifier("user_id", request.user_id, chars_max=_ID_CHARS_MAX)
        v.uuid("run_id", request.run_id)
        size = v.page_size(request.page_size, default=_CHANGES_MAX, maximum=_CHANGES_MAX)
        v.raise_if_any()
        query = ("GetRun", request.user_id, request.run_id)
        after = self._pages.decode(request.page_token, tenant_id=tenant_id, query=query)
        first = int(after[0]) if after else 0
        passed = internal_pb.GetRunRequest(
            user_id=request.user_id, run_id=request.run_id, first_change=first, limit=size
        )
        left = seconds_left(self._deadline_seconds)
        response = await self._maintaining.get_run(current_principal(), passed, seconds_left=left)
        cursor = (first + len(response.changes),) if response.has_more else None
        token = self._pages.next_token(cursor, tenant_id=tenant_id, query=query)
        return pb.GetRunResponse(run=response.run, changes=response.changes, next_page_token=token)

    async def UndoRun(self, request: pb.UndoRunRequest, context: Context) -> pb.UndoRunResponse:
        """See the proto."""
        passed = internal_pb.UndoRunRequest(
            request_id=request.request_id, user_id=request.user_id, run_id=request.run_id
        )
        left = seconds_left(self._deadline_seconds)
        undone = await self._maintaining.undo(current_principal(), passed, seconds_left=left)
        return pb.UndoRunResponse(undone_count=undone)

    async def ResumeJob(self, request: pb.ResumeJobRequest, context: Context) -> pb.ResumeJobResponse:
        """See the proto."""
        _check(request_id=request.request_id, job=request.job)
        passed = internal_pb.ResumeJobRequest(request_id=request.request_id, job=request.job)
        left = seconds_left(self._deadline_seconds)
        await self._maintaining.resume(current_principal(), passed, seconds_left=left)
        return pb.ResumeJobResponse()


def _check(*, job: str, request_id: str | None = None, user_id: str | None = None) -> None:
    """Before the job names the tier, which would say NOT_FOUND first."""
    v = Violations()
    if request_id is not None:
        v.identifier("request_id", request_id, chars_max=_ID_CHARS_MAX)
    if user_id is not None:
        v.identifier("user_id", user_id, chars_max=_ID_CHARS_MAX)
    v.text("job", job, chars_max=_JOB_CHARS_MAX)
    v.raise_if_any()


def maintenance_binding(servicer: MaintenanceServicer) -> ServiceBinding:
    """The service, for a server."""
    return ServiceBinding(
        "mneme.gateway.v1.MaintenanceService",
        maintenance_pb2_grpc.add_MaintenanceServiceServicer_to_server,
        servicer,
        ROLES,
    )

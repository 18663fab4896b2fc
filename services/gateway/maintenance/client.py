"""The maintenance of a tier, as the gateway calls it."""

from __future__ import annotations

import grpc

from mneme.common.internal.v1 import maintenance_pb2, maintenance_pb2_grpc
from services.common.auth import Principal
from services.gateway.upstream_client import MetadataSource, TierClient


class MaintenanceClient(TierClient):
    """The maintenance of one tier."""

    def __init__(self, channel: grpc.aio.Channel, metadata: MetadataSource, name: str) -> None:
        """Calls over the channel of the tier of this name."""
        super().__init__(name, metadata)
        self._stub = maintenance_pb2_grpc.MaintenanceInternalServiceStub(channel)

    async def get_jobs(
        self, principal: Principal, request: maintenance_pb2.GetJobsRequest, *, timeout_seconds: float
    ) -> maintenance_pb2.GetJobsResponse:
        """See MaintenanceInternalService.GetJobs."""
        return await self._call(self._stub.GetJobs, request, principal, timeout_seconds)

    async def run_job(
        self, principal: Principal, request: maintenance_pb2.RunJobRequest, *, timeout_seconds: float
    ) -> maintenance_pb2.RunJobResponse:
        """See MaintenanceInternalService.RunJob."""
        return await self._call(self._stub.RunJob, request, principal, timeout_seconds)

    async def list_runs(
        self, principal: Principal, request: maintenance_pb2.ListRunsRequest, *, timeout_seconds: float
    ) -> maintenance_pb2.ListRunsResponse:
        """See MaintenanceInternalService.ListRuns."""
        return await self._call(self._stub.ListRuns, request, principal, timeout_seconds)

    async def get_run(
        self, principal: Principal, request: maintenance_pb2.GetRunRequest, *, timeout_seconds: float
    ) -> maintenance_pb2.GetRunResponse:
        """See MaintenanceInternalService.GetRun."""
        return await self._call(self._stub.GetRun, request, principal, timeout_seconds)

    async def undo_run(
        self, principal: Principal, request: maintenance_pb2.UndoRunRequest, *, timeout_seconds: float
    ) -> maintenance_pb2.UndoRunResponse:
        """See MaintenanceInternalService.UndoRun."""
        return await self._call(self._stub.UndoRun, request, principal, timeout_seconds)

    async def resume_job(
        self, principal: Principal, request: maintenance_pb2.ResumeJobRequest, *, timeout_seconds: float
    ) -> maintenance_pb2.ResumeJobResponse:
        """See MaintenanceInternalService.ResumeJob."""
        return await self._call(self._stub.ResumeJob, request, principal, timeout_seconds)

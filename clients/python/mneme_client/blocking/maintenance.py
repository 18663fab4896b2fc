# Generated from aio/maintenance.py by `make client`, not to be edited.
"""Maintenance: jobs on memories, what their runs changed, and taking runs back."""

from __future__ import annotations

from collections.abc import Iterator

from mneme.gateway.v1 import maintenance_pb2
from mneme_client import from_wire_maintenance as from_wire
from mneme_client import results_maintenance as r
from mneme_client import to_wire
from mneme_client.blocking.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_nothing, read_one, read_page

_SERVICE = "/mneme.gateway.v1.MaintenanceService"


class MaintenanceOperations(Operations):
    """Runs jobs for one user, lists runs, takes them back."""

    def get_jobs(self, *, timeout_seconds: float | None = None) -> r.MaintenanceJobs:
        """The jobs of all tiers, with how their scheduled runs went."""
        request, response = maintenance_pb2.GetJobsRequest(), maintenance_pb2.GetJobsResponse
        return self._call(Call(f"{_SERVICE}/GetJobs", request, response, from_wire.jobs), timeout_seconds)

    def run_job(
        self,
        user_id: str,
        job: str,
        *,
        dry_run: bool = False,
        retired_max: int | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.MaintenanceRun:
        """Runs a job for one user now.

        Args:
            user_id: Whose memories.
            job: Its name, as `get_jobs` lists it.
            dry_run: Only report what would be done, with the first 200 changes.
            retired_max: Memories that the run may retire, below the job's own cap; None means that cap.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = maintenance_pb2.RunJobRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            job=job,
            dry_run=dry_run,
            retired_max=retired_max,
        )
        read = from_wire.run_with_changes
        return self._call(Call(f"{_SERVICE}/RunJob", request, maintenance_pb2.RunJobResponse, read), timeout_seconds)

    def list_runs(
        self,
        user_id: str,
        *,
        job: str = "",
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> Iterator[r.MaintenanceRun]:
        """Runs that changed something of a user, newest first; pages are fetched as they are needed."""
        request = maintenance_pb2.ListRunsRequest(user_id=user_id, job=job, page_size=page_size)
        read = read_page("runs", from_wire.run)
        return self._pages(
            Call(f"{_SERVICE}/ListRuns", request, maintenance_pb2.ListRunsResponse, read), timeout_seconds
        )

    def get_run(self, user_id: str, run_id: str, *, timeout_seconds: float | None = None) -> r.MaintenanceRun:
        """A run with the first 1,000 of its changes; `list_run_changes` returns all of them."""
        request = maintenance_pb2.GetRunRequest(user_id=user_id, run_id=run_id)
        call = Call(f"{_SERVICE}/GetRun", request, maintenance_pb2.GetRunResponse, from_wire.run_with_changes)
        return self._call(call, timeout_seconds)

    def list_run_changes(
        self, user_id: str, run_id: str, *, page_size: int = 0, timeout_seconds: float | None = None
    ) -> Iterator[r.MaintenanceChange]:
        """All changes of a run, in the order in which they were made; pages are fetched as they are needed."""
        request = maintenance_pb2.GetRunRequest(user_id=user_id, run_id=run_id, page_size=page_size)
        read = read_page("changes", from_wire.change)
        return self._pages(Call(f"{_SERVICE}/GetRun", request, maintenance_pb2.GetRunResponse, read), timeout_seconds)

    def undo_run(
        self, user_id: str, run_id: str, *, request_id: str | None = None, timeout_seconds: float | None = None
    ) -> int:
        """Takes a run back; returns how many changes were. What was changed since stays as it is."""
        request = maintenance_pb2.UndoRunRequest(
            request_id=request_id or to_wire.new_request_id(), user_id=user_id, run_id=run_id
        )
        read = read_one("undone_count", int)
        return self._call(Call(f"{_SERVICE}/UndoRun", request, maintenance_pb2.UndoRunResponse, read), timeout_seconds)

    def resume_job(self, job: str, *, request_id: str | None = None, timeout_seconds: float | None = None) -> None:
        """Lets a job that failed three times be scheduled again. Needs the role admin."""
        request = maintenance_pb2.ResumeJobRequest(request_id=request_id or to_wire.new_request_id(), job=job)
        call = Call(f"{_SERVICE}/ResumeJob", request, maintenance_pb2.ResumeJobResponse, read_nothing)
        self._call(call, timeout_seconds)

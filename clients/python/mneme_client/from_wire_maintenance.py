"""From the messages of MaintenanceService to results."""

from __future__ import annotations

import json
from collections.abc import Iterable

from mneme.common.v1 import maintenance_pb2 as resources
from mneme.gateway.v1 import maintenance_pb2
from mneme_client import results_maintenance as r
from mneme_client.from_wire import moment


def jobs(message: maintenance_pb2.GetJobsResponse) -> r.MaintenanceJobs:
    """The jobs of all tiers."""
    return r.MaintenanceJobs(tuple(map(_job, message.jobs)), tuple(message.unavailable_tiers))


def run(message: resources.MaintenanceRun, changes: Iterable[resources.MaintenanceChange] = ()) -> r.MaintenanceRun:
    """A run."""
    return r.MaintenanceRun(
        run_id=message.run_id,
        job=message.job,
        dry_run=message.dry_run,
        busy=message.busy,
        planned_count=message.planned_count,
        over_cap_count=message.over_cap_count,
        memory_count=message.memory_count,
        applied_count=message.applied_count,
        retired_count=message.retired_count,
        create_time=moment(message, "create_time"),
        undone=message.undone,
        changes=tuple(map(change, changes)),
    )


def change(message: resources.MaintenanceChange) -> r.MaintenanceChange:
    """A change that a run made, or would make."""
    return r.MaintenanceChange(message.action, message.target, json.loads(message.facts or "{}"))


def run_with_changes(message: maintenance_pb2.RunJobResponse | maintenance_pb2.GetRunResponse) -> r.MaintenanceRun:
    """A run with its changes."""
    return run(message.run, message.changes)


def _job(message: resources.MaintenanceJob) -> r.MaintenanceJob:
    return r.MaintenanceJob(
        name=message.name,
        description=message.description,
        interval=message.interval.ToTimedelta() if message.HasField("interval") else None,
        for_user=message.for_user,
        failure_count=message.failure_count,
        stopped=message.stopped,
        complete_time=moment(message, "complete_time"),
    )

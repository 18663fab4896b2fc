"""Metrics of maintenance: how runs ended, and how many memories they took out of use."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from services.common.maintenance.model import RunReport
from services.common.telemetry.instruments import counter, observe

RUN_RESULTS: Final = ("changed", "wrote_nothing", "over_cap", "nothing_to_do", "failed")


class MaintenanceMetrics:
    """Counts the runs of one process, by job. Dry runs, and runs that another replica has claimed, do not count."""

    def __init__(self) -> None:
        """Use the process's meter, which must be configured by now."""
        self._runs = counter("mneme.maintenance.runs", "Maintenance runs by result.")
        self._changes = counter("mneme.maintenance.changes", "Changes that maintenance made.")
        self._retired = counter("mneme.maintenance.retired", "Memories that maintenance took out of use.")
        self._over_cap = counter("mneme.maintenance.over_cap", "Memories that stayed in use because of a run's cap.")
        self._memories: dict[str, float] = {}
        self._completed: dict[str, float] = {}
        description = "Memories that the last complete run of a job looked at."
        observe("mneme.maintenance.memories", description, "maintenance_job", lambda: dict(self._memories))
        description = "When a job was last completed, in seconds since 1970."
        observe("mneme.maintenance.completed", description, "maintenance_job", lambda: dict(self._completed), unit="s")

        self._failures: dict[str, float] = {}
        description = "Scheduled runs of a job that failed in a row; at 3 it stops until it is resumed."
        observe("mneme.maintenance.failures", description, "maintenance_job", lambda: dict(self._failures))

    def failed(self, job: str, failures: int) -> None:
        """Take in how often a job failed in a row."""
        self._failures = {**self._failures, job: failures}

    def record(self, report: RunReport, *, is_finished: bool, now: datetime) -> None:
        """Take in one run, complete or failed."""
        job = {"maintenance_job": report.job}
        found = run_result(report, is_finished=is_finished)
        for result in RUN_RESULTS:  # the others as zero, so that their first run is seen as an increase
            self._runs.add(int(result == found), {**job, "result": result})
        self._changes.add(report.applied, job)
        self._retired.add(report.retired if report.applied else 0, job)
        self._over_cap.add(report.over_cap, job)
        if is_finished:
            self._memories = {**self._memories, report.job: report.memories}
            self._completed = {**self._completed, report.job: now.timestamp()}


def run_result(report: RunReport, *, is_finished: bool) -> str:
    """Which of `RUN_RESULTS` a run ended with."""
    if not is_finished:
        return "failed"
    if report.applied:
        return "changed"
    if report.attempted:
        return "wrote_nothing"  # changes were planned, and not one was made
    return "over_cap" if report.over_cap else "nothing_to_do"

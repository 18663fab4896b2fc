"""A tier's jobs: their schedule, and the use cases of `MaintenanceInternalService`."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, TypeVar

from services.common.background import BackgroundWork, every
from services.common.clock import Clock
from services.common.errors import FailedPrecondition, NotFound
from services.common.idempotency.model import Idempotency, IdempotencyKey, IdempotencyRecords, request_id_reused
from services.common.maintenance.model import Change, Job, RunReport
from services.common.maintenance.runner import FAILURES_MAX, MaintenanceRunner
from services.common.maintenance.store import JobState, MaintenanceStore, RunSummary
from services.common.owners import Owner, TenantId, UserId

_T = TypeVar("_T")

_START_SECONDS: Final = 60.0
"""After the start of a process, before its first job: requests come first."""


_PURGE_SECONDS: Final = 3_600.0
"""Between two removals of old entries of the log."""
_PURGE_MAX: Final = 1_000
"""Entries that one statement removes."""


@dataclass(frozen=True, slots=True)
class TierJob:
    """A job and when it runs."""

    job: Job[Any]
    description: str  # what it does, in one sentence
    interval_seconds: float | None = None  # from a complete run to the next; None: something else starts it
    for_user: bool = True  # whether it can be run for one user


@dataclass(frozen=True, slots=True)
class JobReport:
    """A job as it stands."""

    job: TierJob
    state: JobState

    @property
    def is_stopped(self) -> bool:
        """Whether it failed too often to be scheduled."""
        return self.state.failures >= FAILURES_MAX


@dataclass(frozen=True, slots=True)
class RunDetails:
    """A run with its changes."""

    run: RunSummary
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class _Undone:
    count: int


@dataclass(frozen=True, slots=True)
class _Resumed:
    job: str


class TierMaintenance:
    """Runs jobs at their intervals, and for one user on request."""

    def __init__(
        self,
        runner: MaintenanceRunner,
        store: MaintenanceStore,
        jobs: Sequence[TierJob],
        clock: Clock,
        *,
        retention_seconds: float,
        log_days: float | None = None,
    ) -> None:
        """Runs `jobs` by `runner`.

        Responses to request ids are stored for `retention_seconds` at least; the log for `log_days`, None: for ever;
        what of it was taken back as long as `runner` heeds it where that is longer.
        """
        self._runner = runner
        self._store = store
        self._jobs = {each.job.name: each for each in sorted(jobs, key=lambda each: each.job.name)}
        self._tier = next(iter(self._jobs), "").partition(".")[0]
        self._clock = clock
        self._log_time = None if log_days is None else timedelta(days=log_days)
        self._reports = Idempotency(RunReport, retention_seconds=retention_seconds)
        self._undone = Idempotency(_Undone, retention_seconds=retention_seconds)
        self._resumed = Idempotency(_Resumed, retention_seconds=retention_seconds)

    def start(self, background: BackgroundWork[str]) -> None:
        """Runs each job that has an interval until `background` is closed, and purges the log."""
        if self._log_time is not None:
            background.keep_running("purge-maintenance-log", every(_PURGE_SECONDS, self.purge_log))
        for each in self._jobs.values():
            if each.interval_seconds is not None:
                background.keep_running(each.job.name, functools.partial(self._run_always, each, each.interval_seconds))

    async def purge_log(self) -> None:
        """Removes what is older than the retention of the log."""
        if self._log_time is not None:
            now = self._clock.now()
            before, undone_before = now - self._log_time, now - self._runner.undone_time
            removed = _PURGE_MAX
            while removed == _PURGE_MAX:
                removed = await self._store.purge_log(before=before, undone_before=undone_before, limit=_PURGE_MAX)

    async def _run_always(self, each: TierJob, interval_seconds: float) -> None:
        pause = min(_START_SECONDS, interval_seconds)
        while True:
            await asyncio.sleep(pause)
            pause = await self.run_when_due(each, interval_seconds)

    async def run_when_due(self, each: TierJob, interval_seconds: float) -> float:
        """Runs a job over the whole store if its interval is over; returns the seconds until it is due again.

        The time of the last complete run is the store's, so that replicas and restarts add no runs.
        """
        state = (await self._store.job_states([each.job.name])).get(each.job.name, JobState())
        if state.complete_time is not None:
            left = interval_seconds - (self._clock.now() - state.complete_time).total_seconds()
            if left > 0:
                return left
        report = await self._runner.run(each.job)
        # A job that is stopped is looked at again soon, so that it runs once somebody resumes it.
        return min(_START_SECONDS, interval_seconds) if report.is_cut or report.is_stopped else interval_seconds

    async def check(self) -> None:
        """Fails while a job is stopped; see `ServiceBinding.conditions`.

        Raises:
            FailedPrecondition: Some are.
        """
        stopped = [report.job.job.name for report in await self.jobs() if report.is_stopped]
        if stopped:
            raise FailedPrecondition(f"maintenance jobs failed too often and are stopped: {', '.join(stopped)}")

    async def jobs(self) -> Sequence[JobReport]:
        """The jobs, by name."""
        states = await self._store.job_states(list(self._jobs))
        return [JobReport(each, states.get(name, JobState())) for name, each in self._jobs.items()]

    async def run(self, owner: Owner, key: IdempotencyKey, job: str, *, retired_max: int | None = None) -> RunReport:
        """Runs a job for one user now. A repeat of the request returns the first report.

        Raises:
            NotFound: There is no such job.
            FailedPrecondition: It works on a store as a whole.
            InvalidArgument: The request id was used for something else.
        """
        chosen = self._for_user(job)

        async def find(records: IdempotencyRecords) -> bool:
            record = await records.find(key)
            if record is not None and record.key.digest != key.digest:
                raise request_id_reused()
            return record is not None

        report = RunReport(run_id="", job=job)
        if not await self._store.with_requests(owner.tenant_id, find):
            report = await self._runner.run(chosen.job, owner=owner, retired_max=retired_max)

        async def first() -> RunReport:
            return report

        # Not in the transaction of the run, which takes long: of two requests at once the second finds the job claimed.
        return await self._once(self._reports, owner.tenant_id, key, first, owner.user_id)

    async def look(
        self, owner: Owner, job: str, *, retired_max: int | None = None
    ) -> tuple[RunReport, Sequence[Change]]:
        """What a run for one user would do, with the first of its changes.

        Raises:
            NotFound: There is no such job.
            FailedPrecondition: It works on a store as a whole.
        """
        chosen, changes = self._for_user(job).job, list[Change]()
        report = await self._runner.run(chosen, owner=owner, dry_run=True, retired_max=retired_max, shown=changes)
        return report, changes

    async def runs(self, owner: Owner, *, job: str, before_run_id: str, limit: int) -> Sequence[RunSummary]:
        """Runs that changed something of a user, newest first."""
        jobs = [job] if job else list(self._jobs)
        return await self._store.runs(owner, jobs=jobs, before_run_id=before_run_id, limit=limit)

    async def get_run(self, owner: Owner, run_id: str) -> RunDetails:
        """A run with its changes.

        Raises:
            NotFound: No run of this id changed anything of the user.
        """
        found = await self._store.runs(owner, jobs=list(self._jobs), before_run_id="", run_id=run_id, limit=1)
        if not found:
            raise NotFound("maintenance run", run_id)
        entries = await self._store.entries(run_id, owner=owner)
        return RunDetails(found[0], tuple(c for entry in entries if entry.is_applied for c in entry.changes))

    async def undo(self, owner: Owner, key: IdempotencyKey, run_id: str) -> int:
        """Takes a run back as far as it concerns a user; returns how many changes were taken back.

        Raises:
            NotFound: No run of this id changed anything of the user.
            InvalidArgument: The request id was used for something else.
        """

        async def undo() -> _Undone:
            details = await self.get_run(owner, run_id)
            return _Undone(await self._runner.undo(self._jobs[details.run.job].job, run_id, owner=owner))

        return (await self._once(self._undone, owner.tenant_id, key, undo, owner.user_id)).count

    async def resume(self, tenant_id: TenantId, key: IdempotencyKey, job: str) -> None:
        """Lets a stopped job be scheduled again.

        Raises:
            NotFound: There is no such job.
            InvalidArgument: The request id was used for something else.
        """

        async def resume() -> _Resumed:
            await self._store.resume(self._named(job).job.name)
            return _Resumed(job)

        await self._once(self._resumed, tenant_id, key, resume, UserId(""))

    async def _once(
        self,
        idempotency: Idempotency[_T],
        tenant_id: TenantId,
        key: IdempotencyKey,
        work: Callable[[], Awaitable[_T]],
        user_id: UserId,
    ) -> _T:
        async def run(records: IdempotencyRecords) -> _T:
            # The tier is written down: a copy of an installation takes the record where the tier's jobs go.
            return await idempotency.run(
                records, key, work, now=self._clock.now(), user_id=user_id, resource_id=lambda _: self._tier
            )

        return await self._store.with_requests(tenant_id, run)

    def _named(self, job: str) -> TierJob:
        if job not in self._jobs:
            raise NotFound("maintenance job", job)
        return self._jobs[job]

    def _for_user(self, job: str) -> TierJob:
        chosen = self._named(job)
        if not chosen.for_user:
            raise FailedPrecondition("the job cannot be run for one user, because it works on the whole store")
        return chosen

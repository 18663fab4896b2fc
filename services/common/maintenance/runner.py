"""Runs maintenance jobs: one replica at a time, within the cap, logged, and from where an earlier run stopped."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from contextlib import aclosing
from datetime import timedelta
from typing import Any, Final, cast

import structlog

from services.common.clock import Clock
from services.common.errors import Conflict, MnemeError, StoreUnavailable
from services.common.ids import IdSource
from services.common.maintenance.election import Leader
from services.common.maintenance.fence import writing_under
from services.common.maintenance.metrics import MaintenanceMetrics
from services.common.maintenance.model import Change, HeedsUndone, Job, RunReport, Step
from services.common.maintenance.pace import computed
from services.common.maintenance.store import Claim, JobState, MaintenanceStore
from services.common.owners import Owner

_log = structlog.get_logger(__name__)

FAILURES_MAX: Final = 3
"""Failures in a row after which a job over a whole store stops; outages of a store do not count."""
CHANGES_SHOWN: Final = 200
"""Changes of a dry run that are listed."""
_LEASE: Final = timedelta(seconds=60)
"""How long a process may die before another one takes its job over; longer than any step takes."""


class MaintenanceRunner:
    """Runs jobs on behalf of one process."""

    def __init__(
        self,
        store: MaintenanceStore,
        *,
        clock: Clock,
        ids: IdSource,
        lease: timedelta = _LEASE,
        leader: Leader | None = None,
        seconds_max: float | None = None,
        undone_days: float = 365.0,
    ) -> None:
        """Claims and logs in `store`.

        Args:
            store: Of claims and the log.
            clock: The time.
            ids: Of runs.
            lease: How long a claim lasts.
            leader: Jobs over a whole store run only while this replica leads.
            seconds_max: How long a run takes; it ends after the step in which the time is over. None: no bound.
            undone_days: How long changes that were taken back are not made again on the same grounds.
        """
        self._store = store
        self._clock = clock
        self._ids = ids
        self._lease = lease
        self._leader = leader
        self._time_max = None if seconds_max is None else timedelta(seconds=seconds_max)
        self.undone_time = timedelta(days=undone_days)
        self._holder = ids.new_id()
        self._metrics = MaintenanceMetrics()
        self._stopped: set[str] = set()  # jobs that were found stopped, which the log says once

    async def run(
        self,
        job: Job[Any],
        *,
        owner: Owner | None = None,
        dry_run: bool = False,
        retired_max: int | None = None,
        shown: list[Change] | None = None,
    ) -> RunReport:
        """Runs a job from where an earlier run stopped, to its end or until its time is over.

        A dry run claims, changes and logs nothing, and has no bound of time.

        A job over a whole store that failed `FAILURES_MAX` times in a row does nothing until it is resumed.

        Args:
            job: What to run.
            owner: Whose memories alone; None for all.
            dry_run: Report what would be done.
            retired_max: How many memories the run may retire, below the job's own cap; None for that cap.
            shown: Takes the first changes that a dry run would make.

        Returns:
            What was done; `is_claimed` is false where another replica runs the job.

        Raises:
            MnemeError: A store cannot be reached. The next run goes on with the step that failed.
        """
        run_id = self._ids.new_id()
        if dry_run:
            report = RunReport(run_id=run_id, job=job.name, dry_run=True)
            return await self._look(job, owner, report, retired_max, shown)
        if owner is None and await self._is_stopped(job.name):
            return RunReport(run_id=run_id, job=job.name, is_stopped=True)
        term = 0
        if self._leader is not None and owner is None:  # a run for one owner is asked for, at whichever replica
            leads = await self._leader.settled_term()
            if leads is None:
                return RunReport(run_id=run_id, job=job.name, is_claimed=False)
            term = leads
        claim = await self._store.claim(
            job.name, owner, holder=self._holder, run_id=run_id, now=self._clock.now(), lease=self._lease, term=term
        )
        if claim is None:
            return RunReport(run_id=run_id, job=job.name, is_claimed=False)
        report = RunReport(run_id=claim.run_id, job=job.name)
        is_finished = is_failed = False
        try:
            allowed = await self._allowed_of_store(job, owner, report) if job.cap.of_store else None
            if allowed is not None or not job.cap.of_store:
                await self._run_claimed(job, owner, claim, report, _Budget(job, allowed, retired_max))
            is_finished = not report.is_cut
        except (StoreUnavailable, Conflict):
            raise  # an outage ends, and a replica that was replaced has a successor: neither is the job's fault
        except Exception:
            is_failed = True
            raise
        finally:
            now = self._clock.now()
            self._metrics.record(report, is_finished=is_finished or report.is_cut, now=now)
            with contextlib.suppress(MnemeError):  # the lease ends by itself
                await self._store.release(claim, is_finished=is_finished, is_failed=is_failed, now=now)
        if report.applied or report.over_cap:
            counts = {"applied": report.applied, "retired": report.retired, "over_cap": report.over_cap}
            _log.info("maintenance_run", job=job.name, run_id=report.run_id, **counts)
        return report

    async def _is_stopped(self, job: str) -> bool:
        state = (await self._store.job_states([job])).get(job, JobState())
        self._metrics.failed(job, state.failures)
        is_stopped = state.failures >= FAILURES_MAX
        if is_stopped and job not in self._stopped:
            self._stopped.add(job)
            _log.error("maintenance_stopped", job=job, failures=state.failures)
        elif not is_stopped:
            self._stopped.discard(job)
        return is_stopped

    async def undo(self, job: Job[Any], run_id: str, *, owner: Owner | None = None) -> int:
        """Takes the changes of a run back, the last first. Returns how many were; may be repeated.

        With an owner those about their memories alone.

        Raises:
            MnemeError: A store cannot be reached; repeat it.
        """
        count = 0
        for entry in reversed(await self._store.entries(run_id, owner=owner)):
            if entry.job == job.name and not entry.is_undone:
                count += await job.undo(entry.owner, entry.changes[::-1])
                await self._store.log_undone(entry.owner, entry.entry_id)
        return count

    async def _look(
        self,
        job: Job[Any],
        owner: Owner | None,
        report: RunReport,
        retired_max: int | None = None,
        shown: list[Change] | None = None,
    ) -> RunReport:
        budget = _Budget(job, retired_max=retired_max)
        async with aclosing(job.steps(after="", owner=owner)) as steps:  # type: ignore[type-var]
            async for step in steps:
                changes = await self._planned(job, step, report, budget)
                report.retired += sum(change.retires for change in changes)
                if shown is not None:
                    shown.extend(changes[: max(0, CHANGES_SHOWN - len(shown))])
        return report

    async def _allowed_of_store(self, job: Job[Any], owner: Owner | None, report: RunReport) -> int | None:
        """How much a run over a store may retire, found by a dry run; None where there is nothing to do or too much."""
        seen = await self._look(job, owner, RunReport(run_id=report.run_id, job=job.name, dry_run=True))
        allowed = job.cap.allowed(seen.memories)
        if seen.planned and seen.retired <= allowed:
            return allowed
        report.steps, report.memories, report.planned = seen.steps, seen.memories, seen.planned
        if seen.planned:
            report.over_cap = seen.retired
            counts = {"memories": seen.memories, "would_retire": seen.retired, "allowed": allowed}
            _log.error("maintenance_over_cap", job=job.name, **counts)
        return None

    async def _run_claimed(
        self, job: Job[Any], owner: Owner | None, claim: Claim, report: RunReport, budget: _Budget
    ) -> None:
        started = renewed = self._clock.now()
        async with aclosing(job.steps(after=claim.cursor, owner=owner)) as steps:  # type: ignore[type-var]
            async for step in steps:
                changes = await self._planned(job, step, report, budget)
                if changes:
                    await self._apply(job, claim, step.owner, changes, report)
                now = self._clock.now()
                report.is_cut = self._time_max is not None and now - started >= self._time_max
                if changes or report.is_cut or now - renewed >= self._lease / 3:
                    renewed = now
                    await self._store.renew(claim, cursor=step.cursor, now=renewed, lease=self._lease)
                if report.is_cut:
                    return

    async def _planned(self, job: Job[Any], step: Step[Any], report: RunReport, budget: _Budget) -> list[Change]:
        planned = await self._without_undone(job, step)
        changes = budget.admitted(step, planned)
        report.steps += 1
        report.memories += step.memory_count
        report.planned += len(planned)
        report.over_cap += sum(change.retires for change in planned) - sum(change.retires for change in changes)
        return changes

    async def _without_undone(self, job: Job[Any], step: Step[Any]) -> Sequence[Change]:
        """What a job plans, without what was taken back and is called for by the same as then."""
        state, undone = step.state, None
        if isinstance(state, HeedsUndone):
            undone = await self._undone(job, step.owner)
            state = dataclasses.replace(cast("Any", state), undone=undone)
        # A pure function that may take long: requests are served meanwhile.
        planned = await computed(job.plan, state, self._clock.now())
        if not any(change.grounds for change in planned):
            return planned
        if undone is None:
            undone = await self._undone(job, step.owner)
        return [change for change in planned if undone.isdisjoint(change.grounds)]

    async def _undone(self, job: Job[Any], owner: Owner | None) -> frozenset[str]:
        if owner is None:
            return frozenset()
        return await self._store.undone(owner, job.name, since=self._clock.now() - self.undone_time)

    async def _apply(
        self, job: Job[Any], claim: Claim, owner: Owner | None, changes: Sequence[Change], report: RunReport
    ) -> None:
        report.attempted += len(changes)
        entry_id = await self._store.log_planned(claim, owner, changes, self._clock.now())
        with writing_under(claim):
            made = await job.apply(owner, changes)
        await self._store.log_applied(owner, entry_id, made)
        report.applied += len(made)
        report.retired += sum(change.retires for change in made)


class _Budget:
    """How many memories a run may still retire, of each owner or of the store."""

    def __init__(self, job: Job[Any], allowed: int | None = None, retired_max: int | None = None) -> None:
        """With `allowed`, of the whole store; never more than `retired_max`."""
        self._cap = job.cap
        self._allowed = allowed
        self._retired_max = retired_max
        self._retired: dict[Owner | None, int] = {}

    def admitted(self, step: Step[Any], changes: Sequence[Change]) -> list[Change]:
        """The changes that are within the cap, in their order."""
        if self._cap.of_store and self._allowed is None:
            return list(changes)  # a dry run finds out how many there are
        key = None if self._cap.of_store else step.owner
        allowed = self._cap.allowed(step.memory_count) if self._allowed is None else self._allowed
        if self._retired_max is not None:
            allowed = min(allowed, self._retired_max)
        retired = self._retired.get(key, 0)
        found: list[Change] = []
        for change in changes:
            if retired + change.retires <= allowed or not change.retires:
                retired += change.retires
                found.append(change)
        self._retired[key] = retired
        return found

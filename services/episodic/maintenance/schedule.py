"""When the jobs run that reconcile the index with the store."""

from __future__ import annotations

import asyncio
from typing import Any

from services.common.background import BackgroundWork
from services.common.maintenance import Job, MaintenanceRunner, RunReport
from services.common.maintenance.tier import TierJob
from services.episodic.config import IndexerSettings
from services.episodic.maintenance.orphans import CollectOrphans
from services.episodic.maintenance.reconciliation import ReconcileIndex
from services.episodic.maintenance.retention import RetainEpisodes
from services.episodic.maintenance.token_backfill import TokenBackfill


class IndexUpkeep:
    """Compares index and store at the start, after suspected losses, and at intervals; then collects orphans.

    Of several replicas one does the work; the others try again after a while.
    """

    def __init__(
        self,
        runner: MaintenanceRunner,
        reconcile: ReconcileIndex,
        orphans: CollectOrphans,
        backfill: TokenBackfill | None,
        settings: IndexerSettings,
        *,
        retain: RetainEpisodes | None = None,
        retain_seconds: float = 86_400.0,
    ) -> None:
        """Runs the jobs by `runner`; without `backfill` no token vectors are stored, without `retain` nothing fades."""
        self._retain = retain
        self._retain_seconds = retain_seconds
        self._runner = runner
        self._reconcile = reconcile
        self._orphans = orphans
        self._backfill = backfill
        self._settings = settings
        self._doubt = asyncio.Event()
        self._compared = asyncio.Event()

    def start(self, background: BackgroundWork[str]) -> None:
        """Runs the jobs until `background` is closed."""
        background.keep_running("reconcile-index", self._compare)
        background.keep_running("collect-orphans", self._collect)
        if self._backfill is not None:
            background.keep_running("backfill-tokens", self._fill)
        if self._retain is not None:
            background.keep_running("retain-episodes", self._fade)

    def jobs(self) -> list[TierJob]:
        """The jobs of the index, which this class runs: at the start, after suspected losses, and at intervals."""
        found = [
            TierJob(self._reconcile, "Compares the index with the store and has indexed what is missing."),
            TierJob(self._orphans, "Removes points of episodes that are not in the store.", for_user=False),
        ]
        if self._backfill is not None:
            about = "Makes token vectors of episodes that have none of the present model."
            found.append(TierJob(self._backfill, about, for_user=False))
        return found

    def compare_soon(self) -> None:
        """Reports that the index may lack what it once had, such as after an outage of it."""
        self._doubt.set()

    async def _compare(self) -> None:
        rounds = 0
        while True:
            self._doubt.clear()
            await self._run(self._reconcile)
            self._compared.set()
            rounds += 1
            await asyncio.sleep(self._settings.retry_seconds(rounds))
            try:
                async with asyncio.timeout(self._settings.compare_seconds):
                    await self._doubt.wait()
            except TimeoutError:
                rounds = 0

    async def _collect(self) -> None:
        """Behind each comparison; this takes long, and holds up no other comparison."""
        while True:
            await self._compared.wait()
            self._compared.clear()
            is_clean = False
            try:
                is_clean = not (await self._run(self._orphans)).applied
            finally:
                if not is_clean:
                    self.compare_soon()  # what was removed may have hidden from the counts what is missing

    async def _fill(self) -> None:
        """At intervals: replicas may be of an older release."""
        while self._backfill is not None:
            await self._run(self._backfill)
            await asyncio.sleep(self._settings.compare_seconds)

    async def _fade(self) -> None:
        while self._retain is not None:
            await self._run(self._retain)
            await asyncio.sleep(self._retain_seconds)

    async def _run(self, job: Job[Any]) -> RunReport:
        """Runs a job, waiting until no other replica does, and until somebody resumes it where it is stopped."""
        # Nothing signals either.
        while True:
            report = await self._runner.run(job)
            if report.is_claimed and not report.is_stopped:
                return report
            await asyncio.sleep(self._settings.retry_seconds_max)

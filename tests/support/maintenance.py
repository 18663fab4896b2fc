"""Maintenance jobs in tests."""

from __future__ import annotations

from typing import Any, Final

from services.common.clock import Clock
from services.common.ids import Uuid7Ids
from services.common.maintenance import Job, MaintenanceRunner, RunReport
from services.common.maintenance.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresMaintenanceStore
from services.common.postgres.types import Pool
from tests.support.clock import FakeClock

MAINTENANCE: Final = (SCHEMA, MIGRATIONS_FOLDER)
"""The schema of maintenance, for `fresh_postgres`."""


def runner(pool: Pool, clock: Clock | None = None) -> MaintenanceRunner:
    """A replica that runs jobs, with claims and log in PostgreSQL."""
    chosen = clock or FakeClock()
    return MaintenanceRunner(PostgresMaintenanceStore(pool), clock=chosen, ids=Uuid7Ids(chosen))


async def run_job(pool: Pool, job: Job[Any]) -> RunReport:
    """Runs a job once."""
    return await runner(pool).run(job)

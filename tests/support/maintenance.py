"""Maintenance jobs in tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from services.common.clock import Clock
from services.common.errors import StoreUnavailable
from services.common.ids import Uuid7Ids
from services.common.maintenance import Cap, Change, Job, MaintenanceRunner, RunReport, Step
from services.common.maintenance.grounds import grounds
from services.common.maintenance.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresMaintenanceStore
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.types import Pool
from tests.support.clock import FakeClock

MAINTENANCE: Final = (SCHEMA, MIGRATIONS_FOLDER)
"""The schema of maintenance, for `fresh_postgres`."""
ADA: Final = Owner(TenantId("acme"), UserId("ada"))
BEN: Final = Owner(TenantId("acme"), UserId("ben"))


def runner(pool: Pool, clock: Clock | None = None) -> MaintenanceRunner:
    """A replica that runs jobs, with claims and log in PostgreSQL."""
    chosen = clock or FakeClock()
    return MaintenanceRunner(PostgresMaintenanceStore(pool), clock=chosen, ids=Uuid7Ids(chosen))


async def run_job(pool: Pool, job: Job[Any]) -> RunReport:
    """Runs a job once."""
    return await runner(pool).run(job)


@dataclass
class Shelves:
    """A job that retires memories below a weight, each owner a step."""

    memories: dict[Owner, dict[str, float]]
    cap: Cap = field(default_factory=lambda: Cap(share=0.5))
    name: str = "test.weed"
    retired: dict[Owner, set[str]] = field(default_factory=dict)
    looked_at: list[Owner] = field(default_factory=list)
    breaks_at: Owner | None = None  # the process dies there
    fails: bool = False  # the job itself has a fault
    heeds: bool = False  # what was taken back is not retired again while it weighs the same
    kept_meanwhile: set[str] = field(default_factory=set)  # became heavy between plan and apply

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[dict[str, float]]]:
        for each in sorted(self.memories, key=lambda o: o.key):
            if each.key <= after or owner not in {None, each}:
                continue
            self.looked_at.append(each)
            left = {k: v for k, v in self.memories[each].items() if k not in self.retired.get(each, set())}
            yield Step(left, each.key, each, len(self.memories[each]))

    def plan(self, state: dict[str, float], now: datetime) -> Sequence[Change]:
        assert now.tzinfo is not None
        light = sorted((weight, name) for name, weight in state.items() if weight < 0.1)
        seen = {name: (grounds("retire", [name], weight),) if self.heeds else () for weight, name in light}
        return [Change("retire", name, 1, {"weight": weight}, seen[name]) for weight, name in light]

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        assert owner is not None
        if self.fails:
            raise ZeroDivisionError
        if owner == self.breaks_at:
            raise StoreUnavailable("shelves")
        made = [change for change in changes if change.target not in self.kept_meanwhile]
        self.retired.setdefault(owner, set()).update(change.target for change in made)
        return made

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        assert owner is not None
        back = {change.target for change in changes} & self.retired[owner]
        self.retired[owner] -= back
        return len(back)


def shelves(**fields: object) -> Shelves:
    return Shelves({ADA: {"a1": 0.0, "a2": 0.05, "a3": 0.01, "a4": 0.9}, BEN: {"b1": 0.0, "b2": 0.9}}, **fields)  # type: ignore[arg-type]

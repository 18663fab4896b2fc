"""What maintenance returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any


@dataclass(frozen=True, slots=True)
class MaintenanceJob:
    """Work on memories that a tier does by itself at intervals."""

    name: str  # begins with the tier, such as "agentic.consolidate"
    description: str
    interval: timedelta | None  # from a complete run to the next; None where the tier decides
    for_user: bool  # whether it can be run for one user
    failure_count: int  # scheduled runs that failed since the last complete one
    stopped: bool  # it failed three times in a row, and waits for `resume_job`
    complete_time: datetime | None  # of the last complete scheduled run


@dataclass(frozen=True, slots=True)
class MaintenanceJobs:
    """The jobs of all tiers."""

    jobs: tuple[MaintenanceJob, ...]  # by name
    unavailable_tiers: tuple[str, ...]  # did not respond


@dataclass(frozen=True, slots=True)
class MaintenanceChange:
    """One change of a run. It holds ids and numbers, never content."""

    action: str  # such as "archive"
    target: str  # to which memory, by id
    facts: Mapping[str, Any]  # what else undoing it needs


@dataclass(frozen=True, slots=True)
class MaintenanceRun:
    """One run of a job, as far as it concerns one user."""

    run_id: str
    job: str
    dry_run: bool
    busy: bool  # another run of the job for the user was under way: nothing was done
    planned_count: int  # as the next two, in the response of `run_job` alone
    over_cap_count: int  # memories that stay in use because of the cap
    memory_count: int  # memories that were looked at
    applied_count: int  # changes that were made
    retired_count: int  # memories that were taken out of use, or would be
    create_time: datetime | None  # of its first change
    undone: bool
    changes: tuple[MaintenanceChange, ...] = ()  # of a dry run, and of `get_run`

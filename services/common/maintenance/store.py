"""The port of maintenance: claims with cursors, and the log of changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from services.common.idempotency.model import IdempotencyRecords
from services.common.maintenance.model import Change
from services.common.owners import Owner, TenantId

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run a job, for one owner or for a whole store, until the lease ends."""

    job: str
    owner: Owner | None
    holder: str  # who holds it; another holder may take it once the lease has ended
    run_id: str
    cursor: str  # where the run goes on: not "" where an earlier holder did not finish
    term: int = 0  # the fencing token: once the job was claimed in a later term, this claim is void

    @property
    def key(self) -> tuple[str, str]:
        """Tenant and user that it is stored under; empty for a whole store."""
        return ("", "") if self.owner is None else (self.owner.tenant_id, self.owner.user_id)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """The changes of one step."""

    entry_id: int
    run_id: str
    job: str
    owner: Owner | None
    changes: tuple[Change, ...]  # planned; those made, once they were
    is_applied: bool  # False: the process died in between, and some of them may have been made
    is_undone: bool


@dataclass(frozen=True, slots=True)
class JobState:
    """How the runs of a job over a whole store went."""

    failures: int = 0  # since the last complete run
    complete_time: datetime | None = None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run as far as it concerns one owner."""

    run_id: str
    job: str
    time: datetime  # of its first change
    applied: int
    retired: int
    is_undone: bool


class MaintenanceStore(Protocol):
    """What every driver must do."""

    async def claim(
        self,
        job: str,
        owner: Owner | None,
        *,
        holder: str,
        run_id: str,
        now: datetime,
        lease: timedelta,
        term: int = 0,
    ) -> Claim | None:
        """Claims a job; None where another holder's lease of this term lasts, or a later term has claimed it.

        A claim of an earlier term is void, however long its lease lasts.

        A claim that was not released goes on under its run and cursor; else a run of this id begins at "".
        """
        ...

    async def next_term(self) -> int:
        """Draws the number of a leader's term, above all that were drawn before."""
        ...

    async def renew(self, claim: Claim, *, cursor: str, now: datetime, lease: timedelta) -> None:
        """Stores where the run is and prolongs the lease.

        Raises:
            Conflict: Another holder has taken the job.
        """
        ...

    async def release(self, claim: Claim, *, is_finished: bool, now: datetime, is_failed: bool = False) -> None:
        """Gives the claim back. Where the run is finished the next one begins anew, else it goes on at the cursor.

        A finished run sets the count of failures to 0, a failed one adds to it.
        """
        ...

    async def job_states(self, jobs: Sequence[str]) -> Mapping[str, JobState]:
        """How the runs of these jobs over the whole store went; a job that never ran is missing."""
        ...

    async def resume(self, job: str) -> None:
        """Sets the count of failures of a job over the whole store to 0."""
        ...

    async def log_planned(self, claim: Claim, owner: Owner | None, changes: Sequence[Change], now: datetime) -> int:
        """Logs changes before they are made, and returns the entry's id.

        Raises:
            Conflict: Another holder has taken the job.
        """
        ...

    async def log_applied(self, owner: Owner | None, entry_id: int, changes: Sequence[Change]) -> None:
        """Logs which of the changes were made; removes the entry where none was."""
        ...

    async def log_undone(self, owner: Owner | None, entry_id: int) -> None:
        """Logs that an entry was taken back."""
        ...

    async def undone(self, owner: Owner, job: str, *, since: datetime) -> frozenset[str]:
        """The grounds of a job's changes to an owner's memories that were taken back, of entries since a time."""
        ...

    async def entries(self, run_id: str, *, owner: Owner | None = None) -> Sequence[LogEntry]:
        """The entries of a run, oldest first; with an owner those about them alone."""
        ...

    async def runs(
        self, owner: Owner, *, jobs: Sequence[str], before_run_id: str, run_id: str = "", limit: int
    ) -> Sequence[RunSummary]:
        """Runs of these jobs that changed something of an owner, newest first; of one id alone where it is given.

        Args:
            owner: Whose memories.
            jobs: Names.
            before_run_id: Only earlier ones; "" for all.
            run_id: Only this one; "" for all.
            limit: At most so many.
        """
        ...

    async def with_requests(self, tenant_id: TenantId, work: Callable[[IdempotencyRecords], Awaitable[_T]]) -> _T:
        """Runs work on a tenant's idempotency records, all or nothing."""
        ...

    async def purge_log(self, *, before: datetime, undone_before: datetime, limit: int) -> int:
        """Removes entries of any tenants from before a time, at most `limit`; returns how many.

        Those that were taken back only from before `undone_before` too.
        """
        ...

    async def remove_owner(self, owner: Owner) -> int:
        """Removes an owner's entries and claims, and erases the responses about them. Returns how many."""
        ...

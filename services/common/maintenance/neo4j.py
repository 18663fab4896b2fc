"""Claims and the log of maintenance in Neo4j."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, LiteralString, TypeVar

from services.common.errors import Conflict
from services.common.idempotency.model import IdempotencyRecords
from services.common.idempotency.neo4j import IdempotencyQueries, Neo4jIdempotencyRecords
from services.common.maintenance.fence import current_claim
from services.common.maintenance.model import Change
from services.common.maintenance.store import Claim, JobState, LogEntry, RunSummary
from services.common.neo4j.graph import Graph, GraphTransaction, Record
from services.common.owners import Owner, TenantId, UserId

_T = TypeVar("_T")

COMPONENT: Final = "maintenance"
GRAPH_MIGRATIONS_FOLDER: Final = Path(__file__).parent / "graph_migrations"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CLAIM_KEY: Final = "{tenant_id: $tenant_id, user_id: $user_id, job: $job}"
_HELD: Final = "c.holder = $holder AND c.term = $term"

# The first SET is the write lock: of two replicas the second sees what the first has committed.
_CLAIM: Final = f"""
MERGE (c:MaintenanceClaim {_CLAIM_KEY})
ON CREATE SET c.holder = '', c.run_id = '', c.is_open = false, c.cursor = '', c.lease_until = 0, c.term = 0,
    c.failures = 0, c.locks = 0
SET c.locks = c.locks + 1
WITH c
WHERE c.term < $term OR (c.term = $term AND (c.holder = '' OR c.lease_until <= $now))
SET c.holder = $holder, c.run_id = CASE WHEN c.is_open THEN c.run_id ELSE $run_id END, c.is_open = true,
    c.lease_until = $lease_until, c.term = $term
RETURN c.run_id AS run_id, c.cursor AS cursor
"""
_RENEW: Final = f"""
MATCH (c:MaintenanceClaim {_CLAIM_KEY}) SET c.locks = c.locks + 1
WITH c WHERE {_HELD}
SET c.cursor = $cursor, c.lease_until = $lease_until
RETURN true AS renewed
"""
_RELEASE: Final = f"""
MATCH (c:MaintenanceClaim {_CLAIM_KEY}) SET c.locks = c.locks + 1
WITH c WHERE {_HELD}
SET c.holder = '', c.is_open = NOT $is_finished, c.cursor = CASE WHEN $is_finished THEN '' ELSE c.cursor END,
    c.failures = CASE WHEN $is_finished THEN 0 WHEN $is_failed THEN c.failures + 1 ELSE c.failures END,
    c.complete_time = CASE WHEN $is_finished THEN $now ELSE c.complete_time END
"""
_FENCE: Final = f"""
MATCH (c:MaintenanceClaim {_CLAIM_KEY}) SET c.locks = c.locks + 1
WITH c WHERE {_HELD}
RETURN true AS held
"""
_NEXT: Final = """
MERGE (c:MaintenanceCounter {name: $name}) ON CREATE SET c.value = 0
SET c.value = c.value + 1
RETURN c.value AS value
"""
_LOG: Final = """
CREATE (:MaintenanceEntry {
    entry_id: $entry_id, tenant_id: $tenant_id, user_id: $user_id, run_id: $run_id, job: $job, changes: $changes,
    is_applied: false, is_undone: false, create_time: $now
})
"""
_APPLIED: Final = "MATCH (e:MaintenanceEntry {entry_id: $entry_id}) SET e.changes = $changes, e.is_applied = true"
_NOT_APPLIED: Final = "MATCH (e:MaintenanceEntry {entry_id: $entry_id}) DELETE e"
_UNDONE: Final = "MATCH (e:MaintenanceEntry {entry_id: $entry_id}) SET e.is_undone = true"
_TAKEN_BACK: Final = """
MATCH (e:MaintenanceEntry {tenant_id: $tenant_id, user_id: $user_id, job: $job, is_undone: true})
WHERE e.create_time >= $since
RETURN e.changes AS changes
"""
_ENTRY: Final = "e {.entry_id, .tenant_id, .user_id, .run_id, .job, .changes, .is_applied, .is_undone} AS entry"
_ENTRIES: Final[LiteralString] = f"""
MATCH (e:MaintenanceEntry {{run_id: $run_id}})
WHERE $tenant_id IS NULL OR (e.tenant_id = $tenant_id AND e.user_id = $user_id)
RETURN {_ENTRY} ORDER BY e.entry_id
"""
_RUNS: Final = """
MATCH (e:MaintenanceEntry {tenant_id: $tenant_id, user_id: $user_id})
WHERE e.run_id >= '' AND e.is_applied AND e.job IN $jobs AND ($before = '' OR e.run_id < $before)
    AND ($run_id = '' OR e.run_id = $run_id)
WITH e ORDER BY e.run_id DESC, e.entry_id
WITH e.run_id AS run_id, e.job AS job, min(e.create_time) AS time, collect(e.changes) AS changes,
    all(undone IN collect(e.is_undone) WHERE undone) AS is_undone
ORDER BY run_id DESC LIMIT $limit
RETURN run_id, job, time, changes, is_undone
"""
_STATES: Final = """
UNWIND $jobs AS job
MATCH (c:MaintenanceClaim {tenant_id: '', user_id: '', job: job})
RETURN job, c.failures AS failures, c.complete_time AS complete_time
"""
_RESUME: Final = "MATCH (c:MaintenanceClaim {tenant_id: '', user_id: '', job: $job}) SET c.failures = 0"
_PURGE_LOG: Final = """
MATCH (e:MaintenanceEntry) WHERE e.create_time < $before AND (NOT e.is_undone OR e.create_time < $undone_before)
WITH e LIMIT $limit
DELETE e
RETURN count(*) AS removed
"""
# The claim first: an entry that is being noted under it is waited for, and goes too.
_REMOVE: Final = """
CALL () {
    MATCH (c:MaintenanceClaim {tenant_id: $tenant_id, user_id: $user_id})
    WHERE c.job >= ''
    DELETE c
    RETURN count(*) AS claims
}
CALL () {
    MATCH (e:MaintenanceEntry {tenant_id: $tenant_id, user_id: $user_id})
    WHERE e.run_id >= ''
    DELETE e
    RETURN count(*) AS entries
}
RETURN entries + claims AS removed
"""
_IDEMPOTENCY: Final = IdempotencyQueries.of("MaintenanceIdempotencyRecord")


async def check_graph_fence(transaction: GraphTransaction, claim: Claim | None = None) -> None:
    """Refuses the rest of a transaction whose claim another replica has taken over; see `fence.check_fence`.

    Raises:
        Conflict: The claim is another replica's by now.
    """
    current = claim or current_claim()
    if current is not None and not await transaction.run(_FENCE, _held(current)):
        raise _taken_over()


class Neo4jMaintenanceStore:
    """Implements the `MaintenanceStore` port; see there for what each method guarantees."""

    def __init__(self, graph: Graph) -> None:
        """Uses a graph whose migrations have run."""
        self._graph = graph

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
        """See `MaintenanceStore.claim`."""
        wanted = Claim(job, owner, holder, run_id, "", term)
        rows = await self._write(
            _CLAIM, _held(wanted) | {"run_id": run_id, "now": _micros(now), "lease_until": _micros(now + lease)}
        )
        return Claim(job, owner, holder, rows[0]["run_id"], rows[0]["cursor"], term) if rows else None

    async def next_term(self) -> int:
        """See `MaintenanceStore.next_term`."""
        return int((await self._write(_NEXT, {"name": "terms"}))[0]["value"])

    async def renew(self, claim: Claim, *, cursor: str, now: datetime, lease: timedelta) -> None:
        """See `MaintenanceStore.renew`."""
        if not await self._write(_RENEW, _held(claim) | {"cursor": cursor, "lease_until": _micros(now + lease)}):
            raise _taken_over()

    async def release(self, claim: Claim, *, is_finished: bool, now: datetime, is_failed: bool = False) -> None:
        """See `MaintenanceStore.release`."""
        await self._write(
            _RELEASE, _held(claim) | {"is_finished": is_finished, "is_failed": is_failed, "now": _micros(now)}
        )

    async def job_states(self, jobs: Sequence[str]) -> Mapping[str, JobState]:
        """See `MaintenanceStore.job_states`."""
        rows = await self._graph.read(_STATES, {"jobs": list(jobs)})
        return {
            row["job"]: JobState(row["failures"], _moment(row["complete_time"]) if row["complete_time"] else None)
            for row in rows
        }

    async def resume(self, job: str) -> None:
        """See `MaintenanceStore.resume`."""
        await self._write(_RESUME, {"job": job})

    async def log_planned(self, claim: Claim, owner: Owner | None, changes: Sequence[Change], now: datetime) -> int:
        """See `MaintenanceStore.log_planned`."""

        async def log(transaction: GraphTransaction) -> int:
            await check_graph_fence(transaction, claim)
            [row] = await transaction.run(_NEXT, {"name": "entries"})
            fields = {"run_id": claim.run_id, "job": claim.job, "changes": _to_json(changes), "now": _micros(now)}
            await transaction.run(_LOG, _key(owner) | fields | {"entry_id": row["value"]})
            return int(row["value"])

        return await self._graph.write(log)

    async def log_applied(self, owner: Owner | None, entry_id: int, changes: Sequence[Change]) -> None:
        """See `MaintenanceStore.log_applied`."""
        del owner
        if changes:
            await self._write(_APPLIED, {"entry_id": entry_id, "changes": _to_json(changes)})
        else:
            await self._write(_NOT_APPLIED, {"entry_id": entry_id})

    async def log_undone(self, owner: Owner | None, entry_id: int) -> None:
        """See `MaintenanceStore.log_undone`."""
        del owner
        await self._write(_UNDONE, {"entry_id": entry_id})

    async def undone(self, owner: Owner, job: str, *, since: datetime) -> frozenset[str]:
        """See `MaintenanceStore.undone`."""
        rows = await self._graph.read(_TAKEN_BACK, _key(owner) | {"job": job, "since": _micros(since)})
        changes = (change for row in rows for change in json.loads(row["changes"]))
        return frozenset(grounds for change in changes for grounds in change.get("grounds", ()))

    async def entries(self, run_id: str, *, owner: Owner | None = None) -> Sequence[LogEntry]:
        """See `MaintenanceStore.entries`."""
        whose: dict[str, Any] = {"tenant_id": None, "user_id": None} if owner is None else _key(owner)
        return [_entry(row["entry"]) for row in await self._graph.read(_ENTRIES, {"run_id": run_id, **whose})]

    async def runs(
        self, owner: Owner, *, jobs: Sequence[str], before_run_id: str, run_id: str = "", limit: int
    ) -> Sequence[RunSummary]:
        """See `MaintenanceStore.runs`."""
        wanted = {"jobs": list(jobs), "before": before_run_id, "run_id": run_id, "limit": limit}
        found = []
        for row in await self._graph.read(_RUNS, _key(owner) | wanted):
            changes = [change for text in row["changes"] for change in json.loads(text)]
            retired = sum(change["retires"] for change in changes)
            found.append(
                RunSummary(row["run_id"], row["job"], _moment(row["time"]), len(changes), retired, row["is_undone"])
            )
        return found

    async def with_requests(self, tenant_id: TenantId, work: Callable[[IdempotencyRecords], Awaitable[_T]]) -> _T:
        """See `MaintenanceStore.with_requests`."""

        async def run(transaction: GraphTransaction) -> _T:
            return await work(Neo4jIdempotencyRecords(transaction, tenant_id, _IDEMPOTENCY))

        return await self._graph.write(run)

    async def purge_log(self, *, before: datetime, undone_before: datetime, limit: int) -> int:
        """See `MaintenanceStore.purge_log`."""
        times = {"before": _micros(before), "undone_before": _micros(undone_before)}
        return int((await self._write(_PURGE_LOG, times | {"limit": limit}))[0]["removed"])

    async def remove_owner(self, owner: Owner) -> int:
        """See `MaintenanceStore.remove_owner`."""

        async def remove(transaction: GraphTransaction) -> int:
            [row] = await transaction.run(_REMOVE, _key(owner))
            await Neo4jIdempotencyRecords(transaction, owner.tenant_id, _IDEMPOTENCY).erase(owner.user_id)
            return int(row["removed"])

        return await self._graph.write(remove)

    async def _write(self, query: LiteralString, parameters: Mapping[str, Any]) -> list[Record]:
        return await self._graph.write(lambda transaction: transaction.run(query, parameters))


def _held(claim: Claim) -> dict[str, Any]:
    return _key(claim.owner) | {"job": claim.job, "holder": claim.holder, "term": claim.term}


def _key(owner: Owner | None) -> dict[str, Any]:
    if owner is None:
        return {"tenant_id": "", "user_id": ""}
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id}


def _to_json(changes: Sequence[Change]) -> str:
    return json.dumps([change.fields() for change in changes])


def _entry(fields: Mapping[str, Any]) -> LogEntry:
    return LogEntry(
        entry_id=fields["entry_id"],
        run_id=fields["run_id"],
        job=fields["job"],
        owner=Owner(TenantId(fields["tenant_id"]), UserId(fields["user_id"])) if fields["tenant_id"] else None,
        changes=tuple(Change.of(change) for change in json.loads(fields["changes"])),
        is_applied=fields["is_applied"],
        is_undone=fields["is_undone"],
    )


def _micros(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _moment(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def _taken_over() -> Conflict:
    return Conflict("another replica has taken the maintenance job over")

"""A user's memories in a database, a job that runs on them, and what another process does to them meanwhile."""

from __future__ import annotations

import contextlib
import functools
import random
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias

import asyncpg
import pytest

from services.common.errors import Conflict, StoreUnavailable
from services.common.ids import Uuid7Ids
from services.common.maintenance import Job, MaintenanceRunner
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.owners import Owner, TenantId, UserId
from services.episodic.second_index import PairedEpisodeIndex
from services.episodic.stores.edge import EdgeEpisodeIndex
from tests.integration.maintenance.places import SECOND, JobCase, Place
from tests.property.interleavings.other import Disturbance, Kind, OtherProcess, Outcome
from tests.support.clock import FakeClock

_STATEMENTS: Final = ("fetch", "fetchrow", "fetchval", "execute", "executemany")
_INDEX_CALLS: Final = ("put", "remove", "remove_owner", "vectors")
_MOMENTS_MAX: Final = 64
"""About as many as most jobs have here."""
_TABLES: Final = """
    SELECT c.table_schema || '.' || c.table_name FROM information_schema.columns c
    JOIN pg_class p ON p.oid = (c.table_schema || '.' || c.table_name)::regclass AND NOT p.relispartition
    WHERE c.table_schema = ANY ($1) AND c.column_name = 'user_id' AND p.relkind IN ('r', 'p')
"""


Actions: TypeAlias = dict[int, list[Callable[[], Awaitable[None]]]]
"""What happens before which moment, from 1."""


class Moments:
    """Counts what a job does in its stores, statement by statement; something happens before some of them."""

    def __init__(self, actions: Actions) -> None:
        self.count = 0
        self.actions = actions
        self._is_within = False  # of an action: what it does does not count

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """While this is entered, statements to PostgreSQL and calls of the vector index are moments."""
        with pytest.MonkeyPatch.context() as patch:
            for owner, names in ((asyncpg.Connection, _STATEMENTS), (EdgeEpisodeIndex, _INDEX_CALLS)):
                for name in names:
                    patch.setattr(owner, name, self._counted(getattr(owner, name)))
            yield

    def _counted(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        async def call(*arguments: Any, **options: Any) -> Any:
            await self._pass_one()
            return await original(*arguments, **options)

        return call

    async def _pass_one(self) -> None:
        if self._is_within:
            return
        self.count += 1
        self._is_within = True
        try:
            for action in self.actions.pop(self.count, ()):
                await action()
        finally:
            self._is_within = False


@dataclass
class World(ABC):
    """What was stored, what the other process did to it, and what must hold."""

    cases: ClassVar[Sequence[JobCase]]

    number: int
    place: Place
    other: OtherProcess
    superuser: asyncpg.Connection[asyncpg.Record]
    schema: str
    case: JobCase | None = None  # the job that runs; None: any of `cases`
    originals: dict[str, str] = field(default_factory=dict)  # texts of memories by their ids
    sources: dict[str, str] = field(default_factory=dict)  # their interactions
    erased: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)
    corrected: dict[str, tuple[str, str]] = field(default_factory=dict)  # the text before, and the one now
    jobs: list[JobCase] = field(default_factory=list)  # that ran
    runs: list[tuple[Job[Any], str]] = field(default_factory=list)
    is_erased: bool = False  # all of the user
    applied: int = 0
    within: int = 0  # disturbances that came before the end of a job

    def __post_init__(self) -> None:
        self.random = random.Random(self.number)
        self.owner = Owner(TenantId("acme"), UserId(f"user-{self.number}"))
        self.ids = Uuid7Ids(self.place.clock)
        self.log = PostgresMaintenanceStore(self.place.pool)
        if self.place.indexes:
            first, second = self.place.indexes
            self.other.index = PairedEpisodeIndex(first, second, SECOND)

    @property
    def run_owner(self) -> Owner | None:
        """Whose memories jobs work on; None for those of jobs that work on a store alone."""
        return self.owner

    @property
    def clock(self) -> FakeClock:
        return self.place.clock

    @property
    def gone(self) -> set[str]:
        return set(self.originals) if self.is_erased else self.erased | self.forgotten

    @abstractmethod
    async def fill(self) -> None:
        """Stores memories, and sets the clock to when a job has something to do."""

    def job(self) -> Job[Any]:
        """One that works on such memories."""
        chosen = self.case or self.random.choice(self.cases)
        self.jobs.append(chosen)
        return chosen.job(self.place)

    @abstractmethod
    async def check(self) -> None:
        """What must hold at any time."""

    def kinds(self) -> list[Kind]:
        """What the other process may do."""
        return [Kind.ERASE, Kind.ERASE, Kind.FORGET, Kind.FORGET, Kind.CORRECT, Kind.CORRECT]

    async def change(self) -> None:
        """The other process erases, forgets or corrects one of the memories, and now and then all."""
        left = sorted(set(self.originals) - self.gone)
        if len(left) < 3:
            return
        kind = Kind.ERASE_ALL if self.random.random() < 0.03 else self.random.choice(self.kinds())
        await self._disturb(kind, self.random.choice(left))

    async def erase_all(self) -> None:
        """The other process erases the user."""
        await self._disturb(Kind.ERASE_ALL, "")
        await self.settled()

    async def _disturb(self, kind: Kind, target: str) -> None:
        request_id = self.ids.new_id()
        text = f"Ann corrected it: {self.random.randrange(10**9)} {request_id}."
        source = self.sources.get(target, "")
        await self.other.disturb(Disturbance(kind, self.owner, target, request_id, self.clock.now(), source, text))

    async def die(self) -> None:
        """The process of the job loses its store."""
        raise StoreUnavailable("killed")

    def actions(self) -> Actions:
        """Up to three things at any moments."""
        found: Actions = {}
        for _ in range(self.random.randint(1, 3)):
            moment = self.random.randint(1, _MOMENTS_MAX)
            found.setdefault(moment, []).append(self.random.choice([self.change, self.change, self.die]))
        return found

    async def run(self, job: Job[Any], actions: Actions) -> bool:
        """Runs a job to its end, through all that happens meanwhile; whether it had all these moments."""
        moments, asked = Moments(actions), sum(map(len, actions.values()))
        runner = MaintenanceRunner(self.log, clock=self.clock, ids=self.ids)
        with moments.watched():
            await self._run(job, runner)
        self.within += asked - sum(map(len, actions.values()))
        await self.settled()
        return not actions

    async def _run(self, job: Job[Any], runner: MaintenanceRunner) -> None:
        for _ in range(8):
            try:
                report = await runner.run(job, owner=self.run_owner)
            except (StoreUnavailable, Conflict):
                self.clock.advance(seconds=61)  # another replica may take over
                continue
            if not report.is_claimed:
                self.clock.advance(seconds=61)
                continue
            self.applied += report.applied
            self.runs.append((job, report.run_id))
            return
        raise AssertionError("the job did not end")

    async def settled(self) -> None:
        """Waits for the other process, and takes down what it did."""
        for outcome in await self.other.finished():
            self._note(outcome)

    def _note(self, outcome: Outcome) -> None:
        asked, error = outcome.disturbance, outcome.error
        assert error in {"", "NotFound", "FailedPrecondition"}, f"{asked.kind.name} failed: {error}"
        if asked.kind is Kind.ERASE_ALL:
            self.is_erased = True
        elif asked.kind is Kind.ERASE:
            self.erased.add(asked.target)
        elif asked.kind is Kind.FORGET:
            self.forgotten.add(asked.target)  # what is not found was forgotten with another one that says the same
        elif asked.kind is Kind.CORRECT and not error:
            self.corrected[asked.target] = (outcome.before, asked.text)

    async def undo(self) -> None:
        """Takes the runs back."""
        runner = MaintenanceRunner(self.log, clock=self.clock, ids=self.ids)
        for job, run_id in reversed(self.runs):
            await runner.undo(job, run_id, owner=self.run_owner)
            assert await runner.undo(job, run_id, owner=self.run_owner) == 0
        self.runs.clear()

    async def leave(self) -> None:
        """Removes what an erased user leaves, such as tombstones: jobs on the next one pass no others on their way.

        And claims of jobs: the next world's clock starts anew.
        """
        async with self.superuser.transaction():
            await self.superuser.execute("SET LOCAL session_replication_role = replica")  # in any order
            for (table,) in await self.superuser.fetch(_TABLES, [self.schema]):
                await self.superuser.execute(f"DELETE FROM {table} WHERE user_id = $1", self.owner.user_id)  # noqa: S608 - ours
            await self.superuser.execute("DELETE FROM maintenance.claims")

    async def rows(self) -> dict[str, list[str]]:
        """All rows about the user in the tables of the tier, as texts."""
        found: dict[str, list[str]] = {}
        for (table,) in await self.superuser.fetch(_TABLES, [self.schema]):
            rows = await self.superuser.fetch(f"SELECT t::text FROM {table} t WHERE user_id = $1", self.owner.user_id)  # noqa: S608 - ours
            found[table] = [row[0] for row in rows]
        return found

    async def check_rows(self, texts: set[str]) -> None:
        """That none of these texts is left in the database."""
        for table, rows in (await self.rows()).items():
            left = [text for text in texts if any(text in row for row in rows)]
            assert not left, f"{table} says what was erased: {left}"

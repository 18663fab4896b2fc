"""Records of a coding agent, the jobs on them, and what the other process does to them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from services.common.idempotency.model import IdempotencyKey
from services.common.maintenance import MaintenanceRunner
from services.common.owners import Owner
from services.common.postgres.types import Pool
from services.common.scope import Scope
from services.common.tier_embedder import TierEmbedder
from services.episodic.activity.commands import first_month
from services.episodic.activity.config import ActivitySettings
from services.episodic.activity.model import (
    Content,
    FileOperation,
    Learning,
    LearningKind,
    Pattern,
    Record,
    TaskState,
    TaskStatus,
)
from services.episodic.activity.patterns import learned
from services.episodic.activity.service import ActivityService
from services.episodic.activity.store import RecordFilter, Removal
from services.episodic.activity.stores.postgres import PostgresActivityStore
from services.episodic.activity.stores.postgres_upkeep import PostgresActivityUpkeep
from tests.contract.activity_samples import GLOBAL, PROJECT, at, ran, record, state, touched
from tests.contract.fact_samples import EMBEDDER
from tests.integration.maintenance.episodic_cases import ActivityCase, Learn, Months
from tests.property.interleavings.other import CallHome, Disturbance, Disturber, Kind, Outcome
from tests.property.interleavings.world import World
from tests.support.clock import FakeClock

_JOBS: Final[tuple[ActivityCase, ...]] = (
    Learn("episodic.learn_patterns"),
    Learn("episodic.learn_patterns"),
    Months("episodic.retain_activity"),
)
_SCOPES: Final = (GLOBAL, PROJECT)
_AGES: Final = (0, 0, 0, 20, 120)
"""Days before the run: of this month, of the one before, and beyond the retention."""
_DAY: Final = 24 * 60
_SEVERAL: Final = 5


def records_of(owner: Owner) -> list[Record]:
    """A user's log: conversations of one task each, some of which show the same.

    A conversation, its task and some of its files have one name, by which everything that says it is found.
    """
    chosen = random.Random(f"activity of {owner.user_id}")
    found: list[Record] = []
    for number in range(chosen.randint(_SEVERAL, 8)):
        name = f"talk-{number}-of-{owner.user_id}."
        start = -_DAY * chosen.choice(_AGES) + number * 90.0
        contents: list[Content] = [touched(f"src/{name}py"), touched(f"src/test_{name}py")] * 3
        contents += [touched("app.py"), touched("test_app.py")] * chosen.choice([0, 1, 2])
        if chosen.random() < 0.6:
            contents += [ran("pytest", success=False, error="E 1"), touched("fix.py"), ran("pytest")]
        if chosen.random() < 0.5:
            contents += [touched(f"lib/{name}", FileOperation.RENAME, previous_path=f"lib/old.{name}")]
            contents += [touched("main.py")]
        contents += [state(TaskStatus.ACTIVE, f"What {name} is about")]
        contents += [Learning(kind=LearningKind.WORKFLOW, text=f"{name} told", path="app.py")]
        scope_key = chosen.choice(_SCOPES)
        found += [
            record(
                f"{name}{place}",
                content,
                minutes=start + place,
                task_id=f"task of {name}",
                conversation_id=name,
                scope_key=scope_key,
            )
            for place, content in enumerate(contents)
        ]
    return found


class ActivityDisturber:
    """Uses the service as a replica of the tier does."""

    def __init__(self, pool: Pool, clock: FakeClock) -> None:
        store, embedder = PostgresActivityStore(pool), TierEmbedder(EMBEDDER)
        self._clock = clock
        self._log = ActivityService(
            store, embedder, clock=clock, settings=ActivitySettings(), retention_seconds=86_400.0
        )

    async def do(self, disturbance: Disturbance) -> str:
        owner, target = disturbance.owner, disturbance.target
        match disturbance.kind:
            case Kind.ERASE if target in _SCOPES:
                await self._log.remove_scope(owner, Scope.from_key(target), with_nested=False)
            case Kind.ERASE:
                await self._log.remove(owner, Removal(conversation_id=target))
            case Kind.ERASE_ALL:
                await self._log.remove(owner, Removal())
            case Kind.DELIVER:
                key = IdempotencyKey("ann", disturbance.request_id, "")
                newest = disturbance.now - timedelta(days=30)  # older ones are refused where they arrive
                await self._log.record(owner, key, [each for each in records_of(owner) if each.time > newest])
        return ""


def activity_disturber(pool: Pool, clock: FakeClock, home: CallHome) -> Disturber:
    """The other process's."""
    del home
    return ActivityDisturber(pool, clock)


class ActivityWorld(World):
    """Conversations with their records; what is erased is a conversation, a scope or the user."""

    cases = _JOBS

    def __post_init__(self) -> None:
        super().__post_init__()
        self.case = self.case or self.random.choice(self.cases)
        self.records = records_of(self.owner)
        self.scopes = {each.conversation_id: each.scope_key for each in self.records}
        self.was_undone = False
        self.upkeep = PostgresActivityUpkeep(self.place.pool)
        self.store = PostgresActivityStore(self.place.pool)

    @property
    def run_owner(self) -> Owner | None:
        """See `World.run_owner`: months are those of all users."""
        return None if self.drops else self.owner

    @property
    def drops(self) -> bool:
        """Whether the job drops what is old."""
        return isinstance(self.case, Months)

    async def fill(self) -> None:
        self.clock.set(at(24 * 60))
        for part, month in await self.superuser.fetch("SELECT part, month FROM episodic.activity_partitions()"):
            if self.drops and month < first_month(self.clock.now(), -3):
                await self.superuser.execute("SELECT episodic.drop_activity_partition($1)", part)
        if self.random.random() < 0.5:
            await self.upkeep.make_partitions(at(-_DAY * _AGES[-1]))
        await self.store.write(self.owner, self.records)
        self.originals = {name: name for name in self.scopes}

    async def change(self) -> None:
        left = sorted(set(self.originals) - self.gone)
        if len(left) < 3:
            return
        chance = self.random.random()
        if chance < 0.05:
            await self._disturb(Kind.ERASE_ALL, "")
        elif chance < 0.25:
            await self._disturb(Kind.DELIVER, "")
        elif chance < 0.35:
            await self._disturb(Kind.ERASE, self.random.choice(_SCOPES))
        else:
            await self._disturb(Kind.ERASE, self.random.choice(left))

    def _note(self, outcome: Outcome) -> None:
        super()._note(outcome)
        for scope_key in self.erased & set(_SCOPES):
            self.erased.discard(scope_key)
            self.erased |= {name for name, of in self.scopes.items() if of == scope_key}

    async def undo(self) -> None:
        self.was_undone = self.was_undone or bool(self.runs)
        await super().undo()

    async def erase_all(self) -> None:
        """At the end: what another run learns is what the rest of the log shows."""
        if not self.drops and not self.is_erased:
            await self._learn_anew()
        await super().erase_all()

    async def _learn_anew(self) -> None:
        """By the run for all users, but where an undo has taken patterns back: these the user asks for."""
        assert self.case is not None
        runner = MaintenanceRunner(self.log, clock=self.clock, ids=self.ids)
        await runner.run(self.case.job(self.place), owner=self.owner if self.was_undone else None)
        assert await self._patterns() == await self._learned(), "not all that is left was learned from"

    async def check(self) -> None:
        stored = await self._stored()
        expected = {each.record_id: each for each in self.records if each.conversation_id not in self.gone}
        back = {each for each in stored if each not in expected}
        assert not back, f"what was erased is back: {sorted(back)}"
        oldest = first_month(self.clock.now(), 1)
        lost = {key for key, each in expected.items() if not (self.drops and each.time < oldest)} - stored
        assert not lost, f"records that nobody removed are gone: {sorted(lost)}"
        shown = await self._learned()
        wrong = {key: one for key, one in (await self._patterns()).items() if shown.get(key) != one}
        assert not wrong, f"patterns are not what the log shows: {wrong}"
        await self.check_rows({self.originals[key] for key in self.gone})

    async def _stored(self) -> set[str]:
        """Ids of all records; a task has that of its state."""
        query = RecordFilter(scope_keys=_SCOPES)
        listed: Sequence[Record] = [
            *await self.store.list_files(self.owner, query, after=None, limit=1_000),
            *await self.store.list_tools(self.owner, query, after=None, limit=1_000),
            *await self.store.list_learnings(self.owner, query, after=None, limit=1_000),
        ]
        found = [each.record_id for each in listed]
        tasks = await self.store.list_tasks(
            self.owner, scope_keys=_SCOPES, statuses=(), conversation_id="", after=None, limit=1_000
        )
        states = {each.task_id: each.record_id for each in self.records if isinstance(each.content, TaskState)}
        found += [states[task.task_id] for task in tasks]
        assert len(found) == len(set(found)), "a record is stored twice"
        return set(found)

    async def _patterns(self) -> dict[str, Pattern]:
        listed = await self.store.list_patterns(
            self.owner, scope_keys=_SCOPES, kind=None, path="", confidence_min=0.0, after=None, limit=1_000
        )
        return {one.pattern_id: one for one in listed}

    async def _learned(self) -> dict[str, Pattern]:
        """What the records show that are stored."""
        assert isinstance(self.case, ActivityCase)
        settings = self.case.settings
        since, limit = self.clock.now() - timedelta(days=settings.patterns.since_days), settings.patterns.records_max
        changes = await self.upkeep.changes(self.owner, since=since, limit=limit)
        outcomes = await self.upkeep.outcomes(self.owner, since=since, limit=limit)
        return {one.pattern_id: one for one in learned(changes, outcomes, settings.patterns, settings.queries)}

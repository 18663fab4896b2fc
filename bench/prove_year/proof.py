"""Lives the year on embedded engines, runs the jobs on each of its nights, and checks what must hold."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeAlias
from unittest.mock import patch

import asyncpg

from bench.prove_year.life import DAYS, QUESTIONS, Kind, Said, life
from bench.prove_year.log import UserLog
from bench.settling import settled
from mneme_client import Client, FactUse, FeedbackValue, Turn
from services.cli.stack import StackSettings, run_stack
from services.common.hosting import HostSettings

USER: Final = "ann"
START: Final = datetime(2026, 1, 1, 6, tzinfo=UTC)
NEWEST: Final = 100
"""Episodes that stay whatever their strength."""
_NIGHTLY: Final = ("episodic.retain_episodes", "semantic.retain_facts", "semantic.merge_facts")
_WEEKLY: Final = ("agentic.fade_links", "agentic.prune_notes", "episodic.cluster_episodes")
_BATCH: Final = 50
_RUNS_MAX: Final = 10
_SETTLE_SECONDS: Final = 300.0
_AUDIT_TRIES: Final = 20
_STATES: Final = {
    "episode": "SELECT episode_id::text AS id, status::text AS state FROM episodic.episodes WHERE user_id = $1",
    "fact": "SELECT fact_id::text AS id, concat(status, ' ', merged_into_fact_id) AS state FROM semantic.facts "
    "WHERE user_id = $1",
    "note": "SELECT note_id::text AS id, concat(status, ' ', successor_id) AS state FROM agentic.notes "
    "WHERE user_id = $1",
    "link": "SELECT concat(note_id, ' ', other_note_id, ' ', type) AS id, round(strength::numeric, 6)::text AS state "
    "FROM agentic.link_ends WHERE user_id = $1 AND is_first",
}
_EPISODES: Final = "SELECT query, status FROM episodic.episodes WHERE user_id = $1"
_NEWEST_STATES: Final = (
    "SELECT status FROM episodic.episodes WHERE user_id = $1 ORDER BY time DESC, episode_id DESC LIMIT $2"
)
_ACTIVE_FACTS: Final = "SELECT count(*) FROM semantic.facts WHERE user_id = $1 AND status IN (1, 2)"
_ACTIVE, _ARCHIVED = 2, 3


_States: TypeAlias = Mapping[tuple[str, str], str]  # by what and its id


class SimulatedClock:
    """The time of the year: it runs as fast as the real one, and jumps ahead."""

    def __init__(self, start: datetime) -> None:
        """Stands at `start`."""
        self._start = start
        self._real = time.monotonic()

    def now(self) -> datetime:
        """The time."""
        return self._start + timedelta(seconds=time.monotonic() - self._real)

    def jump_to(self, moment: datetime) -> None:
        """Goes on from a later moment."""
        self._start, self._real = max(moment, self.now()), time.monotonic()


@dataclass(frozen=True)
class Bounds:
    """Caps of the year. The defaults of the services are higher: a year would not reach them."""

    episodes: int = 5_000
    facts: int = 300


@dataclass
class Proof:
    """What was seen."""

    interactions: int = 0
    runs: int = 0  # of jobs that changed something
    changes: int = 0  # that they logged
    archived: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # by kind of turn: archived, in all
    facts: Mapping[str, int] = field(default_factory=dict)  # by status
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether all that must hold did."""
        return not self.problems


async def prove(
    data_dir: Path,
    *,
    interactions: int,
    bounds: Bounds,
    seed: int = 7,
    nights_apart: int = 1,
    model_folder: Path | None = None,
) -> Proof:
    """Lives a year.

    Args:
        data_dir: A folder that does not exist yet.
        interactions: Turns of the year.
        bounds: Caps.
        seed: Of what is said.
        nights_apart: Days from one night in which the jobs run to the next.
        model_folder: A built embedding model; None builds one.
    """
    started, proof = time.monotonic(), Proof(interactions=interactions)
    host = HostSettings(otlp_endpoint="")
    if model_folder is not None:
        host = host.model_copy(update={"embedding_model_dir": model_folder})
    settings = StackSettings(data_dir=data_dir, port=0, host_settings=host, grace_seconds=1.0)
    clock = SimulatedClock(START)
    variables = {
        "MNEME_EPISODIC__RETENTION__ACTIVE_MAX": str(bounds.episodes),
        "MNEME_SEMANTIC__RETENTION__FACTS_MAX": str(bounds.facts),
    }
    with patch.dict(os.environ, variables):
        async with (
            run_stack(settings, clock=clock) as stack,
            Client(stack.gateway_target) as client,
            _connected(stack.postgres_dsn) as database,
        ):
            year = _Year(client, clock, database, bounds, proof)
            for day, said in enumerate(life(interactions, seed=seed), 1):
                await year.live(day, said)
                if day % nights_apart == 0 or day == DAYS:
                    await year.sleep(day)
            await year.look_back()
    proof.seconds = time.monotonic() - started
    return proof


@contextlib.asynccontextmanager
async def _connected(url: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    connection = await asyncpg.connect(url.replace("mneme_app@", "postgres@", 1))  # row-level security hides all rows
    try:
        yield connection
    finally:
        await connection.close()


class _Year:
    def __init__(
        self, client: Client, clock: SimulatedClock, database: asyncpg.Connection[Any], bounds: Bounds, proof: Proof
    ) -> None:
        self._client, self._clock, self._database = client, clock, database
        self._bounds, self._proof = bounds, proof
        self._kinds: dict[str, Kind] = {}
        self._writes: Counter[str] = Counter()
        self._log = UserLog(database, USER)
        self._nights = 0

    async def live(self, day: int, said: Sequence[Said]) -> None:
        """What is said on a day."""
        self._clock.jump_to(START + timedelta(days=day))
        self._kinds.update({one.text: one.kind for one in said})
        now = self._clock.now()
        turns = [Turn(one.text, time=now + timedelta(minutes=10 * n)) for n, one in enumerate(said)]
        for start in range(0, len(turns), _BATCH):
            await self._client.remember(USER, f"day-{day}", turns[start : start + _BATCH])
            self._writes["Remember"] += 1

    async def sleep(self, day: int) -> None:
        """A question, and the night in which the jobs run."""
        await self._settled()
        await self._ask()
        self._nights += 1
        await self._settled()  # its feedback is a delivery too
        self._clock.jump_to(START + timedelta(days=day, hours=20))
        before = await self._states()
        for job in (*_NIGHTLY, *(_WEEKLY if self._nights % 7 == 0 else ())):
            for _ in range(_RUNS_MAX):
                run = await self._client.run_job(USER, job, timeout_seconds=60.0)
                if run.busy:
                    self._problem(day, f"{job} was busy")
                if not run.over_cap_count:  # a run retires 5 %; what is left is for the next one
                    break
        await self._settled()
        await self._compare(day, before)
        await self._check_bounds(day)

    async def _ask(self) -> None:
        """A question; a response in ten is judged, one in fifty badly."""
        found = await self._client.recall(USER, QUESTIONS[self._nights % len(QUESTIONS)].text, limit=5)
        if self._nights % 10 == 9:
            value = FeedbackValue.BAD if self._nights % 50 == 49 else FeedbackValue.GOOD
            if value is FeedbackValue.GOOD:
                await self._client.feedback(USER, value, recall_id=found.recall_id)
            else:
                ids = [hit.memory_id for hit in found.memories if self._kinds.get(hit.turn.content) is Kind.NOISE]
                if not ids:
                    return
                await self._client.feedback(USER, value, memory_ids=ids)
            self._writes["Feedback"] += 1

    async def _settled(self) -> None:
        await settled(self._client, poll_seconds=0.005)
        async with asyncio.timeout(_SETTLE_SECONDS):
            while await self._database.fetchval(  # noqa: ASYNC110 - nothing tells
                "SELECT EXISTS (SELECT FROM episodic.episodes WHERE user_id = $1 AND status = 1)", USER
            ):
                await asyncio.sleep(0.005)

    async def _states(self) -> dict[tuple[str, str], str]:
        found: dict[tuple[str, str], str] = {}
        for what, statement in _STATES.items():
            for row in await self._database.fetch(statement, USER):
                found[what, row["id"]] = row["state"]
        return found

    async def _compare(self, day: int, before: _States) -> None:
        """What a night changed is what runs have logged, those of the schedule included, which go beside."""
        after = await self._states()
        await self._log.settled()
        logged = await self._log.news()
        self._proof.runs, self._proof.changes = self._log.runs, self._log.changes
        changed = {key for key in before.keys() | after.keys() if _differs(key, before, after)}
        for what, name in sorted(changed):
            if name not in logged and not set(name.split()) & logged:
                self._problem(day, f"{what} {name} changed without an entry in the log of a run")

    async def _check_bounds(self, day: int) -> None:
        newest = [row["status"] for row in await self._database.fetch(_NEWEST_STATES, USER, NEWEST)]
        if any(status != _ACTIVE for status in newest):
            self._problem(day, f"of the newest {NEWEST} episodes some are not active: {Counter(newest)}")
        facts = await self._database.fetchval(_ACTIVE_FACTS, USER)
        active = sum(row["status"] == _ACTIVE for row in await self._database.fetch(_EPISODES, USER))
        if active > self._bounds.episodes:
            self._problem(day, f"{active} active episodes are more than {self._bounds.episodes}")
        if facts > self._bounds.facts:
            self._problem(day, f"{facts} active facts are more than {self._bounds.facts}")

    async def look_back(self) -> None:
        """What is left of the year."""
        proof = self._proof
        archived, counts = Counter[str](), Counter[str]()
        for row in await self._database.fetch(_EPISODES, USER):
            kind = self._kinds[row["query"]].value
            counts[kind] += 1
            archived[kind] += row["status"] == _ARCHIVED
        proof.archived = {kind: (archived[kind], counts[kind]) for kind in sorted(counts)}
        rows = await self._database.fetch(
            "SELECT status, count(*) AS count FROM semantic.facts WHERE user_id = $1 GROUP BY 1 ORDER BY 1", USER
        )
        proof.facts = {str(row["status"]): row["count"] for row in rows}
        if sum(counts.values()) != proof.interactions:
            proof.problems.append(f"{sum(counts.values())} episodes are stored, {proof.interactions} turns were said")
        await self._check_questions()
        await self._check_fading()
        await self._check_audit()

    async def _check_questions(self) -> None:
        for question in QUESTIONS:
            facts = await self._client.search_facts(USER, question.text, use=FactUse.PASSIVE_CONTEXT, limit=10)
            if not any(question.holds in hit.fact.text for hit in facts):
                self._proof.problems.append(f"{question.text} finds no fact with {question.holds!r}")
            found = await self._client.recall(USER, question.text, limit=10)
            texts = [*(hit.turn.content for hit in found.memories), *(hit.fact.text for hit in found.facts)]
            if not any(question.holds in text for text in texts):
                self._proof.problems.append(f"the recall of {question.text} lacks {question.holds!r}")

    async def _check_fading(self) -> None:
        noise, important = (self._proof.archived.get(kind.value, (0, 0)) for kind in (Kind.NOISE, Kind.IMPORTANT))
        if noise[0] * important[1] <= important[0] * noise[1]:
            self._proof.problems.append(f"noise fades no more than what is important: {noise}, {important}")
        rows = await self._database.fetch(
            "SELECT text, status, first_observed_time FROM semantic.facts WHERE user_id = $1 AND importance < 0.7 "
            "AND evidence_count = 1",
            USER,
        )
        old = [row for row in rows if row["first_observed_time"] < self._clock.now() - timedelta(days=150)]
        left = [row["text"] for row in old if row["status"] in {1, 2}]
        if left or not old:
            self._proof.problems.append(f"of {len(old)} trifles said once 150 days ago {len(left)} are active facts")

    async def _check_audit(self) -> None:
        entries = Counter[str]()
        for _ in range(_AUDIT_TRIES):
            entries.clear()
            async for entry in self._client.list_audit_entries():
                for method in self._writes:
                    entries[method] += f"/{method}" in entry.body or f'"{method}"' in entry.body
            if all(entries[method] >= count for method, count in self._writes.items()):
                return
            await asyncio.sleep(0.5)  # entries are appended every second
        for method, count in self._writes.items():
            if entries[method] < count:
                self._proof.problems.append(f"{count} calls of {method}, {entries[method]} entries in the audit log")

    def _problem(self, day: int, text: str) -> None:
        if len(self._proof.problems) < 50:
            self._proof.problems.append(f"day {day}: {text}")


def _differs(key: tuple[str, str], before: _States, after: _States) -> bool:
    """Whether something has another state. Links grow with the recalls of the day, which are counted behind them."""
    if before.get(key) == after.get(key):
        return False
    return key[0] != "link" or key not in after or float(after[key]) < float(before.get(key, "0"))

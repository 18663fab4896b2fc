"""Engines that go away in the midst of a mixed load and come back.

    python -m bench.outage --engines redis,postgres,neo4j --out FILE

One after the other is killed, stays away for some seconds and is started again, while callers write and ask. What
they see is noted, and afterwards every store is checked as `bench.durability` does it. README.md beside this file says
what each figure means.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Protocol

import grpc

from bench.common import BenchError, Target, open_channel, open_target, print_table, report_head, run, write_json
from bench.durability_harness import send_call
from bench.durability_model import Call, Verdict
from bench.durability_verify import Stores, verify
from bench.gateway import Gateway
from bench.production import (
    EngineChoice,
    RestartedEngine,
    add_engine_options,
    engine_choice,
    host_settings,
    running_engines,
)
from bench.texts import TextSource
from mneme.gateway.v1 import recall_pb2, tiers_pb2

TIERS: Final[Mapping[str, frozenset[str]]] = {
    "redis": frozenset({"TIER_SESSION"}),
    "postgres": frozenset({"TIER_EPISODIC"}),
    "pgbouncer": frozenset({"TIER_EPISODIC"}),
    "qdrant": frozenset({"TIER_EPISODIC"}),
    "neo4j": frozenset({"TIER_SEMANTIC", "TIER_AGENTIC"}),
}
"""Tiers that a Recall must name while an engine is away."""

_USERS: Final = 4
_WRITERS: Final = 4
_READERS: Final = 2
_WRITE_PAUSE_SECONDS: Final = 0.2
_READ_PAUSE_SECONDS: Final = 0.05
_RECALL_SECONDS: Final = 5.0
_AROUND_SECONDS: Final = 3.0
_SETTLE_SECONDS: Final = 120.0
_REPEAT_PAUSE_SECONDS: Final = 0.2


class Engine(Protocol):
    """What can be killed and started again, with its data and its address."""

    def kill(self) -> None:
        """Ends it as a crash would; returns when it is gone."""
        ...

    def start(self) -> None:
        """Starts it and waits until it answers."""
        ...


@dataclass(frozen=True, slots=True)
class _Asked:
    """One Recall, with times of the loop's clock."""

    begin: float
    end: float
    code: str  # OK, or the gRPC status
    is_degraded: bool = False
    named: frozenset[str] = frozenset()  # tiers that failed or gave only a part


@dataclass(frozen=True, slots=True, kw_only=True)
class OutageReport:
    """What came of one outage."""

    engine: str
    """What was away."""
    away_seconds: float
    """From its end until it was told to start."""
    start_seconds: float
    """From then until it answered."""
    acknowledged: int
    """Turns that were acknowledged, before, meanwhile and afterwards."""
    acknowledged_meanwhile: int
    """Of these, turns of calls that were made and answered while the engine was away."""
    recalls: int
    """Recalls that were made."""
    recalls_failed: int
    """Of these, those that gave an error, at whatever time."""
    recalls_meanwhile: int
    """Recalls made and answered while the engine was away."""
    recalls_unmarked: int
    """Of these, those that did not say that a tier of the engine is missing."""
    recall_meanwhile_max_seconds: float
    """The slowest of them."""
    converge_seconds: float
    """From the moment the engine answers until nothing waits and no Recall is degraded."""
    lost: int
    duplicated: int
    half: int
    problems: Sequence[str]
    """The first violations in words."""

    @property
    def is_clean(self) -> bool:
        """True when callers and stores saw nothing that they should not."""
        return not (self.lost or self.duplicated or self.half or self.recalls_failed or self.recalls_unmarked)


async def run_outage(
    target: Target, name: str, engine: Engine, *, away_seconds: float = 10.0, seed: int = 1, slower: float = 1.0
) -> OutageReport:
    """Lets callers write and ask, takes an engine away and gives it back, and checks every store.

    Args:
        target: The stack, with the addresses of its tiers.
        name: Of the engine, a key of `TIERS`.
        engine: What is killed and started.
        away_seconds: For how long it is away.
        seed: Of texts and choices; another one for each outage of a stack.
        slower: How many times longer callers pause between their calls than in the benchmark.

    Raises:
        BenchError: What waits is not delivered within some minutes after the engine is back.
    """
    async with AsyncExitStack() as stack:
        gateway = Gateway(await stack.enter_async_context(open_channel(target.gateway)))
        load = _Load(gateway, name, random.Random(seed), TextSource(seed), prefix=f"{name}-{seed}", slower=slower)
        tiers = {
            tier: await stack.enter_async_context(open_channel(target.tiers[tier]))
            for tier in ("episodic", "semantic", "agentic")
        }
        await load.prepare()
        return await _outage(load, engine, Stores(gateway, **tiers), away_seconds=away_seconds)


async def _outage(load: _Load, engine: Engine, stores: Stores, *, away_seconds: float) -> OutageReport:
    loop = asyncio.get_running_loop()
    async with asyncio.TaskGroup() as group:
        for _ in range(_WRITERS):
            group.create_task(load.write())
        for _ in range(_READERS):
            group.create_task(load.ask())
        await asyncio.sleep(_AROUND_SECONDS)
        await asyncio.to_thread(engine.kill)
        gone = loop.time()
        await asyncio.sleep(away_seconds)
        told = loop.time()
        await asyncio.to_thread(engine.start)
        back = loop.time()
        await asyncio.sleep(_AROUND_SECONDS)
        load.is_over = True
    await load.answer_all()
    await load.settle()
    converged = loop.time()
    verdict = Verdict()
    await verify(stores, sorted({call.user_id for call in load.calls}), load.calls, verdict)
    meanwhile = [asked for asked in load.asked if gone <= asked.begin and asked.end <= told]
    written = [
        len(call.texts) for call, begin, end in load.answered if call.is_acknowledged and gone <= begin and end <= told
    ]
    return OutageReport(
        engine=load.engine,
        away_seconds=round(told - gone, 2),
        start_seconds=round(back - told, 2),
        acknowledged=sum(len(call.texts) for call in load.calls if call.is_acknowledged),
        acknowledged_meanwhile=sum(written),
        recalls=len(load.asked),
        recalls_failed=sum(asked.code != "OK" for asked in load.asked),
        recalls_meanwhile=len(meanwhile),
        recalls_unmarked=sum(
            not (asked.is_degraded and TIERS[load.engine] <= asked.named) for asked in meanwhile if asked.code == "OK"
        ),
        recall_meanwhile_max_seconds=round(max((asked.end - asked.begin for asked in meanwhile), default=0.0), 3),
        converge_seconds=round(converged - back, 2),
        lost=verdict.counts["lost"],
        duplicated=verdict.counts["duplicated"],
        half=verdict.counts["half"],
        problems=(*load.failures(), *verdict.problems),
    )


class _Load:
    """Callers, and what they saw."""

    def __init__(
        self, gateway: Gateway, engine: str, choice: random.Random, texts: TextSource, *, prefix: str, slower: float
    ) -> None:
        self.engine = engine
        self.calls: list[Call] = []
        self.answered: list[tuple[Call, float, float]] = []  # with begin and end of the answered attempt
        self.asked: list[_Asked] = []
        self.is_over = False
        self._gateway = gateway
        self._choice = choice
        self._texts = texts
        self._prefix = prefix
        self._slower = slower
        self._numbers = itertools.count()

    async def prepare(self) -> None:
        """Memories and running conversations, all of them delivered, before anything happens."""
        for user in range(_USERS):
            for _ in range(3):
                await send_call(self._gateway, self._new_call(user=user))
        await self.settle()

    async def write(self) -> None:
        """One writer: repeats a call until it is acknowledged, or gives up at once, by the call's nature."""
        loop = asyncio.get_running_loop()
        while not self.is_over:
            call = self._new_call(user=self._choice.randrange(_USERS))
            while not self.is_over:
                begin = loop.time()
                try:
                    await send_call(self._gateway, call)
                except grpc.aio.AioRpcError:
                    await asyncio.sleep(_REPEAT_PAUSE_SECONDS)
                    if not call.repeats:
                        break
                else:
                    self.answered.append((call, begin, loop.time()))
                    break
            await asyncio.sleep(_WRITE_PAUSE_SECONDS * self._slower)

    async def ask(self) -> None:
        """One reader."""
        while not self.is_over:
            self.asked.append(await self._recall())
            await asyncio.sleep(_READ_PAUSE_SECONDS * self._slower)

    async def answer_all(self) -> None:
        """Brings the calls to their end whose callers do not give up.

        Raises:
            BenchError: One is still refused after some minutes.
        """
        deadline = time.monotonic() + _SETTLE_SECONDS
        for call in self.calls:
            while call.repeats and not call.is_acknowledged:
                try:
                    await send_call(self._gateway, call)
                except grpc.aio.AioRpcError as error:
                    if time.monotonic() > deadline:
                        raise BenchError(f"a repeat was not answered: {error.details()}") from error
                    await asyncio.sleep(_REPEAT_PAUSE_SECONDS)

    async def settle(self) -> None:
        """Waits until nothing waits to be delivered and no answer lacks a tier.

        Raises:
            BenchError: That takes more than some minutes.
        """
        await self._gateway.wait_delivered()
        deadline = time.monotonic() + _SETTLE_SECONDS
        while (asked := await self._recall()).code != "OK" or asked.is_degraded:
            if time.monotonic() > deadline:
                raise BenchError(f"answers are still degraded: {asked.code} {sorted(asked.named)}")
            await asyncio.sleep(_REPEAT_PAUSE_SECONDS)

    def failures(self) -> list[str]:
        """What Recalls failed with, by how often."""
        counts = Counter(asked.code for asked in self.asked if asked.code != "OK")
        return [f"recall: {count} times {code}" for code, count in counts.items()]

    def _new_call(self, *, user: int) -> Call:
        number = next(self._numbers)
        texts = tuple(
            f"{self._texts.turn().text} That was entry {number}-{self._choice.randrange(1_000_000)}."
            for _ in range(self._choice.randint(1, 2))
        )
        call = Call(
            request_id=f"{self._prefix}-call-{number:06}",
            user_id=f"{self._prefix}-user-{user}",
            conversation_id="conversation",
            texts=texts,
            repeats=self._choice.random() < 0.5,
        )
        self.calls.append(call)
        return call

    async def _recall(self) -> _Asked:
        request = recall_pb2.RecallRequest(
            user_id=f"{self._prefix}-user-{self._choice.randrange(_USERS)}",
            query=self._texts.question(),
            conversation_id="conversation",
        )
        loop = asyncio.get_running_loop()
        begin = loop.time()
        try:
            response = await self._gateway.memory.Recall(
                request, timeout=_RECALL_SECONDS, metadata=self._gateway.metadata
            )
        except grpc.aio.AioRpcError as error:
            return _Asked(begin, loop.time(), error.code().name)
        named = frozenset(
            tiers_pb2.Tier.Name(report.tier)
            for report in response.tiers
            if report.state == tiers_pb2.TIER_STATE_FAILED
            or (report.state == tiers_pb2.TIER_STATE_RESPONDED and report.reason)
        )
        return _Asked(begin, loop.time(), "OK", response.degraded, named)


# ----------------------------------------------------------------------------------------- command line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 when something was lost or an answer was wrong, 2 when it cannot run."""
    parser = argparse.ArgumentParser(prog="python -m bench.outage", description="Engines that go away and come back.")
    parser.add_argument("--out", type=Path, required=True, help="report, JSON")
    parser.add_argument("--away-seconds", type=float, default=10.0, help="of each engine (default 10)")
    parser.add_argument("--seed", type=int, default=1, help="of texts and choices (default 1)")
    add_engine_options(parser)
    options = parser.parse_args(arguments)
    try:
        choice = engine_choice(options.engines or "all", processes=options.processes)
        reports, driver = run(_run_all(choice, away_seconds=options.away_seconds, seed=options.seed))
    except BenchError as error:
        print(f"bench.outage: {error}", file=sys.stderr)
        return 2
    settings = {"away_seconds": options.away_seconds, "seed": options.seed}
    head = report_head("outage", driver=driver, settings=settings)
    write_json(options.out, head | {"outages": [asdict(report) for report in reports]})
    _print(reports)
    return 0 if all(report.is_clean for report in reports) else 1


async def _run_all(choice: EngineChoice, *, away_seconds: float, seed: int) -> tuple[list[OutageReport], str]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mneme-bench-"))) / "engines"
        group = stack.enter_context(running_engines(choice.names, folder))
        target = await stack.enter_async_context(
            open_target(None, host_settings=host_settings(group), processes=choice.processes)
        )
        reports = [
            await run_outage(
                target, name, RestartedEngine(folder, group.engines[name]), away_seconds=away_seconds, seed=seed
            )
            for name in choice.names
        ]
        return reports, target.driver


def _print(reports: Sequence[OutageReport]) -> None:
    names = [name for name in asdict(reports[0]) if name not in {"engine", "problems"}]
    rows = [[name.replace("_", " "), *[getattr(report, name) for report in reports]] for name in names]
    print_table("Engines that go away and come back", ["", *[report.engine for report in reports]], rows)
    for report in reports:
        for problem in report.problems:
            print(f"{report.engine}: {problem}")


if __name__ == "__main__":
    sys.exit(main())

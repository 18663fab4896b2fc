"""What a round of maintenance on one user costs: its time, stalls of the event loop, and Recall's time meanwhile.

    python -m bench.consolidation [--episodes 10000] [--notes 8000] [--facts 5000] [--recalls 300] [--out FILE]
        [--where FILE]

One user on embedded engines has episodes, notes in topics, and facts; a twentieth of the notes and facts is said twice.
All services and the client are in this process. Recalls are made one after the other with a pause, first alone and
then beside a round: every job that can be run for one user, clusters among them. A second and a third round follow
without recalls: the second one raises what the recalls have used meanwhile, and the third one must change nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import asyncpg
import grpc

from bench.common import Channel, open_channel, open_target, print_table, ratio, report_head, run, times_of, write_json
from bench.consolidation_user import OWNER, store_user
from bench.floor import superuser_dsn
from bench.gateway import Gateway, retried
from bench.latency_load import embedding_settings
from bench.latency_run import at_rest
from bench.prepared import PreparedEncoder
from bench.stalls import stalls_shown
from bench.texts import TextSource
from mneme.gateway.v1 import maintenance_pb2, maintenance_pb2_grpc, recall_pb2
from services.agentic.config import AccessSettings
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.factory import EmbeddingSettings, load_encoder

ROUND_SECONDS_MAX: Final = 60.0
STALL_SECONDS: Final = 0.05
RECALL_RATIO_MAX: Final = 1.5
_FIRST: Final = ("agentic.consolidate", "semantic.merge_facts", "episodic.cluster_episodes")
"""Jobs that a round begins with: they are what this is about."""
_UNSCHEDULED: Final = {
    f"MNEME_{part}__IS_ENABLED": "false"
    for part in (
        "EPISODIC__RETENTION", "EPISODIC__CLUSTERS", "EPISODIC__ACTIVITY__PATTERNS", "SEMANTIC__RETENTION",
        "SEMANTIC__MERGING", "AGENTIC__CONSOLIDATION", "AGENTIC__PRUNING", "AGENTIC__FADING",
    )
}  # fmt: skip
"""The schedule would do the work before it is measured: jobs that are off still run on request."""
_RUN_SECONDS: Final = 290.0
_PAUSE_SECONDS: Final = 0.02
"""Between two recalls."""
_COUNTED_SECONDS: Final = 3 * AccessSettings().flush_interval_seconds
"""After which the uses by recalls are written."""
_LOOP_PERIOD_SECONDS: Final = 0.005
_WARM_UPS: Final = 20
_POLL_SECONDS: Final = 1.0
_ACTIVE_EPISODES: Final = "SELECT count(*) FROM episodic.episodes WHERE status = 2"


@dataclass(frozen=True, slots=True)
class Stall:
    """How late the event loop was once."""

    seconds: float
    processor_seconds: float
    """Of its thread meanwhile: with much less than `seconds` others had the processor or the interpreter."""


@dataclass(slots=True)
class JobRun:
    """A run of a job."""

    job: str
    seconds: float
    processor_seconds: float
    """Of this process, the recalls meanwhile among them."""
    changes: int
    over_cap: int
    actions: dict[str, int] = field(default_factory=dict)
    """The changes by what was done, as far as `GetRun` lists them."""
    stalls: list[Stall] = field(default_factory=list)
    """Of the event loop, above `STALL_SECONDS`."""


@dataclass(slots=True)
class Watch:
    """Stalls of the event loop since they were last taken."""

    stalls: list[Stall] = field(default_factory=list)

    async def run(self) -> None:
        """Notes stalls until it is cancelled."""
        while True:
            before, used = time.perf_counter(), time.thread_time()
            await asyncio.sleep(_LOOP_PERIOD_SECONDS)
            late = time.perf_counter() - before - _LOOP_PERIOD_SECONDS
            if late > STALL_SECONDS:
                self.stalls.append(Stall(late, time.thread_time() - used))

    def take(self) -> list[Stall]:
        """The stalls so far, which it forgets."""
        found, self.stalls = self.stalls, []
        return found


class Asking:
    """Recalls of the user, one after the other."""

    def __init__(self, gateway: Gateway, seed: int) -> None:
        """Asks the gateway."""
        self._gateway = gateway
        self._questions = TextSource(seed)
        self.seconds: list[float] = []

    async def once(self) -> None:
        """One recall and a pause."""
        request = recall_pb2.RecallRequest(user_id=OWNER.user_id, query=self._questions.question())
        started = time.perf_counter()
        await self._gateway.recall(request)
        self.seconds.append(time.perf_counter() - started)
        await asyncio.sleep(_PAUSE_SECONDS)

    async def always(self) -> None:
        """Until it is cancelled."""
        while True:
            await self.once()

    def take(self) -> list[float]:
        """The seconds of the recalls so far, which it forgets."""
        found, self.seconds = self.seconds, []
        return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the arguments, measures, prints, and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--notes", type=int, default=8_000)
    parser.add_argument("--facts", type=int, default=5_000)
    parser.add_argument("--recalls", type=int, default=300, help="made alone, to compare with")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a JSON report")
    parser.add_argument("--where", type=Path, help="stacks of all threads at each stall, which takes some time itself")
    options = parser.parse_args(arguments)
    os.environ.update(_UNSCHEDULED)
    report = run(_measure(options))
    _print(report)
    if options.out is not None:
        head = report_head("consolidation", driver="embedded", settings=_named(options))
        write_json(options.out, {**head, **report})
    return 0


def _named(options: argparse.Namespace) -> dict[str, Any]:
    return {name: value.name if isinstance(value, Path) else value for name, value in vars(options).items()}


async def _measure(options: argparse.Namespace) -> dict[str, Any]:
    report: dict[str, Any] = {"load_before": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory(prefix="mneme-bench-") as name:
        folder = Path(name) / "data"
        encoder = PreparedEncoder(load_encoder(embedding_settings(folder)), seed=options.seed)
        await store_user(
            folder,
            episodes=options.episodes,
            notes=options.notes,
            facts=options.facts,
            dimension=encoder.dimension,
            model=encoder.fingerprint,
        )

        def prepared(settings: EmbeddingSettings) -> OnnxEmbedder:
            return OnnxEmbedder(encoder, settings.embedder)

        async with open_target(None, data_dir=folder, make_embedder=prepared):
            await _until_active(folder, options.episodes)
        async with open_target(None, data_dir=folder) as target, open_channel(target.gateway) as channel:
            await at_rest(folder)
            report |= await _rounds(channel, options)
    return report


async def _until_active(folder: Path, count: int) -> None:
    """Waits until the indexer has made so many episodes active."""
    connection = await asyncpg.connect(superuser_dsn(folder))
    try:
        # The indexer tells nobody when it is done.
        while await connection.fetchval(_ACTIVE_EPISODES) < count:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)
    finally:
        await connection.close()


async def _rounds(channel: Channel, options: argparse.Namespace) -> dict[str, Any]:
    asking, watch = Asking(Gateway(channel), options.seed + 1), Watch()
    for _ in range(_WARM_UPS):
        await asking.once()
    asking.take()
    async with _meanwhile(watch.run()):
        for _ in range(options.recalls):
            await asking.once()
        alone, stalls_alone = times_of(asking.take()), watch.take()
        async with _located(options.where), _meanwhile(asking.always()):
            rounds = [await _round(channel, watch)]
        beside = times_of(asking.take())
        await asyncio.sleep(_COUNTED_SECONDS)
        rounds += [await _round(channel, watch) for _ in range(2)]
    return {
        "recall_alone": asdict(alone),
        "stalls_alone": list(map(asdict, stalls_alone)),
        "recall_beside": asdict(beside),
        "ratio_p99": ratio(beside.p99, alone.p99),
        "rounds": rounds,
    }


@contextlib.asynccontextmanager
async def _located(file: Path | None) -> AsyncIterator[None]:
    """Writes where the event loop stands still, if anywhere."""
    if file is None:
        yield
        return
    with file.open("w", encoding="utf-8") as opened:
        async with stalls_shown(seconds=STALL_SECONDS, file=opened):
            yield


async def _round(channel: Channel, watch: Watch) -> dict[str, Any]:
    started = time.perf_counter()
    jobs = await _jobs(channel, watch)
    return {"seconds": time.perf_counter() - started, "jobs": list(map(asdict, jobs))}


async def _jobs(channel: Channel, watch: Watch) -> list[JobRun]:
    maintenance = maintenance_pb2_grpc.MaintenanceServiceStub(channel.channel)
    listed = await maintenance.GetJobs(maintenance_pb2.GetJobsRequest(), metadata=channel.metadata)
    names = sorted((job.name for job in listed.jobs if job.for_user), key=lambda name: (name not in _FIRST, name))
    runs: list[JobRun] = []
    for name in names:
        request = maintenance_pb2.RunJobRequest(request_id=uuid.uuid4().hex, user_id=OWNER.user_id, job=name)
        watch.take()
        started, used = time.perf_counter(), time.process_time()
        try:
            response = await retried(
                lambda request=request: maintenance.RunJob(  # type: ignore[misc]
                    request, timeout=_RUN_SECONDS, metadata=channel.metadata
                )
            )
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.DEADLINE_EXCEEDED:
                raise
            response = maintenance_pb2.RunJobResponse()  # its time says that it was not done; the next round goes on
        seconds, processor = time.perf_counter() - started, time.process_time() - used
        made, stalls = response.run, watch.take()
        actions = await _actions(maintenance, channel, made.run_id) if made.applied_count else {}
        runs.append(JobRun(name, seconds, processor, made.applied_count, made.over_cap_count, actions, stalls))
    return runs


async def _actions(
    maintenance: maintenance_pb2_grpc.MaintenanceServiceStub, channel: Channel, run_id: str
) -> dict[str, int]:
    request = maintenance_pb2.GetRunRequest(user_id=OWNER.user_id, run_id=run_id)
    response = await maintenance.GetRun(request, metadata=channel.metadata)
    return dict(Counter(change.action for change in response.changes))


@contextlib.asynccontextmanager
async def _meanwhile(work: Any) -> Any:
    """Does some work until the block ends; an error of it ends the benchmark."""
    task = asyncio.ensure_future(work)
    try:
        yield
        if task.done():
            task.result()
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _print(report: dict[str, Any]) -> None:
    alone = report["recall_alone"]
    stalls = report["stalls_alone"]
    print(f"load of the machine before: {report['load_before']:.1f}")
    print(f"Recall alone: p50 {alone['p50']} ms, p99 {alone['p99']} ms")
    print(
        f"{len(stalls)} stalls meanwhile, longest {_longest(stalls)} ms, {_longest(stalls, 'processor_seconds')} used"
    )
    for number, found in enumerate(report["rounds"], start=1):
        rows = [
            (
                job["job"],
                f"{job['seconds']:.1f}",
                f"{job['processor_seconds']:.1f}",
                job["changes"],
                ", ".join(f"{count} {action}" for action, count in job["actions"].items()),
                job["over_cap"],
                len(job["stalls"]),
                _longest(job["stalls"]),
                _longest(job["stalls"], "processor_seconds"),
            )
            for job in found["jobs"]
        ]
        columns = (
            "job", "seconds", "processor", "changes", "of the first 1,000", "over the cap", "stalls above 50 ms",
            "longest, ms", "processor, ms",
        )  # fmt: skip
        print_table(f"round {number}: {found['seconds']:.1f} s", columns, rows)
    _print_bars(report)


def _longest(stalls: Sequence[dict[str, float]], name: str = "seconds") -> str:
    return f"{max((stall[name] for stall in stalls), default=0.0) * 1000:.0f}"


def _print_bars(report: dict[str, Any]) -> None:
    first, last = report["rounds"][0], report["rounds"][-1]
    beside, p99 = report["recall_beside"], report["ratio_p99"] or 0.0
    longest = max((stall["seconds"] for job in first["jobs"] for stall in job["stalls"]), default=0.0)
    changed = sum(job["changes"] for job in last["jobs"])
    print(f"Recall beside the first round: p50 {beside['p50']} ms, p99 {beside['p99']} ms, {p99} times")
    print(
        f"bars: round within {ROUND_SECONDS_MAX:.0f} s: {first['seconds'] <= ROUND_SECONDS_MAX}; no stall above "
        f"{STALL_SECONDS * 1000:.0f} ms: {longest <= STALL_SECONDS}; Recall p99 at most {RECALL_RATIO_MAX} times: "
        f"{p99 <= RECALL_RATIO_MAX}; nothing left for the third round: {not changed}"
    )


if __name__ == "__main__":
    sys.exit(main())

"""What a round of maintenance on one user costs: its time, stalls of the event loop, and Recall's time meanwhile.

    python -m bench.consolidation [--episodes 10000] [--notes 8000] [--facts 5000] [--recalls 300] [--out FILE]

One user on embedded engines has episodes, notes in topics, and facts; a twentieth of the notes and facts is said twice.
All services and the client are in this process. Recalls are made one after the other with a pause, first alone and
then beside a round: every job that can be run for one user, clusters among them. A second round shows what is left.
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
from collections.abc import Sequence
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
from bench.texts import TextSource
from mneme.gateway.v1 import maintenance_pb2, maintenance_pb2_grpc, recall_pb2
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
        "SEMANTIC__MERGING", "AGENTIC__PRUNING", "AGENTIC__FADING",
    )
}  # fmt: skip
"""The schedule would do the work before it is measured: jobs that are off still run on request."""
_RUN_SECONDS: Final = 290.0
_PAUSE_SECONDS: Final = 0.02
"""Between two recalls."""
_LOOP_PERIOD_SECONDS: Final = 0.005
_WARM_UPS: Final = 20
_POLL_SECONDS: Final = 1.0
_ACTIVE_EPISODES: Final = "SELECT count(*) FROM episodic.episodes WHERE status = 2"


@dataclass(slots=True)
class JobRun:
    """A run of a job."""

    job: str
    seconds: float
    processor_seconds: float
    """Of this process, the recalls meanwhile among them."""
    changes: int
    over_cap: int
    stalls: list[float] = field(default_factory=list)
    """Of the event loop, above `STALL_SECONDS`."""


@dataclass(slots=True)
class Watch:
    """Stalls of the event loop since they were last taken."""

    stalls: list[float] = field(default_factory=list)

    async def run(self) -> None:
        """Notes stalls until it is cancelled."""
        while True:
            before = time.perf_counter()
            await asyncio.sleep(_LOOP_PERIOD_SECONDS)
            late = time.perf_counter() - before - _LOOP_PERIOD_SECONDS
            if late > STALL_SECONDS:
                self.stalls.append(late)

    def take(self) -> list[float]:
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
    options = parser.parse_args(arguments)
    os.environ.update(_UNSCHEDULED)
    report = run(_measure(options))
    _print(report)
    if options.out is not None:
        head = report_head("consolidation", driver="embedded", settings={**vars(options), "out": options.out.name})
        write_json(options.out, {**head, **report})
    return 0


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
        rounds: list[dict[str, Any]] = []
        for _ in range(2):
            started = time.perf_counter()
            async with _meanwhile(asking.always()):
                jobs = await _round(channel, watch)
            seconds = time.perf_counter() - started
            beside = times_of(asking.take())
            p99 = ratio(beside.p99, alone.p99)
            rounds.append(
                {"seconds": seconds, "recall": asdict(beside), "ratio_p99": p99, "jobs": list(map(asdict, jobs))}
            )
    return {"recall_alone": asdict(alone), "stalls_alone": stalls_alone, "rounds": rounds}


async def _round(channel: Channel, watch: Watch) -> list[JobRun]:
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
        made = response.run
        runs.append(JobRun(name, seconds, processor, made.applied_count, made.over_cap_count, watch.take()))
    return runs


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
    longest = max(stalls, default=0.0) * 1000
    print(f"load of the machine before: {report['load_before']:.1f}")
    print(f"Recall alone: p50 {alone['p50']} ms, p99 {alone['p99']} ms; {len(stalls)} stalls, longest {longest:.0f} ms")
    for number, found in enumerate(report["rounds"], start=1):
        rows = [
            (
                job["job"],
                f"{job['seconds']:.1f}",
                f"{job['processor_seconds']:.1f}",
                job["changes"],
                job["over_cap"],
                len(job["stalls"]),
                f"{max(job['stalls'], default=0.0) * 1000:.0f}",
            )
            for job in found["jobs"]
        ]
        columns = ("job", "seconds", "processor", "changes", "over the cap", "stalls above 50 ms", "longest, ms")
        print_table(f"round {number}: {found['seconds']:.1f} s", columns, rows)
        recall, worst = found["recall"], max((max(job["stalls"], default=0.0) for job in found["jobs"]), default=0.0)
        print(f"Recall meanwhile: p50 {recall['p50']} ms, p99 {recall['p99']} ms, {found['ratio_p99']} times")
        print(
            f"bars: round within {ROUND_SECONDS_MAX:.0f} s: {found['seconds'] <= ROUND_SECONDS_MAX}; no stall above "
            f"{STALL_SECONDS * 1000:.0f} ms: {worst <= STALL_SECONDS}; Recall p99 at most {RECALL_RATIO_MAX} times: "
            f"{(found['ratio_p99'] or 0.0) <= RECALL_RATIO_MAX}"
        )


if __name__ == "__main__":
    sys.exit(main())

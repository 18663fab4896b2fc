"""Throughput of a mixed load: 80 % Recall, 20 % Remember, at 1, 8 and 32 clients.

    python -m bench.load --out FILE [--clients 1,8,32] [--seconds 15] [--size 5000] [--target host:port]

README.md beside this file says what each figure means.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc

from bench.common import (
    BenchError,
    open_channel,
    open_target,
    print_table,
    report_head,
    run,
    times_of,
    write_json,
)
from bench.gateway import Gateway, one_turn
from bench.load_store import MAIN_USER, OTHER_USERS, load_through_gateway
from bench.resources import postgres_processes
from bench.texts import TextSource
from mneme.gateway.v1 import recall_pb2

_RECALL_SHARE: Final = 0.8
_WARM_UP_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Options:
    """The command line."""

    out: Path
    clients: tuple[int, ...]
    seconds: float
    size: int
    target: str | None
    api_key: str | None
    seed: int


@dataclass(slots=True)
class Tally:
    """What the clients of one level saw."""

    recall_seconds: list[float] = field(default_factory=list)
    remember_seconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    degraded: int = 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 2 when it cannot run."""
    try:
        options = _options(arguments)
        driver, levels = run(_measure(options))
    except BenchError as error:
        print(f"bench.load: {error}", file=sys.stderr)
        return 2
    settings = {
        "clients": options.clients,
        "seconds": options.seconds,
        "size": options.size,
        "recall_share": _RECALL_SHARE,
        "seed": options.seed,
    }
    write_json(options.out, report_head("load", driver=driver, settings=settings) | {"levels": levels})
    columns = ["clients", "calls / s", "Recall p50 ms", "p99 ms", "Remember p50 ms", "p99 ms", "errors", "degraded"]
    columns += ["loop busy", "cores busy"]
    rows = [
        [
            str(level["clients"]),
            level["calls_per_second"],
            level["recall"]["p50"],
            level["recall"]["p99"],
            level["remember"]["p50"],
            level["remember"]["p99"],
            sum(level["errors"].values()),
            level["degraded_answers"],
            level["event_loop_busy"],
            level["cores_busy"],
        ]
        for level in levels
    ]
    print_table("Mixed load, 80 % Recall and 20 % Remember", columns, rows)
    return 0


async def _measure(options: Options) -> tuple[str, list[dict[str, Any]]]:
    levels = []
    async with (
        open_target(options.target) as target,
        open_channel(target.gateway, api_key=options.api_key) as channel,
    ):
        gateway = Gateway(channel)
        if options.size:
            await load_through_gateway(gateway, options.size, seed=options.seed)
        for clients in options.clients:
            levels.append(await _level(gateway, clients, options, target.data_dir))
            # What the writes of this level left behind must not slow the next one.
            await gateway.wait_delivered()
    return target.driver, levels


async def _level(gateway: Gateway, clients: int, options: Options, data_dir: Path | None) -> dict[str, Any]:
    warm_up, tally = Tally(), Tally()
    started = time.perf_counter()
    measured_from = started + _WARM_UP_SECONDS
    ends = measured_from + options.seconds
    async with asyncio.TaskGroup() as group:
        for number in range(clients):
            seed = options.seed * 1_000 + clients * 100 + number
            group.create_task(_client(gateway, seed, warm_up, tally, measured_from, ends))
        await asyncio.sleep(_WARM_UP_SECONDS)
        own, postgres = _processor_seconds(data_dir)
        loop = time.thread_time()
        await asyncio.sleep(options.seconds)
        own_after, postgres_after = _processor_seconds(data_dir)
        loop = time.thread_time() - loop
    calls = len(tally.recall_seconds) + len(tally.remember_seconds)
    return {
        "clients": clients,
        "calls": calls,
        "calls_per_second": round(calls / options.seconds, 1),
        # Clients and stack are one process, with one event loop, unless the stack is somebody else's.
        "processor_milliseconds_per_call": {
            "event_loop": round(loop * 1000 / max(1, calls), 2),
            "process": round((own_after - own) * 1000 / max(1, calls), 2),
            "postgres": round((postgres_after - postgres) * 1000 / max(1, calls), 2),
        },
        "event_loop_busy": round(loop / options.seconds, 3),
        "cores_busy": round((own_after - own + postgres_after - postgres) / options.seconds, 3),
        "recall": asdict(times_of(tally.recall_seconds)),
        "remember": asdict(times_of(tally.remember_seconds)),
        "errors": dict(tally.errors),
        "degraded_answers": tally.degraded,
    }


def _processor_seconds(data_dir: Path | None) -> tuple[float, float]:
    """Of this process, and of the embedded PostgreSQL, of which there is none in a stack of somebody else's."""
    used = (process.cpu_times() for process in (postgres_processes(data_dir) if data_dir else ()))
    return time.process_time(), sum(times.user + times.system for times in used)


async def _client(
    gateway: Gateway, seed: int, warm_up: Tally, measured: Tally, measured_from: float, ends: float
) -> None:
    """One caller without pauses: each call begins when the one before has ended."""
    choice = random.Random(seed)
    texts = TextSource(seed)
    users = [MAIN_USER, *[f"user-{number:02}" for number in range(OTHER_USERS)]]
    while (started := time.perf_counter()) < ends:
        tally = measured if started >= measured_from else warm_up
        user_id = choice.choice(users)
        try:
            if choice.random() < _RECALL_SHARE:
                answer = await gateway.recall(recall_pb2.RecallRequest(user_id=user_id, query=texts.question()))
                tally.degraded += answer.degraded
                tally.recall_seconds.append(time.perf_counter() - started)
            else:
                await gateway.remember(one_turn(uuid.uuid4().hex, user_id, f"load-{seed}", texts.turn().text))
                tally.remember_seconds.append(time.perf_counter() - started)
        except grpc.aio.AioRpcError as error:
            tally.errors[error.code().name] += 1


def _options(arguments: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(prog="python -m bench.load", description="Throughput of a mixed load.")
    parser.add_argument("--out", type=Path, required=True, help="report, JSON")
    parser.add_argument("--clients", default="1,8,32", help="numbers of clients, comma-separated")
    parser.add_argument("--seconds", type=float, default=15.0, help="of each level, after 2 s of warm-up")
    parser.add_argument("--size", type=int, default=5_000, help="memories loaded first (default 5000; 0: none)")
    parser.add_argument("--target", help="gateway of a running stack; without it an embedded one is started")
    parser.add_argument("--api-key", help="credential for --target")
    parser.add_argument("--seed", type=int, default=1, help="of the synthetic texts (default 1)")
    parsed = vars(parser.parse_args(arguments))
    try:
        parsed["clients"] = tuple(int(text) for text in parsed["clients"].split(","))
    except ValueError as error:
        raise BenchError("--clients takes numbers separated by commas") from error
    return Options(**parsed)


if __name__ == "__main__":
    sys.exit(main())

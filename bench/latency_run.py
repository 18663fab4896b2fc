"""One store size: load it, then measure Recall and Remember beside their floors."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.common import open_channel, open_target, ratio, run, times_of
from bench.floor import (
    BARE_POINTS_MAX,
    BareIndex,
    RecallFloor,
    RememberFloor,
    empty_hops,
    similar_vectors,
    superuser_dsn,
)
from bench.gateway import Gateway, one_turn, retried
from bench.latency_load import Loaded, Loading, LoadOptions, embedding_settings, ensure_loaded, per_memory
from bench.load_store import MAIN_USER, conversations_of
from bench.prepared import SAMPLE_TEXTS
from bench.production import EngineChoice, host_settings, running_engines, superuser_url
from bench.resources import footprint, work_done
from bench.texts import TextSource
from mneme.gateway.v1 import recall_pb2
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.factory import create_embedder

WARM_UPS: Final = 30
_PAUSE_SECONDS: Final = 0.005
"""Between two measurements, so that work behind an answer does not count against the next one."""
_REST_SECONDS: Final = 2.0
_REST_SECONDS_MAX: Final = 600.0
_REST_SHARE: Final = 0.03
"""Of a core: a stack that takes less for `_REST_SECONDS` is at rest, if it also"""
_REST_READ_BYTES: Final = 2 * 2**20
"""reads less from disk: a large store that is not in the system's memory waits more than it computes."""
_REST_TIMES: Final = 2
"""So often in a row: what goes on in the background makes pauses."""
_BURST_CLIENTS: Final = 32
_BURST_CALLS: Final = 960
_PER_MEMORY_FROM: Final = 1_000
"""Below this many memories, growth is mostly buffers that fill once."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What to measure."""

    size: int
    """Memories in the store."""
    recalls: int
    """Recalls measured, after the warm-up."""
    remembers: int
    """Remembers measured, after the warm-up; 0: none, and the store stays as it was loaded."""
    seed: int
    """Of texts and vectors."""
    loading: Loading
    """How the store is filled."""
    store: Path | None
    """Folder of a store that is kept, and used again by the next run; None for one that is removed."""
    choice: EngineChoice
    """What the stack runs on."""


def measure_size(options: RunOptions) -> dict[str, Any]:
    """Run everything for one size, client and mostly the stack in this process; returns a part of the report."""
    with tempfile.TemporaryDirectory(prefix="mneme-bench-") as folder, ExitStack() as engines:
        names = options.choice.names
        group = engines.enter_context(running_engines(names, Path(folder) / "engines")) if names else None
        load = LoadOptions(
            folder=options.store or Path(folder) / "store",
            size=options.size,
            seed=options.seed,
            loading=options.loading,
            host_settings=host_settings(group),
            processes=options.choice.processes,
        )
        loaded = ensure_loaded(load)
        superuser = superuser_url(group) if group else ""
        return run(_measure(options, load, loaded, superuser, scratch=Path(folder) / "floor"))


async def _measure(
    options: RunOptions, load: LoadOptions, loaded: Loaded, superuser: str, *, scratch: Path
) -> dict[str, Any]:
    result: dict[str, Any] = {"size": options.size, "loading": options.loading.value, "load": loaded.report()}
    async with AsyncExitStack() as stack:
        target = await stack.enter_async_context(
            open_target(
                None,
                data_dir=load.data_dir,
                host_settings=load.host_settings,
                processes=options.choice.processes,
            )
        )
        result["driver"] = target.driver
        result["start"] = {"first_seconds": loaded.start_seconds, "with_data_seconds": target.start_seconds}
        channel = await stack.enter_async_context(open_channel(target.gateway))
        gateway = Gateway(channel)
        result["start"]["at_rest_after_seconds"] = await at_rest(load.data_dir)
        for number in range(WARM_UPS):  # before the floor's engine takes memory too
            await gateway.recall(recall_pb2.RecallRequest(user_id=MAIN_USER, query=f"What happened {number} days ago?"))
        await at_rest(load.data_dir)  # active owners are prefetched
        full = footprint(load.data_dir)
        if options.choice == EngineChoice():  # what other processes take is not seen
            result["memory_and_disk"] = {"empty": asdict(loaded.empty), "full": asdict(full)}
        if "memory_and_disk" in result and options.size >= _PER_MEMORY_FROM:
            result["per_memory"] = per_memory(loaded.empty, full, options.size)
        embedder = await stack.enter_async_context(_own_embedder(load.data_dir))
        hop = await stack.enter_async_context(empty_hops())
        index = None
        if options.size <= BARE_POINTS_MAX:
            users = [c.user_id for c in conversations_of(options.size, seed=options.seed) for _ in c.turns]
            index = BareIndex(scratch, await _vectors(embedder, options), users)
            stack.callback(index.close)
        floor = RecallFloor(embedder, index, hop, MAIN_USER)
        result["recall"] = await _measure_recall(gateway, floor, options)
        if options.remembers:
            dsn = superuser or superuser_dsn(load.data_dir)
            remember_floor = await stack.enter_async_context(RememberFloor.open(dsn, hop))
            result["remember"] = await _measure_remember(gateway, remember_floor, options)
            result["remember"] |= await _measure_burst(gateway, options)
    return result


async def at_rest(data_dir: Path) -> float:
    """Wait until the stack has done what it does after a start, such as comparing its stores.

    Returns:
        How long it took, in seconds.
    """
    started = time.perf_counter()
    before, times = work_done(data_dir), 0
    while times < _REST_TIMES and time.perf_counter() - started < _REST_SECONDS_MAX:
        await asyncio.sleep(_REST_SECONDS)
        now = work_done(data_dir)
        is_idle = now.processor_seconds - before.processor_seconds < _REST_SHARE * _REST_SECONDS
        is_idle = is_idle and now.read_bytes - before.read_bytes < _REST_READ_BYTES
        before, times = now, times + 1 if is_idle else 0
    return round(time.perf_counter() - started, 1)


@asynccontextmanager
async def _own_embedder(data_dir: Path) -> AsyncIterator[OnnxEmbedder]:
    """The model that the stack built, with the stack's settings, in an instance of its own."""
    embedder = create_embedder(embedding_settings(data_dir))
    try:
        yield embedder
    finally:
        await embedder.aclose()


async def _vectors(embedder: OnnxEmbedder, options: RunOptions) -> np.ndarray[Any, np.dtype[np.float32]]:
    texts = [turn.text for turn in TextSource(options.seed).turns(min(options.size, SAMPLE_TEXTS))]
    return similar_vectors(await embedder.embed_documents(texts), options.size, seed=options.seed)


async def _measure_recall(gateway: Gateway, floor: RecallFloor, options: RunOptions) -> dict[str, Any]:
    """Recalls one after the other, each beside one floor, the order of the two changing each time."""
    questions = TextSource(options.seed + 1)
    seconds: list[float] = []
    stages: defaultdict[str, float] = defaultdict(float)
    found = degraded = 0
    processor_seconds = 0.0

    async def recall(question: str) -> None:
        nonlocal found, degraded, processor_seconds
        request = recall_pb2.RecallRequest(user_id=MAIN_USER, query=question)
        started, processor_started = time.perf_counter(), time.process_time()
        response = await gateway.recall(request)
        seconds.append(time.perf_counter() - started)
        processor_seconds += time.process_time() - processor_started
        found += len(response.memories)
        degraded += response.degraded
        for stage in response.stages:
            stages[stage.stage] += stage.duration.ToTimedelta().total_seconds()

    for number in range(WARM_UPS + options.recalls):
        if number == WARM_UPS:
            seconds.clear()
            stages.clear()
            found = degraded = 0
            processor_seconds = 0.0
            floor.clear()
        question = questions.question()
        await _in_turns(number, lambda q=question: recall(q), lambda q=question: floor.measure(q))  # type: ignore[misc]
    client = times_of(seconds)
    ratios = {}
    if floor.total_seconds:
        total = times_of(floor.total_seconds)
        ratios = {"ratio_p50": ratio(client.p50, total.p50), "ratio_p95": ratio(client.p95, total.p95)}
    return {
        "client": asdict(client),
        "floor": floor.report(),
        **ratios,
        "p99_to_p50": ratio(client.p99, client.p50),
        "processor_milliseconds": round(processor_seconds * 1000 / max(1, options.recalls), 3),
        "stages": {
            name: {
                "mean_milliseconds": round(value * 1000 / options.recalls, 4),
                "share_of_client": ratio(value * 1000 / options.recalls, client.mean),
            }
            for name, value in stages.items()
        },
        "memories_per_answer": found / options.recalls,
        "degraded_answers": degraded,
    }


async def _measure_remember(gateway: Gateway, floor: RememberFloor, options: RunOptions) -> dict[str, Any]:
    """Remembers of one turn, one after the other, each beside one commit of the same rows."""
    texts = TextSource(options.seed + 2)
    seconds: list[float] = []
    delivered_seconds: list[float] = []

    async def remember(number: int, text: str) -> None:
        request = one_turn(f"single/{number}", "user-single", "conversation", text)
        started = time.perf_counter()
        await gateway.remember(request)
        seconds.append(time.perf_counter() - started)

    for number in range(WARM_UPS + options.remembers):
        if number == WARM_UPS:
            seconds.clear()
            delivered_seconds.clear()
            floor.total_seconds.clear()
            floor.commit_seconds.clear()
        text = texts.turn().text
        await floor.measure(text)
        await asyncio.sleep(_PAUSE_SECONDS)
        await remember(number, text)
        acknowledged = time.perf_counter()
        # At rest: else the next floor would be measured with what this Remember set off. The burst below is the
        # time of a busy store.
        await gateway.wait_delivered(poll_seconds=_PAUSE_SECONDS)
        delivered_seconds.append(time.perf_counter() - acknowledged)
    client, total = times_of(seconds), times_of(floor.total_seconds)
    return {
        "client": asdict(client),
        "delivered_after": asdict(times_of(delivered_seconds)),
        "floor": {"total": asdict(total), "commit": asdict(times_of(floor.commit_seconds))},
        "ratio_p50": ratio(client.p50, total.p50),
        "ratio_p95": ratio(client.p95, total.p95),
    }


async def _measure_burst(gateway: Gateway, options: RunOptions) -> dict[str, float]:
    """Single Remembers by many clients at once: how many a second are acknowledged, and how many indexed."""
    texts = TextSource(options.seed + 3)
    numbers = iter(range(_BURST_CALLS))

    async def client(name: int) -> None:
        for number in numbers:
            text = texts.turn().text
            request = one_turn(f"burst/{number}", f"user-burst-{name}", "conversation", text)
            await retried(lambda request=request: gateway.remember(request))  # type: ignore[misc]

    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for name in range(_BURST_CLIENTS):
            group.create_task(client(name))
    acknowledged = time.perf_counter() - started
    await gateway.wait_delivered()
    indexed = time.perf_counter() - started
    return {
        "acknowledged_per_second": round(_BURST_CALLS / acknowledged, 1),
        "indexed_per_second": round(_BURST_CALLS / indexed, 1),
    }


async def _in_turns(number: int, first: Callable[[], Awaitable[None]], second: Callable[[], Awaitable[None]]) -> None:
    """Both, in changing order, so that neither always follows the other's aftermath."""
    for work in (first, second) if number % 2 else (second, first):
        await asyncio.sleep(_PAUSE_SECONDS)
        await work()

"""Memory of a process with all services after many users were searched, beside what its cache says of itself.

    python -m bench.cache_memory --out FILE [--memories 100000] [--users 10000] [--store FOLDER]

Half of the memories belong to one user, the others to the rest in equal parts. Another process loads them, with
prepared vectors, so that what loading takes is not measured. Then every user is asked a question, the large one several
times, with the model. README.md beside this file says what each figure means.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.trace import NoOpTracerProvider

from bench.common import BenchError, open_channel, open_target, print_table, report_head, run, write_json
from bench.gateway import Gateway
from bench.latency_load import embedding_settings
from bench.load_store import MAIN_USER, LoadTimes, StoredConversation, remember_conversations
from bench.prepared import PreparedEncoder
from bench.resources import footprint
from bench.texts import TextSource
from mneme.gateway.v1 import recall_pb2
from services.common.cache import CacheSettings
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.factory import EmbeddingSettings, load_encoder
from services.common.telemetry import state

_TURNS_IN_CONVERSATION: Final = 40
_MAIN_RECALLS: Final = 200
_SEED: Final = 7
_FIRST_DAY: Final = datetime(2025, 1, 6, 9, tzinfo=UTC)
_RSS_MEBIBYTES_MAX: Final = 1_536
"""What a process with default settings may take."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command line."""

    memories: int
    users: int
    store: Path | None
    out: Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 when the process took too much, 2 when it cannot run."""
    parser = argparse.ArgumentParser(prog="bench.cache_memory", description=__doc__.partition("\n")[0])
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--store", type=Path, help="folder of a store that is loaded once, and used again")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    options = Options(given.memories, given.users, given.store, given.out)
    try:
        result = _measure_in(options)
    except BenchError as error:
        print(f"bench.cache_memory: {error}", file=sys.stderr)
        return 2
    settings = {"memories": options.memories, "users": options.users, "cache_bytes_max": CacheSettings().bytes_max}
    write_json(options.out, report_head("cache_memory", driver="embedded", settings=settings) | result)
    rows = [(name, value) for name, value in result.items() if not isinstance(value, dict)]
    rows += [(f"cache: {kind}", value) for kind, value in result["cache_mebibytes"].items()]
    print_table("Memory of a process (MiB)", ("", "MiB"), rows)
    return 0 if result["rss_searched"] <= _RSS_MEBIBYTES_MAX else 1


def conversations(memories: int, users: int, *, seed: int) -> Iterator[StoredConversation]:
    """Half of the memories of the main user, the others in equal parts of `users` - 1 others."""
    texts = TextSource(seed)
    number = 0
    shares = [(MAIN_USER, memories // 2)]
    others = max(1, users - 1)
    shares += [(f"user-{index:05}", (memories - memories // 2) // others) for index in range(users - 1)]
    for user_id, share in shares:
        for start in range(0, share, _TURNS_IN_CONVERSATION):
            number += 1
            yield StoredConversation(
                user_id=user_id,
                conversation_id=f"conversation-{number}",
                start=_FIRST_DAY + number * timedelta(minutes=20),
                turns=tuple(texts.turns(min(_TURNS_IN_CONVERSATION, share - start))),
            )


def _measure_in(options: Options) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="mneme-bench-") as temporary:
        folder = (options.store or Path(temporary)) / "data"
        if not folder.exists():
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
                process.submit(_load_in, folder, options).result()
        return run(_measure(folder, options))


def _load_in(folder: Path, options: Options) -> LoadTimes:
    return run(_load(folder, options))


async def _load(folder: Path, options: Options) -> LoadTimes:
    prepared = PreparedEncoder(load_encoder(embedding_settings(folder)), seed=_SEED)

    def make_embedder(settings: EmbeddingSettings) -> OnnxEmbedder:
        return OnnxEmbedder(prepared, settings.embedder)

    async with (
        open_target(None, data_dir=folder, make_embedder=make_embedder) as target,
        open_channel(target.gateway) as channel,
    ):
        loaded = conversations(options.memories, options.users, seed=_SEED)
        return await remember_conversations(Gateway(channel), loaded)


async def _measure(folder: Path, options: Options) -> dict[str, Any]:
    reader = InMemoryMetricReader()
    state.switch_on(NoOpTracerProvider(), MeterProvider(metric_readers=[reader]))
    try:
        async with AsyncExitStack() as stack:
            target = await stack.enter_async_context(open_target(None, data_dir=folder))
            gateway = Gateway(await stack.enter_async_context(open_channel(target.gateway)))
            questions = TextSource(_SEED + 1)
            started = footprint(folder).process_rss
            users = list(dict.fromkeys(c.user_id for c in conversations(options.memories, options.users, seed=_SEED)))
            for user_id in [MAIN_USER] * _MAIN_RECALLS + users + [MAIN_USER] * _MAIN_RECALLS:
                request = recall_pb2.RecallRequest(user_id=user_id, query=questions.question())
                if not (await gateway.recall(request)).memories:
                    raise BenchError(f"nothing was found for {user_id}")
            searched = footprint(folder)
            return {
                "rss_started": round(started, 1),
                "rss_searched": round(searched.process_rss, 1),
                "postgres_pss": round(searched.postgres_pss, 1),
                "cache_mebibytes": _cache_sizes(reader),
            }
    finally:
        state.switch_off()


def _cache_sizes(reader: InMemoryMetricReader) -> dict[str, float]:
    """Memory by kind, as the cache's metric has it."""
    data = reader.get_metrics_data()
    if data is None:
        return {}
    found: dict[str, float] = {}
    for resource in data.resource_metrics:
        for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
            if metric.name == "mneme.cache.bytes":
                for point in metric.data.data_points:
                    found[str((point.attributes or {}).get("kind"))] = round(point.value / 2**20, 1)  # type: ignore[union-attr]
    return found


if __name__ == "__main__":
    raise SystemExit(main())

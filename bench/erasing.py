"""How soon an erased user with many memories is found nowhere and gone from every file, and what others notice.

    python -m bench.erasing --out FILE [--memories 100000] [--store FOLDER]

A copy of the store of `bench.console` gets a few turns of random words among the user's, and another user, who asks and
writes all the time: alone, while the first user is erased, and while the files are purged. Then every byte of every
file is searched for the words and for the vectors of their turns.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc
import numpy as np

from bench.common import BenchError, open_target, print_table, report_head, run, times_of, write_json
from bench.console import stored_user
from bench.load_store import MAIN_USER
from bench.multiply import copy_store
from bench.prove_erase import writing
from bench.prove_erase.canaries import Canaries, vector_patterns
from bench.prove_erase.scanning import Scan, scan_folders
from bench.settling import settled
from mneme_client import Client, ErasureState, MnemeClientError
from mneme_client.results_erasure import Erasure
from services.cli.purging import purge_installation
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.factory import EmbeddingSettings, create_embedder
from services.common.hosting import HostSettings
from services.common.postgres.purging_online import OnlinePurgeSettings

FOUND_SECONDS_MAX: Final = 1.0
"""From the response of Erase until nothing finds anything of the user."""
GONE_SECONDS_MAX: Final = 300.0
"""From the response of Erase until no file holds anything of the user."""
_NEIGHBOUR: Final = "neighbour"
_CALL_SECONDS: Final = 120.0
_WAIT_SECONDS_MAX: Final = 1_800.0
_RECALL_PAUSE_SECONDS: Final = 0.1
_REMEMBER_PAUSE_SECONDS: Final = 0.2
_LOOK_PAUSE_SECONDS: Final = 0.05
_LOOK_SECONDS: Final = 2.0
"""For which the user is looked for after the erasure was done."""
_POLL_SECONDS: Final = 0.5
_CANARIES: Final = 5
_NEIGHBOUR_TURNS: Final = 100
_FOLDERS: Final = {
    "write-ahead log": "postgres/cluster/pg_wal",
    "PostgreSQL": "postgres",
    "vector index": "qdrant",
    "sessions": "session",
    "other files": ".",
}


@dataclass
class _Calls:
    """What the other user's calls took in one phase."""

    recall: list[float] = field(default_factory=list)
    remember: list[float] = field(default_factory=list)
    degraded: int = 0
    failed: int = 0
    seconds: float = 0.0
    load_average: float = 0.0

    def report(self) -> dict[str, object]:
        """For the file."""
        return {
            "seconds": round(self.seconds, 1),
            "recall": {**asdict(times_of(self.recall)), "worst": _worst(self.recall)},
            "remember": {**asdict(times_of(self.remember)), "worst": _worst(self.remember)},
            "degraded_recalls": self.degraded,
            "failed_calls": self.failed,
            "load_average": self.load_average,
        }


@dataclass
class _Measured:
    """Seconds from the response of Erase on, and the phases."""

    acknowledge_seconds: float = 0.0
    last_found: dict[str, float] = field(default_factory=dict)
    """By the way of asking, when something was found for the last time; missing: never after the response."""
    done_seconds: float = 0.0
    done_by_store: dict[str, float] = field(default_factory=dict)
    purged_seconds: float = 0.0
    phases: dict[str, _Calls] = field(default_factory=dict)
    counts: dict[str, Mapping[str, int]] = field(default_factory=dict)
    before: Scan = field(default_factory=Scan)
    after: Scan = field(default_factory=Scan)


def _worst(seconds: Sequence[float]) -> float | None:
    return round(max(seconds) * 1000, 1) if seconds else None


@contextlib.asynccontextmanager
async def _calling(client: Client, calls: _Calls) -> AsyncIterator[None]:
    """The other user asks and writes for the length of the block."""
    number = 0

    async def again(pause: float, times: list[float], call: Callable[[], Awaitable[bool]]) -> None:
        while True:
            begun = time.perf_counter()
            try:
                calls.degraded += await call()
            except MnemeClientError:
                calls.failed += 1
            times.append(time.perf_counter() - begun)
            await asyncio.sleep(pause)

    async def recall() -> bool:
        return bool((await client.recall(_NEIGHBOUR, f"Which platform was train {len(calls.recall)}?")).degraded)

    async def remember() -> bool:
        nonlocal number
        number += 1
        await client.remember(_NEIGHBOUR, f"m{number // 40}", [f"I put item {number} in the box by the door."])
        return False

    begun = time.perf_counter()
    tasks = [
        asyncio.create_task(again(_RECALL_PAUSE_SECONDS, calls.recall, recall)),
        asyncio.create_task(again(_REMEMBER_PAUSE_SECONDS, calls.remember, remember)),
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        calls.seconds = time.perf_counter() - begun
        calls.load_average = round(os.getloadavg()[0], 2)


class _Look:
    """Asks for the erased user in every way, and notes when something was found for the last time."""

    def __init__(self, client: Client, http: str, episode_id: str, conversation_id: str) -> None:
        # Without a canary: a question that is asked after the erasure is not erased by it.
        question = "Who repairs boats in Trieste?"
        request = {"userId": MAIN_USER}

        async def recall() -> bool:
            found = await client.recall(MAIN_USER, question)
            return bool(found.memories or found.facts or found.notes)

        async def get_episode() -> bool:
            await client.get_episode(MAIN_USER, episode_id)
            return True

        self._http = http
        self.ways: dict[str, Callable[[], Awaitable[bool]]] = {
            "Recall": recall,
            "GetEpisode": get_episode,
            "ListConversations": lambda: _any(client.list_conversations(MAIN_USER, page_size=1)),
            "ListInteractions": lambda: _any(client.list_interactions(MAIN_USER, conversation_id, page_size=1)),
            "ListEpisodes": lambda: _any(client.list_episodes(MAIN_USER, page_size=1)),
            "ListFacts": lambda: _any(client.list_facts(MAIN_USER, page_size=1)),
            "ListNotes": lambda: _any(client.list_notes(MAIN_USER, page_size=1)),
            "console, timeline": lambda: self._console("episodic.v1.EpisodicService/ListEpisodes", request),
            "console, search": lambda: self._console("gateway.v1.MemoryService/Recall", {**request, "query": question}),
        }
        self._found: dict[str, float] = {}

    async def once(self, way: str) -> bool:
        """Whether something of the user is found in a way."""
        try:
            return await self.ways[way]()
        except MnemeClientError as error:
            if error.code is grpc.StatusCode.NOT_FOUND:
                return False
            raise

    async def check(self) -> list[str]:
        """The ways in which nothing is found."""
        return [way for way in self.ways if not await self.once(way)]

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Asks in all ways for the length of the block; `found_since` says what was found."""

        async def again(way: str) -> None:
            while True:
                with contextlib.suppress(MnemeClientError):
                    asked = time.perf_counter()
                    if await self.once(way):
                        self._found[way] = asked
                await asyncio.sleep(_LOOK_PAUSE_SECONDS)

        tasks = [asyncio.create_task(again(way)) for way in self.ways]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def found_since(self, moment: float) -> dict[str, float]:
        """Seconds from a moment until a call began that found something for the last time, by the way of asking."""
        return {way: round(last - moment, 3) for way, last in self._found.items() if last > moment}

    async def _console(self, method: str, request: Mapping[str, str]) -> bool:
        return await asyncio.to_thread(self._posted, method, json.dumps(request).encode())

    def _posted(self, method: str, body: bytes) -> bool:
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"http://{self._http}/mneme.{method}", body, headers)
        with urllib.request.urlopen(request, timeout=_CALL_SECONDS) as response:  # noqa: S310
            found: Mapping[str, Any] = json.loads(response.read())
        return any(found.get(name) for name in ("episodes", "memories", "facts", "notes"))


async def _any(found: AsyncIterator[object]) -> bool:
    async for _ in found:
        return True
    return False


async def _measure(data_dir: Path, options: argparse.Namespace) -> _Measured:
    measured, canaries, made = _Measured(), Canaries(), list[OnnxEmbedder]()

    def make(settings: EmbeddingSettings) -> OnnxEmbedder:
        made.append(create_embedder(settings))
        return made[0]

    host = HostSettings(http_listen="127.0.0.1:0", otlp_endpoint="")
    async with (
        open_target(None, data_dir=data_dir, host_settings=host, make_embedder=make) as target,
        Client(target.gateway, default_timeout_seconds=_CALL_SECONDS) as client,
    ):
        assert target.http is not None
        texts = [f"My friend {canaries.word(f'turn {n}')} repairs boats in Trieste." for n in range(_CANARIES)]
        planted = await client.remember(MAIN_USER, "canaries", texts)
        await writing.write_neighbours(client, _NEIGHBOUR, _NEIGHBOUR_TURNS)
        await settled(client)
        vectors = [
            pattern
            for vector in await made[0].embed_documents(texts)
            for pattern in vector_patterns("vector", np.array(vector, np.float32))
        ]
        folders = {name: data_dir / part for name, part in _FOLDERS.items()}
        measured.before = await asyncio.to_thread(scan_folders, folders, canaries, vectors)
        look = _Look(client, target.http, planted.interactions[0].interaction_id, "canaries")
        if blind := await look.check():
            raise BenchError(f"nothing of the user is found before: {', '.join(blind)}")
        async with _phase(client, measured, "alone"):
            await asyncio.sleep(options.seconds)
        async with _phase(client, measured, "erasure"):
            acknowledged, erasure = await _erase(client, measured, look)
        async with _phase(client, measured, "purge"):
            await _purge(client, data_dir, erasure, options)
            measured.purged_seconds = time.perf_counter() - acknowledged
        measured.after = await asyncio.to_thread(scan_folders, folders, canaries, vectors)
        if found := [way for way in look.ways if way not in await look.check()]:
            raise BenchError(f"found after the purge: {', '.join(found)}")
    return measured


@contextlib.asynccontextmanager
async def _phase(client: Client, measured: _Measured, name: str) -> AsyncIterator[None]:
    calls = measured.phases[name] = _Calls()
    async with _calling(client, calls):
        yield


async def _erase(client: Client, measured: _Measured, look: _Look) -> tuple[float, Erasure]:
    """Erases the user; returns when that was acknowledged."""
    begun = time.perf_counter()
    erasure = await client.erase_user(MAIN_USER)
    acknowledged = time.perf_counter()
    measured.acknowledge_seconds = acknowledged - begun
    async with look.watching(), asyncio.timeout(_WAIT_SECONDS_MAX):
        while erasure.state is not ErasureState.DONE:
            await asyncio.sleep(_LOOK_PAUSE_SECONDS)
            erasure = await client.get_erasure(erasure.erasure_id)
            for receipt in erasure.stores:
                if receipt.done:
                    measured.done_by_store.setdefault(receipt.store.name, round(time.perf_counter() - acknowledged, 1))
        measured.done_seconds = time.perf_counter() - acknowledged
        await asyncio.sleep(_LOOK_SECONDS)
    measured.last_found = look.found_since(acknowledged)
    measured.counts = {receipt.store.name: receipt.counts for receipt in erasure.stores}
    return acknowledged, erasure


async def _purge(client: Client, data_dir: Path, erasure: Erasure, options: argparse.Namespace) -> None:
    """Until the receipt says that the files are purged, by the schedule or by what the command does."""
    if options.by_command:
        await purge_installation(data_dir, "", OnlinePurgeSettings(), index_seconds=_WAIT_SECONDS_MAX)
    async with asyncio.timeout(_WAIT_SECONDS_MAX):
        while erasure.purge_time is None:
            await asyncio.sleep(_POLL_SECONDS)
            erasure = await client.get_erasure(erasure.erasure_id)


def _report(options: argparse.Namespace, measured: _Measured) -> int:
    report = report_head(
        "erasing", driver="embedded", settings={"memories": options.memories, "by_command": options.by_command}
    )
    found = max(measured.last_found.values(), default=0.0)
    report["acknowledge_seconds"] = round(measured.acknowledge_seconds, 3)
    report["found_seconds"] = found
    report["found_by_way"] = measured.last_found
    report["done_by_store"] = measured.done_by_store
    report["done_seconds"] = round(measured.done_seconds, 1)
    report["purged_seconds"] = round(measured.purged_seconds, 1)
    report["counts"] = measured.counts
    report["other_user"] = {name: calls.report() for name, calls in measured.phases.items()}
    report["canaries"] = {"before": len(measured.before.hits), "after": len(measured.after.hits)}
    report["left"] = sorted({f"{hit.store}: {hit.path}: {hit.form}" for hit in measured.after.hits})
    report["unread"] = measured.after.unread
    is_proven = bool(measured.before.hits) and not measured.after.hits and not measured.after.unread
    is_met = is_proven and found <= FOUND_SECONDS_MAX and measured.purged_seconds <= GONE_SECONDS_MAX
    report["is_met"] = is_met
    write_json(options.out, report)
    rows = [
        (name, round(calls.seconds, 1), *_cells(calls.recall), *_cells(calls.remember), calls.degraded, calls.failed)
        for name, calls in measured.phases.items()
    ]
    columns = ("phase", "s", "Recall p50 ms", "p95", "worst", "Remember p50 ms", "p95", "worst", "degraded", "failed")
    print_table("Calls of another user", columns, rows)
    print(
        f"acknowledged after {measured.acknowledge_seconds:.1f} s; from then on: found for {found:.1f} s, erased from "
        f"all stores after {measured.done_seconds:.1f} s, purged after {measured.purged_seconds:.1f} s; canaries in "
        f"files: {len(measured.before.hits)} before, {len(measured.after.hits)} after"
    )
    return 0 if is_met else 1


def _cells(seconds: Sequence[float]) -> tuple[object, ...]:
    times = times_of(seconds)
    return round(times.p50, 1), round(times.p95, 1), _worst(seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments and measure. Exit code 1 where the user was found for too long, or something is left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--memories", type=int, default=100_000, help="of the user, a multiple of 10")
    parser.add_argument("--seconds", type=float, default=20.0, help="in which the other user is alone")
    parser.add_argument("--by-command", action="store_true", help="purge as `mneme purge` does, not by the schedule")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", type=Path, help="folder for the filled store, used again by the next run")
    options = parser.parse_args(arguments)
    os.environ["MNEME_EPISODIC__PURGING__IS_ENABLED"] = "false" if options.by_command else "true"
    with tempfile.TemporaryDirectory(prefix="mneme-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)  # PostgreSQL runs as another user
        filled = stored_user(options.store or Path(folder), options.memories, options.seed)
        copied = Path(folder) / "erased"
        copy_store(filled, copied)
        return _report(options, run(_measure(copied, options)))


if __name__ == "__main__":
    sys.exit(main())

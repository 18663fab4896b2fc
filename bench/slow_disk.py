"""How long an unrelated call waits while long turns are imported and the disk is slow.

    python -m bench.slow_disk --out FILE

A stack with embedded engines is started twice: as it is, and with a library preloaded that delays every sync to the
disk. Beside an import of long turns a health check is called again and again, and the process notes how late its event
loop is; so is one of a bare server, for the floor of the machine. Needs gcc.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from bench.common import (
    BenchError,
    Channel,
    Times,
    open_channel,
    open_target,
    print_table,
    report_head,
    run,
    times_of,
    write_json,
)
from bench.gateway import Gateway, one_turn
from bench.texts import TextSource

P99_MILLISECONDS_MAX: Final = 50.0
_TICK_SECONDS: Final = 0.005
_PAUSE_SECONDS: Final = 0.02
_POLL_SECONDS: Final = 1.0
_TELL_SECONDS: Final = 60.0
"""Between two lines on what was seen so far: a run takes more than an hour."""
_BATCH: Final = 32
_USERS: Final = 8


@dataclass(frozen=True, slots=True)
class Stalls:
    """How late the event loop of the services was, in milliseconds."""

    longest: float
    above_50: int
    above_10: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One import."""

    fsync_seconds: float
    turns: int
    import_seconds: float
    """Until all are acknowledged."""
    delivered_seconds: float
    """Until all are delivered."""
    call: Times
    """An unrelated health check, meanwhile."""
    call_longest_ms: float
    floor: Times
    """A health check of a bare server, meanwhile: what the load of the machine alone makes of it."""
    stalls: Stalls


async def _serve_bare() -> None:
    """Serve health alone until standard input ends."""
    server = grpc.aio.server()
    health_pb2_grpc.add_HealthServicer_to_server(health.aio.HealthServicer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await server.stop(None)


async def _serve(folder: Path) -> None:
    """Serve until standard input ends, then print how late the loop was."""
    lateness: list[float] = []

    async def watch() -> None:
        while True:
            begin = time.perf_counter()
            await asyncio.sleep(_TICK_SECONDS)
            lateness.append((time.perf_counter() - begin - _TICK_SECONDS) * 1000)

    async with open_target(None, data_dir=folder) as target:
        watching = asyncio.create_task(watch())
        print(target.gateway, flush=True)
        await asyncio.to_thread(sys.stdin.read)
        watching.cancel()
    found = {
        "longest": round(max(lateness), 1),
        "above_50": sum(value > 50 for value in lateness),
        "above_10": sum(value > 10 for value in lateness),
    }
    print(json.dumps(found), flush=True)


def _compiled(folder: Path) -> Path:
    library = folder / "slow_fsync.so"
    source = Path(__file__).with_name("slow_fsync.c")
    try:
        subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)
    except OSError as error:
        raise BenchError("gcc is needed to slow the disk down") from error
    return library


async def _call_health(channel: Channel, seconds: list[float]) -> None:
    stub: Any = health_pb2_grpc.HealthStub(channel.channel)
    while True:
        begin = time.perf_counter()
        await stub.Check(health_pb2.HealthCheckRequest(), timeout=300.0)
        seconds.append(time.perf_counter() - begin)
        await asyncio.sleep(_PAUSE_SECONDS)


async def _import(gateway: Gateway, turns: int, chars: int) -> None:
    texts = TextSource(1)
    for start in range(0, turns, _BATCH):
        items = []
        for number in range(start, min(start + _BATCH, turns)):
            content = ""
            while len(content) < chars:
                content += texts.turn().text + " "
            user = f"importer-{number % _USERS}"
            items.append(one_turn(f"slow-disk-{number}", user, f"{user}-conversation", content[:chars]))
        while True:
            try:
                await gateway.remember_batch(items)
                break
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.DEADLINE_EXCEEDED:
                    raise


@contextlib.asynccontextmanager
async def _child(*arguments: str, slowed_by: dict[str, str]) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.slow_disk", *arguments,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=dict(os.environ) | slowed_by,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    address = (await process.stdout.readline()).decode().strip()
    if not address:
        raise BenchError("the stack does not start")
    return address


def _progress(fsync_seconds: float, seconds: Sequence[float]) -> Callable[[int], None]:
    """Returns what prints each minute how many deliveries wait and the p99 of the health checks so far."""
    told = time.monotonic()

    def tell(pending: int) -> None:
        nonlocal told
        if time.monotonic() - told >= _TELL_SECONDS:
            told = time.monotonic()
            p99 = times_of(seconds).p99
            print(f"fsync {fsync_seconds:g} s: {pending} deliveries wait, p99 so far {p99:.1f} ms", file=sys.stderr)

    return tell


async def _measure(library: Path, fsync_seconds: float, turns: int, chars: int) -> Run:
    seconds: list[float] = []
    floor: list[float] = []
    slowed_by = {"LD_PRELOAD": str(library), "SLOW_FSYNC_MICROSECONDS": str(round(fsync_seconds * 1e6))}
    async with contextlib.AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mneme-bench-"))
        process = await stack.enter_async_context(
            _child("--serve", folder, slowed_by=slowed_by if fsync_seconds else {})
        )
        bare = await stack.enter_async_context(_child("--serve-bare", slowed_by={}))
        address = await _address(process)
        channel, beside, unrelated = [
            await stack.enter_async_context(open_channel(target)) for target in (address, address, await _address(bare))
        ]
        calling = [
            asyncio.create_task(_call_health(called, times))
            for called, times in ((beside, seconds), (unrelated, floor))
        ]
        begin = time.perf_counter()
        gateway = Gateway(channel)
        await _import(gateway, turns, chars)
        imported = time.perf_counter() - begin
        await gateway.wait_delivered(on_progress=_progress(fsync_seconds, seconds), poll_seconds=_POLL_SECONDS)
        delivered = time.perf_counter() - begin
        for task in calling:
            task.cancel()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        stalls = json.loads(await process.stdout.readline())
        await process.wait()
    return Run(
        fsync_seconds=fsync_seconds,
        turns=turns,
        import_seconds=round(imported, 1),
        delivered_seconds=round(delivered, 1),
        call=times_of(seconds),
        call_longest_ms=round(max(seconds) * 1000, 1),
        floor=times_of(floor),
        stalls=Stalls(**stalls),
    )


async def _run(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="mneme-slow-fsync-") as folder:
        library = _compiled(Path(folder))
        runs = [
            await _measure(library, seconds, options.turns, options.chars) for seconds in (0.0, options.fsync_seconds)
        ]
    rows = [
        (
            f"{found.fsync_seconds:g} s",
            found.import_seconds,
            found.delivered_seconds,
            found.call.p50,
            found.call.p99,
            found.call_longest_ms,
            found.floor.p99,
            found.stalls.longest,
            found.stalls.above_50,
        )
        for found in runs
    ]
    columns = (
        "fsync",
        "import s",
        "delivered s",
        "p50 ms",
        "p99 ms",
        "longest ms",
        "floor p99 ms",
        "stall ms",
        "stalls > 50 ms",
    )
    print_table(f"health check beside an import of {options.turns} turns of {options.chars} characters", columns, rows)
    settings = {"turns": options.turns, "chars": options.chars, "p99_ms_max": P99_MILLISECONDS_MAX}
    write_json(options.out, {**report_head("slow_disk", driver="embedded", settings=settings), "runs": runs})
    return 0 if all(found.call.p99 <= P99_MILLISECONDS_MAX for found in runs) else 1


def main() -> None:
    """Run the benchmark; the exit code is 1 where an unrelated call's p99 is above the bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="report, JSON")
    parser.add_argument("--turns", type=int, default=2_000, help="turns to import")
    parser.add_argument("--chars", type=int, default=2_000, help="characters of each")
    parser.add_argument("--fsync-seconds", type=float, default=0.2, help="delay of every sync in the second run")
    parser.add_argument("--serve", type=Path, metavar="FOLDER", help=argparse.SUPPRESS)
    parser.add_argument("--serve-bare", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve_bare:
        run(_serve_bare())
        return
    if options.serve is not None:
        run(_serve(options.serve))
        return
    if options.out is None:
        parser.error("--out is needed")
    try:
        sys.exit(run(_run(options)))
    except BenchError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()

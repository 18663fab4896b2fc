"""What hostile callers cost a normal one, and what they leave behind.

    python -m bench.hostile --out FILE

A stack with embedded engines serves two tenants by their API keys. A normal client writes and recalls: alone, and
beside 1,000 hostile connections and 1,000 idle streams of the other tenant, from a process of their own. Afterwards
memory and descriptors of each process of the stack are compared with those of before.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import grpc
import psutil

from bench.common import (
    BenchError,
    open_channel,
    open_target,
    print_table,
    ratio,
    report_head,
    run,
    times_of,
    write_json,
)
from bench.gateway import Gateway, one_turn
from bench.hostile.attack import attack
from bench.texts import TextSource
from mneme.gateway.v1 import recall_pb2

P95_RATIO_MAX: Final = 2.0
DESCRIPTORS_MORE_MAX: Final = 16
"""A few are the libraries' own; each connection left over would be one more."""
MEMORY_MORE_SHARE_MAX: Final = 0.1
MEMORY_MORE_BYTES_MAX: Final = 48 * 1024 * 1024
"""Memory may grow by the share and by these bytes: what was written meanwhile is cached."""
_PAUSE_SECONDS: Final = 0.05
_CALL_SECONDS: Final = 10.0
_RETRY_SECONDS: Final = 1.0
_SETTLE_SECONDS: Final = 120.0
"""For what the hostile callers left: a stream ends after a pause of 60 s."""


@dataclass(slots=True)
class Phase:
    """What the normal client saw."""

    seconds: list[float] = field(default_factory=list)
    """Of each call, its retry included."""
    retried: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Holding:
    """What a process holds."""

    descriptors: int
    bytes: int


async def _serve(folder: Path, keys: Path) -> None:
    """Serve two tenants until standard input ends."""
    from services.common.hosting import HostSettings

    async with open_target(None, data_dir=folder, host_settings=HostSettings(api_keys_file=keys)) as target:
        print(target.gateway, flush=True)
        await asyncio.to_thread(sys.stdin.read)


@contextlib.asynccontextmanager
async def _child(*arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.hostile", *arguments,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _held(stack: int) -> dict[str, Holding]:
    """By process: its place among those of the stack and what it is called."""
    root = psutil.Process(stack)
    found: dict[str, Holding] = {}
    for process in [root, *root.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            name = f"{process.name()} {process.pid}"
            found[name] = Holding(process.num_fds(), process.memory_info().rss)
    return found


async def _normal(gateway: Gateway, phase: Phase, *, name: str, seconds: float) -> None:
    """Writes and recalls in turn."""
    texts, number = TextSource(4), 0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        number += 1
        request = one_turn(f"{name}-{number}", "normal", f"{name}-{number // 20}", texts.turn().text)
        query = recall_pb2.RecallRequest(user_id="normal", query="what was said about it", limit=10)
        for call in (partial(gateway.memory.Remember, request), partial(gateway.memory.Recall, query)):
            await _timed(partial(call, metadata=gateway.metadata, timeout=_CALL_SECONDS), phase)
            await asyncio.sleep(_PAUSE_SECONDS)


async def _timed(call: Callable[[], Awaitable[object]], phase: Phase) -> None:
    begin = time.perf_counter()
    try:
        await call()
    except grpc.aio.AioRpcError:
        phase.retried += 1
        await asyncio.sleep(_RETRY_SECONDS)
        try:
            await call()
        except grpc.aio.AioRpcError:
            phase.failed += 1
    phase.seconds.append(time.perf_counter() - begin)


def _left(before: dict[str, Holding], after: dict[str, Holding]) -> list[str]:
    """What processes hold that they did not hold before."""
    found = []
    for name, now in after.items():
        was = before.get(name)
        if was is None:
            continue  # PostgreSQL's connections come and go with processes of their own
        # PostgreSQL's processes hold files of tables open for later use, up to a bound of their own.
        if "postgres" not in name and now.descriptors > was.descriptors + DESCRIPTORS_MORE_MAX:
            found.append(f"{name}: {was.descriptors} descriptors before, {now.descriptors} after")
        if now.bytes > was.bytes * (1 + MEMORY_MORE_SHARE_MAX) + MEMORY_MORE_BYTES_MAX:
            found.append(f"{name}: {was.bytes >> 20} MiB before, {now.bytes >> 20} MiB after")
    return found


async def _released(stack: int, before: dict[str, Holding]) -> list[str]:
    """What is still held when nothing more is released."""
    end = time.perf_counter() + _SETTLE_SECONDS
    # No event reports that another process has released something.
    while (left := _left(before, _held(stack))) and time.perf_counter() < end:  # noqa: ASYNC110
        await asyncio.sleep(1.0)
    return left


async def _run(options: argparse.Namespace) -> int:
    from services.common.auth import Role, create_api_key

    phases = {"alone": Phase(), "attacked": Phase()}
    with tempfile.TemporaryDirectory(prefix="mneme-bench-", ignore_cleanup_errors=True) as folder:
        keys = Path(folder) / "keys.json"
        now = datetime.now(UTC)
        normal_key, hostile_key = (
            create_api_key(keys, tenant_id=tenant, principal_id=tenant, role=Role.WRITER, now=now)[0]
            for tenant in ("normal", "hostile")
        )
        async with _child("--serve", str(Path(folder) / "data"), "--keys", str(keys)) as stack:
            assert stack.stdout is not None
            address = (await stack.stdout.readline()).decode().strip()
            if not address:
                raise BenchError("the stack does not start")
            async with open_channel(address, api_key=normal_key) as channel:
                gateway = Gateway(channel)
                await _normal(gateway, Phase(), name="warm-up", seconds=options.warm_up_seconds)
                await _normal(gateway, phases["alone"], name="alone", seconds=options.seconds / 5)
                before = _held(stack.pid)
                attacking = ["--attack", address, "--key", hostile_key]
                attacking += ["--connections", str(options.connections), "--streams", str(options.streams)]
                async with _child(*attacking):
                    await _normal(gateway, phases["attacked"], name="attacked", seconds=options.seconds)
                    most = _held(stack.pid)
                left = await _released(stack.pid, before)
                after = _held(stack.pid)
    return _report(options, phases, {"before": before, "attacked": most, "after": after}, left)


def _report(
    options: argparse.Namespace, phases: dict[str, Phase], held: dict[str, dict[str, Holding]], left: list[str]
) -> int:
    times = {name: times_of(phase.seconds) for name, phase in phases.items()}
    p95_ratio = ratio(times["attacked"].p95, times["alone"].p95)
    failed = sum(phase.failed for phase in phases.values())
    is_met = not failed and not left and (p95_ratio or 0.0) <= P95_RATIO_MAX
    settings = {"seconds": options.seconds, "connections": options.connections, "streams": options.streams}
    report = report_head("hostile", driver="embedded", settings=settings)
    report["phases"] = {
        name: {"calls": asdict(times[name]), "retried": phase.retried, "failed": phase.failed}
        for name, phase in phases.items()
    }
    report |= {"p95_ratio": p95_ratio, "left": left, "is_met": is_met}
    report["held"] = {
        moment: {name: asdict(holding) for name, holding in processes.items()} for moment, processes in held.items()
    }
    write_json(options.out, report)
    print_table(
        f"a normal client beside {options.connections} hostile connections and {options.streams} idle streams",
        ("phase", "calls", "p50 ms", "p95 ms", "p99 ms", "retried", "failed"),
        [
            (name, len(phase.seconds), times[name].p50, times[name].p95, times[name].p99, phase.retried, phase.failed)
            for name, phase in phases.items()
        ],
    )
    for line in left:
        print(f"not released: {line}")
    return 0 if is_met else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments and measure. Exit code 1 where a bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="report, JSON")
    parser.add_argument("--seconds", type=float, default=300.0, help="of the attack")
    parser.add_argument("--warm-up-seconds", type=float, default=10.0)
    parser.add_argument("--connections", type=int, default=1_000)
    parser.add_argument("--streams", type=int, default=1_000)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--keys", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--attack", help=argparse.SUPPRESS)
    parser.add_argument("--key", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve is None and options.attack is None and options.out is None:
        parser.error("--out is required")
    if options.serve is not None:
        run(_serve(options.serve, options.keys))
        return 0
    if options.attack is not None:
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        os.nice(19)  # hostile callers have processors of their own
        run(attack(options.attack, options.key, connections=options.connections, streams=options.streams))
        return 0
    return run(_run(options))


if __name__ == "__main__":
    sys.exit(main())

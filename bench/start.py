"""How long `make run` takes until Mneme serves, with HTTP beside gRPC and without it.

    python -m bench.start --out FILE [--starts 5]

Each start is the process that `make run` ends in (`mneme demo --serve`), on one temporary data folder. The first start
makes the databases and imports the demo; it is reported by itself. Starts with HTTP and without it then take turns, so
that what else the machine does meets both. A start is over when health says SERVING: by gRPC, and where HTTP is served
by HTTP too. What `make run` prints until it serves on is timed as well.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Final

import aiohttp
import psutil

from bench.common import REPOSITORY, BenchError, print_table, report_head, run, write_json
from services.cli.health import Answer, ask

ADDED_SECONDS_MAX: Final = 1.0
_SERVING_SECONDS_MAX: Final = 300.0
_DEMO_SECONDS_MAX: Final = 600.0
_END_SECONDS_MAX: Final = 60.0
_POLL_SECONDS: Final = 0.05
_SERVES_ON: Final = b"Ctrl-C stops it"


@dataclass(frozen=True, slots=True)
class Start:
    """One start."""

    serving_seconds: float
    """Until health says that all is ready."""
    processor_seconds: float
    """Of the process until then: hardly depends on what else the machine does."""
    demo_seconds: float
    """Until the demo has asked its questions and serves on."""


async def _start(folder: Path, *, has_http: bool) -> Start:
    port, http_port = _free_port(), _free_port() if has_http else 0
    target = f"127.0.0.1:{port}"
    # The demo would use a service that runs at its target: nothing does at this one.
    command = [sys.executable, "-m", "services.cli.main", "--target", target, "demo", "--serve"]
    command += ["--data-dir", str(folder / "data"), "--port", str(port), "--http-port", str(http_port)]
    log = folder / "start.log"
    begun = time.perf_counter()
    async with running(command, log) as process, aiohttp.ClientSession() as session:

        async def is_serving() -> bool:
            return await ask(target) is Answer.SERVING and (not has_http or await _is_healthy(session, http_port))

        async def serves_on() -> bool:
            return _SERVES_ON in log.read_bytes()

        await until(is_serving, process, log, seconds=_SERVING_SECONDS_MAX)
        serving, used = time.perf_counter() - begun, psutil.Process(process.pid).cpu_times()
        await until(serves_on, process, log, seconds=_DEMO_SECONDS_MAX)
        return Start(serving, used.user + used.system, time.perf_counter() - begun)


@contextlib.asynccontextmanager
async def running(command: Sequence[str], log: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process in a group of its own; it and all that it started have ended afterwards."""
    with log.open("wb") as printed:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            start_new_session=True,
        )
    family: list[psutil.Process] = []
    try:
        yield process
        family = _family(process.pid)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(_END_SECONDS_MAX):
            await process.wait()
    finally:
        if process.returncode is None:
            family = _family(process.pid)
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        for one in family:  # an engine may have a group of its own
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()


def _family(process_id: int) -> list[psutil.Process]:
    """A process and all that it has started, as far as they run."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(process_id)
        return [process, *process.children(recursive=True)]
    return []


async def until(
    reached: Callable[[], Awaitable[bool]], process: asyncio.subprocess.Process, log: Path, *, seconds: float
) -> None:
    try:
        async with asyncio.timeout(seconds):
            while not await reached():
                if process.returncode is not None:
                    raise BenchError(f"the process has ended with {process.returncode}: {_end_of(log)}")
                await asyncio.sleep(_POLL_SECONDS)
    except TimeoutError:
        raise BenchError(f"it is not ready after {seconds:g} s: {_end_of(log)}") from None


async def _is_healthy(session: aiohttp.ClientSession, port: int) -> bool:
    try:
        url, limit = f"http://127.0.0.1:{port}/health", aiohttp.ClientTimeout(total=2.0)
        async with session.get(url, timeout=limit) as response:
            return response.status == 200
    except (aiohttp.ClientError, TimeoutError):
        return False


def _end_of(log: Path) -> str:
    return log.read_text("utf-8", errors="replace")[-2_000:]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


async def _measure(starts: int) -> tuple[Start, dict[str, list[Start]]]:
    found: dict[str, list[Start]] = {"with HTTP": [], "without HTTP": []}
    with tempfile.TemporaryDirectory(prefix="mneme-start-") as name:
        folder = Path(name)
        first = await _start(folder, has_http=True)
        for number in range(starts):
            for way in sorted(found, reverse=bool(number % 2)):
                found[way].append(await _start(folder, has_http=way == "with HTTP"))
    return first, found


def added_seconds(found: Mapping[str, Sequence[Start]]) -> float:
    """What HTTP adds to the median time until Mneme serves."""
    medians = {way: statistics.median(one.serving_seconds for one in starts) for way, starts in found.items()}
    return medians["with HTTP"] - medians["without HTTP"]


def _report(options: argparse.Namespace, first: Start, found: Mapping[str, Sequence[Start]]) -> int:
    added = added_seconds(found)
    report = report_head("start", driver="embedded", settings={"starts": options.starts})
    report["first"] = asdict(first)
    report["ways"] = {way: [asdict(one) for one in starts] for way, starts in found.items()}
    report["added_seconds"] = round(added, 3)
    report["is_met"] = added <= ADDED_SECONDS_MAX
    write_json(options.out, report)
    rows = [(f"{way}, median of {len(starts)}", *_medians(starts)) for way, starts in found.items()]
    rows.insert(0, ("first start, with HTTP", *_medians([first])))
    columns = ("", "until it serves, s", "of the processor, s", "until the demo serves on, s")
    print_table("a start of `make run`", columns, rows)
    print(f"HTTP adds {added:.2f} s until it serves, of {ADDED_SECONDS_MAX:g} s")
    return 0 if report["is_met"] else 1


def _medians(starts: Sequence[Start]) -> tuple[float, ...]:
    columns = zip(*(astuple(one) for one in starts), strict=True)
    return tuple(statistics.median(column) for column in columns)


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments and measure. Exit code 1 where HTTP adds more than a second until Mneme serves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--starts", type=int, default=5, help="with HTTP, and as many without it")
    options = parser.parse_args(arguments)
    if options.starts < 1:
        parser.error("--starts must be at least 1")
    return _report(options, *run(_measure(options.starts)))


if __name__ == "__main__":
    raise SystemExit(main())

"""What all benchmarks share: the stack under test, facts of the machine, percentiles, tables, JSON."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import grpc
import numpy as np
import psutil
import uvloop
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:  # measuring a stack of somebody else's needs none of it
    from services.cli.stack import MakeEmbedder
    from services.common.hosting import HostSettings

T = TypeVar("T")

REPOSITORY: Final = Path(__file__).resolve().parent.parent
MESSAGE_BYTES_MAX: Final = 64 * 1024 * 1024
"""Largest answer the benchmarks read."""


class BenchError(Exception):
    """The benchmark cannot run, for a reason its user can act on."""


# ------------------------------------------------------------------------------------------ the stack


@dataclass(frozen=True, slots=True)
class Target:
    """The stack under test."""

    gateway: str
    """Address of the gateway."""
    driver: str
    """Which drivers it runs on, for the report."""
    data_dir: Path | None
    """Its data folder; None for a stack that somebody else runs."""
    start_seconds: float | None
    """Time from nothing to ready; None for a stack that somebody else runs."""
    tiers: Mapping[str, str] = field(default_factory=dict)
    """Addresses of the tiers by name, where they are served on addresses of their own."""
    http: str | None = None
    """Address of the gateway's HTTP port, where there is one."""


@contextlib.asynccontextmanager
async def open_target(
    target: str | None,
    *,
    data_dir: Path | None = None,
    host_settings: HostSettings | None = None,
    processes: bool = False,
    make_embedder: MakeEmbedder | None = None,
) -> AsyncIterator[Target]:
    """The named stack, or a fresh one with a temporary folder.

    Args:
        target: Address of a running gateway; None starts a stack.
        data_dir: Folder of the stack that is started; None makes a temporary one that is removed afterwards.
        host_settings: Of the stack that is started; None takes them from the environment.
        processes: One process for each of its services instead of this one for all.
        make_embedder: Of a stack in this process; None for the model that its settings name.
    """
    if target is not None:
        yield Target(gateway=target, driver="external", data_dir=None, start_seconds=None)
        return
    # Imported here: they bring in every engine, which measuring another stack does not need.
    from services.cli.stack import StackSettings, run_stack
    from services.common.embedding.factory import create_embedder
    from services.common.hosting import HostSettings
    from services.common.logging import configure_logging

    # Lines of debugging, which structlog prints unless told otherwise, would be a part of what is measured.
    configure_logging(level="warning")
    with contextlib.ExitStack() as stack:
        folder = data_dir or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mneme-bench-")))
        started = time.perf_counter()
        chosen = host_settings or HostSettings()
        settings = StackSettings(data_dir=folder, port=0, processes=processes, host_settings=chosen)
        async with run_stack(settings, make_embedder=make_embedder or create_embedder) as running:
            yield Target(
                gateway=running.gateway_target,
                driver=driver_name(chosen, processes=processes),
                data_dir=folder,
                start_seconds=round(time.perf_counter() - started, 3),
                tiers=asdict(running.tier_targets),
                http=running.http_address or None,
            )


def driver_name(settings: HostSettings, *, processes: bool = False) -> str:
    """What a stack runs on, for reports: the servers that take the place of what is embedded."""
    servers = {
        "Redis": settings.session_store_url,
        "PostgreSQL": settings.postgres_url,
        "PgBouncer": settings.behind_pgbouncer,
        "Qdrant": settings.qdrant_url,
        "Neo4j": settings.neo4j_url,
    }
    named = " + ".join(name for name, is_used in servers.items() if is_used) or "embedded"
    return f"{named}, one process for each service" if processes else named


@contextlib.asynccontextmanager
async def open_channel(target: str, *, api_key: str | None = None) -> AsyncIterator[Channel]:
    """A channel that carries the credential, if any, and takes large answers."""
    options = [
        ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
        ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
    ]
    async with grpc.aio.insecure_channel(target, options=options) as channel:
        metadata = (("authorization", f"Bearer {api_key}"),) if api_key else ()
        yield Channel(channel=channel, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Channel:
    """A gRPC channel and the metadata that each call on it carries."""

    channel: grpc.aio.Channel
    metadata: tuple[tuple[str, str], ...]


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a benchmark on uvloop, the event loop that the services use."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)


# --------------------------------------------------------------------------------- facts of the machine


def machine_facts() -> dict[str, object]:
    """What a figure depends on: processor, memory, kernel, interpreter, and how busy the machine is."""
    return {
        "processor": _processor_name(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load_average": [round(value, 2) for value in os.getloadavg()],
    }


def commit_name() -> str:
    """The commit that is measured, with "+changes" when files differ from it; "unknown" outside git."""
    try:
        commit = _git("rev-parse", "--short=12", "HEAD")
        return commit + ("+changes" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def report_head(benchmark: str, *, driver: str, settings: Mapping[str, object]) -> dict[str, object]:
    """The first keys of every report: what was run, where, when, and how."""
    return {
        "benchmark": benchmark,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit_name(),
        "machine": machine_facts(),
        "driver": driver,
        "settings": dict(settings),
    }


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=REPOSITORY, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _processor_name() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


# ----------------------------------------------------------------------------------------------- times


@dataclass(frozen=True, slots=True)
class Times:
    """Percentiles of durations, in milliseconds."""

    count: int
    mean: float
    p50: float
    p95: float
    p99: float


def percentile(values: Sequence[float], percent: float) -> float:
    """The percentile by linear interpolation between the two nearest ranks; NaN for no values."""
    return float(np.percentile(values, percent)) if values else float("nan")


def times_of(seconds: Sequence[float]) -> Times:
    """Summarise durations given in seconds."""
    milliseconds = [value * 1000 for value in seconds]
    return Times(
        count=len(milliseconds),
        mean=_rounded(float(np.mean(milliseconds)) if milliseconds else float("nan")),
        p50=_rounded(percentile(milliseconds, 50)),
        p95=_rounded(percentile(milliseconds, 95)),
        p99=_rounded(percentile(milliseconds, 99)),
    )


def ratio(numerator: float, denominator: float) -> float | None:
    """A quotient for the report, None where it means nothing."""
    return _rounded(numerator / denominator) if denominator else None


def _rounded(value: float) -> float:
    return round(value, 4)


# --------------------------------------------------------------------------------------------- reports


def write_json(path: Path, report: Mapping[str, object]) -> None:
    """Write a report, making its folder where needed. Dataclasses become objects, and NaN null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_plain(report), indent=2, ensure_ascii=False) + "\n", "utf-8")


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table: the first column to the left, numbers to the right."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*[_cell(value) for value in row])
    Console(width=None if os.isatty(1) else 160).print(table)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _plain(value: object) -> object:
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value

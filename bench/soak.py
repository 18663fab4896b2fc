"""A mixed load for long, one process for each service: whether memory stays flat, and what a call costs each service.

    python -m bench.soak --out FILE [--seconds 1800] [--rate 20]

Resident memory has to stay flat. Turns that are stored meanwhile are cached up to a budget, and are in files of the
vector engine whose pages are mapped into its process, where the system takes them back at will. Both grow with what
users say, so memory without them is reported as well: where that grows, something leaks. README.md has the columns.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import re
import socket
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any, Final

import psutil

from bench.common import open_target, print_table, report_head, run, times_of, write_json
from bench.mixed_load import MixedLoad
from services.common.hosting import HostSettings

SERVICES: Final = ("gateway", "session", "episodic", "semantic", "agentic")
GROWTH_MAX: Final = 1.05
"""Resident memory of the last third of the time as a multiple of that of the middle third."""
DESCRIPTORS_MAX: Final = 8
"""How many more descriptors or threads the last third may have than the middle one: pools breathe."""

_SAMPLES: Final = 90
_CACHED: Final = re.compile(r"^mneme_cache_bytes\S* (\S+)$", re.MULTILINE)
_SCRAPE_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Sample:
    """One process with its children at one moment."""

    rss_mib: float
    held_mib: float
    """Of that, what is no page of a file: the system cannot take it back."""
    cached_mib: float
    """What the caches of users say that they take."""
    descriptors: int
    threads: int
    processor_seconds: float


@dataclass(slots=True)
class Course:
    """The samples of a service."""

    samples: list[Sample] = field(default_factory=list)

    def third(self, number: int) -> Sequence[Sample]:
        """The first, middle or last third: 0, 1 or 2."""
        size = len(self.samples) // 3
        return self.samples[number * size : (number + 1) * size]

    @property
    def growth_rss(self) -> float:
        """Resident memory of the last third as a multiple of that of the middle one."""
        return mean(s.rss_mib for s in self.third(2)) / mean(s.rss_mib for s in self.third(1))

    @property
    def growth(self) -> float:
        """The same of memory that is held beside the caches."""
        last, middle = (mean(s.held_mib - s.cached_mib for s in self.third(number)) for number in (2, 1))
        return last / middle

    def more(self, name: str) -> int:
        """How many more there are at most in the last third than in the middle one."""
        most: list[int] = [max(getattr(s, name) for s in self.third(number)) for number in (1, 2)]
        return most[1] - most[0]

    @property
    def processor_seconds(self) -> float:
        """Used between the first and the last sample."""
        return self.samples[-1].processor_seconds - self.samples[0].processor_seconds

    @property
    def is_flat(self) -> bool:
        """Whether nothing grew."""
        leaks = max(self.more("descriptors"), self.more("threads"))
        return self.growth_rss <= GROWTH_MAX and leaks <= DESCRIPTORS_MAX


def service_processes() -> Mapping[str, psutil.Process]:
    """The services that this process has started, by name."""
    found = {}
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            words = child.cmdline()
            if words[-2:-1] == ["-m"] and words[-1].startswith("services."):
                found[words[-1].removeprefix("services.")] = child
    return found


def sample_of(process: psutil.Process, *, cached: int = 0) -> Sample:
    """Of a service with the processes that it started, such as the parser and the vector engine.

    Args:
        process: The service.
        cached: What its caches take, in bytes; 0 where nobody asked.
    """
    rss, held, descriptors, threads, seconds = 0, 0, 0, 0, 0.0
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            memory = one.memory_info()
            rss += memory.rss
            held += memory.rss - memory.shared
            descriptors += one.num_fds()
            threads += one.num_threads()
            times = one.cpu_times()
            seconds += times.user + times.system
    return Sample(
        rss_mib=_mebibytes(rss),
        held_mib=_mebibytes(held),
        cached_mib=_mebibytes(cached),
        descriptors=descriptors,
        threads=threads,
        processor_seconds=seconds,
    )


def _mebibytes(count: int) -> float:
    return round(count / 2**20, 1)


def cached_bytes(metrics: str) -> int:
    """What the caches of a service take, all kinds together, by its metrics as Prometheus reads them."""
    return sum(int(float(value)) for value in _CACHED.findall(metrics))


def _cached_of(port: int) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=_SCRAPE_SECONDS) as response:
        return cached_bytes(response.read().decode())


def _free_ports(count: int) -> range:
    """Ports in a row that nobody listens on."""
    while True:
        with contextlib.ExitStack() as stack:
            first = stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
            with contextlib.suppress(OSError, OverflowError):
                for port in range(first + 1, first + count):
                    stack.enter_context(socket.create_server(("127.0.0.1", port)))
                return range(first, first + count)


async def _measure(options: argparse.Namespace) -> tuple[MixedLoad, dict[str, Course]]:
    courses = {service: Course() for service in SERVICES}
    ports = dict(zip(SERVICES, _free_ports(len(SERVICES)), strict=True))  # each service's is one above the one before
    settings = HostSettings(metrics_listen=f"127.0.0.1:{ports[SERVICES[0]]}")
    async with open_target(None, host_settings=settings, processes=True) as target:
        load = MixedLoad(target.gateway, options.rate)
        processes = service_processes()
        begin = time.monotonic()
        async with load.running():
            for number in range(_SAMPLES + 1):
                due = begin + number * options.seconds / _SAMPLES
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                for service, course in courses.items():
                    cached = await asyncio.to_thread(_cached_of, ports[service])
                    course.samples.append(sample_of(processes[service], cached=cached))
    return load, courses


def _report(options: argparse.Namespace, load: MixedLoad, courses: Mapping[str, Course]) -> int:
    services: dict[str, Any] = {
        service: {
            "growth": round(course.growth, 3),
            "growth_rss": round(course.growth_rss, 3),
            "more_descriptors": course.more("descriptors"),
            "more_threads": course.more("threads"),
            "processor_ms_per_call": round(1000 * course.processor_seconds / load.calls, 2),
            "rss_mib": [sample.rss_mib for sample in course.samples],
            "held_mib": [sample.held_mib for sample in course.samples],
            "cached_mib": [sample.cached_mib for sample in course.samples],
            "is_flat": course.is_flat,
        }
        for service, course in courses.items()
    }
    is_met = all(course.is_flat for course in courses.values()) and not load.failures
    report = report_head("soak", driver="embedded", settings={"seconds": options.seconds, "rate": options.rate})
    report |= {
        "calls": load.calls,
        "turns": len(load.acknowledged),
        "failures": load.failures[:100],
        "degraded": load.degraded,
        "calls_seconds": asdict(times_of(load.seconds)),
        "services": services,
        "is_met": is_met,
    }
    write_json(options.out, report)
    print_table(
        f"soak: {load.calls} calls, {len(load.failures)} failed, {load.degraded} degraded",
        ("service", "MiB", "cached", "growth RSS", "growth", "descriptors +", "threads +", "processor ms / call"),
        [
            (
                name,
                found["rss_mib"][-1],
                found["cached_mib"][-1],
                found["growth_rss"],
                found["growth"],
                found["more_descriptors"],
                found["more_threads"],
                found["processor_ms_per_call"],
            )
            for name, found in services.items()
        ],
    )
    return 0 if is_met else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments and measure. Exit code 1 where something grew or a call failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=1800.0)
    parser.add_argument("--rate", type=float, default=20.0, help="calls a second")
    options = parser.parse_args(arguments)
    return _report(options, *run(_measure(options)))


if __name__ == "__main__":
    raise SystemExit(main())

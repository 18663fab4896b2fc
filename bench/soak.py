"""A mixed load for long, one process for each service: whether memory stays flat, and what a call costs each service.

python -m bench.soak --out FILE [--seconds 1800] [--rate 20]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any, Final

import psutil

from bench.common import open_target, print_table, report_head, run, times_of, write_json
from bench.mixed_load import MixedLoad

SERVICES: Final = ("gateway", "session", "episodic", "semantic", "agentic")
GROWTH_MAX: Final = 1.05
"""Memory of the last third of the time, as a multiple of that of the middle third."""
DESCRIPTORS_MAX: Final = 8
"""How many more descriptors or threads the last third may have than the middle one: pools breathe."""

_SAMPLES: Final = 90


@dataclass(frozen=True, slots=True)
class Sample:
    """One process with its children at one moment."""

    rss_mib: float
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
    def growth(self) -> float:
        """Memory of the last third as a multiple of that of the middle one."""
        return mean(s.rss_mib for s in self.third(2)) / mean(s.rss_mib for s in self.third(1))

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
        return self.growth <= GROWTH_MAX and leaks <= DESCRIPTORS_MAX


def service_processes() -> Mapping[str, psutil.Process]:
    """The services that this process has started, by name."""
    found = {}
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            words = child.cmdline()
            if words[-2:-1] == ["-m"] and words[-1].startswith("services."):
                found[words[-1].removeprefix("services.")] = child
    return found


def sample_of(process: psutil.Process) -> Sample:
    """Of a service with the processes that it started, such as the parser and the vector engine."""
    rss, descriptors, threads, seconds = 0, 0, 0, 0.0
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            rss += one.memory_info().rss
            descriptors += one.num_fds()
            threads += one.num_threads()
            times = one.cpu_times()
            seconds += times.user + times.system
    return Sample(round(rss / 2**20, 1), descriptors, threads, seconds)


async def _measure(options: argparse.Namespace) -> tuple[MixedLoad, dict[str, Course]]:
    courses = {service: Course() for service in SERVICES}
    async with open_target(None, processes=True) as target:
        load = MixedLoad(target.gateway, options.rate)
        processes = service_processes()
        begin = time.monotonic()
        async with load.running():
            for number in range(_SAMPLES + 1):
                due = begin + number * options.seconds / _SAMPLES
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                for service, course in courses.items():
                    course.samples.append(sample_of(processes[service]))
    return load, courses


def _report(options: argparse.Namespace, load: MixedLoad, courses: Mapping[str, Course]) -> int:
    services: dict[str, Any] = {
        service: {
            "growth": round(course.growth, 3),
            "more_descriptors": course.more("descriptors"),
            "more_threads": course.more("threads"),
            "processor_ms_per_call": round(1000 * course.processor_seconds / load.calls, 2),
            "rss_mib": [sample.rss_mib for sample in course.samples],
            "is_flat": course.is_flat,
        }
        for service, course in courses.items()
    }
    is_met = all(course.is_flat for course in courses.values()) and not load.failures
    report = report_head("soak", driver="embedded", settings={"seconds": options.seconds, "rate": options.rate})
    report |= {
        "calls": load.calls,
        "failures": load.failures[:100],
        "degraded": load.degraded,
        "calls_seconds": asdict(times_of(load.seconds)),
        "services": services,
        "is_met": is_met,
    }
    write_json(options.out, report)
    print_table(
        f"soak: {load.calls} calls, {len(load.failures)} failed, {load.degraded} degraded",
        ("service", "MiB at the end", "growth", "descriptors +", "threads +", "processor ms / call"),
        [
            (
                name,
                found["rss_mib"][-1],
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

"""Memory and disk that a stack takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True)
class Footprint:
    """What is taken at one moment, in MiB."""

    process_rss: float
    """Resident memory of this process: the services and the vector engine."""
    postgres_pss: float
    """Memory of PostgreSQL's processes, shared pages counted once."""
    disk: float
    """The data folder without built models."""


def footprint(data_dir: Path) -> Footprint:
    """Measure now."""
    own = psutil.Process()
    return Footprint(
        process_rss=_mebibytes(own.memory_info().rss),
        postgres_pss=_mebibytes(sum(_pss(process) for process in postgres_processes(data_dir))),
        disk=_mebibytes(_disk_bytes(data_dir)),
    )


@dataclass(frozen=True, slots=True)
class Work:
    """What a stack has done until now: of the processes that live, so that it can shrink."""

    processor_seconds: float
    """Of this process, those that it started, and PostgreSQL's."""
    read_bytes: int
    """From disk, not from the system's memory."""


def work_done(data_dir: Path) -> Work:
    """Measure now."""
    own = psutil.Process()
    processes = {process.pid: process for process in [own, *own.children(recursive=True)]}
    processes |= {process.pid: process for process in postgres_processes(data_dir)}
    seconds, read = 0.0, 0
    for process in processes.values():
        try:
            times = process.cpu_times()
            seconds += times.user + times.system
            read += process.io_counters().read_bytes
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return Work(seconds, read)


def postgres_processes(data_dir: Path) -> list[psutil.Process]:
    """The postmaster of a data folder and its children; empty when none runs."""
    for file in data_dir.glob("postgres/*/postmaster.pid"):
        try:
            postmaster = psutil.Process(int(file.read_text("utf-8").split(maxsplit=1)[0]))
            return [postmaster, *postmaster.children(recursive=True)]
        except (psutil.NoSuchProcess, ValueError, IndexError):
            continue
    return []


def _pss(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0


def _disk_bytes(data_dir: Path) -> int:
    total = 0
    for file in data_dir.rglob("*"):
        if "models" in file.relative_to(data_dir).parts:
            continue
        try:
            # Blocks, not length: engines reserve sparse files.
            total += file.lstat().st_blocks * 512
        except FileNotFoundError:
            continue
    return total


def _mebibytes(count: int) -> float:
    return round(count / 2**20, 1)

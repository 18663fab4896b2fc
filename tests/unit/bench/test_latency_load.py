"""Stores that are kept between runs."""

import json
from pathlib import Path

import pytest

from bench.common import BenchError
from bench.latency_load import Loading, LoadOptions, ensure_loaded, per_memory
from bench.resources import Footprint
from services.common.hosting import HostSettings


def options(folder: Path, *, size: int = 100) -> LoadOptions:
    return LoadOptions(
        folder=folder,
        size=size,
        seed=1,
        loading=Loading.PREPARED,
        host_settings=HostSettings(),
        processes=False,
    )


def keep(folder: Path, *, size: int) -> None:
    content = {
        "options": {"size": size, "seed": 1, "loading": "prepared"},
        "times": {"turns": size, "acknowledge_seconds": 2.0, "index_seconds": 4.0},
        "start_seconds": 1.5,
        "empty": {"process_rss": 1.0, "postgres_pss": 2.0, "disk": 3.0},
    }
    (folder / "bench-loaded.json").write_text(json.dumps(content), "utf-8")


def test_a_store_that_is_there_is_used(tmp_path: Path) -> None:
    keep(tmp_path, size=100)
    loaded = ensure_loaded(options(tmp_path))

    assert loaded.report()["indexed_per_second"] == 25.0
    assert loaded.empty.disk == 3.0


def test_a_store_of_other_options_is_refused(tmp_path: Path) -> None:
    keep(tmp_path, size=200)
    with pytest.raises(BenchError, match="other options"):
        ensure_loaded(options(tmp_path))


def test_a_store_that_was_not_filled_to_the_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with pytest.raises(BenchError, match="not filled to the end"):
        ensure_loaded(options(tmp_path))


def test_growth_is_told_for_each_memory() -> None:
    empty, full = Footprint(100.0, 50.0, 10.0), Footprint(180.0, 70.0, 210.0)

    assert per_memory(empty, full, 102_400) == {"disk_kibibytes": 2.0, "memory_kibibytes": 1.0}

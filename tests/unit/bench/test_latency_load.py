"""Stores that are kept between runs."""

import json
from pathlib import Path

import pytest

from bench.common import BenchError
from bench.latency_load import Loading, LoadOptions, base_of, ensure_loaded, per_memory
from bench.resources import Footprint
from services.common.hosting import HostSettings


def options(folder: Path, *, size: int = 100, loading: Loading = Loading.PREPARED) -> LoadOptions:
    return LoadOptions(
        folder=folder,
        size=size,
        seed=1,
        loading=loading,
        host_settings=HostSettings(),
        processes=False,
    )


def keep(folder: Path, *, size: int, seed: int = 1, loading: str = "prepared") -> None:
    folder.mkdir(exist_ok=True)
    content = {
        "options": {"size": size, "seed": seed, "loading": loading},
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


def test_a_multiplied_store_is_made_of_the_largest_that_divides_it(tmp_path: Path) -> None:
    for size, seed, loading in [
        (100, 1, "prepared"),  # too small: texts would be there fifty times
        (500, 1, "real"),
        (1_000, 1, "prepared"),
        (2_000, 1, "prepared"),  # does not divide 5,000
        (2_500, 1, "multiplied"),
    ]:
        keep(tmp_path / str(size), size=size, seed=seed, loading=loading)
    base = base_of(options(tmp_path / "5000", size=5_000, loading=Loading.MULTIPLIED))

    assert (base.size, base.loading, base.folder) == (1_000, Loading.PREPARED, tmp_path / "1000")


def test_where_there_is_none_a_tenth_is_loaded(tmp_path: Path) -> None:
    keep(tmp_path / "other", size=1_000, seed=2)
    base = base_of(options(tmp_path / "5000", size=5_000, loading=Loading.MULTIPLIED))

    assert (base.size, base.loading, base.folder) == (500, Loading.PREPARED, tmp_path / "500")


def test_a_size_that_is_no_multiple_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="10 times"):
        base_of(options(tmp_path / "5001", size=5_001, loading=Loading.MULTIPLIED))

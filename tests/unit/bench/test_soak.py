"""What counts as flat in half an hour of mixed load."""

from __future__ import annotations

import os

import psutil
import pytest

from bench.soak import Course, Sample, cached_bytes, sample_of

_METRICS = """\
# HELP mneme_cache_bytes Memory, by kind
# TYPE mneme_cache_bytes gauge
mneme_cache_bytes{kind="episode-rows"} 1048576.0
mneme_cache_bytes{kind="token-vectors"} 2.097152e+06
mneme_cache_requests_total{kind="token-vectors",result="hit"} 9.0
"""


def _course(*, held: float, cached: float, files: float) -> Course:
    """Of 30 samples from 300 MiB on, each with so many MiB more than the one before."""
    return Course(
        [
            Sample(
                rss_mib=300 + number * (held + files),
                held_mib=300 + number * held,
                cached_mib=number * cached,
                descriptors=40,
                threads=8,
                processor_seconds=float(number),
            )
            for number in range(30)
        ]
    )


@pytest.mark.parametrize(
    ("held", "cached", "files", "is_tight"),
    [
        (0.0, 0.0, 0.0, True),
        (4.0, 4.0, 0.0, True),
        (0.0, 0.0, 4.0, True),
        (4.0, 0.0, 0.0, False),
        (4.0, 1.0, 0.0, False),
    ],
)
def test_what_is_cached_and_pages_of_files_are_no_leak(
    held: float, cached: float, files: float, is_tight: bool
) -> None:
    course = _course(held=held, cached=cached, files=files)
    assert (course.growth <= 1.05) is is_tight
    assert course.is_flat is (held + files == 0)


def test_the_cache_of_a_service_is_that_of_all_kinds() -> None:
    assert cached_bytes(_METRICS) == 3 * 2**20
    assert cached_bytes("") == 0


def test_what_a_process_holds_is_the_part_of_its_memory_that_is_no_file() -> None:
    process = psutil.Process(os.getpid())
    before = sample_of(process, cached=2**20)
    block = bytearray(os.urandom(1)) * (64 * 2**20)
    after = sample_of(process, cached=0)
    assert len(block) == 64 * 2**20
    assert after.held_mib - before.held_mib == pytest.approx(64, abs=8)
    assert 0 < after.held_mib < after.rss_mib
    assert (before.cached_mib, after.cached_mib) == (1.0, 0.0)

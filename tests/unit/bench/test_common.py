"""Percentiles, reports and texts of the benchmarks."""

import json
import math
from pathlib import Path

import pytest

from bench.common import percentile, ratio, report_head, times_of, write_json
from bench.texts import TextSource


@pytest.mark.parametrize(("percent", "expected"), [(0, 1.0), (50, 2.5), (95, 3.85), (100, 4.0)])
def test_percentiles_are_interpolated(percent: float, expected: float) -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], percent) == pytest.approx(expected)


def test_the_percentile_of_nothing_is_not_a_number() -> None:
    assert math.isnan(percentile([], 50))


def test_times_are_given_in_milliseconds() -> None:
    times = times_of([0.001, 0.002, 0.003])

    assert (times.count, times.mean, times.p50) == (3, 2.0, 2.0)


def test_a_ratio_to_nothing_is_none() -> None:
    assert ratio(3.0, 2.0) == 1.5
    assert ratio(3.0, 0.0) is None


def test_a_report_is_json_and_says_where_it_was_made(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "report.json"
    write_json(path, report_head("x", driver="embedded", settings={"n": 1}) | {"nothing": times_of([])})
    report = json.loads(path.read_text())

    assert {"benchmark", "time", "commit", "machine", "driver", "settings", "nothing"} == set(report)
    assert report["nothing"]["p50"] is None


def test_texts_are_the_same_for_the_same_seed_and_vary() -> None:
    first = list(TextSource(1).turns(300))

    assert first == list(TextSource(1).turns(300))
    assert first != list(TextSource(2).turns(300))
    assert len({turn.text for turn in first}) > 250
    assert all(len(turn.text) < 800 for turn in first)


def test_questions_are_the_same_for_the_same_seed() -> None:
    assert [TextSource(3).question() for _ in range(2)] == [TextSource(3).question()] * 2

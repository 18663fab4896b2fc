"""Arrivals of calls and findings of the benchmark of rates."""

import random
from itertools import pairwise

import pytest

from bench.rates import RATIO_MAX, Phase, arrivals, findings


def test_arrivals_are_those_of_the_seed() -> None:
    first, second = (arrivals(random.Random(3), 10.0, 60.0) for _ in range(2))
    assert first == second != arrivals(random.Random(4), 10.0, 60.0)
    assert all(before < after for before, after in pairwise([0.0, *first, 60.0]))


def test_arrivals_are_as_frequent_as_asked_for_and_keep_no_pace() -> None:
    moments = arrivals(random.Random(1), 100.0, 100.0)
    gaps = [after - before for before, after in pairwise(moments)]
    mean = sum(gaps) / len(gaps)
    spread = (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5
    assert mean == pytest.approx(0.01, rel=0.05)
    assert spread == pytest.approx(mean, rel=0.05)  # as exponential gaps have it; an even pace has none


def test_no_call_arrives_at_no_rate() -> None:
    assert arrivals(random.Random(1), 0.0, 60.0) == []


def phases(*, within: float, beyond: float, failed: int = 0) -> dict[str, Phase]:
    """Phases in which each recall of the neighbour took so long, in seconds; 0.01 alone."""
    return {
        "alone": Phase([0.01] * 9),
        "within": Phase([within] * 9),
        "beyond": Phase([beyond] * 9, failed),
    }


def test_the_cost_of_the_excess_is_apart_from_that_of_the_admitted_calls() -> None:
    report, is_met = findings(phases(within=0.012, beyond=0.0126))
    assert is_met
    assert report["p95_ratio"] == pytest.approx(1.26)
    assert report["p95_ratio_of_excess"] == pytest.approx(1.05)


@pytest.mark.parametrize(("beyond", "failed"), [(0.0101 * RATIO_MAX, 0), (0.01, 1)])
def test_the_bar_is_not_met_by_slow_or_failed_recalls(beyond: float, failed: int) -> None:
    assert not findings(phases(within=0.01, beyond=beyond, failed=failed))[1]


def test_the_bar_is_not_met_without_a_recall() -> None:
    assert not findings({"alone": Phase(), "within": Phase(), "beyond": Phase()})[1]
